"""Forward dynamics under constraints, one file per method."""
