"""JSON keeps every bit, and says what is wrong with a file that is not one of ours."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from described import all_kinds, one_joint, rich
from hypothesis import given, settings
from hypothesis import strategies as st
from mjcf_texts import MODELS, mjcf, quiet_model
from robot_data import short_name, urdf_files
from trees import MOVING

from dqdyn.algebra.dual import DQ
from dqdyn.errors import Error, FormatError, LoadError
from dqdyn.formats.json.document import read_json, write_json
from dqdyn.formats.load import read
from dqdyn.formats.mjcf.reader import read_mjcf
from dqdyn.formats.urdf.reader import read_urdf
from dqdyn.model.description import Description, Drive, Joint, Link, Mimic, NamedFrame, Shape
from dqdyn.model.inertia import Inertia
from dqdyn.robots.builders import describe, names

FILES = {short_name(path): path for path in urdf_files()}
REFUSED = ("ur/ur3", "alex/alex_psyonic_hands")


def bits(value: Any) -> Any:
    """A description as nested tuples in which floats are compared by their bits, so −0 is not 0."""
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, DQ):
        return tuple(float(c).hex() for c in value.components)
    if isinstance(value, tuple):
        return tuple(bits(v) for v in value)
    if hasattr(value, "__dataclass_fields__"):
        return tuple((name, bits(getattr(value, name))) for name in value.__dataclass_fields__)
    return value


def assert_exact(description: Description) -> None:
    model = quiet_model(description)
    text = write_json(model)
    again = read_json(text)
    kept = replace(model.description, losses=())  # of the first file; the second has all that a description has
    assert bits(again) == bits(kept)
    loaded = quiet_model(again)
    assert loaded == quiet_model(kept)
    assert loaded.warnings == model.warnings
    assert write_json(loaded) == text
    json.loads(text, parse_constant=lambda name: pytest.fail(name))


@pytest.mark.parametrize("name", [name for name in FILES if name not in REFUSED])
def test_real_robots_are_exact(name: str) -> None:
    assert_exact(read_urdf(FILES[name]))


@pytest.mark.parametrize("name", names())
def test_built_in_robots_are_exact(name: str) -> None:
    assert_exact(describe(name))


@pytest.mark.parametrize("kind", MOVING)
def test_every_kind_of_joint_is_exact(kind: str) -> None:
    assert_exact(one_joint(kind))


@pytest.mark.parametrize("name", MODELS)
def test_mjcf_models_are_exact(name: str) -> None:
    assert_exact(read_mjcf(mjcf(MODELS[name])))


def test_every_field_is_exact() -> None:
    assert_exact(all_kinds(MOVING))
    assert_exact(rich().with_changes(source="some/file.urdf", notes=("a doubt", "another"), drive=Drive(0.1, 0.3)))
    shape = Shape(
        "mesh", (0.1, -0.2, 1e-300), mesh="package://x/ö.stl", path=Path("/some/ö.stl"), color=(0.1, 0.2, 0.3, 0.4)
    )
    uneven = {"lower": (-math.inf, -1.0), "upper": (math.inf, 1.0), "damping": (0.1, 0.2), "velocity": math.inf}
    assert_exact(
        Description(
            'näme "quoted" \n tab\t',
            (Link("a", Inertia(0.1, (0.1, -0.0, 1e-320), np.eye(3) * (0.1 + 0.2))), Link("b", visuals=(shape,))),
            (Joint("j", "universal", "a", "b", armature=(1 / 3, 2 / 3), **uneven),),  # type: ignore[arg-type]
            (NamedFrame("tool", "b"),),
            gravity=(0.0, -0.0, -1.62),
            base="planar",
        )
    )


@pytest.mark.parametrize("base", ["fixed", "free", "planar", "differential"])
def test_the_base_is_that_of_the_model(base: str) -> None:
    model = quiet_model(describe("nonholonomic_manipulator"), base=base)
    again = read_json(write_json(model))
    assert again.base == base
    assert quiet_model(again) == model


finite = st.floats(-1e30, 1e30)


@settings(deadline=None)
@given(
    finite, finite, st.floats(allow_nan=False), st.text(alphabet=st.characters(blacklist_categories=["Cs"]), min_size=1)
)
def test_any_float_and_any_name(a: float, b: float, limit: float, name: str) -> None:
    description = Description(
        name,
        (Link(name), Link(name + "_")),
        (Joint(name, "revolute", name, name + "_", lower=-abs(limit), mimic=None, pitch=a),),
        gravity=(a, b, 0.1),
    )
    model = quiet_model(description)
    assert bits(read_json(write_json(model))) == bits(model.description)


def test_files_are_read_and_recognised(tmp_path: Path) -> None:
    model = quiet_model(rich())
    path = tmp_path / "robot.json"
    path.write_text(write_json(model), encoding="utf-8")
    assert read_json(path) == read_json(str(path)) == read(path) == read(write_json(model)) == model.description
    path.write_bytes(b"\xef\xbb\xbf" + write_json(model).encode())
    assert read_json(path) == model.description


def test_what_json_cannot_hold_is_refused_by_name() -> None:
    changed = Description("r", (Link("a", visuals=(Shape("sphere", (math.nan,)),)),))  # as no model would have it
    model = replace(quiet_model(Description("r", (Link("a"),))), description=changed)
    with pytest.raises(FormatError, match=r"links\[0\]\.visuals\[0\]\.size\[0\]"):
        write_json(model)
    with pytest.raises(FormatError, match="surrogate"):
        write_json(quiet_model(Description("\ud800", (Link("a"),))))


# --- bad files ------------------------------------------------------------------------------------------------------

GOOD = write_json(quiet_model(rich()))


def _changed(change: Any) -> str:
    data = json.loads(GOOD)
    change(data)
    return json.dumps(data)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "line 1, column 2: the JSON is malformed"),
        ("{}", "not a robot of dqdyn"),
        ("[1, 2]", "not a robot of dqdyn"),
        ('{"format": "other", "version": 1}', "not a robot of dqdyn"),
        (GOOD.replace('"version": 1', '"version": 2'), "format version 2"),
        (GOOD.replace('"version": 1', '"version": true'), "format version True"),
        (GOOD.replace('"version": 1,', ""), "format version None"),
        (GOOD.replace("-1.25", "NaN"), "number NaN"),
        (GOOD.replace("-1.25", "1e999"), "joints[0].lower must be a finite number"),
        (GOOD.replace("-1.25", "1" + "0" * 400), "joints[0].lower must be a finite number"),
        (GOOD.replace("-1.25", "1" + "0" * 5000), "far too long"),
        (GOOD.replace("-1.25", '"low"'), "joints[0].lower must be a number; found 'low'"),
        (GOOD.replace("-1.25", "true"), "joints[0].lower must be a number; found True"),
        (GOOD.replace('"name": "rich"', '"name": "rich", "name": "poor"'), "'name' twice"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        (_changed(lambda d: d.pop("gravity")), "the robot must be an object with the field 'gravity'"),
        (_changed(lambda d: d.update(colour="red")), "unknown field 'colour'"),
        (_changed(lambda d: d.update(base="flying")), "base must be one of fixed, free"),
        (_changed(lambda d: d.update(base=["fixed"])), "base must be one of fixed, free"),
        (_changed(lambda d: d.update(gravity=[0, 0])), "gravity must be a list of 3; found [0, 0]"),
        (_changed(lambda d: d.update(links={})), "links must be a list"),
        (_changed(lambda d: d.update(name=None)), "name must be a text; found None"),
        (_changed(lambda d: d.update(name="\ud800")), "name must be a text"),
        (_changed(lambda d: d["joints"][1].pop("axis")), "joints[1] must be an object with the field 'axis'"),
        (_changed(lambda d: d["joints"][1]["origin"].pop()), "joints[1].origin must be a list of 8"),
        (_changed(lambda d: d["joints"][2]["mimic"].update(ratio="2")), "joints[2].mimic.ratio must be a number"),
        (_changed(lambda d: d["links"][1]["inertia"]["tensor"].pop()), "links[1].inertia.tensor must be a list of 3"),
        (_changed(lambda d: d["links"][1]["visuals"].append(3)), "links[1].visuals[2] must be an object; found 3"),
    ],
)
def test_bad_files_are_one_clear_error(text: str, words: str, tmp_path: Path) -> None:
    assert text != GOOD
    path = tmp_path / "bad.json"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    for source in (text, path):
        with pytest.raises(LoadError) as caught:
            read_json(source)
        message = str(caught.value)
        assert words in message
        assert "\n" not in message
        assert len(message) < 300


def test_bytes_that_are_no_text_and_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "latin.json").write_bytes(b'{"format": "\xe9"}')
    with pytest.raises(LoadError, match="not UTF-8 at byte 12"):
        read_json(tmp_path / "latin.json")
    with pytest.raises(LoadError, match="No file"):
        read_json(tmp_path / "none.json")


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_files_give_a_model_or_an_error_of_ours(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(GOOD) - 1))
    stop = data.draw(st.integers(start, min(len(GOOD), start + 20)))
    damaged = (
        GOOD[:start] + data.draw(st.text(alphabet='{}[]",:.-+eE019 nulltrueNaInfity\\u', max_size=8)) + GOOD[stop:]
    )
    if damaged.lstrip().startswith(("{", "[")):
        try:
            quiet_model(read_json(damaged))
        except Error as error:
            said = str(error)
        else:
            said = "fine"
        assert "\n" not in said


@pytest.mark.parametrize("depth", [10, 500, 900, 960, 975, 980, 984, 988, 100_000])
def test_lists_inside_each_other_are_refused(depth: int) -> None:
    """Also where Python has just enough room to read them, but not to show them."""
    text = json.dumps(json.loads(GOOD) | {"links": "HERE"}).replace('"HERE"', "[" * depth + "]" * depth)
    with pytest.raises(LoadError):
        read_json(text)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_values_of_a_wrong_type_give_a_model_or_an_error_of_ours(data: st.DataObject) -> None:
    robot = json.loads(GOOD)
    node: Any = robot
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(node[key], (dict, list)) or not node[key] or data.draw(st.booleans()):
            break
        node = node[key]
    node[key] = data.draw(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
            max_leaves=5,
        )
    )
    try:
        quiet_model(read_json(json.dumps(robot)))
    except Error as error:
        assert str(error)  # noqa: PT017 - any error of ours is right here, as is none


def test_mimics_survive() -> None:
    assert next(j for j in read_json(GOOD).joints if j.name == "follow").mimic == Mimic("slide", -2.5, 0.125)
