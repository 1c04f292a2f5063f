"""Robot files and tables: URDF, MJCF, JSON, Denavit-Hartenberg and screws.

Readers make a :class:`dqdyn.model.description.Description`. Writers turn a :class:`dqdyn.model.model.Model` into text:
its description, with the model's base and gravity; mimic joints are written as such, whether the model gives them
coordinates of their own or not.
"""
