"""Every API of `api_cases`, eager beside built, without gradients: structure, dtype, shape, values, random stream.

A call that is built must be indistinguishable. Not every call is: what becomes of each is written down in
`api_outcomes.txt`, so that a backend that builds less than it did fails here, and one that builds more says so.
"""

import os
import pathlib

import api_cases
import paddle
import pytest

CASES = dict(api_cases.cases())


LISTED = pathlib.Path(__file__).with_name("api_outcomes.txt")


def listed():
    """What becomes of the cases that are not compiled: `name: outcome`."""
    lines = [line for line in LISTED.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.rsplit(": ", 1) for line in lines)


OUTCOMES = listed()

REFUSALS = ("api-rejected", "in-place-tensor", "framework-function", "gives-warning")


def outcome_is(name, outcome):
    record = os.environ.get("SOT_RECORD_OUTCOMES")
    if record:
        with open(record, "a") as file:
            print(name, outcome, sep="\t", file=file)
    else:
        assert outcome == OUTCOMES.get(name, "compiled")


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


@pytest.mark.parametrize("name", CASES)
def test_api(backend, name):
    made = api_cases.tensors()
    fn, args, kwargs = CASES[name](made)
    originals = [t for t in leaves([args, list(kwargs.values())]) if isinstance(t, paddle.Tensor)]
    inputs = [t.detach().clone() for t in originals]
    args, kwargs = replace((args, kwargs), list(zip(originals, inputs)))
    if backend.classify(fn) != "Api":
        outcome_is(name, "no api")
        return
    builder = backend.begin()
    try:
        values = [builder.input(t) for t in inputs]
        built_args, built_kwargs = replace((args, kwargs), list(zip(inputs, values)))
        try:
            result = builder.call("api", fn.__name__, fn, built_args, built_kwargs)
        except RuntimeError as refused:
            assert any(f"[{reason}]" in str(refused) for reason in REFUSALS), str(refused)
            outcome_is(name, "refused")
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
        outcome_is(name, "eager raises")
        return
    after = paddle.rand([2]).numpy()
    assert shape == structure(expected)
    expected = [t for t in leaves(expected) if isinstance(t, paddle.Tensor)]
    for meta, t in zip(metas, expected):
        assert "?" in meta or meta == backend.tensor_meta(t)
    shared = any(e._is_shared_buffer_with(i) for e in expected for i in inputs if e._is_initialized() and i._is_initialized())
    same = all(any(e is i for i in inputs) for e in expected)
    outcome_is(name, "replayed" if graph.replay_only else "compiled")
    if graph.replay_only:
        return
    assert same or not shared
    paddle.seed(9)
    got = graph.run(inputs)
    assert (paddle.rand([2]).numpy() == after).all()
    for g, e in zip(got, expected):
        assert (g.dtype, list(g.shape), g.stop_gradient, str(g.place)) == (e.dtype, list(e.shape), e.stop_gradient, str(e.place))
        assert g.numpy().tobytes() == e.numpy().tobytes()


def test_the_list_is_of_cases():
    assert set(OUTCOMES) <= set(CASES)
    compiled = [name for name in CASES if name not in OUTCOMES]
    assert len(compiled) > 0.6 * len(CASES)
