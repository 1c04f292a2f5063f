"""From an algorithm to a program: tracing, simplifying, interpreting."""

from dqdyn.compile.trace.tracer import trace

__all__ = ["trace"]
