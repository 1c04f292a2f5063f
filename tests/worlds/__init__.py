"""Random worlds: robots of every kind under every option, each from one integer, and the laws that they must obey.

python -m tests.worlds --worlds 5000 --seed 1      # many worlds, in two processes; goes on where it was stopped
python -m tests.worlds --seconds 120               # as many as fit; the seed is the date, and is printed
python -m tests.worlds --world 123456              # one world: what it is, and which laws it breaks
"""

from __future__ import annotations

import sys
from pathlib import Path

_TESTS = str(Path(__file__).resolve().parent.parent)
if _TESTS not in sys.path:  # modules beside this folder, such as trees; pytest has them already
    sys.path.insert(0, _TESTS)
