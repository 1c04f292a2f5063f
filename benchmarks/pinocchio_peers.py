"""What Pinocchio calls each function of the catalog, and its answers in our order: benchmarks and tests share this."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray
Convert = Callable[["Pair", Any], Array]
STEP = 0.25
"""s between the configurations."""
_SWAPPED = [3, 4, 5, 0, 1, 2]  # rows [v, ω] there, [ω, v] here


class Pair:
    """One robot here and in Pinocchio, at the same random state; robots whose velocities are related by a constant T.

    ``names`` are those that the statements of peers use: ``pin``, the model ``m``, its data ``d``, the state ``q, v,
    a, tau, q1``, the tangent ``step`` and the frame ``i``, called ``frame`` here.
    """

    def __init__(self, robot: Any, model: Any, seed: int = 0) -> None:
        import pinocchio

        rng = np.random.default_rng(seed)
        self.robot, self.model, self.layout = robot, model, robot.to_pinocchio(model)
        q = robot.random_configuration(rng)
        unlimited = np.isinf(robot.limits.upper - robot.limits.lower)
        q[unlimited] *= np.where(np.abs(q[unlimited]) > 1.0, 0.3, 1.0)  # q + v dt stays within ±π
        v, a, tau = rng.normal(size=(3, robot.nv))
        self.state = {"q": q, "v": v, "a": a, "tau": tau, "q1": robot.integrate(q, a, STEP), "dt": STEP}
        self.t = self.layout.transform(q)
        known = Counter(frame.name for frame in model.frames)
        self.shared = [name for name in robot.frames if known[name] == 1]
        self.frame = self.shared[-1]
        self.names: dict[str, Any] = {
            "pin": pinocchio,
            "m": model,
            "d": model.createData(),
            "q": self.layout.q(q),
            "v": self.layout.v(q, v),
            "a": self.layout.a(q, v, a),
            "tau": self.layout.tau(q, tau),
            "q1": self.layout.q(self.state["q1"]),
            "i": model.getFrameId(self.frame),
            "step": STEP * self.layout.v(q, v),
            "LOCAL": pinocchio.LOCAL,
            "WORLD": pinocchio.WORLD,
            "ALIGNED": pinocchio.LOCAL_WORLD_ALIGNED,
        }

    def inputs(self, peer: Peer) -> list[Any]:
        """The state as our function takes it."""
        return [self.state[name] for name in peer.inputs]

    def options(self, peer: Peer) -> dict[str, Any]:
        """Options of our function."""
        return {**({"frame": self.frame} if peer.of_frame else {}), **peer.options}

    def expected(self, peer: Peer) -> Array:
        """Pinocchio's answer in our order."""
        lines = peer.statement.split("; ")
        for line in lines[:-1]:
            exec(line, self.names)
        return peer.convert(self, eval(lines[-1], self.names))


@dataclass(frozen=True)
class Peer:
    """One of our functions, its inputs, and the statement of Python that computes the same with Pinocchio.

    ``at_least`` are the ratios asked for: bound and plain calls on the Panda, then on the Talos; ``batch`` the same
    per state of a batch on one core, of results with O(nv) numbers.
    """

    function: str
    inputs: tuple[str, ...]
    statement: str
    convert: Convert
    at_least: tuple[float, float] = (5.0, 4.0)
    batch: tuple[float, float] | None = None
    of_frame: bool = False
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return " ".join([self.function, *map(str, self.options.values())])


# --- Pinocchio's answers in our order ---------------------------------------------------------------------------------


def _tau(pair: Pair, x: Any) -> Array:
    return pair.layout.tau_from(pair.state["q"], x)


def _acceleration(pair: Pair, x: Any) -> Array:
    return pair.layout.a_from(pair.state["q"], pair.state["v"], x)


def _configuration(pair: Pair, x: Any) -> Array:
    return pair.layout.q_from(x)


def _velocity(pair: Pair, x: Any) -> Array:
    return np.linalg.solve(pair.t, x)


def _form(pair: Pair, x: Any) -> Array:
    """A matrix from velocities to forces."""
    return pair.t.T @ np.array(x) @ pair.t


def _mass_matrix(pair: Pair, x: Any) -> Array:
    upper = np.triu(x)
    return _form(pair, upper + np.triu(x, 1).T)


def _inverse_mass_matrix(pair: Pair, x: Any) -> Array:
    back, upper = np.linalg.inv(pair.t), np.triu(x)
    return back @ (upper + np.triu(x, 1).T) @ back.T


def _inverse_derivatives(pair: Pair, x: Any) -> Array:
    d = pair.names["d"]
    return np.array([_form(pair, d.dtau_dq), _form(pair, d.dtau_dv), _mass_matrix(pair, d.M)])


def _forward_derivatives(pair: Pair, x: Any) -> Array:
    d, back = pair.names["d"], np.linalg.inv(pair.t)
    by_state = [back @ matrix @ pair.t for matrix in (d.ddq_dq, d.ddq_dv)]
    return np.array([*by_state, _inverse_mass_matrix(pair, d.Minv)])


def _tangent_map(pair: Pair, x: Any) -> Array:
    """Matrices from tangent to tangent, one or two."""
    return np.array([np.linalg.solve(pair.t, matrix @ pair.t) for matrix in x])


def _integrate_jacobians(pair: Pair, x: Any) -> Array:
    """With respect to q and to v, where Pinocchio's is with respect to v dt."""
    by_q, by_v = _tangent_map(pair, x)
    return np.array([by_q, STEP * by_v])


def _columns(pair: Pair, x: Any) -> Array:
    return np.array(x) @ pair.t


def _swapped_columns(pair: Pair, x: Any) -> Array:
    return np.array(x)[_SWAPPED] @ pair.t


def _motion(pair: Pair, x: Any) -> Array:
    return np.array(x.vector)[_SWAPPED]


def _force(pair: Pair, x: Any) -> Array:
    return np.array(x.vector)


def _plain(pair: Pair, x: Any) -> Array:
    return np.atleast_1d(np.array(x))


def _poses(pair: Pair, x: Any) -> Array:
    """vec8 of all frames; of the two that are one pose, the one that we give, as of frames of our own."""
    from dqdyn.algebra.values import Pose

    d, m = pair.names["d"], pair.model
    rows = []
    for name, pose in pair.robot.poses(pair.state["q"]).items():
        own = pose.vec8()
        found = Pose.from_matrix(d.oMf[m.getFrameId(name)].homogeneous).vec8() if name in pair.shared else own
        rows.append(found if found @ own > 0.0 else -found)
    return np.array(rows)


def _regressor(pair: Pair, x: Any) -> Array:
    """Ten columns per body, in the order of our bodies."""
    blocks = np.array(x).reshape(len(x), -1, 10)
    order = [pair.model.getJointId(joint.name) - 1 for joint in pair.robot.joints]
    return pair.t.T @ blocks[:, order].reshape(len(x), -1)


def _jacobian(expressed: str, name: str) -> list[Peer]:
    options = {"expressed": expressed}
    rate = "pin.frameJacobianTimeVariation"
    return [
        Peer(
            "twist_jacobian",
            ("q",),
            f"pin.computeFrameJacobian(m, d, q, i, {name})",
            _swapped_columns,
            of_frame=True,
            options=options,
        ),
        Peer(
            "twist_jacobian_derivative",
            ("q", "v"),
            f"{rate}(m, d, q, v, i, {name})",
            _swapped_columns,
            of_frame=True,
            options=options,
        ),
    ]


_FEW = (20.0, 15.0)  # batches of results with O(nv) numbers
_MOVES = (8.0, 8.0)
PEERS: tuple[Peer, ...] = (
    Peer("inverse_dynamics", ("q", "v", "a"), "pin.rnea(m, d, q, v, a)", _tau, batch=_FEW),
    Peer("forward_dynamics", ("q", "v", "tau"), "pin.aba(m, d, q, v, tau)", _acceleration, batch=_FEW),
    Peer("bias_forces", ("q", "v"), "pin.nonLinearEffects(m, d, q, v)", _tau, batch=_FEW),
    Peer("gravity_forces", ("q",), "pin.computeGeneralizedGravity(m, d, q)", _tau, batch=_FEW),
    Peer("mass_matrix", ("q",), "pin.crba(m, d, q)", _mass_matrix),
    Peer("inverse_mass_matrix", ("q",), "pin.computeMinverse(m, d, q)", _inverse_mass_matrix),
    Peer("coriolis_matrix", ("q", "v"), "pin.computeCoriolisMatrix(m, d, q, v)", _form, at_least=(6.0, 5.0)),
    Peer(
        "inverse_dynamics_derivatives",
        ("q", "v", "a"),
        "pin.computeRNEADerivatives(m, d, q, v, a)",
        _inverse_derivatives,
    ),
    Peer(
        "forward_dynamics_derivatives",
        ("q", "v", "tau"),
        "pin.computeABADerivatives(m, d, q, v, tau)",
        _forward_derivatives,
        at_least=(8.0, 5.0),
    ),
    Peer("torque_regressor", ("q", "v", "a"), "pin.computeJointTorqueRegressor(m, d, q, v, a)", _regressor),
    Peer("kinetic_energy", ("q", "v"), "pin.computeKineticEnergy(m, d, q, v)", _plain, batch=_FEW),
    Peer("potential_energy", ("q",), "pin.computePotentialEnergy(m, d, q)", _plain, batch=_FEW),
    Peer("center_of_mass", ("q",), "pin.centerOfMass(m, d, q)", _plain, batch=_FEW),
    Peer("center_of_mass_velocity", ("q", "v"), "pin.centerOfMass(m, d, q, v); d.vcom[0]", _plain, batch=_FEW),
    Peer("center_of_mass_jacobian", ("q",), "pin.jacobianCenterOfMass(m, d, q)", _columns),
    Peer("centroidal_momentum", ("q", "v"), "pin.computeCentroidalMomentum(m, d, q, v)", _force, batch=_FEW),
    Peer("centroidal_momentum_matrix", ("q",), "pin.computeCentroidalMap(m, d, q)", _columns),
    Peer(
        "centroidal_momentum_matrix_derivative",
        ("q", "v"),
        "pin.computeCentroidalMapTimeVariation(m, d, q, v)",
        _columns,
    ),
    Peer("poses", ("q",), "pin.framesForwardKinematics(m, d, q)", _poses),
    Peer(
        "twist",
        ("q", "v"),
        "pin.forwardKinematics(m, d, q, v); pin.getFrameVelocity(m, d, i, LOCAL)",
        _motion,
        batch=_FEW,
        of_frame=True,
    ),
    Peer(
        "twist_rate",
        ("q", "v", "a"),
        "pin.forwardKinematics(m, d, q, v, a); pin.getFrameAcceleration(m, d, i, LOCAL)",
        _motion,
        batch=_FEW,
        of_frame=True,
    ),
    *_jacobian("body", "LOCAL"),
    *_jacobian("world", "WORLD"),
    *_jacobian("aligned", "ALIGNED"),
    Peer("integrate", ("q", "v", "dt"), "pin.integrate(m, q, step)", _configuration, (2.0, 2.0), _MOVES),
    Peer("difference", ("q", "q1"), "pin.difference(m, q, q1)", _velocity, (2.0, 2.0), _MOVES),
    Peer("integrate_jacobians", ("q", "v", "dt"), "pin.dIntegrate(m, q, step)", _integrate_jacobians),
    Peer("difference_jacobians", ("q", "q1"), "pin.dDifference(m, q, q1)", _tangent_map),
)
"""Every function that both libraries have."""
