"""Serial arms from tables of numbers."""
