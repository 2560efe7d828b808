"""Models in the style of the repositories that people take theirs from: one file a family, small enough for a test."""
