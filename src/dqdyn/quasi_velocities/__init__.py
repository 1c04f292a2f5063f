"""Equations of motion in quasi-velocities of the user's choice."""
