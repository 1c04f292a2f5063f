"""Damage to XML that knows its structure: elements and attributes dropped, doubled, moved, renamed, replaced."""

from __future__ import annotations

import random
from collections.abc import Sequence
from xml.etree import ElementTree

from .mutate import damaged_text, odd_number, odd_text


def damaged_xml(rng: random.Random, text: str, words: Sequence[str] = (), most: int = 4) -> str:
    """The text with a few changes; ``words`` are values and tags that the format knows."""
    if rng.random() < 0.08:
        return damaged_text(rng, text)
    root = ElementTree.fromstring(text)
    for _ in range(rng.randint(1, most)):
        _change(rng, root, words)
    result = ElementTree.tostring(root, encoding="unicode")
    return damaged_text(rng, result, 1) if rng.random() < 0.05 else result


def _change(rng: random.Random, root: ElementTree.Element, words: Sequence[str]) -> None:
    elements = list(root.iter())
    element = rng.choice(elements)
    pairs = [(parent, child) for parent in elements for child in parent]
    how = rng.randrange(10)
    if how < 5:
        with_attributes = [e for e in elements if e.attrib]
        if with_attributes:
            element = rng.choice(with_attributes)
            key = rng.choice(sorted(element.attrib))
            value = _value(rng, element.attrib[key], words)
            if rng.random() < 0.9:  # XML has no control characters: these cases would end at the parser
                value = "".join(c for c in value if c >= " ")
            element.attrib[key] = value
    elif how == 5 and element.attrib:
        del element.attrib[rng.choice(sorted(element.attrib))]
    elif how == 6:
        other = rng.choice(elements)
        if other.attrib:
            key = rng.choice(sorted(other.attrib))
            element.attrib[key] = other.attrib[key]
    elif pairs:
        parent, child = rng.choice(pairs)
        target = rng.choice(elements)
        inside = any(e is target for e in child.iter())
        if how == 7:
            parent.remove(child)
        elif how == 8 and not inside:
            target.append(child)  # now in two places
        elif how == 9 and not inside:
            parent.remove(child)
            target.append(child)


def _value(rng: random.Random, old: str, words: Sequence[str]) -> str:
    """An odd value; where there are several numbers, mostly one of them is odd."""
    parts = old.split()
    try:
        [float(part) for part in parts]
    except ValueError:
        return rng.choice(words) if words and rng.random() < 0.7 else odd_text(rng)
    if not parts or rng.random() < 0.1:
        return odd_text(rng)
    if rng.random() < 0.5:  # a number that many readers accept: these cases go deepest
        parts[rng.randrange(len(parts))] = repr(rng.choice((0.0, -1.0, 1.0, 0.5, rng.uniform(-3.0, 3.0), 1e-7, 1e7)))
    else:
        parts[rng.randrange(len(parts))] = odd_number(rng)
    if rng.random() < 0.05:
        parts = parts[: rng.randrange(len(parts))] or parts * 2
    return " ".join(parts)
