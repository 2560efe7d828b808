"""Tests that fail today, each with its reason. They are strict: one that starts to pass must be removed here.

A name is that of a case (for its decisions, or `same:` and the name for its result), or of a test.
"""

import sys

import pytest

ALL = ((3, 8), (3, 9), (3, 10), (3, 11), (3, 12), (3, 13))

# name: (versions of Python, reason, whether it takes the process down)
KNOWN = {}


def note(names, reason, versions=ALL, crashes=False):
    for name in names.split():
        KNOWN[name] = (versions, reason, crashes)


def known(name):
    versions, reason, crashes = KNOWN.get(name, ((), "", False))
    if sys.version_info[:2] not in versions:
        return []
    return [pytest.mark.xfail(reason=reason, strict=True, run=not crashes)]


note("same:iterator_class iterator_class", "native stack overflow", crashes=True)
