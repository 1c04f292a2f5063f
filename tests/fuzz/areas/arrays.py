"""Arrays in every form at the door of compiled functions: results are those of the interpreter, or a clear refusal."""

from __future__ import annotations

import math
import random
from functools import cache
from typing import Any

import numpy as np

from dqdyn.errors import Error

from ..cases import Area, Case
from .array_forms import BAD_FORMS, FORMS, SCALAR_FORMS, WHOLE_FORMS, ZERO_FORMS, in_form
from .array_robots import (
    INFINITE,
    LARGE,
    METHODS,
    NAN,
    PLAIN,
    ROBOTS,
    WHOLE,
    ZERO,
    answers,
    function,
    functions_of,
    pools,
    reference,
    robot,
)

SIZES = (0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33)
EMPTY_BAD = ("hidden", "huge integers", "decimals", "object of complex", "fractions with text")
OUTS = ("none",) * 6 + ("plain", "gaps", "transposed", "alias", "overlap", "unaligned")
BAD_OUTS = ("read-only", "shape", "float32", "byte order", "list", "integers")
TOLERANCE, LARGE_TOLERANCE = 1e-11, 1e-5  # of the row's largest number; at 1e5 differences of squares lose ten digits


class Fuzzed(Area):
    """A call: of which function, with what in which form, into what, on how many threads."""

    weight, chunk = 60.0, 4000

    def prepare(self) -> None:
        for name in ROBOTS:
            for which in functions_of(name):
                answers(name, which)
                for batch in ((), (2,)):  # code for one state and for many
                    function(name, which)(*(np.zeros((*batch, *_shape(x))) for x in _inputs(name, which)), check=False)

    def make(self, rng: random.Random) -> Case:
        name = rng.choice(tuple(ROBOTS))
        which = rng.choice(functions_of(name))
        batch = _batch(rng)
        case: Case = {"robot": name, "function": which, "inputs": []}
        for _ in pools(name, which):
            case["inputs"].append(_one_input(rng, batch))
        if rng.random() < 0.15:
            rng.choice(case["inputs"])["form"] = rng.choice(tuple(BAD_FORMS))
        if (out := rng.choice(OUTS if rng.random() < 0.9 else BAD_OUTS)) != "none":
            case["out"] = out
        if rng.random() < 0.3:
            case["check"] = rng.random() < 0.3
        if rng.random() < 0.3:
            case["threads"] = rng.choice((1, 2, 2, 3, 8))
        elif rng.random() < 0.03:
            case["threads"] = rng.choice((0, -1, 1.5, "2", 2**40, None))
        if which in METHODS and rng.random() < 0.3 and "threads" not in case:
            case["method"] = True
        if rng.random() < 0.1:
            case["named"] = True
        return case

    def check(self, case: Case) -> str:
        name, which = case["robot"], case["function"]
        entries, inputs, must_refuse, loose = [], [], False, False
        for given, (what, values) in zip(case["inputs"], _inputs(name, which), strict=True):
            index = _index(given)
            entries.append(index)
            form = given.get("form", "plain")
            array = values[index][..., 0] if what == "dt" else values[index]
            inputs.append(in_form(form, array))
            must_refuse |= form in BAD_FORMS and not _is_sound(form, array, what)
            loose |= form == "many axes" or (what == "dt" and form in ("number", "too long", "too short"))
        batch = np.broadcast_shapes(*(e.shape for e in entries))
        expected = answers(name, which)[tuple(np.broadcast_arrays(*entries))]
        unfit = any(e.size and e.max() >= NAN for e in entries)
        unfit = unfit and case.get("check", True)
        must_refuse |= unfit and math.prod(batch) > 0 and name != "still"
        out = _out(case.get("out", "none"), expected.shape, inputs)
        must_refuse |= case.get("out") in BAD_OUTS
        threads = case.get("threads", 1)
        may_refuse = loose or unfit or threads == 2**40
        must_refuse |= not isinstance(threads, int) or threads < 1
        try:
            found = _call(case, name, which, inputs, out)
        except Error:
            assert must_refuse or may_refuse, "sound arrays are refused"
            raise
        if loose:
            return "accepted"
        assert not must_refuse, "unsound arrays are accepted"
        assert out is None or found is out, "the result is not out"
        _compare(found, expected, entries)
        return "compared with the interpreter"


@cache
def _inputs(name: str, which: str) -> list[tuple[str, np.ndarray]]:
    """Name and pool of every input."""
    names = [what for what, _ in reference(name, which).program.inputs]
    return list(zip(names, pools(name, which), strict=True))


def _shape(given: tuple[str, np.ndarray]) -> tuple[int, ...]:
    what, values = given
    return () if what == "dt" else values.shape[1:]


def _is_sound(form: str, array: np.ndarray, what: str) -> bool:
    """Bad forms that are sound here: a time is a number, and nothing is hidden where nothing is."""
    if not array.size and form in EMPTY_BAD:
        return True
    if what == "dt":
        return form in ("number", "too long", "too short", "many axes") or (not array.ndim and form not in SCALAR_FORMS)
    if form in ("too short", "too long"):
        return not array.shape[-1]
    return form == "many axes"


def _batch(rng: random.Random) -> list[int]:
    if rng.random() < 0.02:
        return [rng.randint(600, 3000)]
    sizes = [rng.choice(SIZES) for _ in range(rng.choice((0, 0, 1, 1, 1, 2, 3)))]
    return sizes if math.prod(sizes) <= 600 else sizes[:1]


def _one_input(rng: random.Random, batch: list[int]) -> Case:
    shape = batch[rng.choice((0, 0, 0, rng.randint(0, len(batch)))) :]
    shape = [1 if rng.random() < 0.1 else n for n in shape]
    given: Case = {"batch": shape}
    pick = rng.random()
    allowed: tuple[int, ...] = (ZERO, WHOLE, *PLAIN, *PLAIN)
    if pick < 0.6:
        given["form"] = rng.choice(tuple(FORMS))
        if rng.random() < 0.1:
            allowed = (*allowed, rng.choice((LARGE, NAN, INFINITE)))
    elif pick < 0.7:
        given["form"], allowed = rng.choice(tuple(WHOLE_FORMS)), (ZERO, WHOLE)
    elif pick < 0.72:
        given["form"], allowed = rng.choice(tuple(ZERO_FORMS)), (ZERO,)
    given["rows"] = [rng.choice(allowed) for _ in range(max(1, min(math.prod(shape), 12)))]
    return given


def _index(given: Case) -> np.ndarray:
    """Which entry of the pool stands where."""
    shape = tuple(given.get("batch", ()))
    return np.resize(np.array(given.get("rows") or [ZERO]), shape)


def _out(kind: str, shape: tuple[int, ...], inputs: list[Any]) -> Any:
    if kind == "none":
        return None
    if kind == "gaps":
        return np.full((*shape[:-1], 2 * shape[-1]), 7.0)[..., ::2]
    if kind == "transposed":
        return np.full(shape[::-1], 7.0).T
    if kind == "unaligned":
        return (
            np.zeros(8 * math.prod(shape) + 8, np.uint8)[1 : 1 + 8 * math.prod(shape)].view(np.float64).reshape(shape)
        )
    if kind in ("alias", "overlap"):
        return _shared(shape, inputs, 3 if kind == "overlap" else 0)
    if kind == "read-only":
        result = np.zeros(shape)
        result.setflags(write=False)
        return result
    bad = {"shape": (*shape, 1), "float32": "f4", "byte order": ">f8", "integers": "i8", "list": None}
    if kind in bad:
        what = bad[kind]
        return np.zeros(what) if kind == "shape" else np.zeros(shape, what) if what else np.zeros(shape).tolist()
    return np.full(shape, 7.0)


def _shared(shape: tuple[int, ...], inputs: list[Any], offset: int) -> np.ndarray:
    """A result on the memory of the first plain input."""
    size = math.prod(shape)
    for k, given in enumerate(inputs):
        if type(given) is np.ndarray and given.dtype == np.float64:
            raw = np.full(size + given.size + offset, 7.0)
            moved = raw[offset : offset + given.size].reshape(given.shape)
            moved[...] = given
            inputs[k] = moved
            return raw[:size].reshape(shape)
    return np.full(shape, 7.0)


def _call(case: Case, name: str, which: str, inputs: list[Any], out: Any) -> np.ndarray:
    options = {key: case[key] for key in ("check", "threads") if key in case}
    if out is not None:
        options["out"] = out
    if case.get("method") and which in METHODS and "threads" not in case:
        target = getattr(robot(name), which)
    else:
        target = function(name, which)
    if case.get("named"):
        names = [what for what, _ in _inputs(name, which)]
        return target(**dict(zip(names, inputs, strict=True)), **options)
    return target(*inputs, **options)


def _compare(found: Any, expected: np.ndarray, entries: list[np.ndarray]) -> None:
    assert type(found) is np.ndarray, "the result is not an array"
    assert found.dtype == np.float64, "the result is not float64"
    assert found.shape == expected.shape, f"the shape is {found.shape} instead of {expected.shape}"
    if not found.size:
        return
    rows = max(1, entries[0].size, math.prod(np.broadcast_shapes(*(e.shape for e in entries))))
    worst = np.broadcast_arrays(*entries)
    kind = np.maximum.reduce(worst).reshape(rows)
    found, expected = found.reshape(rows, -1), expected.reshape(rows, -1)
    ordinary = kind <= LARGE
    if ordinary.any():
        a, b = found[ordinary], expected[ordinary]
        scale = np.maximum(1.0, np.abs(b).max(axis=1))
        allowed = np.where(kind[ordinary] == LARGE, LARGE_TOLERANCE, TOLERANCE) * scale
        assert (np.abs(a - b).max(axis=1) <= allowed).all(), "the result is not that of the interpreter"
    lost = kind == NAN
    if lost.any():
        assert (np.isnan(found[lost]) == np.isnan(expected[lost])).all(), "NaN propagates otherwise than interpreted"
