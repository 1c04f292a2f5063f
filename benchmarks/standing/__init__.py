"""Robots that stand on their own feet in MuJoCo: they sway, lift a foot, turn a wheel, and are pushed.

``python -m benchmarks.standing`` runs all of it; see ``--help``.
"""
