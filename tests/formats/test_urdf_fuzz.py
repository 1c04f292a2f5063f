"""Mutations of a valid URDF: a model or an Error, nothing else ever."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

from hypothesis import given, settings
from hypothesis import strategies as st
from urdf_text import ARM, INERTIAL

from dqdyn.errors import Error, LoadError, ModelError
from dqdyn.formats.safe_xml import Element, parse
from dqdyn.formats.urdf.reader import read_urdf
from dqdyn.model.build import build
from dqdyn.model.model import Model

EVERYTHING = ARM.replace(
    "</robot>",
    f"""
  <link name="slide">{INERTIAL}<visual name="v"><geometry><mesh filename="package://p/m.stl" scale="1 1 1"/></geometry>
    <material name="own"><color rgba="0 1 0 1"/><texture filename="t.png"/></material></visual>
    <collision name="c"><geometry><sphere radius="1"/></geometry></collision></link>
  <link name="puck">{INERTIAL}<collision><geometry><capsule radius="1" length="2"/></geometry></collision></link>
  <link name="ball">{INERTIAL.replace('"0 0 0.1"', '"0 0 0.1" rpy="1 2 3"')}</link>
  <joint name="rail" type="prismatic"><parent link="tool"/><child link="slide"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="1" velocity="1" effort="1"/><safety_controller k_velocity="1"/></joint>
  <joint name="table" type="planar"><parent link="tool"/><child link="puck"/><axis xyz="0 0 1"/></joint>
  <joint name="air" type="floating"><parent link="tool"/><child link="ball"/>
    <origin xyz="1 2 3" quat_xyzw="0 0 1 0"/></joint>
  <transmission name="t"><joint name="rail"/><actuator name="m"/></transmission>
  <transmission name="u"><joint name="shoulder"/></transmission><gazebo reference="ball"><x/></gazebo></robot>""",
)

NAMES = ["base", "upper", "tool", "shoulder", "elbow", "rail", "root_joint", "world", "", "robot", "é"]
NUMBERS = ["0", "-1", "nan", "inf", "-inf", "1e30", "-1e30", "1e300", "1e-300", "1,0", "abc", "1 2", "1 0 0", "0 0 0"]
TYPES = [
    "revolute",
    "continuous",
    "prismatic",
    "fixed",
    "floating",
    "planar",
    "ball",
    "package://../x",
    "\0",
    "file://",
]
TAGS = ["link", "joint", "origin", "inertial", "visual", "geometry", "box", "mimic", "axis", "limit", "xacro:if", "sdf"]
ATTRIBUTES = ["name", "type", "xyz", "rpy", "link", "joint", "value", "lower", "quat_xyzw", "size", "scale", "nonsense"]
VALUES = st.sampled_from(NAMES + NUMBERS + TYPES) | st.floats().map(repr) | st.text(max_size=8)

index = st.integers(0, 10_000)
mutation = st.one_of(
    st.tuples(st.just("delete"), index),
    st.tuples(st.just("duplicate"), index),
    st.tuples(st.just("move"), index, index),
    st.tuples(st.just("rename"), index, st.sampled_from(TAGS)),
    st.tuples(st.just("drop attribute"), index, index),
    st.tuples(st.just("set attribute"), index, index, VALUES),
    st.tuples(st.just("add attribute"), index, st.sampled_from(ATTRIBUTES), VALUES),
)


def mutated(root: Element, change: tuple) -> None:
    """Apply one change to the elements, counted in the order of the file; some changes change nothing."""
    elements = list(root.walk())
    inside = [(parent, child) for parent in elements for child in parent.children]
    element = elements[change[1] % len(elements)]
    keys = sorted(element.attributes)
    match change:
        case ("delete", i) if inside:
            parent, child = inside[i % len(inside)]
            parent.children.remove(child)
        case ("duplicate", i) if inside:
            parent, child = inside[i % len(inside)]
            parent.children.append(child)
        case ("move", i, j) if inside:
            parent, child = inside[i % len(inside)]
            target = elements[j % len(elements)]
            if all(e is not target for e in child.walk()):
                parent.children.remove(child)
                target.children.append(child)
        case ("rename", _, tag):
            element.tag = tag
        case ("drop attribute", _, i) if keys:
            del element.attributes[keys[i % len(keys)]]
        case ("set attribute", _, i, value) if keys:
            element.attributes[keys[i % len(keys)]] = value
        case ("add attribute", _, key, value):
            element.attributes[key] = value


def written(element: Element) -> str:
    attributes = "".join(f" {key}={quoteattr(value)}" for key, value in element.attributes.items())
    return f"<{element.tag}{attributes}>{''.join(map(written, element.children))}</{element.tag}>"


def model_or_error(text: str, base: str = "fixed", strict: bool = False, mimic: bool = True) -> Model | Error:
    try:
        result: Model | Error = build(read_urdf(text), base=base, strict=strict, mimic=mimic, quiet=True)
    except Error as error:
        result = error
    # The error is always one of the family that says what kind of fault it is, in one sentence.
    assert isinstance(result, (Model, LoadError, ModelError))
    assert isinstance(result, Model) or "\n" not in str(result)
    return result


def test_unchanged_it_is_a_robot() -> None:
    model = model_or_error(written(parse(EVERYTHING).root), strict=True)
    assert isinstance(model, Model)
    assert (model.nq, model.nv) == (1 + 1 + 3 + 7, 1 + 1 + 3 + 6)


@settings(max_examples=400, deadline=None)
@given(
    changes=st.lists(mutation, min_size=1, max_size=5),
    base=st.sampled_from(["fixed", "free", "planar", "differential"]),
    strict=st.booleans(),
    mimic=st.booleans(),
)
def test_mutated_elements(changes: list[tuple], base: str, strict: bool, mimic: bool) -> None:
    root = parse(EVERYTHING).root
    for change in changes:
        mutated(root, change)
    model_or_error(written(root), base, strict, mimic)


@settings(max_examples=200, deadline=None)
@given(start=st.integers(0, len(EVERYTHING)), length=st.integers(0, 300), new=st.text(max_size=20))
def test_mutated_text(start: int, length: int, new: str) -> None:
    model_or_error(EVERYTHING[:start] + new + EVERYTHING[start + length :])
