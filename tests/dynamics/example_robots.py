"""The URDFs of example-robot-data here and in Pinocchio, for tests of dynamics."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio
from robot_data import short_name, urdf_files

from dqdyn.formats.urdf.reader import read_urdf
from dqdyn.model.build import build
from dqdyn.model.layouts import Layout
from dqdyn.robot import Robot

FILES = {short_name(path): path for path in urdf_files()}
NO_ROBOTS = {"ur/ur3", "alex/alex_psyonic_hands"}
"""No name; and a mimic joint without a master, which Pinocchio overlooks."""
ROBOTS = tuple(name for name in FILES if name not in NO_ROBOTS)
BASES = ("fixed", "free")
SINGULAR = {"romeo/romeo": "RThumb3", "romeo/romeo_laas_small": "r_gripper_joint"}
"""Robots with joints that move no inertia, and the one that is named."""
LARGEST = (
    "tiago/tiago_dual",
    "talos/talos_full_v2",
    "pr2/pr2",
    "centauro/centauro",
    "icub/icub",
    "tiago_pro/tiago_pro",
    "panda/panda",
    "ur/ur5_robot",
    "anymal_b_simple/anymal",
    "hyq/hyq_no_sensors",
)
"""Ten robots for compiled code: the largest, and some of every size."""


@cache
def robot(name: str, base: str, mimic: bool = False) -> Robot:
    """Without friction, since Pinocchio's dynamics have none."""
    return Robot(build(read_urdf(FILES[name]), base=base, mimic=mimic, quiet=True)).without_friction()


@cache
def plain(name: str, base: str) -> pinocchio.Model:
    """Pinocchio's model, in which mimic joints are free."""
    root = (pinocchio.JointModelFreeFlyer(),) if base == "free" else ()
    return pinocchio.buildModelFromUrdf(str(FILES[name]), *root)


@cache
def has_mimics(name: str) -> bool:
    """Whether a joint of the file follows another."""
    return any(joint.mimic is not None for joint in read_urdf(FILES[name]).joints)


class Oracle:
    """Pinocchio's dynamics at our q, v, a, in our coordinates: with v' = T v, forces are Tᵀτ' and matrices TᵀX T.

    Where mimic joints have coordinates there, T is the tall matrix G of the couplings.
    """

    def __init__(self, layout: Layout, model: pinocchio.Model, q: np.ndarray, v: np.ndarray) -> None:
        self.layout, self.model, self.q, self.v = layout, model, q, v
        self.data = model.createData()
        self.pin_q, self.pin_v, self.t = layout.q(q), layout.v(q, v), layout.transform(q)

    def inverse_dynamics(self, a: np.ndarray) -> np.ndarray:
        """τ (nv)."""
        given = self.layout.a(self.q, self.v, a)
        return self.t.T @ pinocchio.rnea(self.model, self.data, self.pin_q, self.pin_v, given)

    def forward_dynamics(self, tau: np.ndarray) -> np.ndarray:
        """a (nv); no mimic joints."""
        given = self.layout.tau(self.q, tau)
        found = pinocchio.aba(self.model, self.data, self.pin_q, self.pin_v, given)
        return self.layout.a_from(self.q, self.v, found.copy())

    def mass_matrix(self) -> np.ndarray:
        """M (nv×nv)."""
        upper = np.triu(pinocchio.crba(self.model, self.data, self.pin_q))
        return self.layout.mass_matrix_from(self.q, upper + np.triu(upper, 1).T)

    def gravity_forces(self) -> np.ndarray:
        """τ (nv)."""
        return self.t.T @ pinocchio.computeGeneralizedGravity(self.model, self.data, self.pin_q)

    def coriolis_matrix(self) -> np.ndarray:
        """C (nv×nv) = Tᵀ(C'T + M'Ṫ); Ṫ = 0 for what a URDF holds."""
        found = pinocchio.computeCoriolisMatrix(self.model, self.data, self.pin_q, self.pin_v)
        return self.t.T @ found @ self.t

    def derivatives(self, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """∂τ/∂q, ∂τ/∂v for a constant T."""
        given = self.layout.a(self.q, self.v, a)
        pinocchio.computeRNEADerivatives(self.model, self.data, self.pin_q, self.pin_v, given)
        return self.t.T @ self.data.dtau_dq @ self.t, self.t.T @ self.data.dtau_dv @ self.t

    def energies(self) -> tuple[float, float]:
        """Kinetic and potential, in J."""
        kinetic = pinocchio.computeKineticEnergy(self.model, self.data, self.pin_q, self.pin_v)
        return kinetic, pinocchio.computePotentialEnergy(self.model, self.data, self.pin_q)
