"""The papers' algorithms step by step and as printed: full products of dual quaternions, full matrices.

They run for every tree and joint kind, as methods whose names end in "-literal", and the same code on counters gives
the cost tables of :mod:`dqdyn.analysis.costs`. The forms beside this package compute the same with fewer operations.
"""
