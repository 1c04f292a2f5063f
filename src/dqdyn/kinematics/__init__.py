"""Poses, twists and Jacobians of a model, over any scalar."""
