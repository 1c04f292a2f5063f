"""Tasks: one short file per kind."""
