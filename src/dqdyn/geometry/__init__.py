"""Points, lines, planes and segments: values, distances, projections and closest points."""
