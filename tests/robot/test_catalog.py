"""Every function of the catalog on every kind of input: arrays of any shape and memory, counters, symbols, mistakes."""

from __future__ import annotations

import inspect
from typing import Any

import casadi
import catalog_cases
import numpy as np
import pytest
import sympy
from catalog_cases import NAMES, function_of
from catalog_samples import ROBOT, TWO_JOINTS, input_names, inputs, options, rows, size
from trees import assert_close, run

from dqdyn.algebra.counter import Tally, counters
from dqdyn.errors import Error, StateError, UnknownNameError
from dqdyn.robot.catalog import CATALOG

METHODS = {"point_on": "point", "line_on": "line", "plane_on": "plane"}
"""Methods that are not named as their function."""


def bound(name: str) -> Any:
    return ROBOT.function(function_of(name).name, **options(name))


def truth(name: str, arrays: list[np.ndarray]) -> np.ndarray:
    return run(ROBOT, function_of(name).name, *arrays, **options(name))


def test_every_function_has_samples() -> None:
    """A new function whose inputs or options have no samples is noticed here."""
    assert len(NAMES) >= 35
    for name in NAMES:
        assert inputs(name) or not input_names(name)
        options(name)


@pytest.mark.parametrize("name", NAMES)
def test_arrays(name: str) -> None:
    """One state, batches of odd shapes, none at all, and every memory layout, against the plain algorithm."""
    function = bound(name)
    one = inputs(name)
    expected = truth(name, one)
    assert_close(function(*one), expected, 1e-12)
    assert function(*one).flags.writeable
    shape = expected.shape
    for batch in ((3, 2), (0,), (1,), (7,), (2, 0), (1, 1, 3)):
        many = inputs(name, batch)
        found = function(*many)
        assert found.shape == (*batch, *shape)
        assert found.dtype == np.float64
        for index in np.ndindex(batch):
            assert_close(found[index], truth(name, rows(many, index)), 1e-12)
    many = inputs(name, (5,))
    expected = truth(name, many)
    for changed in layouts(many):
        assert_close(function(*changed), expected, 1e-12)
    # one input for a whole batch of the others
    assert_close(function(one[0], *many[1:]), truth(name, [one[0], *many[1:]]), 1e-12)


def layouts(arrays: list[np.ndarray]) -> list[list[Any]]:
    """The same numbers in other memory: lists, strided, reversed, Fortran, read-only, big-endian, not aligned."""

    def strided(a: np.ndarray) -> np.ndarray:
        wide = np.zeros((*a.shape[:-1], 2 * a.shape[-1])) if a.ndim > 1 else np.zeros(2 * a.shape[-1])
        wide[..., ::2] = a
        return wide[..., ::2]

    def read_only(a: np.ndarray) -> np.ndarray:
        copy = a.copy()
        copy.setflags(write=False)
        return copy

    def unaligned(a: np.ndarray) -> np.ndarray:
        raw = np.zeros(a.nbytes + 1, dtype=np.uint8)
        result = raw[1:].view(np.float64).reshape(a.shape)
        result[...] = a
        return result

    return [
        [a.tolist() for a in arrays],
        [strided(a) for a in arrays],
        [a[::-1].copy()[::-1] for a in arrays],
        [np.asfortranarray(a) for a in arrays],
        [read_only(a) for a in arrays],
        [a.astype(">f8") for a in arrays],
        [unaligned(a) for a in arrays],
    ]


@pytest.mark.parametrize("name", NAMES)
def test_other_number_types(name: str) -> None:
    """Integers, booleans and float32 are taken as the numbers that they are."""
    function = bound(name)
    neutral = ROBOT.neutral()
    whole = {"q": neutral, "q1": neutral, "dt": np.array(1.0)}
    given = [whole.get(n, np.zeros(size(n))) for n in input_names(name)]
    given = [
        a + (np.arange(a.size) == 0) if n not in whole else a for n, a in zip(input_names(name), given, strict=True)
    ]
    expected = truth(name, given)
    for kind in (np.int64, np.int8, np.uint16, bool, np.float32, np.float16):
        assert_close(function(*(a.astype(kind) for a in given)), expected, 1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_results_do_not_depend_on_where_they_are_written(name: str) -> None:
    """Kernels of batches are cut differently for memory of different alignment: the same bits."""
    function = bound(name)
    given = inputs(name, (11,))
    expected = function(*given)
    memory = np.empty(expected.size + 8)
    for start in range(8):
        out = memory[start : start + expected.size].reshape(expected.shape)
        assert_close(function(*given, out=out), expected, 0)


@pytest.mark.parametrize("name", NAMES)
def test_out(name: str) -> None:
    function = bound(name)
    for batch in ((), (4,)):
        given = inputs(name, batch)
        expected = function(*given)
        out = np.full_like(expected, np.nan)
        assert function(*given, out=out) is out
        assert_close(out, expected, 0)
        if expected.size:
            spread = np.full((*expected.shape, 2), np.nan)[..., 0]  # with gaps
            assert function(*given, out=spread) is spread
            assert_close(spread, expected, 0)
    for bad in (np.zeros(3), np.zeros(expected.shape, dtype=np.float32), expected.tolist(), "out"):
        with pytest.raises(StateError, match="out of"):
            function(*given, out=bad)
    frozen = np.zeros(expected.shape)
    frozen.setflags(write=False)
    with pytest.raises(StateError, match="read-only"):
        function(*given, out=frozen)


@pytest.mark.parametrize("name", sorted(CATALOG))
def test_method_equals_function(name: str) -> None:
    """Each function is a method of the robot; the second call takes a shortcut, and must be the same."""
    chosen = options(name)
    method = lambda: getattr(ROBOT, METHODS.get(name, name))
    frames = [chosen[o] for o in chosen if o.startswith("frame")]
    words = {"expressed": chosen["expressed"]} if "expressed" in chosen else {}
    for batch in ((), (3, 2)):
        given = inputs(name, batch)
        expected = truth(name, given)
        for _ in range(3):
            found = plain(name, method()(*frames, *given, **words))
            assert_close(found.reshape(expected.shape), expected, 1e-12)
        found = plain(name, method()(*frames, *given, **words, check=False))
        assert_close(found.reshape(expected.shape), expected, 1e-12)
    assert inspect.getdoc(getattr(type(ROBOT), METHODS.get(name, name)))


def plain(name: str, value: Any) -> np.ndarray:
    """The numbers of a result that is a value."""
    if isinstance(value, tuple):
        return np.stack(value, axis=-3)
    if isinstance(value, (np.ndarray, float)):
        return np.asarray(value)
    if isinstance(value, dict):  # poses of all frames
        return np.stack([pose.vec8() for pose in value.values()], axis=-2)
    v = value.vec8()
    if name.startswith(("twist", "line")):
        return v[..., [1, 2, 3, 5, 6, 7]]
    return {"point_on": v[..., 1:4], "plane_on": v[..., 1:5]}.get(name, v)


@pytest.mark.parametrize("name", NAMES)
def test_counted(name: str) -> None:
    tally, (function, chosen) = Tally(), catalog_cases.bound(ROBOT, name, options(name))
    entries, _ = function.run(ROBOT.model, chosen, *(counters(size(n), tally) for n in input_names(name)))
    assert entries
    assert tally.total > 0
    assert ROBOT.count(function.name, simplify=False, **options(name)) == tally
    assert ROBOT.count(function.name, **options(name)).total <= tally.total


@pytest.mark.parametrize("name", NAMES)
def test_casadi(name: str) -> None:
    """The same function on symbols gives expressions; evaluated they are the numbers."""
    given = inputs(name)
    symbols = [casadi.SX.sym(n, size(n)) for n in input_names(name)]
    arguments: list[Any] = [np.array(casadi.vertsplit(s), dtype=object) for s in symbols]
    arguments = [a[0] if n == "dt" else a for n, a in zip(input_names(name), arguments, strict=True)]
    found = bound(name)(*arguments)
    assert found.shape == truth(name, given).shape
    function = casadi.Function("f", symbols, [casadi.vertcat(*found.ravel())])
    assert_close(np.array(function(*given)).reshape(found.shape), truth(name, given), 1e-11)


@pytest.mark.parametrize("name", NAMES)
def test_sympy(name: str) -> None:
    """On a robot of two joints: SymPy takes minutes for more."""
    if not catalog_cases.exists(TWO_JOINTS, name, options(name)):
        return
    given = [np.linspace(0.1, 0.7, size(n, TWO_JOINTS)) for n in input_names(name)]
    symbols = [list(sympy.symbols(f"{n}_:{len(g)}")) for n, g in zip(input_names(name), given, strict=True)]
    single = lambda values: [x[0] if n == "dt" else x for n, x in zip(input_names(name), values, strict=True)]
    found = TWO_JOINTS.function(function_of(name).name, **options(name))(*single(symbols))
    values = sympy.lambdify(symbols, list(found.ravel()), modules="math", cse=True)(*given)
    expected = run(TWO_JOINTS, function_of(name).name, *single(given), **options(name))
    assert_close(np.array(values, dtype=float).reshape(found.shape), expected, 1e-11)


def test_columns_of_symbols() -> None:
    """Vectors as CasADi and SymPy have them."""
    q = casadi.SX.sym("q", ROBOT.nq)
    jacobian = ROBOT.twist_jacobian("tool", q)
    function = casadi.Function("f", [q], [casadi.vertcat(*jacobian.ravel())])
    at = ROBOT.random_configuration(3)
    expected = ROBOT.twist_jacobian("tool", at)
    assert_close(np.array(function(at)).reshape(expected.shape), expected, 1e-12)
    column = sympy.Matrix(sympy.symbols(f"q:{ROBOT.nq}"))
    assert ROBOT.point_jacobian("tool", column).shape == (3, ROBOT.nv)
    with pytest.raises(StateError, match="must be numbers"):
        ROBOT.twist_jacobian("tool", casadi.SX.sym("q", ROBOT.nq + 1))
    # objects that are plain numbers are numbers, and are checked as such
    assert_close(ROBOT.twist_jacobian("tool", at.astype(object)), expected, 1e-12)
    with pytest.raises(StateError, match="finite"):
        ROBOT.twist_jacobian("tool", (at * np.nan).astype(object))


# --- what is not a number ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", NAMES)
def test_bad_numbers_stay_in_their_lane(name: str, bad: float) -> None:
    """With check=False a bad row gives a bad row and leaves all others alone."""
    function = bound(name)
    good = inputs(name, (11,))
    expected = function(*good)
    for argument in range(len(good)):
        given = [a.copy() for a in good]
        given[argument][4] = bad  # a whole row
        found = function(*given, check=False)
        others = [i for i in range(11) if i != 4]
        assert_close(found[others], expected[others], 1e-12)
        if input_names(name)[argument] == "q" and name != "integrate_jacobians":  # the same at every q
            assert not np.isfinite(found[4]).all()
        one = [a[4] for a in given]
        single = function(*one, check=False)
        assert (np.isfinite(single) == np.isfinite(found[4])).all()


@pytest.mark.parametrize("name", NAMES)
def test_bad_numbers_are_refused(name: str) -> None:
    function = bound(name)
    for argument, which in enumerate(input_names(name)):
        for bad in (np.nan, np.inf, -np.inf):
            for batch in ((), (3, 2)):
                given = [a.copy() for a in inputs(name, batch)]
                place = (*((1, 1) if batch else ()), *(() if which == "dt" else (-1,)))
                given[argument][place] = bad
                with pytest.raises(StateError, match="finite") as caught:
                    function(*given)
                assert caught.value.argument == which
                assert caught.value.row == ((1, 1) if batch else None)
                if which in ("q", "q1", "v", "a", "tau"):
                    joint = next(j for j in reversed(ROBOT.joints) if not j.is_mimic)
                    assert caught.value.joint == joint.name
                    assert repr(joint.name) in str(caught.value)


@pytest.mark.parametrize("name", [n for n in NAMES if "q" in input_names(n)])
def test_quaternions_must_be_units(name: str) -> None:
    function = bound(name)
    joint = next(j for j in ROBOT.joints if j.motion.quaternion is not None)
    for argument, which in enumerate(input_names(name)):
        if which not in ("q", "q1"):
            continue
        for batch, row in (((), None), ((4,), 2)):
            given = [a.copy() for a in inputs(name, batch)]
            place = given[argument][row] if batch else given[argument]
            place[joint.q] *= 1.0 + 1e-5
            with pytest.raises(StateError, match=r"norm 1\.00001") as caught:
                function(*given)
            assert (caught.value.joint, caught.value.row) == (joint.name, row)
            assert caught.value.norm == pytest.approx(1.0 + 1e-5)
            assert np.isfinite(function(*given, check=False)).all()
            place[joint.q] *= (1.0 + 1e-7) / (1.0 + 1e-5)  # within the tolerance: used as it is
            assert np.isfinite(function(*given)).all()


WRONG: dict[str, Any] = {
    "ragged": [[0.0, 1.0], [0.0]],
    "text": "configuration",
    "texts": ["a", "b"],
    "nothing": None,
    "nothings": [None, None],
    "complex": np.zeros(2) * 1j,
    "object": object(),
    "number": 1.0,
    "dates": np.zeros(2, dtype="datetime64[s]"),
    "mapping": {"q": 1.0},
    "set": {1.0, 2.0},
}


@pytest.mark.parametrize("what", WRONG)
@pytest.mark.parametrize("name", ["pose", "twist_rate", "integrate", "difference", "point_jacobian", "line_on"])
def test_what_is_no_vector_is_refused(name: str, what: str) -> None:
    function = bound(name)
    for argument, which in enumerate(input_names(name)):
        if which == "dt" and what == "number":
            continue
        given: list[Any] = inputs(name)
        given[argument] = WRONG[what]
        for check in (True, False):
            with pytest.raises(Error):
                function(*given, check=check)


@pytest.mark.parametrize("name", NAMES)
def test_wrong_sizes_are_refused(name: str) -> None:
    function = bound(name)
    for argument, which in enumerate(input_names(name)):
        if which == "dt":
            continue
        for shape in ((size(which) + 1,), (3, size(which) - 1), (0,), (size(which), 1)):
            given = list(inputs(name))
            given[argument] = np.zeros(shape)
            with pytest.raises(StateError, match=f"{size(which)} components") as caught:
                function(*given)
            assert caught.value.expected == size(which)
            assert caught.value.found == shape
    if len(input_names(name)) > 1:
        given = inputs(name, (3,))
        given[-1] = inputs(name, (4,))[-1]
        with pytest.raises(StateError, match="do not fit together"):
            function(*given)
    with pytest.raises(Error, match=f"{function_of(name).name} takes"):
        function()
    with pytest.raises(Error, match=f"{function_of(name).name} takes"):
        function(*inputs(name), 1.0)
    with pytest.raises(Error, match=f"{function_of(name).name} takes"):
        function(*inputs(name), something=1.0)
    words = dict(zip(input_names(name), inputs(name), strict=True))
    assert_close(function(**words), function(*words.values()), 0)


# --- names ------------------------------------------------------------------------------------------------------------


def test_unknown_names_are_told_with_close_ones() -> None:
    q = ROBOT.neutral()
    with pytest.raises(UnknownNameError, match="did you mean 'twist_jacobian'") as caught:
        ROBOT.function("twist_jacobain", frame="tool")
    assert caught.value.matches[0] == "twist_jacobian"
    with pytest.raises(UnknownNameError, match="option of pose"):
        ROBOT.function("pose", fram="tool")
    with pytest.raises(Error, match="pose needs the option 'frame'"):
        ROBOT.function("pose")
    for call in (
        lambda: ROBOT.function("pose", frame="tol"),
        lambda: ROBOT.pose("tol", q),
        lambda: ROBOT.twist_jacobian("tol", q),
        lambda: ROBOT.inverse_kinematics("tol", ROBOT.pose("tool", q)),
        lambda: ROBOT.add_frame("new", "tol", ROBOT.pose("tool", q)),
        lambda: ROBOT.with_payload("tol", 1.0),
    ):
        with pytest.raises(UnknownNameError, match="did you mean 'tool'") as caught:
            call()
        assert caught.value.name == "tol"
        assert "tool" in caught.value.matches
    for call in (
        lambda: ROBOT.twist_jacobian("tool", q, expressed="wrold"),
        lambda: ROBOT.function("twist", frame="tool", expressed="wrold"),
    ):
        with pytest.raises(UnknownNameError, match="did you mean 'world'"):
            call()


def test_frames_may_be_given_as_objects() -> None:
    q = ROBOT.random_configuration(0)
    frame = ROBOT.frames["tool"]
    assert_close(ROBOT.pose(frame, q).vec8(), ROBOT.pose("tool", q).vec8(), 0)
    assert_close(ROBOT.twist_jacobian(frame, q), ROBOT.twist_jacobian("tool", q), 0)


@pytest.mark.long
def test_functions_explain_themselves() -> None:
    for name in NAMES:
        function = bound(name)
        assert function.__name__ == function_of(name).name
        assert function.__doc__
        parameters = list(inspect.signature(function).parameters)
        assert parameters[: len(input_names(name))] == list(input_names(name))
        assert {"out", "check"} <= set(parameters)


@pytest.mark.equation("Quiroz", "4.24")
def test_primitives_may_be_values() -> None:
    from dqdyn.geometry.primitives import Line, Plane, Point

    q = ROBOT.random_configuration(1)
    p, l = [0.1, 0.2, 0.3], [0.0, 0.6, 0.8]
    point, line, plane = Point(p), Line(l, p), Plane(l, p)
    assert_close(ROBOT.point_jacobian("tool", q, point), ROBOT.point_jacobian("tool", q, p), 0)
    moment = np.cross(p, l)
    assert_close(ROBOT.line_jacobian("tool", q, line), ROBOT.line_jacobian("tool", q, [*l, *moment]), 0)
    assert_close(ROBOT.plane_jacobian("tool", q, plane), ROBOT.plane_jacobian("tool", q, [*l, np.dot(p, l)]), 0)
    # and what they give are values that move as the pose does
    x = ROBOT.pose("tool", q)
    assert_close(ROBOT.point("tool", q, point).position, (x * point).position, 1e-14)
    assert_close(ROBOT.line("tool", q, line).vec8(), (x * line).vec8(), 1e-14)
    assert_close(ROBOT.plane("tool", q, plane).vec8(), (x * plane).vec8(), 1e-14)
    for wrong in (line, plane, x):
        with pytest.raises(StateError, match="point is given by"):
            ROBOT.point_jacobian("tool", q, wrong)
    assert_close(ROBOT.point("tool", q).position, x.translation, 1e-14)
    assert_close(ROBOT.line("tool", q).vec8(), (x * Line([0.0, 0.0, 1.0], [0.0, 0.0, 0.0])).vec8(), 1e-14)
    assert_close(ROBOT.plane("tool", q).vec8(), (x * Plane([0.0, 0.0, 1.0], [0.0, 0.0, 0.0])).vec8(), 1e-14)


def test_times_may_be_many() -> None:
    rng = np.random.default_rng(2)
    q, v = ROBOT.random_configuration(rng), rng.normal(size=ROBOT.nv)
    times = np.linspace(0.0, 1.0, 6).reshape(3, 2)
    found = ROBOT.integrate(q, v, times)
    assert found.shape == (3, 2, ROBOT.nq)
    for index in np.ndindex(3, 2):
        assert_close(found[index], ROBOT.integrate(q, v, float(times[index])), 1e-14)
    assert_close(ROBOT.integrate(q, v), ROBOT.integrate(q, v, 1), 0)


def test_unchecked_values_of_users_propagate() -> None:
    q = ROBOT.neutral() * np.nan
    for value in (ROBOT.point("tool", q, check=False), ROBOT.pose("tool", q, check=False)):
        assert not np.isfinite(value.vec8()).all()
    assert not np.isfinite(ROBOT.line("tool", q, check=False).vec8()).all()
    assert not np.isfinite(ROBOT.twist("tool", q, np.zeros(ROBOT.nv), check=False).vec6()).all()
