"""A job for workers whose tasks take a while, so that processes can be killed in the middle of it."""

from __future__ import annotations

import time
from dataclasses import dataclass

from dqdyn.scale.mapping import ChunkJob


@dataclass(frozen=True)
class Slow:
    """The same job, with a rest after every chunk."""

    job: ChunkJob
    seconds: float = 0.05

    def __call__(self, chunk: int) -> int:
        count = self.job(chunk)
        time.sleep(self.seconds)
        return count
