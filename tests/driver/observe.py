"""One call, and everything of it that a caller can see.

`Observed` holds the outcome (result or exception with its lines), what was written to stdout, the warnings, the state of
all named roots afterwards (arguments, globals, the callable itself, with gradients after a backward pass over what the
call returned), the random streams and the modes of Paddle.
"""

import contextlib
import io
import random
import re
import traceback
import warnings

import numpy as np
import paddle
from describe import ADDRESS, describe, differences


class Observed:
    def __init__(self):
        self.facts = {}
        self.state = None

    def differences(self, other):
        found = [
            f"{name}: {self.facts[name]!r} / {other.facts[name]!r}"
            for name in self.facts
            if self.facts[name] != other.facts[name]
        ]
        return found + differences(self.state, other.state)


def observe(call, roots, file):
    """Make the call. `roots()` gives the named objects that the caller can look at afterwards."""
    seen = Observed()
    out = io.StringIO()
    result, raised = None, None
    with warnings.catch_warnings(record=True) as warned, contextlib.redirect_stdout(out):
        warnings.simplefilter("always")
        try:
            result = call()
        except Exception as error:
            raised = error
    seen.facts["raised"] = None if raised is None else exception(raised, file)
    seen.facts["stdout"] = ADDRESS.sub("0x", out.getvalue())
    seen.facts["warnings"] = [warning(w, file) for w in warned if "ccache" not in str(w.message)]
    seen.facts["backward"] = backward(result)
    seen.facts["modes"] = modes()
    seen.facts["random"] = streams()
    seen.state = describe({"result": result, **roots()})
    return seen


def exception(error, file):
    """Type, message, the lines of the snippet that it passed, and what caused it."""
    lines = [f"{f.name}:{f.lineno}" for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
    causes = [type(e).__name__ for e in (error.__cause__, error.__context__) if e is not None]
    return type(error).__name__, message(error), lines, causes


def message(error):
    """Paddle's messages carry the C++ stack and the graph's node, which differ by the way that an operator is reached."""
    text = ADDRESS.sub("0x", str(error))
    marker = "Error Message Summary:"
    if marker in text:
        text = text.split(marker)[1].strip("\n-")
    text = re.sub(r"\b\w+GradNode\b", "GradNode", text.split("(at ")[0])
    return text.strip()


def warning(caught, file):
    where = caught.lineno if caught.filename == file else None
    return caught.category.__name__, ADDRESS.sub("0x", str(caught.message)), where


def tensors_of(value, found, depth=0):
    if isinstance(value, paddle.Tensor):
        found.append(value)
    elif isinstance(value, (list, tuple)) and depth < 5:
        for item in value:
            tensors_of(item, found, depth + 1)
    elif isinstance(value, dict) and depth < 5:
        tensors_of(list(value.values()), found, depth + 1)
    return found


def backward(result):
    """A backward pass over every differentiable tensor of the result; how it ended."""
    wanted = [t for t in tensors_of(result, []) if not t.stop_gradient and paddle.is_floating_point(t)]
    if not wanted:
        return "nothing to do"
    try:
        loss = sum((t.astype("float32") * (i + 1)).square().sum() for i, t in enumerate(wanted))
        if loss.stop_gradient:
            return "no gradient"
        loss.backward()
    except Exception as error:
        return type(error).__name__, message(error)
    return "done"


def modes():
    return (
        paddle.is_grad_enabled(),
        paddle.get_default_dtype(),
        paddle.in_dynamic_mode(),
        str(paddle.base.framework._current_expected_place()),
    )


def streams():
    """The next numbers of each random stream, which is left as it was."""
    state = paddle.get_rng_state()
    numbers = paddle.randn([2]).numpy().tolist()
    paddle.set_rng_state(state)
    host = random.getstate(), np.random.get_state()
    numbers += [random.random(), float(np.random.rand())]
    random.setstate(host[0])
    np.random.set_state(host[1])
    return [round(n, 6) for n in numbers]
