"""SRDF, the semantic description that goes with a URDF file."""
