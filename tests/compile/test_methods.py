"""Methods of robots that jump to machine code: right function for every frame, same errors, no stale memory."""

from __future__ import annotations

import copy
import gc
import multiprocessing
import pickle
import subprocess
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import dqdyn as dq
from dqdyn.compile.codegen.method_call import Word
from dqdyn.compile.runtime import method
from dqdyn.compile.runtime.method import MethodBase
from dqdyn.compile.runtime.python_abi import layout_is_known
from dqdyn.errors import Error
from dqdyn.robot.catalog import CATALOG
from dqdyn.robot.functions.constraints import CONSTRAINED
from dqdyn.robot.functions.quasi_velocities import QUASI_VELOCITIES
from dqdyn.robot.options import DEFAULTS, FRAMES
from dqdyn.robot.speeds import RobotInSpeeds

pytestmark = pytest.mark.skipif(not layout_is_known(), reason="the layout of this interpreter is not known")


@pytest.fixture(scope="module")
def robot() -> Any:
    return dq.robots.arm7()


def reference(robot: Any, name: str, frame: str, q: np.ndarray) -> np.ndarray:
    """By the bound function's interpreter."""
    return np.asarray(robot._functions.get(*robot._functions.named(name, {"frame": frame}))(q[None])[0])


def test_frames_in_any_order_get_their_own_function(robot: Any) -> None:
    rng = np.random.default_rng(0)
    frames = [joint.name for joint in robot.joints][::2]
    for _ in range(40):
        frame, q = str(rng.choice(frames)), robot.random_configuration(rng)
        np.testing.assert_allclose(
            robot.pose_jacobian(frame, q), reference(robot, "pose_jacobian", frame, q), rtol=1e-13, atol=1e-14
        )


LIFE = """
import copy, functools, inspect, pickle, types
from unittest import mock
import numpy as np
import dqdyn as dq

robot = dq.robots.arm7()
frame, q = "tool", robot.random_configuration(1)
wanted = robot.mass_matrix(q[None])[0]  # a batch does not make code for one state


def facts():
    method = robot.mass_matrix
    assert type(method) is types.MethodType
    assert method.__self__ is robot
    assert method == robot.mass_matrix
    assert not hasattr(robot, "__dict__")
    assert pickle.loads(pickle.dumps(method))(q).tolist() == method(q).tolist()
    assert pickle.loads(pickle.dumps(dq.Robot.mass_matrix)) is dq.Robot.mass_matrix
    assert copy.copy(method)(q).tolist() == copy.deepcopy(method)(q).tolist() == method(q).tolist()
    assert copy.copy(dq.Robot.mass_matrix) is dq.Robot.mass_matrix

    @functools.wraps(robot.mass_matrix)
    def wrapper(*arguments, **options):
        return robot.mass_matrix(*arguments, **options)

    assert wrapper.__name__ == "mass_matrix"
    assert wrapper(q).tolist() == method(q).tolist()
    with mock.patch.object(dq.Robot, "mass_matrix", return_value="patched"):
        assert robot.mass_matrix(q) == "patched"
    with mock.patch.object(dq.Robot, "mass_matrix", autospec=True) as patched:
        robot.mass_matrix(q)
        patched.assert_called_once()
    assert robot.mass_matrix(q).shape == (7, 7)
    shown = inspect.signature(method), inspect.signature(wrapper), inspect.signature(dq.Robot.mass_matrix)
    source = inspect.getsource(dq.Robot.mass_matrix)
    return [str(s) for s in shown], method.__doc__, method.__qualname__, type(dq.Robot.mass_matrix).__name__, source


before = facts() if {first} else None
for _ in range(3):
    assert abs(robot.mass_matrix(q) - wanted).max() < 1e-13
after = facts()
assert before in (None, after)
for _ in range(3):
    assert facts() == after
print("the same")
"""


@pytest.mark.parametrize("first", [True, False])
def test_methods_stay_what_they_are(first: bool) -> None:
    """Pickle, copy, wraps, signatures and mocks: alike before the first call and after it, in a fresh process."""
    command = [sys.executable, "-c", LIFE.format(first=first)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "the same\n"


def test_second_calls_do_not_run_python_code(robot: Any) -> None:
    frame, q = robot.joints[-1].name, robot.neutral()
    robot.pose_jacobian(frame, q)
    robot.inverse_dynamics(q, q, q)
    out, called = np.empty((8, 7)), []

    def note(frame: Any, event: str, argument: Any) -> None:
        if event == "call":
            called.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        robot.pose_jacobian(frame, q)
        robot.pose_jacobian(frame, q, out=out)
        robot.inverse_dynamics(q, q, q)
    finally:
        sys.setprofile(None)
    assert called == []


def plain_calls(robot: Any) -> dict[str, tuple[str, dict[str, Any], list[str]]]:
    """Calls as text: the function, its options and the inputs that a bound function gets for the same result."""
    of_axes = {f"twist_jacobian('tool', q, {axes!r})": axes for axes in ("body", "world", "aligned")}
    of_axes |= {f"twist_jacobian('tool', q, expressed={axes!r})": axes for axes in ("body", "world")}
    hand = {"frame": "tool"}
    return {
        **{call: ("twist_jacobian", {"expressed": axes, **hand}, ["q"]) for call, axes in of_axes.items()},
        "twist_jacobian_derivative('tool', q, v, 'world')": (
            "twist_jacobian_derivative",
            {"expressed": "world", **hand},
            ["q", "v"],
        ),
        "integrate(q, v)": ("integrate", {}, ["q", "v", "one"]),
        "integrate(q, v, dt)": ("integrate", {}, ["q", "v", "dt"]),
        "integrate(q, v, dt=dt)": ("integrate", {}, ["q", "v", "dt"]),
        "difference(q, q1)": ("difference", {}, ["q", "q1"]),
        "point_jacobian('tool', q)": ("point_jacobian", hand, ["q", "origin"]),
        "point_jacobian('tool', q, point=p)": ("point_jacobian", hand, ["q", "p"]),
        "line_jacobian('tool', q)": ("line_jacobian", hand, ["q", "axis"]),
        "plane_jacobian_derivative('tool', q, v)": ("plane_jacobian_derivative", hand, ["q", "v", "floor"]),
        "mass_matrix(q, 'lagrange')": ("mass_matrix", {"method": "lagrange"}, ["q"]),
        "mass_matrix(q, method='gauss')": ("mass_matrix", {"method": "gauss"}, ["q"]),
        "inverse_dynamics(q, v, a, method='screw')": ("inverse_dynamics", {"method": "screw"}, ["q", "v", "a"]),
        "relative_pose_jacobian('tool', 'link3', q)": (
            "relative_pose_jacobian",
            {"frame1": "tool", "frame2": "link3"},
            ["q"],
        ),
        "frame_forces('tool', q, w)": ("frame_forces", hand, ["q", "w"]),
        "kinetic_energy(q, v)": ("kinetic_energy", {}, ["q", "v"]),
        "potential_energy(q)": ("potential_energy", {}, ["q"]),
        "gauss_function(q, v, a, a)": ("gauss_function", {}, ["q", "v", "a", "a"]),
        "inverse_dynamics_derivatives(q, v, a)": ("inverse_dynamics_derivatives", {}, ["q", "v", "a"]),
        "forward_dynamics_derivatives(q, v, a)": ("forward_dynamics_derivatives", {}, ["q", "v", "a"]),
    }


def test_plain_calls_give_what_bound_functions_give_without_python(robot: Any) -> None:
    """Defaults, keywords, options, two frames, numbers and tuples; at the second call no Python code runs."""
    rng = np.random.default_rng(0)
    q, q1, v, a = rng.normal(size=(4, 7))
    names: dict[str, Any] = {"q": q, "q1": q1, "v": v, "a": a, "dt": 0.3, "one": 1.0, "p": rng.normal(size=3)}
    names |= {"w": rng.normal(size=6), "origin": np.zeros(3), "robot": robot}
    names |= {"axis": np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]), "floor": np.array([0.0, 0.0, 1.0, 0.0])}
    called: list[str] = []

    def note(frame: Any, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename != "<call>":
            called.append(frame.f_code.co_name)

    for text, (name, options, inputs) in plain_calls(robot).items():
        call = eval(compile(f"lambda: robot.{text}", "<call>", "eval"), names)
        first = call()
        sys.setprofile(note)
        try:
            found = call()
        finally:
            sys.setprofile(None)
        assert called == [], text
        assert type(found) is type(first), text
        bound = robot.function(name, **options)(*(names[i] for i in inputs))
        if isinstance(found, tuple):
            assert all(part.flags.c_contiguous and part.base is None for part in found)
        elif found.ndim == 0:
            bound = bound[0]
        np.testing.assert_array_equal(np.array(found), bound, err_msg=text)
        np.testing.assert_array_equal(np.array(first), bound, err_msg=text)


def test_arguments_given_twice_or_wrongly_are_left_to_python(robot: Any) -> None:
    q, v = robot.neutral(), np.ones(7)
    for _ in range(3):
        robot.integrate(q, v)
        robot.twist_jacobian("tool", q)
        for call in (
            lambda: robot.integrate(q, v, 1.0, dt=1.0),
            lambda: robot.twist_jacobian("tool", q, "body", expressed="body"),
            lambda: robot.twist_jacobian("tool", q, "body", "body"),
            lambda: robot.integrate(q),
            lambda: robot.integrate(q, v, 1.0, nothing=1),
            lambda: robot.integrate(q, v, out=None, check=True, dt=1.0, nothing=1),
        ):
            with pytest.raises(TypeError):
                call()
        with pytest.raises(Error, match="expression"):
            robot.twist_jacobian("tool", q, "nowhere")
        with pytest.raises(Error):
            robot.twist_jacobian("tool", q, ["body"])
        out = np.empty((6, 7))
        assert robot.twist_jacobian("tool", q, out=out, expressed="world") is out
        np.testing.assert_array_equal(out, robot.twist_jacobian("tool", q, "world"))
        np.testing.assert_array_equal(robot.integrate(q, v, out=None, dt=0.5), robot.integrate(q, v, 0.5))


def test_every_compiled_method_passes_on_what_the_catalog_asks_for(robot: Any) -> None:
    """Its name, whether it has a frame, and its inputs are those of the function that it jumps to."""
    seen = 0
    by_method = {f.method or f.name: f for f in {**CATALOG, **CONSTRAINED}.values()}
    of_robots = [(kind, by_method) for kind in type(robot).__mro__]
    for kind, known in (*of_robots, (RobotInSpeeds, QUASI_VELOCITIES)):
        for name, attribute in vars(kind).items():
            if not isinstance(attribute, MethodBase):
                continue
            words, quantity = method._words(attribute), known[name]
            frames = [option for option in quantity.options if option in FRAMES]
            assert words[Word.FRAMES] == len(frames), name
            assert words[Word.INPUTS] == len(quantity.inputs), name
            assert len(frames) + bool(words[Word.USUAL]) == len(quantity.keys(DEFAULTS)), name
            seen += 1
    assert seen > 55


def test_words_of_the_method_are_understood_alike(robot: Any) -> None:
    """A word that the function knows, but the method does not, is refused before and after the first call."""
    q = robot.neutral()
    for _ in range(3):
        with pytest.raises(TypeError, match="unexpected keyword argument 'out'"):
            robot.translation_jacobian("tool", q, out=np.empty((4, 7)))
        with pytest.raises(TypeError, match="unexpected keyword argument 'threads'"):
            robot.mass_matrix(q, threads=2)
        robot.translation_jacobian("tool", q)
        robot.mass_matrix(q)
        np.testing.assert_array_equal(robot.integrate(q, q + 1.0), robot.integrate(q, q + 1.0, 1.0))


def test_odd_objects_in_place_of_the_robot() -> None:
    """The method looks into nothing but robots."""
    robot = dq.robots.arm7()
    q = robot.neutral()
    robot.mass_matrix(q)
    for odd in (None, 3, "robot", object(), q):
        with pytest.raises(AttributeError):
            dq.Robot.mass_matrix(odd, q)
    np.testing.assert_array_equal(dq.Robot.mass_matrix(robot, q), robot.mass_matrix(q))
    with pytest.raises(TypeError):
        dq.Robot.mass_matrix()


TABLES: list[Any] = [None, 3, {}, [], "table", *({"mass_matrix": x} for x in (3, {"auto": None}, {"auto": 3}))]


@pytest.mark.parametrize("table", TABLES)
def test_a_table_of_functions_that_somebody_has_changed(table: Any) -> None:
    """Whatever stands there is asked as Python asks it: no address is taken from it."""
    robot = dq.robots.arm7()
    q = robot.neutral()
    robot.mass_matrix(q)
    object.__setattr__(robot, "_direct", table)
    if isinstance(table, dict) and isinstance(table.get("mass_matrix"), dict):
        with pytest.raises(TypeError, match="not callable"):
            robot.mass_matrix(q)
    else:
        assert robot.mass_matrix(q).shape == (7, 7)
    object.__delattr__(robot, "_direct")
    assert robot.mass_matrix(q).shape == (7, 7)


def test_methods_made_by_hand_are_harmless() -> None:
    made = type(dq.Robot.mass_matrix).__new__(type(dq.Robot.mass_matrix))
    with pytest.raises(AttributeError):
        made(1)
    assert type(dq.Robot.mass_matrix)(len)([1, 2]) == 2


def test_a_pool_maps_a_method() -> None:
    robot = dq.robots.arm7()
    qs = [robot.random_configuration(k) for k in range(6)]
    wanted = [robot.mass_matrix(q) for q in qs]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.map_async(robot.mass_matrix, qs).get(timeout=300)
    np.testing.assert_array_equal(found, wanted)


def test_errors_are_those_of_the_method(robot: Any) -> None:
    frame, q = robot.joints[-1].name, robot.neutral()
    for _ in range(2):
        for bad in (q[:-1], q * np.nan, None, "q", q.astype(complex)):
            with pytest.raises(Error):
                robot.pose_jacobian(frame, bad)
        with pytest.raises(Error, match="There is no frame"):
            robot.pose_jacobian("no such frame", q)
        with pytest.raises(TypeError):
            robot.pose_jacobian(frame)
        with pytest.raises(TypeError):
            robot.pose_jacobian(frame, q, nothing=1)
        assert robot.pose_jacobian(frame, q).shape == (8, 7)


def test_every_way_to_pass_arguments(robot: Any) -> None:
    frame, q = robot.joints[-1].name, robot.random_configuration(3)
    wanted, out = robot.twist_jacobian(frame, q), np.empty((6, 7))
    assert robot.twist_jacobian(frame, q, out=out) is out
    for found in (
        out,
        robot.twist_jacobian(frame=frame, q=q),
        robot.twist_jacobian(frame, q=q),
        robot.twist_jacobian(frame, q, check=False),
        robot.twist_jacobian(frame, q, "body"),
        robot.twist_jacobian(robot.frames[frame], q),
        robot.twist_jacobian("".join(list(frame)), q),  # an equal string that is another object
        robot.twist_jacobian(frame, list(q)),
    ):
        np.testing.assert_array_equal(found, wanted)
    world = robot.twist_jacobian(frame, q, "world")
    assert not np.allclose(world, wanted)
    np.testing.assert_array_equal(robot.twist_jacobian(frame, q), wanted)
    np.testing.assert_array_equal(robot.twist_jacobian(frame, q, expressed="world"), world)
    assert robot.twist_jacobian(frame, np.stack([q, q])).shape == (2, 6, 7)


def test_copies_and_pickles_do_not_share_the_memory(robot: Any) -> None:
    frame, q = robot.joints[-1].name, robot.neutral()
    robot.center_of_mass(q)
    robot.pose_jacobian(frame, q)
    for other in (copy.copy(robot), copy.deepcopy(robot), pickle.loads(pickle.dumps(robot))):
        assert other == robot
        assert not other._direct
        np.testing.assert_array_equal(other.pose_jacobian(frame, q), robot.pose_jacobian(frame, q))
        assert other._direct is not robot._direct


def test_a_kept_method_outlives_the_robot_and_then_dies() -> None:
    robot = dq.robots.arm7()
    frame, q = robot.joints[-1].name, robot.neutral()
    wanted = robot.pose_jacobian(frame, q)
    method, dead = robot.pose_jacobian, weakref.ref(robot)
    del robot
    gc.collect()
    np.testing.assert_array_equal(method(frame, q), wanted)
    del method
    gc.collect()
    assert dead() is None


def test_references_stay(robot: Any) -> None:
    frame, q = robot.joints[-1].name, robot.neutral()
    out = np.empty((8, 7))
    watched = [frame, q, out, robot, np.dtype(np.float64)]
    robot.pose_jacobian(frame, q, out=out)
    before = [sys.getrefcount(x) for x in watched]
    for _ in range(2000):
        robot.pose_jacobian(frame, q, out=out)
        robot.pose_jacobian(frame, q)
    after = [sys.getrefcount(x) for x in watched]
    assert max(abs(a - b) for a, b in zip(before, after, strict=True)) < 20


def test_threads_with_frames_of_their_own(robot: Any) -> None:
    frames = [joint.name for joint in robot.joints]
    q = robot.random_configuration(5)
    wanted = {frame: reference(robot, "pose_jacobian", frame, q) for frame in frames}
    wrong: list[str] = []

    def run(frame: str) -> None:
        for _ in range(400):
            if not np.allclose(robot.pose_jacobian(frame, q), wanted[frame], rtol=1e-12, atol=1e-13):
                wrong.append(frame)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=run, args=(frame,)) for frame in frames]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert wrong == []


class Watched(dq.Robot):
    """Overrides a method and asks the original."""

    def pose_jacobian(self, frame: Any, q: Any, *, out: np.ndarray | None = None, check: bool = True) -> np.ndarray:
        seen.append(frame)
        return super().pose_jacobian(frame, q, out=out, check=check)


seen: list[Any] = []


def test_methods_of_subclasses_stay_in_force() -> None:
    robot = Watched(dq.robots.arm7().model)
    for _ in range(3):
        robot.pose_jacobian(robot.joints[0].name, robot.neutral())
    assert len(seen) == 3
    again = pickle.loads(pickle.dumps(robot))
    assert type(again) is Watched
    again.pose_jacobian(robot.joints[0].name, robot.neutral())
    assert len(seen) == 4


def test_what_was_found_last_belongs_to_one_robot_and_its_arguments() -> None:
    """Robots, classes, frames and axes take turns at random, as equal strings and as the same ones."""
    rng = np.random.default_rng(5)

    class Own(dq.Robot):  # type: ignore[misc]
        """A class of its own, whose robots use the same methods."""

    arm7, arm6 = dq.robots.arm7(), dq.robots.arm6()
    robots = [arm7, arm6, Own(arm7.model), pickle.loads(pickle.dumps(arm6))]
    axes, cases = ("body", "world", "aligned"), {}
    for i, robot in enumerate(robots):
        for frame in [joint.name for joint in robot.joints][-2:]:
            for expressed in axes:
                q = robot.random_configuration(i)
                f = robot.function("twist_jacobian", frame=frame, expressed=expressed)
                cases[i, frame, expressed] = q, f(q).copy()
    keys = list(cases)
    for _ in range(600):
        i, frame, expressed = keys[rng.integers(len(keys))]
        q, wanted = cases[i, frame, expressed]
        if rng.random() < 0.3:
            frame, expressed = "".join(list(frame)), "".join(list(expressed))
        by_place = rng.random() < 0.5
        found = (
            robots[i].twist_jacobian(frame, q, expressed)
            if by_place
            else robots[i].twist_jacobian(frame, q, expressed=expressed)
        )
        np.testing.assert_array_equal(found, wanted)


def test_robots_and_classes_die_after_their_methods_were_called() -> None:
    class Own(dq.Robot):  # type: ignore[misc]
        """A class that is used once."""

    own, q = Own(dq.robots.arm7().model), np.zeros(7)
    for _ in range(3):
        own.twist_jacobian("tool", q)
    dead = weakref.ref(own), weakref.ref(own._functions.get(*own._functions.named("twist_jacobian", {"frame": "tool"})))
    del own
    gc.collect()
    assert [reference() for reference in dead] == [None, None]
    gone = weakref.ref(Own)
    del Own
    dq.robots.arm7().twist_jacobian("tool", q)
    robot = dq.robots.arm7()
    for _ in range(3):
        robot.twist_jacobian("tool", q)  # from now on this class is the known one
    gc.collect()
    assert gone() is None


def test_calls_without_checks_run_no_python_code_where_none_is_needed(robot: Any) -> None:
    q, v = robot.random_configuration(4), robot.random_configuration(5)
    f, out, called = robot.function("inverse_dynamics"), np.empty(7), []
    wanted = robot.inverse_dynamics(q, v, v).copy()
    robot.pose("tool", q)
    with_nan = np.where(np.arange(7) == 2, np.nan, q)

    def note(frame: Any, event: str, argument: Any) -> None:
        if event == "call":
            called.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        found = [
            f(q, v, v, check=False),
            f(q, v, v, check=True),
            f(q, v, v, out=None),
            f(q, v, v, out=out, check=False),
            f(q, v, v, check=False, out=out),
            robot.inverse_dynamics(q, v, v, check=False),
            robot.inverse_dynamics(q, v, v, check=True, out=out),
            robot.inverse_dynamics(q, v, v, out=None, check=False),
            robot.inverse_dynamics(q, v, v, method="auto", check=False),
        ]
        robot.pose("tool", q, check=False)
    finally:
        sys.setprofile(None)
    assert called == []
    for tau in found:
        np.testing.assert_array_equal(tau, wanted)
    assert found[3] is found[4] is found[6] is out
    for call in (f, robot.inverse_dynamics):
        assert np.isnan(call(with_nan, v, v, check=False)).any()
        assert np.isnan(call(np.stack([with_nan, q]), v, v, check=False)[0]).any()
        with pytest.raises(Error, match="is nan: give finite numbers"):
            call(with_nan, v, v, check=True)
        for words in ({"check": False, "nothing": 1}, {"nothing": 1}):
            with pytest.raises((TypeError, Error)):
                call(q, v, v, **words)
