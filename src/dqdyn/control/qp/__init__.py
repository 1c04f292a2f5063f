"""Quadratic programs: solvers under one interface, conflicts and relaxation."""
