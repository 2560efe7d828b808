"""Things that change between two calls, by what they are."""

from . import classes, exceptions, functions, layers, local_classes, values  # noqa: F401
