"""Functions that are run eagerly and captured, a file for each subject."""
