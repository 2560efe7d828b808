"""Graphs that record gradients are not compiled, whatever takes them; those that record none are, as long as that stays so."""

import operator

import paddle
import pytest

RECORDS = "gradients are recorded"


def leaf():
    x = paddle.to_tensor([[0.1, 0.2], [0.3, 0.4]])
    x.stop_gradient = False
    return x


def squared(b, v):
    return b.api(paddle.exp, b.operator(operator.mul, v, v))


def test_an_input_takes_gradients(build):
    assert build(squared, leaf()).graph.replay_only == RECORDS
    assert build(squared, leaf() * 1.0).graph.replay_only == RECORDS
    assert build(squared, leaf().detach()).graph.replay_only is None


def test_a_parameter_takes_gradients(build):
    layer = paddle.nn.Linear(2, 2)
    x = paddle.ones([1, 2])
    assert build(lambda b, v: b.layer(layer, v), x).graph.replay_only == RECORDS


def test_one_of_two_outputs_records(build):
    built = build(lambda b, v: [b.api(paddle.exp, b.method("detach", v)), b.api(paddle.sin, v)], leaf())
    assert built.graph.replay_only == RECORDS


def test_what_is_cut_off_records_nothing(build):
    built = build(lambda b, v: b.api(paddle.exp, b.method("detach", v)), leaf())
    assert built.graph.replay_only is None
    assert built(leaf()).stop_gradient


def test_grad_mode_off_when_built(build):
    with paddle.no_grad():
        built = build(squared, leaf())
        assert built.graph.replay_only is None
        assert built(leaf()).stop_gradient


def test_input_without_contiguous_memory_is_not_touched(build):
    base = leaf().detach()
    x = base.T
    assert (build(squared, x)(x).numpy() == paddle.exp(x * x).numpy()).all()
    assert not x.is_contiguous()


def test_scopes_are_used_again(build, monkeypatch):
    made = []
    scope = paddle.base.core.Scope
    monkeypatch.setattr(paddle.base.core, "Scope", lambda: made.append(1) or scope())
    x = leaf().detach()
    built = build(squared, x)
    kept = [built(x) for _ in range(100)]
    assert len(made) == 1
    assert all((y.numpy() == kept[0].numpy()).all() for y in kept)


def test_a_thawed_parameter_is_noticed(build):
    layer = paddle.nn.Linear(2, 2)
    for parameter in layer.parameters():
        parameter.stop_gradient = True
    x = paddle.ones([1, 2])
    built = build(lambda b, v: b.layer(layer, v), x)
    assert (built(x).numpy() == layer(x).numpy()).all()
    layer.weight.stop_gradient = False
    with pytest.raises(RuntimeError, match="stop_gradient"):
        built(x)
