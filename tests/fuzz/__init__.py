"""Fuzzing as a tool: ``python -m tests.fuzz [area] --seconds N --seed S``; see docs/testing.md.

A case is plain data made from an area and an integer alone. It ends well, is refused by one clear sentence, or is a
violation: another exception, a foreign warning, a crash, a hang, too much memory, or a wrong answer.
"""

import sys
from pathlib import Path

# Areas use the helpers of the tests: trees, oracles, texts.
for _folder in ("", "formats", "compile", "control"):
    _path = str(Path(__file__).parents[1] / _folder)
    if _path not in sys.path:
        sys.path.append(_path)
