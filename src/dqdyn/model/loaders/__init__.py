"""Readers of robot files; each makes a :class:`dqdyn.model.description.Description`."""
