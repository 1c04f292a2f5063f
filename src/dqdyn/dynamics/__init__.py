"""Dynamics of a model, over any scalar: every formulation of the papers in a file of its own."""
