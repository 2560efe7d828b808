"""Every API of `api_cases`, eager beside built: structure, dtype, shape, gradient flags, values, gradients, random stream.

A call that is built must be indistinguishable. Not every call is: what becomes of each is written down in
`api_outcomes.txt`, so that a backend that builds less than it did fails here, and one that builds more says so.
"""

import os
import pathlib

import api_cases
import numpy as np
import paddle
import pytest

CASES = dict(api_cases.cases())


LISTED = pathlib.Path(__file__).with_name("api_outcomes.txt")


def listed():
    """What becomes of the cases that are not compiled in both ways: `name: outcome without gradients, outcome with`."""
    lines = [line for line in LISTED.read_text().splitlines() if line and not line.startswith("#")]
    return {name: outcomes.split(", ") for name, outcomes in (line.rsplit(": ", 1) for line in lines)}


OUTCOMES = listed()


def outcome_is(name, grad, outcome):
    record = os.environ.get("SOT_RECORD_OUTCOMES")
    if record:
        with open(record, "a") as file:
            print(name, int(grad), outcome, sep="\t", file=file)
    else:
        assert outcome == OUTCOMES.get(name, ["compiled", "compiled"])[grad]


def leaves(o):
    if isinstance(o, (list, tuple)):
        return [leaf for i in o for leaf in leaves(i)]
    return [o]


def structure(o):
    if isinstance(o, (list, tuple)):
        return (type(o).__name__, [structure(i) for i in o])
    return "tensor" if isinstance(o, (paddle.Tensor, paddle.pir.Value)) else repr(o)


def replace(o, table):
    if isinstance(o, (list, tuple)):
        return type(o)(replace(i, table) for i in o)
    if isinstance(o, dict):
        return {k: replace(v, table) for k, v in o.items()}
    return next((new for old, new in table if old is o), o)


def loss(outs):
    return sum((o.abs() if o.dtype in (paddle.complex64, paddle.complex128) else o * o).sum() for o in outs)


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_api(backend, name, grad):
    made = api_cases.tensors()
    if grad:
        for t in made.values():
            t.stop_gradient = t.dtype not in (paddle.float32, paddle.float64, paddle.complex64)
    fn, args, kwargs = CASES[name](made)
    originals = [t for t in leaves([args, list(kwargs.values())]) if isinstance(t, paddle.Tensor)]
    inputs = [t.detach().clone() for t in originals]
    for new, old in zip(inputs, originals):
        new.stop_gradient = old.stop_gradient
    args, kwargs = replace((args, kwargs), list(zip(originals, inputs)))
    if backend.classify(fn) != "Api":
        outcome_is(name, grad, "no api")
        return
    builder = backend.begin()
    try:
        values = [builder.input(t) for t in inputs]
        built_args, built_kwargs = replace((args, kwargs), list(zip(inputs, values)))
        try:
            result = builder.call("api", fn.__name__, fn, built_args, built_kwargs)
        except RuntimeError as refused:
            assert "[api-rejected]" in str(refused) or "[in-place-tensor]" in str(refused) or "[framework-function]" in str(refused)
            outcome_is(name, grad, "refused")
            return
        outs = [v for v in leaves(result) if builder.is_value(v)]
        shape, metas = structure(result), [builder.meta(v) for v in outs]
        graph = builder.finish(list(range(len(inputs))), outs)
    finally:
        builder.abandon()
    paddle.seed(9)
    try:
        expected = fn(*args, **kwargs)
    except Exception:
        # Replay serves first, so it raises then.
        outcome_is(name, grad, "eager raises")
        return
    after = paddle.rand([2]).numpy()
    assert shape == structure(expected)
    expected = [t for t in leaves(expected) if isinstance(t, paddle.Tensor)]
    for meta, t in zip(metas, expected):
        assert "?" in meta or meta == backend.tensor_meta(t)
    shared = any(e._is_shared_buffer_with(i) for e in expected for i in inputs if e._is_initialized() and i._is_initialized())
    same = all(any(e is i for i in inputs) for e in expected)
    outcome_is(name, grad, "replayed" if graph.replay_only else "compiled")
    if graph.replay_only:
        return
    assert same or not shared
    paddle.seed(9)
    got = graph.run(inputs)
    assert (paddle.rand([2]).numpy() == after).all()
    for g, e in zip(got, expected):
        assert (g.dtype, list(g.shape), g.stop_gradient, str(g.place)) == (e.dtype, list(e.shape), e.stop_gradient, str(e.place))
        assert g.numpy().tobytes() == e.numpy().tobytes()
    pairs = [(g, e) for g, e in zip(got, expected) if not e.stop_gradient]
    if not pairs or same:
        return

    def gradients(outs):
        for i in inputs:
            i.clear_gradient(False)
        loss(outs).backward()
        return [None if i.grad is None else i.grad.numpy() for i in inputs]

    try:
        want = gradients([e for _, e in pairs])
    except Exception:
        with pytest.raises(Exception):
            gradients([g for g, _ in pairs])
        return
    for g, w in zip(gradients([g for g, _ in pairs]), want):
        assert (g is None) == (w is None)
        if w is not None:
            assert g.tobytes() == w.tobytes()


def test_the_list_is_of_cases():
    assert set(OUTCOMES) <= set(CASES)
    compiled = [name for name in CASES if "compiled" in OUTCOMES.get(name, ["compiled"])]
    assert len(compiled) > 0.6 * len(CASES)
