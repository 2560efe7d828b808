"""Comparing what captured functions do to gradients with what plain Paddle does."""

import warnings

import paddle
import sot

CALLS = 12
linear = paddle.nn.Linear(3, 3)


def flat(value):
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in flat(item)]
    return [value]


def facts(value):
    if not isinstance(value, paddle.Tensor):
        return value
    return (
        value.stop_gradient,
        value.is_leaf,
        value.grad_fn is not None,
        value.name.rstrip("0123456789"),
        value.numpy().tolist(),
    )


def seen(function, entered, requires_grad=True):
    """All that a call shows: results, mode afterwards, gradients of the argument and of the layer, warnings."""
    x = paddle.to_tensor([0.5, -1.0, 2.0], stop_gradient=not requires_grad)
    linear.clear_gradients(set_to_zero=False)
    with paddle.set_grad_enabled(entered), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            result = function(x)
        except Exception as error:
            result = [type(error).__name__, str(error)]
        after = paddle.is_grad_enabled()
    outputs = flat(result)
    found = [facts(output) for output in outputs]
    sums = [o.sum() for o in outputs if isinstance(o, paddle.Tensor) and not o.stop_gradient]
    if sums:
        paddle.add_n(sums).backward()
    grads = [None if t.grad is None else t.grad.numpy().tolist() for t in (x, linear.weight, linear.bias)]
    return found, after, grads, x.stop_gradient, [str(w.message) for w in warned]


def compare(function, entered=True, graphs=1, breaks=0, requires_grad=True):
    wanted = seen(function, entered, requires_grad)
    with paddle.set_grad_enabled(entered):
        report = sot.explain(function)(paddle.to_tensor([0.5, -1.0, 2.0], stop_gradient=not requires_grad))
    reasons = [(b.code, b.line, b.reason) for b in report.breaks]
    assert (len(report.graphs), len(reasons)) == (graphs, breaks), reasons
    sot.reset()
    translated = sot.to_static(function)
    for call in range(CALLS):
        assert seen(translated, entered, requires_grad) == wanted, f"call {call}"
    assert paddle.is_grad_enabled()


def compare_output(function, entered, capsys):
    """All that a call shows, and what it prints."""
    wanted = seen(function, entered), capsys.readouterr().out
    translated = sot.to_static(function)
    for call in range(CALLS):
        assert (seen(translated, entered), capsys.readouterr().out) == wanted, f"call {call}"
