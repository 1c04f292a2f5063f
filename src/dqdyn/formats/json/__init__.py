"""dqdyn's own format."""
