"""Odd names of robots, links, joints and frames: none breaks out of its place in code, pages, files or messages."""

from __future__ import annotations

import ast
import io
import json
import random
import re
import shutil
import subprocess
import tempfile
import tokenize
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np

from dqdyn.algebra.dual import IDENTITY
from dqdyn.errors import Error, FormatError
from dqdyn.formats.json.document import read_json, write_json
from dqdyn.formats.mjcf.reader import read_mjcf
from dqdyn.formats.mjcf.writer import write_mjcf
from dqdyn.formats.urdf.reader import read_urdf
from dqdyn.formats.urdf.writer import write_urdf
from dqdyn.model.description import Description, Joint, Link, NamedFrame, placement
from dqdyn.model.inertia import Inertia
from dqdyn.robot import Robot
from dqdyn.simulate.trajectory import Trajectory
from dqdyn.view.html import html_page

from ..cases import Area, Case, is_sentence
from ..mutate import odd_text

TAME = ("robot", "base", "upper", "lower", "shoulder", "elbow", "tool")
PIECES = (
    "*/", "/*", "//", "??/", "\\", "\n", "\r", "\u2028", "\x00", "\x1b", "'", '"', "`", "</script>", "<!--", "-->",
    "]]>", "<script>alert(1)</script>", "&lt;", "&#x3c;", "{{TITLE}}", "}}", "${x}", "%s", "{q}", "#", "#include <x>",
    "\t", " ", "int", "main", "é", "\u202e", "\ufeff", "😀", "\ud800", "..", "/", "\\u0041", "_", "__", "0", "name",
    "onload=x", "\x85",
    "javascript:", "\"\"\"", "exit()", "\x7f", "\u00ad",
)  # fmt: skip
COMPILER = shutil.which("cc")


class Fuzzed(Area):
    """Seven names, and what is made of a robot that has them."""

    weight, chunk = 0.4, 20
    PLACES = ("c", "sympy", "casadi", "html", "urdf", "mjcf", "json", "messages", "trajectory")

    def prepare(self) -> None:
        for place in ("c", "sympy", "html"):
            _tame(place)

    def make(self, rng: random.Random) -> Case:
        names = list(TAME)
        for _ in range(rng.randint(1, 3)):
            odd = "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 4))) if rng.random() < 0.7 else odd_text(rng)
            names[rng.randrange(len(names))] = odd
        case: Case = {"names": names, "places": rng.sample(self.PLACES, 3)}
        if rng.random() < 0.2:
            case["compile"] = True
        return case

    def check(self, case: Case) -> str:
        robot = robot_with(case["names"])
        frame = case["names"][6]
        for place in case.get("places", self.PLACES):
            if place in ("c", "sympy", "html"):
                assert _shape(place, robot, frame) == _tame(place), f"a name changes what stands in {place}"
            elif place == "casadi":
                assert re.fullmatch(r"[A-Za-z]\w*", robot.export("casadi", "pose", frame=frame).name(), re.ASCII)
            elif place == "messages":
                _check_messages(robot)
            elif place == "trajectory":
                _check_trajectory(robot, frame)
            else:
                _check_file(place, robot)
        if case.get("compile") and COMPILER:
            _compile(robot.export("c", "pose", frame=frame))
        return "names stay in their places"


def robot_with(names: list[str]) -> Robot:
    """Two joints, three links and a frame."""
    name, base, upper, lower, shoulder, elbow, tool = names
    inertia = Inertia(1.0, (0.0, 0.0, 0.1), ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1)))
    joints = (
        Joint(shoulder, "revolute", base, upper, IDENTITY, (0.0, 0.0, 1.0), lower=-1.0, upper=1.0),
        Joint(elbow, "prismatic", upper, lower, placement((0.0, 0.0, 0.5)), (1.0, 0.0, 0.0), lower=-1.0, upper=1.0),
    )
    links = tuple(Link(link, inertia) for link in (base, upper, lower))
    return Robot.from_description(Description(name, links, joints, (NamedFrame(tool, lower, placement((0.1, 0, 0))),)))


@cache
def _tame(place: str) -> Any:
    return _shape(place, robot_with(list(TAME)), TAME[6])


def _shape(place: str, robot: Robot, frame: str) -> Any:
    """What a computer sees of the text; names are not in it."""
    if place == "c":
        texts = [robot.export("c", "pose", frame=frame, header=header) for header in (False, True)]
        return [_c_code(text) for text in texts]
    if place == "sympy":
        text = robot.export("sympy", "pose", frame=frame).source()
        ast.parse(text)
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        return [t.string for t in tokens if t.type not in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE)]
    return _tags(html_page(_run(robot, frame)))


def _c_code(text: str) -> str:
    """The source as a compiler sees it after trigraphs, continued lines and comments; the function's name blanked."""
    text = text.replace("??/", "\\")
    text = re.sub(r"\\[ \t]*\n", "", text)
    assert "//" not in re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL), "a comment of C++"
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    name = re.search(r"void (\w+)\(", text)
    assert name is not None, "no function"
    guard = f"DQDYN_{name[1].upper()}_H"
    return " ".join(re.sub(rf"\b({name[1]}|{guard})\b", "NAME", text).split())


def _compile(text: str) -> None:
    assert COMPILER is not None
    command = [COMPILER, "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", "-xc", "-"]
    done = subprocess.run(command, input=text.encode("utf-8", "surrogatepass"), capture_output=True, timeout=60)
    assert done.returncode == 0, f"the C compiler refuses it: {done.stderr.decode(errors='replace')[:300]}"


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[Any] = []
        self.script = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found.append((tag, sorted(name for name, _ in attrs)))

    def handle_endtag(self, tag: str) -> None:
        self.found.append(f"/{tag}")

    def handle_comment(self, data: str) -> None:
        self.found.append("comment")

    def handle_data(self, data: str) -> None:
        if self.found and self.found[-1][0] == "script" and data.lstrip().startswith("{"):
            self.found.append(("data", _outline(json.loads(data))))


def _tags(page: str) -> list[Any]:
    parser = _Tags()
    parser.feed(page)
    parser.close()
    return parser.found


def _outline(value: Any) -> Any:
    """The structure of the data; texts and numbers are blanked."""
    if isinstance(value, dict):
        return {key: _outline(v) for key, v in value.items()}
    return [_outline(v) for v in value] if isinstance(value, list) else type(value).__name__


def _run(robot: Robot, frame: str, **more: Any) -> Trajectory:
    q = np.array([[0.0, 0.0], [0.1, 0.1]])
    zero, one = np.zeros((2, 2)), np.zeros(2)
    wrench = {frame: np.ones((2, 6))}
    return Trajectory(robot, np.array([0.0, 0.1]), q, zero, zero, zero, one, one, np.zeros((2, 0)), wrench, **more)


def _check_trajectory(robot: Robot, frame: str) -> None:
    run = _run(robot, frame, extra={robot.name: np.ones(2)}, events={frame: np.ones(1)}, status=robot.name)
    with tempfile.TemporaryDirectory() as folder:
        try:
            path = run.save(Path(folder) / "run.npz")
        except FormatError:
            return
        assert Trajectory.load(path) == run, "saved and loaded it is another trajectory"


def _check_file(place: str, robot: Robot) -> None:
    """Names come back from a file as they were, or the file is refused."""
    write, read = {
        "urdf": (write_urdf, read_urdf), "mjcf": (write_mjcf, read_mjcf), "json": (write_json, read_json)
    }[place]  # fmt: skip
    try:
        text = write(robot.model)
    except FormatError:
        return
    again = read(text)
    names = {link.name for link in robot.description.links} | {joint.name for joint in robot.description.joints}
    found = {link.name for link in again.links} | {joint.name for joint in again.joints}
    assert names <= found, f"names are others when read from {place}: {sorted(names - found)}"


def _check_messages(robot: Robot) -> None:
    """Messages about things with odd names are one printable line."""
    attempts = (
        lambda: robot.pose("no such frame", [0.0, 0.0]),
        lambda: robot.mass_matrix([0.0]),
        lambda: robot.mass_matrix([np.nan, 0.0]),
        lambda: robot.lock({"no such joint": 0.0}),
        lambda: robot.with_payload("nowhere", 1.0),
        lambda: robot.forward_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], method="no such method"),
        lambda: robot.lock({robot.joints[0].name: "x"}),
        lambda: robot.add_frame(robot.joints[0].name, robot.joints[0].name, np.eye(4)),
    )
    for attempt in attempts:
        said = "nothing"
        try:
            attempt()
        except Error as error:
            said = str(error)
        assert is_sentence(said), f"a message is not one printable line: {said!r}"
    assert repr(robot).isprintable(), "repr is not printable"
