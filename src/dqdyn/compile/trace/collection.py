"""The garbage collector waits while programs are traced and emitted.

Both create hundreds of thousands of objects, all of them alive; the collector would visit them over and over again. Of
the derivatives of forward dynamics of a humanoid that is a quarter of the time to trace.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """Garbage of all threads waits; where the collector is off already it stays so."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
