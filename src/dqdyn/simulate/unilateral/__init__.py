"""Our own dynamics with unilateral contacts: lift-off, inelastic impact and Coulomb friction by time stepping."""
