"""The examples of deployment are compiled and run: bare metal with a stand-in of a board, a node with one of ROS 2."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from c_compiler import COMPILER, NO_CPP, STRICT, compiled, has_sanitizers, needs_compiler
from daqp_source import daqp_objects, daqp_source

import dqdyn as dq
from dqdyn import control as ct

DEPLOY = Path(__file__).parents[2] / "examples" / "deploy"
HERE = Path(__file__).parent
POSTURE = np.array([0.3, 0.5, -0.2, 1.4, 0.1, 0.8, 0.0])
CPP = shutil.which(os.environ.get("CXX", "c++"))
CROSS = shutil.which("arm-none-eabi-gcc")
NO_CROSS = "no arm-none-eabi-gcc and CMake: the firmware is not built for its target"


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("libraries")
    command = [sys.executable, str(DEPLOY / "generate.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return folder


@needs_compiler
def test_bare_metal_gives_computed_torques(libraries: Path, tmp_path: Path) -> None:
    include = [f"-I{DEPLOY / 'bare_metal'}", f"-I{libraries / 'arm'}"]
    objects = []
    for source in (DEPLOY / "bare_metal" / "main.c", libraries / "arm" / "arm.c"):
        objects.append(tmp_path / f"{source.stem}.o")
        compiled(*STRICT, "-Wdouble-promotion", "-ffreestanding", "-O2", *include, "-c", source, "-o", objects[-1])
    nm = shutil.which("nm")
    if nm and sys.platform == "linux":  # no memory, no files: the functions of the board, and sin and cos
        found = subprocess.run([nm, "-u", *objects], capture_output=True, text=True, check=True).stdout.split()
        needed = {name for name in found[1:] if not name.endswith(":") and name not in ("U", "_GLOBAL_OFFSET_TABLE_")}
        assert {name for name in needed if not name.startswith("board_")} <= {"arm_torques", "sinf", "cosf", "memset"}
    compiled(*STRICT, *include, HERE / "board_stand_in" / "board.c", *objects, "-lm", "-o", tmp_path / "run")
    robot, rng = dq.robots.arm7(), np.random.default_rng(0)
    q, v = POSTURE + 0.1 * rng.normal(size=(50, 7)), 0.3 * rng.normal(size=(50, 7))
    expected = np.clip(robot.inverse_dynamics(q, v, 100.0 * (POSTURE - q) - 20.0 * v), -80.0, 80.0)
    q[10, 3], v[20, 6], v[30, 0] = np.nan, np.inf, 11.0  # encoders that fail: the motors are stopped
    expected[[10, 20, 30]] = 0.0
    given = np.hstack([q, v]).astype(np.float32)
    done = subprocess.run([tmp_path / "run"], input=given.tobytes(), capture_output=True, timeout=60, check=True)
    assert np.abs(np.frombuffer(done.stdout, dtype=np.float32).reshape(50, 7) - expected).max() < 1e-3
    assert (np.abs(expected) == 80.0).any()


@pytest.mark.skipif(CROSS is None or shutil.which("cmake") is None, reason=NO_CROSS)
def test_firmware_is_built_for_its_target(libraries: Path, tmp_path: Path) -> None:
    folder = DEPLOY / "bare_metal"
    options = ["--toolchain", folder / "cortex_m4.cmake", "-DCMAKE_BUILD_TYPE=MinSizeRel", f"-DARM={libraries / 'arm'}"]
    for command in (["cmake", "-S", folder, "-B", tmp_path, *options], ["cmake", "--build", tmp_path]):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        assert "warning" not in done.stderr
    size = subprocess.run(["arm-none-eabi-size", tmp_path / "firmware.elf"], capture_output=True, text=True, check=True)
    text, data, bss = map(int, size.stdout.splitlines()[1].split()[:3])
    assert text + data < 16_000  # bytes of flash
    assert data + bss < 1_000  # bytes of memory


@pytest.mark.skipif(CPP is None or COMPILER is None, reason=NO_CPP)
@pytest.mark.long
def test_node_publishes_the_efforts_of_python(libraries: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The node itself is compiled before DAQP is asked for."""
    flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"] if has_sanitizers(tmp_path) else []
    include = [f"-I{HERE / 'ros2_stand_in'}", f"-I{libraries / 'hold'}"]
    warn = ["-std=c++17", "-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Wshadow", "-Werror", "-O1"]
    source = DEPLOY / "ros2_effort" / "src" / "effort_node.cpp"
    node = [str(CPP), *warn, *flags, *include, "-c", str(source), "-o", str(tmp_path / "node.o")]
    done = subprocess.run(node, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    daqp = daqp_objects(daqp_source(Path(request.config.cache.mkdir("daqp"))), tmp_path, *flags)
    compiled(*STRICT, "-O1", *flags, *daqp[:1], "-c", libraries / "hold" / "hold.c", "-o", tmp_path / "hold.o")
    objects = [str(tmp_path / "node.o"), str(tmp_path / "hold.o"), *daqp[1:]]
    subprocess.run([str(CPP), *flags, *objects, "-lm", "-o", str(tmp_path / "run")], check=True, timeout=300)

    robot = dq.robots.arm7()
    hold = _controller(robot)
    given, expected, statuses = [], [], []
    q, v = POSTURE + 0.2, np.zeros(7)
    for k in range(500):
        t, is_lost = 2.0 + 1e-3 * k, k in (100, 101)
        unknown = np.full(7, np.nan)  # a message without velocities is not taken for half a state
        torque = hold(t - 2.0, unknown, unknown) if is_lost else hold(t - 2.0, q, v)
        statuses.append(hold.report.status)
        given.append([-t if is_lost else t, *q, *v])
        expected.append(torque)
        v = v + 1e-3 * robot.forward_dynamics(q, v, torque)
        q = robot.integrate(q, v, 1e-3)
    done = subprocess.run([tmp_path / "run"], input=np.array(given).tobytes(), capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert np.abs(np.frombuffer(done.stdout).reshape(500, 7) - expected).max() < 1e-6
    assert statuses[99:103] == ["solved", "held", "held", "solved"]
    said = done.stderr.decode().splitlines()
    assert said == ["ERROR no command, status 2: the robot brakes", "INFO all constraints are obeyed"]


def _controller(robot: dq.Robot) -> ct.Controller:
    """That of generate.py."""
    hand = ct.TranslationTask("tool", robot.pose("tool", POSTURE).translation, gain=4.0)
    table = ct.KeepAbove("tool", dq.Plane([0, 0, 1], [0, 0, 0]), distance=0.05)
    limits = [ct.JointLimits(), ct.VelocityLimits(1.0), ct.TorqueLimits(80.0)]
    return ct.torque_controller(robot, [[hand], [ct.PostureTask(POSTURE)]], [table, *limits])


def test_package_names_what_its_node_includes() -> None:
    """What package.xml depends on is what the node includes and CMake finds."""
    folder = DEPLOY / "ros2_effort"
    depends = {entry.text for entry in ElementTree.parse(folder / "package.xml").getroot().findall("depend")}
    node, cmake = ((folder / name).read_text(encoding="utf-8") for name in ("src/effort_node.cpp", "CMakeLists.txt"))
    included = {line.split('"')[1].split("/")[0] for line in node.splitlines() if '#include "' in line and "/" in line}
    assert depends == included
    assert all(f"find_package({name} REQUIRED)" in cmake for name in depends)
    assert f"ament_target_dependencies(effort_node {' '.join(sorted(depends))})" in cmake
