"""From an algorithm over scalars to native code: trace, program, passes, back ends. Knows no robots."""
