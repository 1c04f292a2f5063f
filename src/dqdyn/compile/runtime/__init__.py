"""Programs as callables: machine code in memory, its cache, calls and threads."""
