"""The papers that dqdyn cites, and the numbers that a citation may use: facts, taken from the printed papers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A paper by its short name; ``items`` maps a kind such as "eq." or "table" to the keys that exist.

    ``without`` holds (kind, keys, reason) of items that no function implements.
    """

    title: str
    authors: tuple[str, ...]
    year: int
    items: dict[str, tuple[str, ...]]
    without: tuple[tuple[str, tuple[str, ...], str], ...] = ()

    def reason(self, kind: str, key: str) -> str:
        """Why no function implements an item; empty where one does."""
        return next((reason for k, keys, reason in self.without if k == kind and key in keys), "")


def numbers(last: int, prefix: str = "", first: int = 1) -> tuple[str, ...]:
    """("1", "2", …, last), each with a prefix."""
    return tuple(f"{prefix}{i}" for i in range(first, last + 1))


PROOF_STEP = "A step of the proof"
STEP = "An intermediate step"

PAPERS: dict[str, Paper] = {
    "Silva": Paper(
        title="Dynamics of Mobile Manipulators using Dual Quaternion Algebra",
        authors=("Frederico Fernandes Afonso Silva", "Juan José Quiroz-Omaña", "Bruno Vilhena Adorno"),
        year=2022,
        items={
            "eq.": numbers(61),
            "def.": ("2.2",),
            "lemma": ("2.1",),
            "remark": numbers(2),
            "table": numbers(3),
            "fig.": numbers(3),
            "section": (
                *("1", "1.1", "2", "3", "3.1", "3.1.1", "3.1.2", "3.2", "3.2.1", "3.2.2"),
                *("4", *numbers(5, "4."), "5", *numbers(3, "5."), "6"),
            ),
        },
        without=(
            ("eq.", ("10",), f"{PROOF_STEP} of Lemma 2.1, equation (9)."),
            ("eq.", ("17",), "The second body of the recursion (18), (19), written out."),
            ("eq.", ("38",), f"{STEP} from (37) to (40): the same forces with Euler's law not yet inserted."),
        ),
    ),
    "Bouyarmane": Paper(
        title="On the Dynamics Modeling of Free-Floating-Base Articulated Mechanisms and Applications to Humanoid "
        "Whole-Body Dynamics and Control",
        authors=("Karim Bouyarmane", "Abderrahmane Kheddar"),
        year=2012,
        items={
            "eq.": numbers(38),
            "remark": numbers(4),
            "table": numbers(2),  # printed I and II
            "fig.": numbers(4),
            "section": numbers(7),  # printed I to VII
        },
        without=(
            ("eq.", ("7",), f"{PROOF_STEP} of (10): the identity (8) for a single vector."),
            ("eq.", ("9",), f"{PROOF_STEP} of (10): (8) applied to the columns of R₀."),
            ("eq.", ("20",), "(19) in the axes of the base; Jacobians here are with respect to the world."),
        ),
    ),
    "Farias": Paper(
        title="A Novel Dual Quaternion Based Cost Efficient Recursive Newton-Euler Inverse Dynamics Algorithm",
        authors=("Cristiana Miranda de Farias", "Luis Felipe da Cruz Figueredo", "João Yoshiyuki Ishihara"),
        year=2019,
        items={
            "eq.": numbers(79),
            "algorithm": ("1",),
            "table": numbers(4),
            "fig.": numbers(5),
            "section": ("1", "2", *numbers(3, "2."), "3", "4", "5", *numbers(4, "5."), "6", "7", "8"),
        },
    ),
    "Quiroz": Paper(
        title="Doctoral thesis, Federal University of Minas Gerais",
        authors=("Juan José Quiroz-Omaña",),
        year=2021,
        items={
            "eq.": (
                *numbers(9, "3."),
                *numbers(62, "4."),
                *numbers(71, "5."),
                *numbers(7, "6."),
                *numbers(27, "A."),
                *numbers(9, "B."),
            ),
            "def.": numbers(23, "A."),
            "lemma": numbers(2, "4."),
            "proposition": numbers(2, "4."),
            "remark": ("4.1", "5.1", "A.1", "A.2"),
            "algorithm": ("5.1",),
            "table": (*numbers(3, "2."), "3.1", *numbers(4, "5."), *numbers(4, "6.")),
            "fig.": (
                *numbers(3, "1."),
                *numbers(2, "2."),
                *numbers(3, "3."),
                *numbers(17, "4."),
                *numbers(3, "5."),
                *numbers(24, "6."),
                "A.1",
            ),
            "section": (
                *numbers(7),
                *numbers(3, "1."),
                *numbers(4, "2."),
                *numbers(3, "3."),
                *numbers(5, "4."),
                *numbers(2, "4.5."),
                *numbers(5, "5."),
                *numbers(3, "5.2."),
                *numbers(2, "5.3."),
                *numbers(3, "5.4."),
                "5.5.1",
                *numbers(3, "6."),
                *numbers(3, "6.1."),
                *numbers(3, "6.2."),
                *numbers(2, "6.3."),
                *("A", "A.1", "A.1.1", "A.1.2", "B"),
            ),
        },
        without=(
            (
                "eq.",
                numbers(15, "4.", 9),
                f"{PROOF_STEP} of Lemma 4.1: the solution of the equation, up to (4.16).",
            ),
            ("eq.", ("4.18",), f"{PROOF_STEP} of Lemma 4.1: comparison of the inequality with the equation."),
            ("eq.", ("5.4",), "(A.24) for a center of mass, with its parts stacked."),
            ("eq.", ("5.10",), f"{STEP} from (5.9) to (5.12): the same forces with Euler's law not yet inserted."),
            ("eq.", ("5.23",), "Notation: τ and f of (5.18), stacked; wrenches here keep the order f + ετ."),
            ("eq.", ("5.28",), f"{STEP} from (5.25) to (5.29): the forces are those of (5.17)."),
            ("eq.", ("5.50", "5.51"), f"{STEP} to (5.52): the pose of a body behind the base, and its rate."),
            ("eq.", ("5.56",), f"{STEP} from (5.55) to (5.57): the rate of the unit norm."),
            ("eq.", ("A.12",), f"{STEP} to (4.21); derivatives of squared distances come from jets."),
            ("eq.", ("A.22", "A.23"), f"{PROOF_STEP} of (A.24)."),
            ("eq.", ("A.26",), f"{PROOF_STEP} of (A.27)."),
            ("eq.", ("B.2",), f"{STEP} from (B.1) to (B.3)."),
            ("eq.", numbers(8, "B.", 4), f"{PROOF_STEP} that multipliers (B.1) and Udwadia-Kalaba (B.9) agree."),
            ("table", numbers(3, "2."), "A survey of the literature."),
        ),
    ),
    "Parsa": Paper(
        title="The Lagrangian Derivation of Kane's Equations",
        authors=("Kourosh Parsa",),
        year=2007,
        items={
            "eq.": (*numbers(46), *numbers(8, "A-"), *numbers(19, "B-", first=9)),
            "theorem": numbers(2),
            "corollary": ("1",),
            "section": ("1", "2", "3", *numbers(4, "3."), "4", "5", "A", "B"),
        },
        without=(
            ("eq.", ("1", "2"), "The principle of virtual work, from which (3) and (4) follow."),
            ("eq.", ("7",), "The principle behind (9): virtual displacements lie in the null space of A."),
            ("eq.", ("A-1", "A-4"), "(17) repeated."),
            ("eq.", ("A-2", "A-3"), f"{PROOF_STEP} of Theorem 1."),
            ("eq.", ("A-5",), "(16) repeated."),
            ("eq.", ("A-6",), "Theorem 1 in world axes; angular rows are in body axes here. A test checks it."),
            ("eq.", ("A-7",), "(40) repeated."),
            ("eq.", ("A-8",), f"{PROOF_STEP} of Theorem 2."),
            (
                "eq.",
                numbers(19, "B-", first=9),
                "Products of quaternions in the order (x, y, z, w), for the proofs.",
            ),
        ),
    ),
}
