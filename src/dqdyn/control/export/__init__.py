"""A controller in C: one step of it as a library that is linked to a DAQP of the user's."""
