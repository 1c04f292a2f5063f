"""Inequalities: one short file per kind."""
