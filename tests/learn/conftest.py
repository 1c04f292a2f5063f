"""Tests of what needs JAX, PyTorch or Gymnasium; each module is skipped where its package is missing."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "compile"))  # cases of exported functions
