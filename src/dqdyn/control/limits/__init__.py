"""Limits: one short file per kind."""
