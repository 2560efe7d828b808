"""Gradients through a graph: what eager allows, a graph allows."""

import gc
import os
import subprocess
import sys
import textwrap

import numpy as np
import paddle
import pytest


def leaf(scale=1.0):
    x = paddle.to_tensor([[0.1, 0.2], [0.3, 0.4]]) * scale
    x = x.detach()
    x.stop_gradient = False
    return x


def eager(x):
    return paddle.exp(x * x)


@pytest.fixture
def graph(build):
    import operator

    return build(lambda b, v: b.api(paddle.exp, b.operator(operator.mul, v, v)), leaf())


def gradient(fn, x, **kwargs):
    fn(x).sum().backward(**kwargs)
    return x.grad.numpy()


def test_gradient(graph):
    np.testing.assert_allclose(gradient(graph, leaf()), gradient(eager, leaf()), rtol=1e-6)


def test_two_forwards_before_their_backwards(graph):
    a, b, c, d = leaf(), leaf(2.0), leaf(), leaf(2.0)
    ga, gb, ea, eb = graph(a).sum(), graph(b).sum(), eager(c).sum(), eager(d).sum()
    for loss in (gb, ga, ea, eb):
        loss.backward()
    np.testing.assert_allclose(a.grad.numpy(), c.grad.numpy(), rtol=1e-6)
    np.testing.assert_allclose(b.grad.numpy(), d.grad.numpy(), rtol=1e-6)


def test_retain_graph(graph):
    for fn in (eager, graph):
        x = leaf()
        loss = fn(x).sum()
        loss.backward(retain_graph=True)
        first = x.grad.numpy().copy()
        loss.backward(retain_graph=True)
        loss.backward()
        np.testing.assert_allclose(x.grad.numpy(), 3 * first, rtol=1e-6)


def test_retain_graph_with_calls_in_between(graph):
    x = leaf()
    loss = graph(x).sum()
    loss.backward(retain_graph=True)
    first = x.grad.numpy().copy()
    for scale in (2.0, 3.0):
        gradient(graph, leaf(scale))
    loss.backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * first, rtol=1e-6)


def test_gradient_as_value_twice(graph):
    x = leaf()
    loss = graph(x).sum()
    a = paddle.grad(loss, x, retain_graph=True)[0]
    b = paddle.grad(loss, x)[0]
    np.testing.assert_array_equal(a.numpy(), b.numpy())


@pytest.mark.parametrize("through_sum", [True, False])
def test_backward_twice_raises_as_eager(graph, through_sum):
    for fn in (eager, graph):
        y = fn(leaf())
        loss = y.sum() if through_sum else y
        loss.backward()
        with pytest.raises(Exception):
            loss.backward()


def test_unreached_input_keeps_no_gradient(build):
    built = build(lambda b, v, w: b.api(paddle.exp, v), leaf(), leaf())
    x, unused = leaf(), leaf()
    built(x, unused).sum().backward()
    assert x.grad is not None and unused.grad is None


def test_input_cut_off_inside_keeps_no_gradient(build):
    built = build(lambda b, v, w: b.api(paddle.add, b.api(paddle.exp, v), b.method("detach", w)), leaf(), leaf())
    x, cut = leaf(), leaf()
    built(x, cut).sum().backward()
    assert x.grad is not None and cut.grad is None


def test_one_of_two_outputs_used(build):
    built = build(lambda b, v: [b.api(paddle.exp, v), b.api(paddle.sin, v)], leaf())
    x, z = leaf(), leaf()
    built(x)[1].sum().backward()
    paddle.sin(z).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), z.grad.numpy(), rtol=1e-6)


def test_hooks_on_results(graph):
    x, seen = leaf(), []
    y = graph(x)
    y.register_hook(lambda g: seen.append(g.numpy().sum()) or g * 2)
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * gradient(eager, leaf()), rtol=1e-6)
    assert seen == [4.0]


def test_input_without_contiguous_memory_is_not_touched(graph):
    base = leaf()
    x = base.T
    graph(x).sum().backward()
    other = leaf()
    eager(other.T).sum().backward()
    np.testing.assert_allclose(base.grad.numpy(), other.grad.numpy(), rtol=1e-6)
    assert not x.is_contiguous()


def test_grad_mode_off_when_built(build):
    with paddle.no_grad():
        built = build(lambda b, v: b.api(paddle.exp, v), leaf())
        assert built(leaf()).stop_gradient


def test_scopes_are_used_again(build, monkeypatch):
    made = []
    scope = paddle.base.core.Scope
    monkeypatch.setattr(paddle.base.core, "Scope", lambda: made.append(1) or scope())
    built = build(lambda b, v: b.api(paddle.exp, v), leaf())
    for _ in range(1000):
        gradient(built, leaf())
    assert len(made) == 1
    alive = [built(leaf()) for _ in range(3)]
    assert len(made) == 3
    del alive
    gc.collect()
    for _ in range(100):
        built(leaf())  # never goes back: the scope is free when the result dies
    assert len(made) <= 4


SECOND = """
import importlib, os, paddle
B = importlib.import_module("sot._sot")._probe.Backend()
def finish(x):
    b = B.begin()
    v = b.input(x)
    return b.finish([0], [b.call("api", "exp", paddle.exp, (v,))]).replay_only
x = paddle.ones([2])
assert finish(x) is None
x.stop_gradient = False
assert "second derivative" in finish(x), "a leaf that takes gradients"
y = x * 1.0
assert finish(y) is None
B.classify(paddle.grad)
assert "second derivative" in finish(y), "the program asks for gradients as values"
"""


def test_second_derivatives_are_left_to_replay():
    env = {k: v for k, v in os.environ.items() if k != "SOT_PADDLE_SECOND_ORDER"}
    subprocess.run([sys.executable, "-c", textwrap.dedent(SECOND)], env=env, check=True, capture_output=True)


def test_a_thawed_parameter_is_noticed(build):
    layer = paddle.nn.Linear(2, 2)
    layer.weight.stop_gradient = True
    built = build(lambda b, v: b.layer(layer, v), paddle.ones([1, 2]))
    built(paddle.ones([1, 2])).sum().backward()
    assert layer.weight.grad is None and layer.bias.grad is not None
    layer.weight.stop_gradient = False
    with pytest.raises(RuntimeError, match="stop_gradient"):
        built(paddle.ones([1, 2]))
