"""Functions of dual quaternions, named as in DQ Robotics where it has them: one place to import them from.

They are defined one idea to a module, as below.
"""

# ruff: noqa: F403  every public name is meant
from dqdyn.algebra.adjoint import *
from dqdyn.algebra.checks import *
from dqdyn.algebra.dual import *
from dqdyn.algebra.exponential import *
from dqdyn.algebra.hamilton import *
from dqdyn.algebra.inertia_maps import *
from dqdyn.algebra.parts import *
from dqdyn.algebra.pose_derivatives import *
from dqdyn.algebra.poses import *
from dqdyn.algebra.products import *
