"""Damaged URDF: a refusal, or a robot that Pinocchio reads alike."""

from __future__ import annotations

import random
import re
import warnings
from functools import cache
from typing import Any

import numpy as np
import pinocchio
from test_urdf_fuzz import EVERYTHING
from trees import random_description, random_q, run
from urdf_text import ARM, INERTIAL

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.values import Pose
from dqdyn.errors import Error
from dqdyn.formats.urdf.writer import write_urdf
from dqdyn.loading import load
from dqdyn.robot import Robot

from ..cases import Area, Case, oracle
from ..laws import check_laws, is_ordinary, is_robot_sized
from ..mutate_xml import damaged_xml

_WORDS = """base upper lower tool shoulder elbow rail root_joint world robot revolute continuous prismatic fixed
floating planar universe 0 1 -1 package://p/m.stl"""
WORDS = tuple(_WORDS.split())
SMALL = f"""<robot name="r"><link name="a">{INERTIAL}</link><link name="b">{INERTIAL}</link>
<joint name="j" type="revolute"><origin xyz="0 0 1" rpy="0 1 0"/><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>"""
_SPACES = re.compile(r'="(\s|&#)|\s"|&#\w+;"')
"""Spaces at the ends of values. Pinocchio drops the inertia of a link for them, in silence, as it does with the mass
behind a fixed joint named "universe"."""
COMPARABLE = EVERYTHING.replace("capsule", "cylinder").replace('quat_xyzw="0 0 1 0"', 'rpy="0 0 3"')


@cache
def texts() -> tuple[str, ...]:
    """Sound robots."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what URDF cannot hold
        return _texts()


def _texts() -> tuple[str, ...]:
    trees = [random_description(seed, 4, ("revolute", "prismatic", "free")) for seed in range(4)]
    return (SMALL, ARM, EVERYTHING, COMPARABLE, *(write_urdf(Robot.from_description(tree).model) for tree in trees))


class Fuzzed(Area):
    """A text, on a fixed or a free base."""

    weight = 3.0

    def prepare(self) -> None:
        texts()

    def make(self, rng: random.Random) -> Case:
        case: Case = {"text": damaged_xml(rng, rng.choice(texts()), WORDS)}
        if rng.random() < 0.3:
            case["base"] = "free"
        return case

    def check(self, case: Case) -> str:
        text, base = case["text"], case.get("base", "fixed")
        robot = load(text if "<" in text else f"<{text}", base=base, mimic=False)
        compared = compare(robot, text, base)
        try:
            said = check_laws(robot)
        except Error as error:
            raise AssertionError(f"accepted, but then refused: {error}") from None
        return f"{said}, {compared}"


def compare(robot: Robot, text: str, base: str) -> str:
    """Mass, M(q) and frames at some q; a word about what was compared."""
    with oracle():
        try:
            root = (pinocchio.JointModelFreeFlyer(),) if base == "free" else ()
            theirs = pinocchio.buildModelFromXML(text, *root)
        except Exception:
            return "Pinocchio refuses it"
        data = theirs.createData()
    try:
        layout = robot.to_pinocchio(theirs)
    except Error as error:
        return f"no common layout: {type(error).__name__}"
    if '"universe"' in text or _SPACES.search(text):
        return "not compared"
    if _planar(robot) or not robot.nv or "quat_xyzw" in text:  # which Pinocchio's parser does not know
        return "not compared"
    q = random_q(robot, np.random.default_rng(3))
    with oracle():
        pin_q = layout.q(q)
        pinocchio.framesForwardKinematics(theirs, data, pin_q)
        upper = np.triu(pinocchio.crba(theirs, data, pin_q))
        m = layout.mass_matrix_from(q, upper + np.triu(upper, 1).T)
    with np.errstate(all="ignore"):
        found = run(robot, "mass_matrix", q)
    if not np.isfinite(found).all() and not np.isfinite(m).all():
        return "not finite in Pinocchio either"
    if not is_robot_sized(robot) or not (is_ordinary(found) or is_ordinary(m)):
        return "too extreme to compare"
    assert np.abs(found - m).max() <= 1e-9 * max(1.0, np.abs(m).max()), "M is not Pinocchio's"
    _compare_frames(robot, theirs, data, q)
    return "Pinocchio agrees"


def _planar(robot: Robot) -> bool:
    """Pinocchio moves planar joints in xy, whatever the axis."""
    tilted = [j for j in robot.description.joints if j.kind == "planar" and j.axis != (0.0, 0.0, 1.0)]
    return bool(tilted)


def _compare_frames(robot: Robot, theirs: Any, data: Any, q: np.ndarray) -> None:
    for link in robot.description.links:
        index = theirs.getFrameId(link.name, pinocchio.FrameType.BODY)
        if index >= len(theirs.frames) or not re.fullmatch(r"[\w ]+", link.name):
            continue
        expected = data.oMf[index].homogeneous
        found = Pose.of(DQ(list(run(robot, "pose", q, frame=link.name)))).matrix
        scale = max(1.0, np.abs(expected).max())
        assert np.abs(found - expected).max() <= 1e-9 * scale, "a link is not where Pinocchio has it"
