"""The functions of robots as data, by name: one table per group."""
