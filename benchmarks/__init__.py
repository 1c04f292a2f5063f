"""Numbers that are claims, measured: ``python -m benchmarks``. One short file per benchmark."""
