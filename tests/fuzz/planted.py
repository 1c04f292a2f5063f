"""An area with planted faults, for the tests of the runner; the case says which."""

from __future__ import annotations

import os
import random
import time
import warnings

from dqdyn.errors import Error

from .cases import Area, Case


class TwoLines(Error):
    """An error as it must not be."""

    def __str__(self) -> str:
        return "one\ntwo"


class Fuzzed(Area):
    """All cases have the fault that the environment names."""

    chunk = 4

    @property
    def limit(self) -> float:  # type: ignore[override]
        return 2.0 if os.environ.get("PLANTED") == "hang" else 60.0

    def make(self, rng: random.Random) -> Case:
        wanted = os.environ.get("PLANTED", "none")
        return {"fault": wanted, "text": "a" * 5 + "X" + "b" * 5, "number": rng.randrange(100)}

    def check(self, case: Case) -> str:
        fault = case.get("fault", "none") if "X" in case.get("text", "") else "none"
        if fault == "refusal":
            raise Error("joint 'elbow' has 3 axes; found 4.")
        if fault == "crash":
            os.abort()
        if fault == "hang":
            time.sleep(60)
        if fault == "memory":
            bytearray(64 * 2**30)
        if fault == "exit":
            raise SystemExit(3)
        if fault == "warning":
            warnings.warn("of another library", RuntimeWarning, stacklevel=1)
        if fault == "two lines":
            raise TwoLines("one")
        if fault == "raw exception":
            raise KeyError("elbow")
        assert fault != "wrong answer", "two is not 3"
        return "as it should be"
