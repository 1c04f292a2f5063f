"""Writers of robot files; each turns a :class:`dqdyn.model.model.Model` into text.

They write the model's description, with the model's base and gravity. Mimic joints are written as such, whether the
model gives them coordinates of their own or not.
"""
