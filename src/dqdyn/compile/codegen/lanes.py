"""A program in LLVM IR on states that lie component by component: the inner part of a roll-out.

Each component is ``width`` neighbouring doubles, one per state, so nothing is transposed between two steps. Arguments
that all states share, such as time and coefficients, are plain doubles.
"""

from __future__ import annotations

from collections.abc import Container

from dqdyn.compile.codegen.emit import CodeBody
from dqdyn.compile.codegen.ir import Emitter
from dqdyn.compile.codegen.kernels import state_kernel, straight
from dqdyn.compile.codegen.rolled_kernels import may_roll, rolled_lane_kernel
from dqdyn.compile.codegen.rows import vector_registers
from dqdyn.compile.trace.program import Program


def lane_kernel(program: Program, width: int, shared: Container[int], fma: bool, contract: bool, name: str) -> str:
    """``i64 name(ptr in…, ptr out)``; not zero where an argument of a sine was too large in some state."""
    if may_roll(program):
        rolled = rolled_lane_kernel(program, width, shared, fma, contract, name)
        if rolled is not None:
            return rolled
    body = CodeBody(width, fma, contract)

    def load(argument: int, component: int) -> str:
        if argument in shared:
            return body.spread(body.load(body.at(f"%in{argument}", component)))
        return body.load(body.at(f"%in{argument}", component * width), body.real)

    def store(k: int, value: str) -> None:
        body.store(value, body.at("%out", k * width), body.real)

    slots = straight(program, body, load, store, registers=vector_registers(width, fma))
    return state_kernel(program, body, name, slots, body.too_large())


# Emitted code calls nothing by name, so not memcpy either.
_COPY = """\
define internal void @copy(ptr noalias %to, ptr noalias %from, i64 %count) {
entry:
  %some = icmp ne i64 %count, 0
  br i1 %some, label %loop, label %done
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %source = getelementptr double, ptr %from, i64 %i
  %target = getelementptr double, ptr %to, i64 %i
  %x = load double, ptr %source, align 8
  store double %x, ptr %target, align 8
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""


def loop(kernels: list[str], size: int, kept: int, parameters: int, width: int) -> str:
    """``i64 rollout(state, other, input, input_stride, table, start, dt, first, n, every, out, out_stride)``.

    Runs ``n`` steps from step number ``first``, each one call per entry of ``kernels`` with its row of ``table``.
    ``state`` and ``other`` hold the state and a copy; every ``every``-th state is written to ``out``, its first
    ``kept`` components. Strides are in doubles. Returns the flags of all calls, combined.
    """
    step = Emitter(1)
    here, there, flags = "%now", "%spare", "%flags"
    for i, kernel in enumerate(kernels):
        row = step.at("%table", i * parameters)
        flag = step.op(f"call i64 @{kernel}(ptr {here}, ptr %input, ptr {row}, ptr %time, ptr {there})")
        here, there, flags = there, here, step.op(f"or i64 {flags}, {flag}")
    calls = "\n".join(step.lines)
    return f"""{_COPY}
define i64 @rollout(ptr %state, ptr %other, ptr %input0, i64 %input_stride, ptr %table, double %start,
                    double %dt, i64 %first, i64 %n, i64 %every, ptr %out0, i64 %out_stride) {{
entry:
  %time = alloca [2 x double], align 16
  %time_dt = getelementptr double, ptr %time, i64 1
  store double %dt, ptr %time_dt, align 8
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %k_next, %after ]
  %since = phi i64 [ 0, %entry ], [ %since_next, %after ]
  %flags = phi i64 [ 0, %entry ], [ {flags}, %after ]
  %input = phi ptr [ %input0, %entry ], [ %input_next, %after ]
  %out = phi ptr [ %out0, %entry ], [ %out_next, %after ]
  %now = phi ptr [ %state, %entry ], [ {here}, %after ]
  %spare = phi ptr [ %other, %entry ], [ {there}, %after ]
  %number = add i64 %first, %k
  %count = uitofp i64 %number to double
  %elapsed = fmul double %count, %dt
  %t = fadd double %start, %elapsed
  store double %t, ptr %time, align 8
{calls}
  %due = add i64 %since, 1
  %is_due = icmp eq i64 %due, %every
  br i1 %is_due, label %keep, label %after
keep:
  call void @copy(ptr %out, ptr {here}, i64 {kept * width})
  %out_moved = getelementptr double, ptr %out, i64 %out_stride
  br label %after
after:
  %since_next = phi i64 [ %due, %loop ], [ 0, %keep ]
  %out_next = phi ptr [ %out, %loop ], [ %out_moved, %keep ]
  %input_next = getelementptr double, ptr %input, i64 %input_stride
  %k_next = add i64 %k, 1
  %more = icmp ult i64 %k_next, %n
  br i1 %more, label %loop, label %end
end:
  %moved = icmp ne ptr {here}, %state
  br i1 %moved, label %home, label %exit
home:
  call void @copy(ptr %state, ptr {here}, i64 {size * width})
  br label %exit
exit:
  ret i64 {flags}
}}
"""


ROLLOUT = ("ptr", "ptr", "ptr", "i64", "ptr", "double", "double", "i64", "i64", "i64", "ptr", "i64")
"""Types of the arguments of ``rollout``."""


def blocks(size: int, inputs: int, kept: int, width: int) -> str:
    """``i64 rollout_blocks(ptr arguments, i64 start, i64 end)``: the roll-out of some blocks of ``width`` states.

    ``arguments`` are words, those of ``rollout`` for the first block; in other blocks the pointers to the states, the
    inputs and the output are further on.
    """
    code = Emitter(1)
    given = [code.load(code.at("%arguments", i, "i64"), kind) for i, kind in enumerate(ROLLOUT)]
    code.lines += [
        "  br label %loop",
        "loop:",
        "  %k = phi i64 [ %start, %entry ], [ %next, %loop ]",
        "  %flags = phi i64 [ 0, %entry ], [ %all, %loop ]",
    ]
    for i, step in {0: size * width, 1: size * width, 2: inputs * width, 10: kept * width}.items():
        given[i] = code.at(given[i], code.op(f"mul i64 %k, {step}"))
    arguments = ", ".join(f"{kind} {value}" for kind, value in zip(ROLLOUT, given, strict=True))
    lines = "\n".join(code.lines)
    return f"""
define i64 @rollout_blocks(ptr %arguments, i64 %start, i64 %end) {{
entry:
{lines}
  %flag = call i64 @rollout({arguments})
  %all = or i64 %flags, %flag
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, %end
  br i1 %more, label %loop, label %exit
exit:
  ret i64 %all
}}
"""
