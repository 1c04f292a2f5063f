"""Bad URDF files: each raises one error that names the file, the element and what to do; nothing else ever escapes."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest
from bad_urdf import DOUBT, FORM, ROBOT
from hypothesis import given
from hypothesis import strategies as st
from urdf_text import ARM, INERTIAL, arm_with, changed, robot

from dqdyn.errors import Error, LoadError, MissingExtraError, ModelError, ModelWarning
from dqdyn.formats.urdf.reader import read_urdf
from dqdyn.model.build import build


def failure(text: str, tmp_path: Path, kind: type[Error], **options: bool) -> str:
    """The message of the error that the text raises as a file, checked for its form."""
    path = tmp_path / "broken.urdf"
    path.write_text(text)
    with pytest.raises(kind) as caught:
        build(read_urdf(path), quiet=True, **options)
    assert type(caught.value) is kind
    message = str(caught.value)
    assert message.startswith(str(path))
    assert caught.value.file == str(path)
    assert "\n" not in message
    return message


def test_the_arm_is_fine() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert build(read_urdf(ARM), strict=True).nq == 1


@pytest.mark.parametrize("case", FORM)
def test_form(case: str, tmp_path: Path) -> None:
    text, expected = FORM[case]
    message = failure(text, tmp_path, LoadError)
    assert expected in message
    assert ", line " in message


@pytest.mark.parametrize("case", ROBOT)
def test_robot(case: str, tmp_path: Path) -> None:
    text, expected = ROBOT[case]
    assert expected in failure(text, tmp_path, ModelError)


@pytest.mark.parametrize("case", DOUBT)
def test_doubt_warns_and_is_an_error_under_strict(case: str, tmp_path: Path) -> None:
    text, expected = DOUBT[case]
    message = failure(text, tmp_path, ModelError, strict=True)
    assert expected in message
    description = read_urdf(tmp_path / "broken.urdf")
    with pytest.warns(ModelWarning) as caught:
        model = build(description)
    assert [str(w.message) for w in caught] == [message]
    assert model.warnings == (message,)


def test_the_line_is_that_of_the_element(tmp_path: Path) -> None:
    message = failure(changed('damping="0.5"', 'damping="much"'), tmp_path, LoadError)
    line = next(i for i, line in enumerate(ARM.splitlines(), 1) if "damping" in line)
    assert f"broken.urdf, line {line}: joint 'shoulder'" in message


def test_a_template_is_told_by_its_suffix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "arm.urdf.xacro"
    path.write_text(ARM)
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(MissingExtraError, match="a xacro template, needs the package 'xacro'"):
        read_urdf(path)


def test_doubts_of_many_elements_share_a_sentence() -> None:
    links = "".join(f'<link name="l{i}"><origin/></link>' for i in range(6))
    (note,) = read_urdf(robot(links)).notes
    assert note.startswith("link 'l0', link 'l1', link 'l2' and 3 more: <origin> in <link>")


@given(value=st.floats().filter(lambda x: not abs(x) <= 1e30) | st.text("0123456789.eE+-_,xn ", max_size=6))
def test_any_mass(value: float | str) -> None:
    text = arm_with(link=INERTIAL.replace('value="2"', f'value="{value}"'))
    try:
        mass = float(value) if "_" not in str(value) else None
    except ValueError:
        mass = None
    if mass is None or not abs(mass) <= 1e30:
        with pytest.raises(LoadError, match="link 'base' has value="):
            read_urdf(text)
    elif mass < 0.0:
        with pytest.raises(ModelError, match="negative mass"):
            build(read_urdf(text), quiet=True)
    else:
        assert build(read_urdf(text), quiet=True).description.links[0].inertia.mass == mass


@given(axis=st.tuples(*[st.floats(-3, 3)] * 3))
def test_any_axis(axis: tuple[float, float, float]) -> None:
    text = changed('<axis xyz="0 1 0"/>\n', f'<axis xyz="{" ".join(map(repr, axis))}"/>\n')
    length = sum(c * c for c in axis) ** 0.5
    if abs(length - 1.0) > 1e-3:
        with pytest.raises(ModelError, match=r"joint 'shoulder' has (a zero axis|the axis)"):
            build(read_urdf(text), quiet=True)
    else:
        used = build(read_urdf(text), quiet=True).joint("shoulder").motion.axis  # type: ignore[attr-defined]
        assert sum(c * c for c in used) == pytest.approx(1.0, abs=1e-15)


@given(moments=st.tuples(*[st.floats(0.01, 1.0)] * 3))
def test_any_moments(moments: tuple[float, float, float]) -> None:
    a, b, c = moments
    inertia = f'<inertia ixx="{a}" ixy="0" ixz="0" iyy="{b}" iyz="0" izz="{c}"/>'
    body = f'<link name="b"><inertial><mass value="1"/>{inertia}</inertial></link>'
    description = read_urdf(robot(body))
    excess = 2 * max(moments) - sum(moments)
    if excess > 1e-6:
        with pytest.raises(ModelError, match="triangle inequality"):
            build(description, strict=True)
        assert len(build(description, quiet=True).warnings) == 1
    elif excess < -1e-6:
        assert build(description, strict=True).warnings == ()
