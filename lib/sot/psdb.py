"""The symbolic debugger: says where a capture stops, under the names that Paddle's has.

    from sot import psdb

    @psdb.check_no_breakgraph
    def attention(q, k, v): ...

Everything here also works where nothing is captured, and then does what its plain Python says.
"""

import builtins

from . import _sot

breakgraph = _sot._psdb.breakgraph
check_no_breakgraph = _sot._psdb.check_no_breakgraph
check_no_fallback = _sot._psdb.check_no_fallback
fallback = _sot._psdb.fallback

__all__ = ["assert_true", "breakgraph", "check_no_breakgraph", "check_no_fallback", "fallback", "print"]


def assert_true(condition):
    """Raises AssertionError if the condition is false; a condition that is known to the capture breaks no graph."""
    if not condition:
        raise AssertionError("sot.psdb.assert_true: the condition is false")


def print(*args, **kwargs):
    """`print`: a break of the graph, after which the values are there to be shown."""
    builtins.print(*args, **kwargs)
