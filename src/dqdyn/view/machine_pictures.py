"""Pictures of state machines, as their methods ``graph``, ``history`` and ``to_dot`` ask for them."""

from __future__ import annotations

from dqdyn.view.machine_graph import graph as graph
from dqdyn.view.machine_graph import to_dot as to_dot
from dqdyn.view.machine_history import history as history
