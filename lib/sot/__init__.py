"""Symbolic opcode translator: runs Python functions and Paddle layers as graphs.

    import paddle, sot

    net = sot.to_static(paddle.vision.models.resnet18())
    net(paddle.randn([1, 3, 64, 64]))

Bytecode is simulated, tensor operations are gathered into graphs, and everything that the outcome depended on is
guarded. Where something cannot be simulated the graph breaks there, the plain Python runs, and capture goes on: the
result is always that of eager execution. `explain` shows what was captured and why something was not.

The engine is the extension module `sot._sot`; this module only gives it a name. It does not import Paddle: the order
of `import paddle` and `import sot` does not matter.
"""

from . import psdb
from ._sot import (
    CustomCode,
    Report,
    __version__,
    add_break_apis,
    disable,
    explain,
    graph_break,
    ignore_module,
    install,
    mark_dynamic,
    mark_static,
    not_to_static,
    reasons,
    reset,
    set_eval_frame,
    set_logs,
    stats,
    symbolic_translate,
    to_static,
    uninstall,
)

__all__ = [
    "CustomCode",
    "Report",
    "__version__",
    "add_break_apis",
    "disable",
    "explain",
    "graph_break",
    "ignore_module",
    "install",
    "mark_dynamic",
    "mark_static",
    "not_to_static",
    "psdb",
    "reasons",
    "reset",
    "set_eval_frame",
    "set_logs",
    "stats",
    "symbolic_translate",
    "to_static",
    "uninstall",
]
