"""The page on learning: what needs JAX, PyTorch and Gymnasium is marked ``py`` and runs here, where they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from snippets import blocks

PAGE = Path(__file__).parents[2] / "docs" / "learning.md"


@pytest.mark.long
def test_the_page_runs() -> None:
    jax = pytest.importorskip("jax")
    pytest.importorskip("torch")
    pytest.importorskip("gymnasium")
    pytest.importorskip("mujoco")
    before = jax.config.jax_enable_x64
    namespace: dict[str, Any] = {}
    try:
        for line, code in sorted([*blocks(PAGE, "python"), *blocks(PAGE, "py")]):
            exec(compile("\n" * (line - 1) + code, str(PAGE), "exec"), namespace)
    finally:
        jax.config.update("jax_enable_x64", before)
    assert namespace["envs"].reset(seed=1)[0].shape == (1024, 20)
    assert namespace["q"].grad.shape == (1000, 7)
