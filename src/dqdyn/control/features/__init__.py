"""What tasks and constraints are about: features of the robot, and signals from outside."""
