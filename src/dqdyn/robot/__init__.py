"""The public robot: one value that ties description, model and algorithms together."""

from dqdyn.robot.robot import Robot

__all__ = ["Robot"]
