"""Loops of controllers, in Python and in C: the same states go to both."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import daqp
import numpy as np
from c_compiler import STRICT, compiled

DT = 1e-3
# Memory and iterations of DAQP are counted: the library and DAQP call these functions.
COUNTED = ["-Dmalloc=counted_malloc", "-Dcalloc=counted_calloc"]
_MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <daqp/api.h>
#include "arm.h"
#define P arm_signals
#define SIZE (3 + arm_nv + arm_constraints)
static int allocations, iterations;
void *counted_malloc(size_t size);
void *counted_calloc(size_t count, size_t size);
void counted_solve(DAQPResult *result, DAQPWorkspace *work);
void *counted_malloc(size_t size)
{
    allocations++;
    return malloc(size);
}
void *counted_calloc(size_t count, size_t size)
{
    allocations++;
    return calloc(count, size);
}
void counted_solve(DAQPResult *result, DAQPWorkspace *work)
{
    daqp_solve(result, work);
    iterations += result->iter;
}
int main(void)
{
    arm_controller *c = arm_new();
    if (c == NULL) {
        return 2;
    }
    double in[1 + arm_nq + arm_nv + 3 * P], out[SIZE];
    while (fread(in, sizeof in, 1, stdin) == 1) {
        const double *signals = in + 1 + arm_nq + arm_nv;
        for (int i = 0; i < P; i++) {
            arm_values(c)[i] = signals[i];
            arm_rates(c)[i] = signals[P + i];
            arm_accelerations(c)[i] = signals[2 * P + i];
        }
        allocations = iterations = 0;
        out[0] = arm_step(c, in[0], in + 1, in + 1 + arm_nq, out + 3);
        out[1] = allocations;
        out[2] = iterations;
        memcpy(out + 3 + arm_nv, arm_violations(c), arm_constraints * sizeof(double));
        if (fwrite(out, sizeof out, 1, stdout) != 1) {
            return 3;
        }
    }
    for (int i = 0; i < arm_constraints; i++) {
        fprintf(stderr, "%s\\n", arm_constraint(i));
    }
    if (arm_constraint(-1) != NULL || arm_constraint(arm_constraints) != NULL) {
        return 4;
    }
    arm_free(c);
    arm_free(NULL);
    return 0;
}
"""
_STATUSES = {0: "solved", 1: "held", 2: "held", 3: "relaxed", 4: "failed"}


class CountingModel(daqp.Model):  # type: ignore[misc]
    """DAQP in Python, which counts its iterations."""

    iterations = 0

    def solve(self) -> Any:
        found = super().solve()
        CountingModel.iterations += found[3]["iterations"]
        return found


@dataclass(frozen=True)
class Run:
    """What a loop gives in Python, or in C: statuses, iterations of DAQP, commands (steps, nv) and violations."""

    statuses: list[str]
    iterations: np.ndarray
    commands: np.ndarray
    violations: np.ndarray


@dataclass
class Loop:
    """A controller, where its robot starts, and what happens before a step k: times, states and signals change."""

    robot: Any
    controller: Any
    q: np.ndarray
    disturb: Callable[[int, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]] = lambda k, q, v: (q, v)
    step: float = DT

    @property
    def names(self) -> list[str]:
        """Names of constraints, as C has them."""
        return list(dict.fromkeys(name for name, _ in self.controller.composition.named_bounds))

    def run(self, steps: int) -> tuple[np.ndarray, Run]:
        """What the steps get (steps, …), and what Python gives."""
        robot, controller = self.robot, self.controller
        q, v = self.q, np.zeros(robot.nv)
        buffer, names = controller.composition.buffer, self.names
        given, statuses, iterations, commands, violations = [], [], [], [], []
        for k in range(steps):
            t = k * self.step
            seen = self.disturb(k, q, v)
            before = CountingModel.iterations
            command = controller(t, *seen)
            iterations.append(CountingModel.iterations - before)
            report = controller.report
            given.append([t, *seen[0], *seen[1], *buffer.value, *buffer.rate, *buffer.acceleration])
            statuses.append(report.status)
            commands.append(command)
            violations.append([report.violation.get(name, 0.0) for name in names])
            if controller.level == "velocity":
                v = command
            elif seen[1] is v:  # else it coasts: braking from a velocity that is not there would drive it off
                a = command if controller.level == "acceleration" else robot.forward_dynamics(q, v, command)
                v = v + self.step * a
            q = robot.integrate(q, v, self.step)
        return np.array(given), Run(statuses, np.array(iterations), np.array(commands), np.array(violations))


def run_in_c(loop: Loop, given: np.ndarray, folder: Path, flags: list[str], settings: dict[str, str]) -> Run:
    """The same steps in C, linked to what ``flags`` name; nothing is allocated, and the program ends in peace."""
    loop.controller.c_library("arm").write(folder)
    (folder / "main.c").write_text(_MAIN, encoding="utf-8")
    own = [*STRICT, "-O1", "-g0", f"-I{folder}"]
    options = [flag for flag in flags if flag.startswith("-")]
    counted = [*COUNTED, "-Ddaqp_solve=counted_solve"]
    compiled(*own, *options, *counted, "-c", folder / "arm.c", "-o", folder / "arm.o")
    compiled(*own, *flags, folder / "main.c", folder / "arm.o", "-lm", "-o", folder / "run")
    done = subprocess.run(
        [folder / "run"], input=given.tobytes(), capture_output=True, env=settings, timeout=300, check=False
    )
    assert (done.returncode, done.stderr.decode().splitlines()) == (0, loop.names)
    found = np.frombuffer(done.stdout).reshape(len(given), -1)
    assert not found[:, 1].any(), "a step allocates memory"
    ends = 3 + loop.robot.nv
    return Run([_STATUSES[int(code)] for code in found[:, 0]], found[:, 2], found[:, 3:ends], found[:, ends:])
