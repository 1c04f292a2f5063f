"""The forms that cost the fewest operations: what is compiled unless a formulation is named."""
