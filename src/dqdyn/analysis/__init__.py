"""Experiments: models against a physics engine, as the papers validate theirs."""
