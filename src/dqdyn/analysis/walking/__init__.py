"""Robots that walk over footsteps under whole-body control: the gait, and the controller that it drives."""
