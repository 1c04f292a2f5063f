"""The papers that dqdyn cites, and the numbers that a citation may use: facts, taken from the printed papers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A paper by its short name; ``items`` maps a kind such as "eq." or "table" to the keys that exist."""

    title: str
    authors: tuple[str, ...]
    year: int
    items: dict[str, tuple[str, ...]]


def numbers(last: int, prefix: str = "", first: int = 1) -> tuple[str, ...]:
    """("1", "2", …, last), each with a prefix."""
    return tuple(f"{prefix}{i}" for i in range(first, last + 1))


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
    ),
}
