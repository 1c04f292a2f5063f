"""Controllers as compositions."""
