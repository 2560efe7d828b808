"""Cases that fail today, each with its reason. They are strict: a case that starts to pass must be removed here."""

import sys

import pytest

ALL = ((3, 8), (3, 9), (3, 10), (3, 11), (3, 12), (3, 13))

# name of the case: (versions of Python, reason)
KNOWN = {}


def known(name):
    versions, reason = KNOWN.get(name, ((), ""))
    return [pytest.mark.xfail(reason=reason, strict=True)] if sys.version_info[:2] in versions else []
