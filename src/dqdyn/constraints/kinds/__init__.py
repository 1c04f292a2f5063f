"""The kinds of constraints, one file each."""
