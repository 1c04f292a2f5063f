"""Robots as people write them (description) and as algorithms use them (model)."""
