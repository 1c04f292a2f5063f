"""A humanoid that leans on a table or a wall with one hand to reach farther with the other: Quiroz, section 6.2."""
