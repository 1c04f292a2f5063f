"""Damaged MJCF: a refusal, or a robot that moves as MuJoCo's does."""

from __future__ import annotations

import random
from typing import Any

import mujoco
import numpy as np
from mjcf_texts import MODELS, mjcf, random_qpos
from trees import run

from dqdyn.errors import Error
from dqdyn.loading import load
from dqdyn.robot import Robot

from ..cases import Area, Case, oracle
from ..laws import LONGEST, check_laws, is_ordinary, is_robot_sized
from ..mutate_xml import damaged_xml

_WORDS = "hinge slide ball free a b c world j1 j2 s1 main slow true false radian degree local sphere box mesh plane"
WORDS = tuple(_WORDS.split())
MORE = (
    """<compiler angle="radian"/><asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset><worldbody>
    <geom name="ground" type="mesh" mesh="m" pos="0 0 -1"/><body name="a" pos="0 0 1"><joint name="j1" pos="0 0 .1"/>
    <geom type="mesh" mesh="m" mass="1"/></body></worldbody>""",
    """<worldbody><body name="a"><joint name="a" axis="0 1 0"/><geom size=".1" pos="0 0 .2"/>
    <body name="b" pos="0 0 1"><joint name="world" axis="1 0 0" range="-1 1" limited="true"/><geom size=".1"/></body>
    </body></worldbody><equality><joint joint1="a" joint2="world" polycoef="0 1 0 0 0"/></equality>
    <actuator><motor joint="a" gear="2"/></actuator>""",
)
TEXTS = tuple(mjcf(body) for body in (*MODELS.values(), *MORE))


class Fuzzed(Area):
    """A text."""

    weight = 3.0

    def make(self, rng: random.Random) -> Case:
        return {"text": damaged_xml(rng, rng.choice(TEXTS), WORDS)}

    def check(self, case: Case) -> str:
        text = case["text"] if "<" in case["text"] else f"<{case['text']}"
        with oracle():  # MuJoCo reads the file for us: where it ends the process, nobody can help
            try:
                theirs: Any = mujoco.MjModel.from_xml_string(text)
            except Exception:
                theirs = None
        robot = load(text, mimic=False)
        compared = compare(robot, theirs) if theirs is not None else "MuJoCo refuses it"
        try:
            return f"{check_laws(robot)}, {compared}"
        except Error as error:
            raise AssertionError(f"accepted, but then refused: {error}") from None


def compare(robot: Robot, theirs: Any) -> str:
    """M(q) and the frames of bodies and sites at some q."""
    try:
        layout = robot.to_mujoco(theirs)
    except Error as error:
        return f"no common layout: {type(error).__name__}"
    if not robot.nv:
        return "not compared"
    with oracle():
        data = mujoco.MjData(theirs)
        qpos = random_qpos(theirs, np.random.default_rng(3))
    # References and axes far away leave qpos and places no digits; MuJoCo's M is about the center of all bodies, the
    # fixed ones included, and loses digits with the square of its distance.
    far = max(np.abs(x).max(initial=0.0) for x in (qpos, theirs.jnt_pos, theirs.body_ipos))
    if far > LONGEST:
        return "too extreme to compare"
    q = layout.q_from(qpos)
    with oracle():
        data.qpos[:] = layout.q(q)
        mujoco.mj_forward(theirs, data)
        full = np.zeros((theirs.nv, theirs.nv))
        mujoco.mj_fullM(theirs, data, full)
    m = layout.mass_matrix_from(q, full)
    with np.errstate(all="ignore"):
        found = run(robot, "mass_matrix", q)
    _compare_places(robot, theirs, data, q)
    if not is_robot_sized(robot) or not (is_ordinary(found) or is_ordinary(m)):
        return "too extreme to compare"
    assert np.abs(found - m).max() <= 1e-8 * max(1.0, np.abs(m).max()), "M is not MuJoCo's"
    return "MuJoCo agrees"


def _compare_places(robot: Robot, theirs: Any, data: Any, q: np.ndarray) -> None:
    """Positions of bodies, by name."""
    with np.errstate(all="ignore"):
        for i in range(1, theirs.nbody):
            name = theirs.body(i).name
            if not name or name not in robot.frames:
                continue
            found = np.asarray(robot_position(robot, name, q))
            expected = data.xpos[i]
            scale = max(1.0, np.abs(expected).max(initial=0.0, where=np.isfinite(expected)))
            same = np.abs(found - expected).max() <= 1e-8 * scale
            assert same or scale > LONGEST, "a body is not where MuJoCo has it"


def robot_position(robot: Robot, name: str, q: np.ndarray) -> Any:
    """The origin of a frame in the world."""
    w, x, y, z, dw, dx, dy, dz = run(robot, "pose", q, frame=name)
    r, d = np.array([w, x, y, z]), np.array([dw, dx, dy, dz])
    return 2.0 * (r[0] * d[1:] - d[0] * r[1:] + np.cross(r[1:], d[1:]))
