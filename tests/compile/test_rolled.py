"""Programs with loops over repeated stretches give the bits of straight code: random programs, chains and trees."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pinocchio
import pytest
from compile_tools import MACHINE, assert_same_bits, batch_code, scalar_code
from object_files import undefined_symbols
from pinocchio_tools import pinocchio_model
from rolled_tools import arms, repetitive
from trees import random_robot

import dqdyn as dq
from dqdyn.compile.codegen import ir, kernels, lanes, rolled_kernels
from dqdyn.compile.codegen.rolled_plan import Carried, RolledPlan
from dqdyn.compile.codegen.rollout import Rollout
from dqdyn.compile.runtime import c_library
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace import rolling, tracer
from dqdyn.compile.trace.interpret import interpret
from dqdyn.compile.trace.program import Instruction, Program
from dqdyn.errors import Error, StateError

ROWS = 11  # a ragged block at every width
Straight = Callable[[Callable[[], Any]], Any]
"""Runs something without loops."""


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops wherever anything repeats, however short the program."""
    for module, name, value in (
        (tracer, "LONG", 0),
        (rolled_kernels, "LONG", 0),
        (rolled_kernels, "SHORTEST", 0),
        (rolled_kernels, "WORTHWHILE", 1.0),
        (rolling, "_FEWEST", 2),
        (rolling, "_SHORTEST", 6),
        (rolling, "_GRAM", 3),
    ):
        monkeypatch.setattr(module, name, value)


@pytest.fixture
def straight(monkeypatch: pytest.MonkeyPatch) -> Straight:
    """Run something without loops."""

    def run(action: Callable[[], Any]) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(kernels, "may_roll", lambda program: False)
            patch.setattr(lanes, "may_roll", lambda program: False)
            return action()

    return run


def test_random_repetitive_programs(eager: None, straight: Straight) -> None:
    for seed in range(10):
        program = repetitive(seed)
        rng = np.random.default_rng(seed)
        inputs = [rng.normal(size=(ROWS, size)) for _, size in program.inputs]
        fma = bool(seed % 2) and MACHINE.fma

        def results(program: Program = program, inputs: Any = inputs, fma: bool = fma) -> np.ndarray:
            one, many, flags = out = np.empty((3, ROWS, len(program.outputs)))
            flags[:] = 0.0  # set where an argument of a sine is too large
            flags[0, 0] = scalar_code(program, fma, False, MACHINE.width)(inputs, one)
            flags[1, 0] = batch_code(program, MACHINE.width, fma, False)(inputs, many)
            return out

        assert_same_bits(results(), straight(results))


def test_random_programs_have_loops_of_every_kind(eager: None) -> None:
    seen: set[str] = set()
    for seed in range(16):
        plan = RolledPlan(repetitive(seed))
        for loop in plan.loops:
            seen |= {type(source).__name__ for source in loop.sources.values()}
            seen |= {name for name in ("table", "kept", "last", "results") if getattr(loop, name)}
        seen |= {"left"} if plan.left else set()
    assert seen == {"Literal", "Datum", "Address", "Carried", "table", "kept", "last", "results", "left"}


# --- robots ----------------------------------------------------------------------------------------------------------


ROBOTS = {
    "uniform": lambda: dq.robots.chain(12),
    "random": lambda: dq.robots.chain(9, seed=1),
    "arms": lambda: arms(2, 5),
    "every kind": lambda: random_robot(1, 12),
}


@pytest.mark.parametrize(
    ("robot", "name"),
    [
        ("random", "inverse_dynamics"),
        ("random", "forward_dynamics"),
        ("uniform", "forward_dynamics"),
        ("arms", "inverse_dynamics"),
        ("arms", "forward_dynamics"),
        ("every kind", "inverse_dynamics"),
        ("uniform", "mass_matrix"),
        ("random", "center_of_mass"),
    ],
)
def test_loops_have_the_bits_of_straight_code(eager: None, straight: Straight, robot: str, name: str) -> None:
    program = ROBOTS[robot]().program(name)
    assert robot == "every kind" or RolledPlan(program).loops
    rng = np.random.default_rng(2)
    one = [rng.normal(size=size) for _, size in program.inputs]
    many = [rng.normal(size=(ROWS, size)) for _, size in program.inputs]
    many[-1] = many[-1][0]  # one row for all states
    many[0] = np.repeat(many[0], 2, axis=0)[::2]  # rows with a stride

    def results() -> tuple[np.ndarray, np.ndarray]:
        function = Function(program, contract=False)
        answer = function(*one, check=False), function(*many, check=False)
        assert function.native is not None
        return answer

    found, expected = results(), straight(results)
    assert_same_bits(found[0], expected[0])
    assert_same_bits(found[1], expected[1])
    reference = np.array(interpret(program, [list(x) for x in one]), dtype=float).reshape(found[0].shape)
    assert np.abs(found[0] - reference).max() <= 1e-11 * np.abs(reference).max()


@pytest.mark.parametrize("size", [64, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.parametrize("seed", [1, None])
def test_long_chains_agree_with_pinocchio(size: int, seed: int | None) -> None:
    robot = dq.robots.chain(size, seed=seed)
    model = pinocchio_model(robot)
    data = model.createData()
    rng = np.random.default_rng(3)
    q, v, a = rng.normal(size=(3, size))
    tau = robot.inverse_dynamics(q, v, a)
    expected = pinocchio.rnea(model, data, q, v, a)
    assert np.abs(tau - expected).max() <= 1e-9 * np.abs(expected).max()
    # Accelerations of a long chain amplify rounding, so torques are compared.
    back = robot.inverse_dynamics(q, v, robot.forward_dynamics(q, v, tau))
    assert np.abs(back - tau).max() <= 1e-9 * np.abs(tau).max()
    for name in ("inverse_dynamics", "forward_dynamics"):
        text = kernels.scalar_kernel(robot.program(name), MACHINE.fma, True, width=MACHINE.width_for_one)
        assert "scalar_rolled" in text
        assert text.count("\n") < 4000


def test_small_robots_have_straight_code() -> None:
    for robot in (dq.robots.arm7(), dq.robots.chain(40, seed=1)):
        program = robot.program("inverse_dynamics")
        assert "rolled" not in kernels.scalar_kernel(program, True, True, width=4)
        assert all(c >= 0.0 or op == "const" for op, _, c in program.instructions)


# --- the memory of kernels -------------------------------------------------------------------------------------------


def test_threads_share_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls that come while another one runs have memory of their own."""
    allocated = []
    real = c_library.allocation()
    kind = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)

    def allocate(size: int) -> int | None:
        allocated.append(size)
        return None if len(allocated) % 3 == 0 else kind(real["allocate_at"])(size)

    counted = kind(allocate)
    addresses = {**real, "allocate_at": ctypes.cast(counted, ctypes.c_void_p).value}
    monkeypatch.setattr(c_library, "allocation", lambda: addresses)
    function = Function(dq.robots.chain(64).program("inverse_dynamics"))
    rng = np.random.default_rng(4)
    inputs = rng.normal(size=(3, 4000, 64))
    expected = function(*inputs)
    one = function.fast(*inputs[:, 0])
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: function(*inputs), range(12)))
        singles = list(pool.map(lambda _: function.fast(*inputs[:, 0]), range(40)))
    for result in results:
        np.testing.assert_allclose(result, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    for single in singles:
        np.testing.assert_array_equal(single, one)
    np.testing.assert_array_equal(function(*inputs, threads=2), expected)


def test_unfit_rows_and_huge_angles_are_found() -> None:
    robot = dq.robots.chain(64, seed=2)
    rng = np.random.default_rng(5)
    q, v, a = rng.normal(size=(3, ROWS, 64))
    function = robot.function("inverse_dynamics")
    expected = function(q, v, a)
    q[7, 63] += 2e16 * np.pi  # sines are then left to the interpreter
    slow = Function(robot.program("inverse_dynamics"), native=False)
    scale = np.abs(expected).max()
    assert np.abs(function(q, v, a) - slow(q, v, a)).max() <= 1e-11 * scale
    assert np.abs(function(q[7], v[7], a[7]) - slow(q[7], v[7], a[7])).max() <= 1e-11 * scale
    q[7, 63] = np.nan
    with pytest.raises(StateError, match="row 7"):
        function(q, v, a)


def test_rollouts_with_loops(eager: None, straight: Straight) -> None:
    program = dq.robots.chain(7, seed=1).program("forward_dynamics")
    code = [("input", (0, k), 0.0) for k in range(14)]
    inputs = (("x", 14), ("u", 7), ("p", 1), ("time", 2))
    # The program of a step has the inputs of a roll-out: state, input, parameters and time.
    moved: list[Instruction] = []
    for op, operands, constant in program.instructions:
        if op == "input":
            argument, k = operands
            operands = (1, k) if argument == 2 else (0, 7 * argument + k)
        moved.append((op, operands, constant))
    start = len(moved)
    step = Program("step", inputs, (*moved, *code), (*range(start + 7, start + 14), *program.outputs), (14,))

    def run(width: int) -> np.ndarray:
        rollout = Rollout([step], [(0, [1.0])], kept=14, contract=False)
        loop = rollout._compiled(width)
        rng = np.random.default_rng(6)
        state, other = rng.normal(size=(14, width)), np.empty((14, width))
        given, table, out = rng.normal(size=(7, width)), np.ones(1), np.empty((1, 14, width))
        words = [x.ctypes.data for x in (state, other, given)]
        assert loop(*words, 0, table.ctypes.data, 0.0, 1e-3, 0, 1, 1, out.ctypes.data, 14 * width) == 0
        return out

    for width in (1, MACHINE.width):
        assert_same_bits(run(width), straight(lambda width=width: run(width)))


@pytest.mark.parametrize("triple", ["x86_64-pc-windows-msvc", "aarch64-unknown-linux-gnu", "arm64-apple-darwin22.4.0"])
def test_rolled_code_calls_nothing_by_name(triple: str) -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    program = dq.robots.chain(64).program("inverse_dynamics")
    texts = kernels.scalar_kernel(program, False, True, width=2), kernels.batch_kernel(program, 2, False, True)
    machine = llvm.Target.from_triple(triple).create_target_machine(codemodel="small", reloc="pic")
    for text in texts:
        module = llvm.parse_assembly(ir.module(text, 0))
        module.verify()
        assert undefined_symbols(bytes(machine.emit_object(module))) <= {"__chkstk", "_fltused"}


def test_carried_values_stay_in_registers() -> None:
    plan = RolledPlan(dq.robots.chain(64, seed=1).program("inverse_dynamics"))
    carried = [source for loop in plan.loops for source in loop.sources.values() if isinstance(source, Carried)]
    assert len(carried) > 10
    assert not any(loop.table for loop in plan.loops)  # addresses advance evenly along a chain
    assert plan.slots < 12 * 64


def test_signs_of_constants_stay_in_long_programs() -> None:
    def algorithm(x: list[Any]) -> tuple[list[Any], tuple[int, ...]]:
        return [x[0] * -2.0 + x[1] * 3.0, x[0] * 2.0, x[1] * -3.0], (3,)

    short, long = tracer.trace("f", [("x", 2)], algorithm), tracer.trace("f", [("x", tracer.LONG)], algorithm)
    assert (short.counts.mul, long.counts.mul) == (2, 2)  # products with ±c are one
    assert -2.0 in {constant for op, _, constant in long.instructions if op == "const"}
    assert -2.0 not in {constant for op, _, constant in short.instructions if op == "const"}
    x = [0.3, 0.7, *[0.0] * (tracer.LONG - 2)]
    assert interpret(long, [x]) == interpret(short, [x[:2]]) == [-0.6 + 0.7 * 3.0, 0.6, 0.7 * -3.0]


def test_programs_have_a_longest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracer, "LONGEST", 1000)
    with pytest.raises(Error, match=r"^mass_matrix takes more than 1,000 instr.*: use functions with one"):
        dq.robots.chain(8, seed=1).mass_matrix(np.zeros(8))
