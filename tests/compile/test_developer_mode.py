"""A smoke script under Python's developer mode, whose allocator and checks find stray writes and lost references."""

from __future__ import annotations

import subprocess
import sys

import pytest

SMOKE = """
import gc, numpy as np, dqdyn as dq
from dqdyn.compile.runtime.python_abi import layout_is_known
assert layout_is_known()
robot = dq.robots.arm7(base="free")
frame = robot.joints[-1].name
f = robot.function("twist_jacobian", frame=frame)
q = robot.random_configuration(0)
J = np.empty((6, robot.nv))
for k in range(300):
    assert f(q, out=J) is J
    f(q)
    robot.twist_jacobian(frame, q)
    f(np.stack([q] * 5))
    if k % 50 == 0:
        gc.collect()
for bad in (q[:-1], q * np.nan, "q", None):
    try:
        f(bad)
    except dq.Error as error:
        pass
    else:
        raise SystemExit("accepted")
del f, robot
gc.collect()
print("fine")
"""


@pytest.mark.parametrize("flags", [["-X", "dev"], ["-X", "dev", "-b", "-O"]])
def test_smoke_script_in_developer_mode(flags: list[str]) -> None:
    command = [sys.executable, *flags, "-W", "error", "-c", SMOKE]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "fine", "")
