"""The state at which the program of a whole-body controller is traced: with contacts, their forces and motors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

import numpy as np

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.scalar import Scalar, total
from dqdyn.caching import cached_property
from dqdyn.constraints import assembled
from dqdyn.constraints.methods.sparse import Sparse, less_share, sparse
from dqdyn.contacts.axes import slide
from dqdyn.contacts.contact import Contact
from dqdyn.control.core.command_constraint import Context
from dqdyn.control.whole_body.contact_motion import ANCHOR_SIZE, ContactMotion, contact_motion, home_of
from dqdyn.control.whole_body.elimination import Elimination, Equality, Plan
from dqdyn.errors import unknown_name
from dqdyn.model.model import Model

_BLOCKED = 1e-9  # of a direction that other rows leave of it
ANGULAR, LINEAR = slice(0, 3), slice(3, 6)
"""Of twists [ω, v]; forces do work on the second part, moments on the first."""


@dataclass(frozen=True)
class Contacts:
    """The contacts of a controller: their unknowns, where these are in u, and which free body each is written in.

    u holds the accelerations (nv), the forces of every contact, and the multipliers of the robot's own constraints.
    A contact with a whole wrench, or a whole force, has it in the axes of its home; others have φ itself.
    ``mixed``: contacts, and constraints of the robot, by name, some of whose rows depend on others, each time other
    ones.
    """

    model: Model
    actuated: tuple[bool, ...]
    contacts: tuple[Contact, ...]
    rate: float
    mixed: frozenset[str] = frozenset()

    @cached_property
    def bases(self) -> list[np.ndarray]:
        """(6, k) of each contact, from φ to its wrench [f, τ]."""
        return [np.asarray(contact.wrench_basis) for contact in self.contacts]

    @cached_property
    def parts(self) -> list[slice]:
        """Where φ of each contact is among all of them."""
        ends = np.cumsum([0, *(basis.shape[1] for basis in self.bases)]).tolist()
        return [slice(a, b) for a, b in pairwise(ends)]

    @cached_property
    def forces(self) -> int:
        """How many φ there are."""
        return self.parts[-1].stop if self.parts else 0

    @cached_property
    def homes(self) -> list[int | None]:
        return [home_of(self.model, contact, self.actuated) for contact in self.contacts]

    def is_whole(self, i: int) -> bool:
        """Whether the contact has every force, and either every moment or none: then it may be turned."""
        basis = self.bases[i]
        return basis.shape in ((6, 3), (6, 6)) and bool((basis == np.eye(6)[:, : basis.shape[1]]).all())

    @property
    def scale(self) -> float:
        """N per unit of the force unknowns, so that they are of the size of accelerations."""
        return max(self.model.mass, 1e-3)

    def index(self, name: str) -> int:
        """The contact of that name."""
        names = [contact.name for contact in self.contacts]
        if name not in names:
            raise unknown_name("contact", name, names)
        return names.index(name)


@dataclass
class WholeBodyContext(Context):
    """Also gives forms in the contact forces φ, and the elimination of all equalities."""

    contacts: Contacts = field(kw_only=True)
    anchors: list[Scalar] = field(kw_only=True)
    time: Scalar = field(kw_only=True, default=0.0)
    plan: Plan = field(kw_only=True, default=Plan())

    # --- for tasks on forces --------------------------------------------------------------------------------------

    def wrench(self, name: str) -> list[list[Scalar]]:
        """The six rows over φ of a contact's wrench [f_t1, f_t2, f_n, τ_t1, τ_t2, τ_n]."""
        i = self.contacts.index(name)
        rows = np.zeros((6, self.contacts.forces))
        rows[:, self.contacts.parts[i]] = self.contacts.bases[i]
        result: list[list[Scalar]] = rows.tolist()
        return result

    def contact_frame(self, name: str) -> Adjoint:
        """The contact frame in the world: ``.columns`` t1, t2, n and ``.p`` in m."""
        return self.motions[self.contacts.index(name)].in_world

    # --- the unknowns ---------------------------------------------------------------------------------------------

    @cached_property
    def motions(self) -> list[ContactMotion]:
        """Every contact at this state."""
        given = self.contacts
        anchors = [self.anchors[ANCHOR_SIZE * i : ANCHOR_SIZE * (i + 1)] for i in range(len(given.contacts))]
        parts = zip(given.contacts, given.homes, anchors, strict=True)
        return [contact_motion(self.state, contact, home, anchor) for contact, home, anchor in parts]

    @cached_property
    def own_rows(self) -> tuple[list[Sparse], list[Scalar]]:
        """A and b of the robot's own constraints."""
        a, b = assembled.acceleration(self.model, self.q, self.v, self.time)
        rows = zip(map(sparse, a), b, assembled.names(self.model), strict=True)
        found: list[Equality] = []
        for name, group in groupby((Equality(row, right, None, name) for row, right, name in rows), lambda e: e.name):
            of_one = list(group)
            found += mixed(of_one) if name in self.contacts.mixed else of_one
        return [e.row for e in found], [e.right for e in found]

    @property
    def unknowns(self) -> int:
        return self.model.nv + self.contacts.forces + len(self.own_rows[0])

    def of_forces(self, row: Sequence[Scalar]) -> Sparse:
        """A row over φ as one over u."""
        result: Sparse = {}
        nv, scale = self.model.nv, self.contacts.scale
        for i, part in enumerate(self.contacts.parts):
            entries = list(row[part])
            if self.contacts.is_whole(i):  # φ = Rᵀ ψ, the force and the moment alike
                axes = self.motions[i].axes
                turned = [axes[0] * a + axes[1] * b + axes[2] * c for a, b, c in _threes(entries)]
                entries = [c for vector in turned for c in vector.vector]
            result |= {nv + part.start + k: c * scale for k, c in sparse(entries).items()}
        return result

    def wrench_at_home(self, i: int) -> list[Sparse]:
        """Rows over u of the moment and the force of contact i, paired with its ``motion.rows`` [ω, v]."""
        given, motion = self.contacts, self.motions[i]
        first, scale = self.model.nv + given.parts[i].start, given.scale
        if given.is_whole(i):
            force: list[Sparse] = [{first + k: scale} for k in range(3)]
            has_moment = given.bases[i].shape[1] == 6
            return [*([{first + 3 + k: scale} for k in range(3)] if has_moment else [{}] * 3), *force]
        rows: list[Sparse] = [{} for _ in range(6)]
        for k, column in enumerate(given.bases[i].T.tolist()):
            for at, part in ((0, column[3:]), (3, column[:3])):
                t1, t2, n = (axis * c for axis, c in zip(motion.axes, part, strict=True))
                for j, c in sparse((t1 + t2 + n).vector).items():
                    rows[at + j][first + k] = c * scale
        return rows

    @cached_property
    def equations_of_motion(self) -> list[tuple[Sparse, Scalar]]:
        """Per axis what its motor has to give, as a form in u: M a + n − Σ Jᵀ w − Aᵀ λ."""
        matrix, bias = self.mass_and_bias
        forms = [(sparse(row), n) for row, n in zip(matrix, bias, strict=True)]
        for i, motion in enumerate(self.motions):
            for columns, wrench in zip(motion.rows, self.wrench_at_home(i), strict=True):
                for k, c in columns.items():
                    forms[k] = less_share(forms[k][0], c, wrench), forms[k][1]
        first, scale = self.model.nv + self.contacts.forces, self.contacts.scale
        for j, row in enumerate(self.own_rows[0]):
            for k, c in row.items():
                forms[k] = less_share(forms[k][0], c, {first + j: scale}), forms[k][1]
        return forms

    @cached_property
    def equalities(self) -> list[Equality]:
        """The robot's constraints, its contacts, and the equation of motion where there is no motor."""
        claimed: dict[int, int] = {}  # axes of homes that a contact holds, and its force there
        rows = zip(*self.own_rows, assembled.names(self.model), strict=True)
        own = [Equality(row, right, None, name) for row, right, name in rows]
        contacts: list[Equality] = []
        for i in range(len(self.motions)):
            rows_of = self._contact_rows(i, claimed)
            contacts += mixed(rows_of) if self.contacts.contacts[i].name in self.contacts.mixed else rows_of
        return [*own, *contacts, *self._unmotored(claimed)]

    @cached_property
    def elimination(self) -> Elimination:
        first = self.model.nv + self.contacts.forces
        own = [j for j in range(len(self.own_rows[0])) if j in self.plan.dependent]
        without = [Equality({first + j: 1.0}, 0.0, first + j) for j in own]  # its force is that of the others
        return Elimination(self.unknowns, [*self.equalities, *without], self.plan)

    def _contact_rows(self, i: int, claimed: dict[int, int]) -> list[Equality]:
        """T (rate of the twist + 2ρ twist + ρ² error) = 0, with ρ the rate at which drift decays."""
        contact, motion, rate = self.contacts.contacts[i], self.motions[i], self.contacts.rate
        triples = zip(motion.bias, motion.twist, motion.error, strict=True)
        rights = [-(b + (2.0 * rate) * v + (rate * rate) * e) for b, v, e in triples]
        kept = np.asarray(contact.motion_rows)
        if _is_part_of_identity(kept):
            home = self.contacts.homes[i]
            # Rotations first: the rows of displacements have entries for them.
            result = []
            for k in np.flatnonzero(kept.any(axis=0)).tolist():
                pivot = None if home is None else self.model.joints[home].v.start + k
                if pivot in claimed or not self.contacts.is_whole(i):
                    pivot = None
                if pivot is not None:
                    # φ has forces first, v has rotations first.
                    claimed[pivot] = self.model.nv + self.contacts.parts[i].start + (k + 3) % 6
                result.append(Equality(motion.rows[k], rights[k], pivot, contact.name, home is not None))
            return result
        columns = sorted({k for row in motion.rows for k in row})
        turned = {k: motion.in_contact_axes([row.get(k, 0.0) for row in motion.rows]) for k in columns}
        right = motion.in_contact_axes(rights)
        has_home = self.contacts.homes[i] is not None
        return [
            Equality(
                {k: _weighted(weights, c) for k, c in turned.items()},
                _weighted(weights, right),
                None,
                contact.name,
                has_home,
            )
            for weights in kept.tolist()
        ]

    def _unmotored(self, claimed: dict[int, int]) -> list[Equality]:
        """Axes without a motor get no force.

        Where a contact holds the axis, the equation gives the force of the contact there; else the acceleration, whose
        coefficient is an inertia: that of all that still moves with the axis.
        """
        result = []
        for joint in (j for j in self.model.joints if j.master is None):
            axes = [k for k in range(joint.v.start, joint.v.stop) if not self.contacts.actuated[k]]
            # Forces before moments, which have arms in them.
            for k in sorted(axes, key=lambda k: joint.kind == "free" and k - joint.v.start < 3):
                row, bias = self.equations_of_motion[k]
                result.append(Equality(row, -bias, claimed.get(k, k), f"no motor: {joint.name}"))
        return result


def blocked_slides(context: WholeBodyContext) -> set[str]:
    """Sliding contacts that cannot move along their first direction at a state of numbers, by name.

    Of the equalities, those of motion count alone: dynamics may determine how fast it slides.
    """
    found: set[str] = set()
    sliding = [i for i, contact in enumerate(context.contacts.contacts) if contact.mode == "sliding"]
    if not sliding:
        return found
    held = [e.row for i in range(len(context.motions)) for e in context._contact_rows(i, {})]
    rows = _dense([*context.own_rows[0], *held], context.model.nv)
    for i in sliding:
        contact, motion = context.contacts.contacts[i], context.motions[i]
        first, second = slide(contact)[0].tolist()
        along = np.array((motion.axes[0] * first + motion.axes[1] * second).vector, dtype=float)
        row = along @ _dense(motion.rows[LINEAR], context.model.nv)
        left = row - np.linalg.lstsq(rows.T, row, rcond=None)[0] @ rows
        if np.abs(left).max() < _BLOCKED * max(np.abs(row).max(), 1e-300):
            found.add(contact.name)
    return found


def doubly_held(context: WholeBodyContext) -> set[str]:
    """The robot's own constraints, by name, that ask for something that the contacts ask for, at a state of numbers."""
    nv, names = context.model.nv, assembled.names(context.model)
    held = _dense([e.row for i in range(len(context.motions)) for e in context._contact_rows(i, {})], nv)
    own = _dense(context.own_rows[0], nv)
    found = set()
    for name in set(names):
        rows = own[[name == other for other in names]]
        if _rank(np.vstack([held, rows])) < _rank(held) + _rank(rows):
            found.add(name)
    return found


def _rank(rows: np.ndarray) -> int:
    return int(np.linalg.matrix_rank(rows, _BLOCKED)) if len(rows) else 0


def mixed(equalities: Sequence[Equality]) -> list[Equality]:
    """The same equalities, those without a pivot as combinations of each other by a constant orthogonal matrix.

    Of rows in axes that turn with a body, now these and now those depend on others. Of such combinations, as many as
    there are independent rows ask for all that the rows do, at whatever state.
    """
    rows = [e for e in equalities if e.pivot is None]
    weights = np.linalg.qr(np.random.default_rng(0).standard_normal((len(rows), len(rows))))[0].tolist()
    result = [e for e in equalities if e.pivot is not None]
    for line in weights:
        row: Sparse = {}
        for w, e in zip(line, rows, strict=True):
            row = less_share(row, -w, e.row)
        right = total([w * e.right for w, e in zip(line, rows, strict=True)])
        result.append(replace(rows[0], row=row, right=right))
    return result


def _dense(rows: Sequence[Sparse], width: int) -> np.ndarray:
    result = np.zeros((len(rows), width))
    for i, row in enumerate(rows):
        for k, c in row.items():
            result[i, k] = c
    return result


def _weighted(weights: list[float], terms: list[Scalar]) -> Scalar:
    return total([0.0, *(w * c for w, c in zip(weights, terms, strict=True) if w)])


def _threes(entries: list[Scalar]) -> list[list[Scalar]]:
    return [entries[k : k + 3] for k in range(0, len(entries), 3)]


def _is_part_of_identity(rows: np.ndarray) -> bool:
    """Whether the rows hold all rotations, all displacements, or both: then they hold in any axes."""
    held = np.asarray(rows.any(axis=0))
    return bool(
        np.isin(rows, (0.0, 1.0)).all()
        and rows.sum() == held.sum() == len(rows)
        and all(held[part].all() or not held[part].any() for part in (ANGULAR, LINEAR))
    )
