"""Things that change between two calls, by what they are."""

from . import classes, functions, layers, values  # noqa: F401
