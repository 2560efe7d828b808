"""A program puts another method in the place of an operator of tensors, and calls the one that was there."""

import paddle
import pytest

import sot

NAMES = ["__add__", "__mul__", "__sub__", "__matmul__", "__getitem__"]


def of_two(name):
    symbols = {"__add__": "+", "__mul__": "*", "__sub__": "-", "__matmul__": "@"}
    source = "def f(x, y): return x[y]" if name == "__getitem__" else f"def f(x, y): return x {symbols[name]} y"
    names = {}
    exec(source, names)
    return names["f"], 0 if name == "__getitem__" else paddle.to_tensor([[3.0, 4.0], [5.0, 6.0]])


@pytest.mark.parametrize("name", NAMES)
def test_an_operator_is_replaced(name, monkeypatch):
    f, y = of_two(name)
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    original = getattr(paddle.Tensor, name)
    before = f(x, y).tolist()
    captured = sot.to_static(f)
    assert captured(x, y).tolist() == before

    def twice(self, other):
        return original(original(self, other), other) if name != "__getitem__" else original(self, 1)

    monkeypatch.setattr(paddle.Tensor, name, twice)
    replaced = f(x, y).tolist()
    assert replaced != before
    for _ in range(3):
        assert captured(x, y).tolist() == replaced
    monkeypatch.undo()
    assert captured(x, y).tolist() == before
    assert sot.stats()["graph_failures"] == 0


@pytest.mark.parametrize("door", ["hook", "entry"])
@pytest.mark.parametrize("name", NAMES)
def test_who_calls_the_one_that_was_there_is_captured(name, door, monkeypatch):
    f, y = of_two(name)
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    original = getattr(paddle.Tensor, name)
    calls = []

    def other(self, value):
        calls.append(name)
        return original(self, 1 if name == "__getitem__" else paddle.scale(value, 2.0))

    before = f(x, y).tolist()
    monkeypatch.setattr(paddle.Tensor, name, other)
    replaced = f(x, y).tolist()
    count = len(calls)
    if door == "entry":
        monkeypatch.setattr(paddle.Tensor, name, sot.to_static(other))
    sot._sot._capture_all(door == "hook")
    try:
        got = [f(x, y).tolist() for _ in range(3)]
    finally:
        sot._sot._capture_all(False)
    monkeypatch.undo()
    assert replaced != before
    assert got == [replaced] * 3
    assert len(calls) == 4 * count
    assert sot.stats()["graph_failures"] == 0
