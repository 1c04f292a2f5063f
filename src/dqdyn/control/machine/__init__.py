"""State machines: states with tasks, constraints and contacts, guards that lead from one to the next, and a log."""
