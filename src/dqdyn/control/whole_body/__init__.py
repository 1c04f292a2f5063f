"""Whole-body control: accelerations and contact forces at a time, under the equation of motion with motors only."""
