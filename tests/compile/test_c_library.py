"""Several functions as one C library: in both precisions, with parameters as inputs, through CMake, and refusals."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_compiler import STRICT, compiled, needs_compiler
from daqp_source import daqp_source

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.compile.export.c_precision import FLOAT32, FLOAT64

NO_CMAKE = "no CMake: the CMake files of C libraries are not checked"
FUNCTIONS = {
    "hand": ("pose", {"frame": "tool"}),
    "torques": ("inverse_dynamics", {"parameters": ["inertia", "gravity"]}),
}


def _loaded(library: Any, folder: Path) -> ctypes.CDLL:
    library.write(folder)
    shared = folder / f"{library.name}.so"
    compiled(
        *STRICT, "-Wdouble-promotion", "-O1", "-shared", "-fPIC", folder / f"{library.name}.c", "-o", shared, "-lm"
    )
    return ctypes.CDLL(str(shared))


@needs_compiler
@pytest.mark.parametrize(
    ("precision", "dtype", "error"), [("float64", np.float64, 1e-12), ("float32", np.float32, 1e-4)]
)
def test_functions_share_a_library(precision: Any, dtype: Any, error: float, tmp_path: Path) -> None:
    robot = dq.robots.arm7()
    code = _loaded(robot.c_library(FUNCTIONS, "arm", precision=precision), tmp_path)
    other = robot.with_payload("tool", 2.0, [0.0, 0.1, 0.2]).with_gravity([1.0, 2.0, -9.0])
    rng = np.random.default_rng(0)
    for _ in range(20):
        q, v, a = robot.random_configuration(rng), rng.normal(size=7), rng.normal(size=7)
        for function, expected, given in (
            (code.hand, robot.pose("tool", q).vec8(), [q]),
            (code.torques, other.inverse_dynamics(q, v, a), [q, v, a, *other.parameters().values()]),
        ):
            inputs = [np.ascontiguousarray(x, dtype=dtype) for x in given]
            out = np.zeros(len(expected), dtype=dtype)
            function(*(ctypes.c_void_p(x.ctypes.data) for x in [*inputs, out]))
            assert np.abs(out - expected).max() < error * (1.0 + np.abs(expected).max())


def test_names_and_files() -> None:
    robot = dq.robots.arm7()
    library = robot.c_library(["mass_matrix", ("pose", {"frame": "tool"})])
    assert list(library.files) == ["arm7.c", "arm7.h", "CMakeLists.txt"]
    assert "void arm7_pose_tool(const double *q, double *out);" in library.header
    assert str(library).startswith("C library arm7: arm7.c (")


@pytest.mark.parametrize(
    ("functions", "words"),
    [
        ("pose", "takes a list or dict of functions"),
        (None, "takes a list or dict of functions"),
        ([], "at least one function"),
        ([3], "A function is a name, or a pair"),
        ([("pose", "tool")], "A function is a name, or a pair"),
        (["mas_matrix"], "There is no function named 'mas_matrix'"),
        (["pose"], "pose needs the option 'frame'"),
        (["mass_matrix", "mass_matrix"], "Two functions of the C library are called"),
        ({"double": "mass_matrix"}, "cannot name an exported function"),
    ],
)
def test_bad_functions_are_refused(functions: Any, words: str) -> None:
    with pytest.raises(dq.Error, match=words):
        dq.robots.arm7().c_library(functions)


def test_bad_precision_and_folder_are_refused(tmp_path: Path) -> None:
    robot = dq.robots.two_link()
    for bad in ("float16", None, 32):
        with pytest.raises(dq.Error, match="There is no precision of exported C"):
            robot.c_library(["mass_matrix"], precision=bad)
    library = robot.c_library(["mass_matrix"])
    with pytest.raises(dq.Error, match="A folder is a path"):
        library.write(None)  # type: ignore[arg-type]
    (tmp_path / "file").write_text("")
    with pytest.raises(dq.Error, match="cannot be written to"):
        library.write(tmp_path / "file")


def test_constants_of_single_precision() -> None:
    assert (FLOAT64.literal(0.1), FLOAT32.literal(0.1)) == ("0x1.999999999999ap-4", "0x1.99999ap-4f")
    assert (FLOAT32.literal(-0.5), FLOAT32.literal(1.0)) == ("(-0.5f)", "1.0f")
    assert float.fromhex(FLOAT32.literal(np.pi)[:-1]) == np.float32(np.pi)
    for beyond in (1e39, -1e300, 1e-40, 5e-324):
        with pytest.raises(dq.Error, match="beyond the range of float32"):
            FLOAT32.literal(beyond)


_DAQP = """
cmake_minimum_required(VERSION 3.15)
project(daqp C)
add_subdirectory({source}/src src)
include(GNUInstallDirs)
add_library(daqpstat STATIC ${{daqp_src}})
set_target_properties(daqpstat PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(daqpstat PUBLIC $<BUILD_INTERFACE:{source}/include> $<INSTALL_INTERFACE:include>)
install(TARGETS daqpstat EXPORT daqpConfig)
install(DIRECTORY {source}/include/ DESTINATION include/daqp)
install(EXPORT daqpConfig DESTINATION cmake)
"""
_NODE = """
cmake_minimum_required(VERSION 3.15)
project(node C)
find_package(daqp REQUIRED)
find_package(hold REQUIRED)
find_package(arm REQUIRED)
add_executable(node node.c)
target_link_libraries(node hold::hold arm::arm)
"""
_MAIN = """
#include <arm.h>
#include <hold.h>
int main(void)
{
    double q[hold_nq] = {0.1, 0.2}, v[hold_nv] = {0.0}, command[hold_nv], out[8];
    hold_controller *controller = hold_new();
    const int status = hold_step(controller, 0.0, q, v, command);
    hand(q, out);
    hold_free(controller);
    return status != hold_solved;
}
"""


@needs_compiler
@pytest.mark.long
def test_cmake_builds_installs_and_finds(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if shutil.which("cmake") is None:
        pytest.skip(NO_CMAKE)
    source = daqp_source(Path(request.config.cache.mkdir("daqp")))  # type: ignore[union-attr]
    robot = dq.robots.two_link()
    limits = [ct.VelocityLimits(1.0)]
    hold = ct.velocity_controller(robot, [ct.PostureTask([0.5, 0.5])], limits, infeasible="hold")
    hold.c_library("hold").write(tmp_path / "hold")
    robot.c_library({"hand": ("pose", {"frame": "tool"})}, "arm").write(tmp_path / "arm")
    for folder, name, text in (
        ("daqp", "CMakeLists.txt", _DAQP.format(source=source.resolve())),
        ("node", "node.c", _MAIN),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(text, encoding="utf-8")
    (tmp_path / "node" / "CMakeLists.txt").write_text(_NODE, encoding="utf-8")
    prefix = tmp_path / "prefix"
    for name in ("daqp", "hold", "arm", "node"):
        folder, build = tmp_path / name, tmp_path / f"{name}_build"
        _cmake("-S", folder, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_INSTALL_PREFIX={prefix}")
        _cmake("--build", build)
        if name != "node":
            _cmake("--install", build)
    assert subprocess.run([tmp_path / "node_build" / "node"], timeout=60, check=False).returncode == 0


def _cmake(*arguments: Any) -> None:
    done = subprocess.run(["cmake", *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-3000:]
