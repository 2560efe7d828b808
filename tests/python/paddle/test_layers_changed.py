"""Layers that were given to `to_static`, whose class changes, or which are copied: the same as if they had not been."""

import copy

import paddle
import pytest
import sot


class Scaled(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.factor = 1
        self.inner = paddle.nn.Linear(2, 2)

    def forward(self, x):
        return self.inner(x) * self.factor


class Around(paddle.nn.Layer):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x) + 1


class Other(Scaled):
    def forward(self, x):
        return x * 7


@pytest.fixture(autouse=True)
def class_as_it_was():
    before = Scaled.forward
    yield
    Scaled.forward = before


x1 = lambda: paddle.ones([1, 2])  # noqa: E731


def copied(capture):
    layer = capture(Scaled())
    seen = [layer(x1())]
    one, other = copy.copy(layer), copy.deepcopy(layer)
    one.factor, other.factor = 2, 3
    seen += [one(x1()), layer(x1()), one.forward(x1()), other(x1()), other(x1())]
    third = copy.copy(one)
    third.factor = 5
    return seen + [third(x1()), one(x1()), third.inner.weight is layer.inner.weight]


def another_forward(capture):
    layer = capture(Scaled())
    around = capture(Around(layer))
    other = copy.deepcopy(layer)
    seen = [layer(x1()), around(x1())]
    before = Scaled.forward
    Scaled.forward = lambda self, x, y=1: x * 100 + y
    for _ in range(2):
        seen += [layer(x1()), around(x1()), other(x1()), layer(x1(), 5), layer.forward(x1(), y=2)]
    Scaled.forward = before
    return seen + [layer(x1()), around(x1()), other(x1())]


def another_class(capture):
    layer = capture(Scaled())
    around = capture(Around(layer))
    seen = [layer(x1()), around(x1())]
    layer.__class__ = Other
    seen += [layer(x1()), around(x1()), copy.copy(layer)(x1()), layer(x1())]
    layer.__class__ = Scaled
    return seen + [layer(x1()), around(x1())]


def forward_of_the_instance(capture):
    layer = capture(Scaled())
    seen = [layer(x1())]
    layer.forward = lambda x: x * 9
    seen.append(layer(x1()))
    del layer.forward
    return seen + [layer(x1())]


@pytest.mark.parametrize("program", [copied, another_forward, another_class, forward_of_the_instance])
def test_same_as_eager(program):
    def values(capture):
        paddle.seed(7)
        return [value.tolist() if isinstance(value, paddle.Tensor) else value for value in program(capture)]

    expected = values(lambda layer: layer)
    assert values(sot.to_static) == expected
    assert sot.stats()["graphs"] > 0


def test_what_has_changed_is_captured():
    layer = sot.to_static(Scaled())
    layer(x1())
    Scaled.forward = lambda self, x: x * 2
    layer(x1())
    before = sot.stats()
    layer(x1())
    after = sot.stats()
    assert (after["hits"] - before["hits"], after["captures"] - before["captures"]) == (1, 0)


class Keeping(paddle.nn.Layer):
    """Where the framework keeps an attribute depends on what it is."""

    def forward(self, x, value, deletes):
        self.given = value
        seen = ["given" in self.__dict__, [name for name in self.__dict__ if name == "given"], type(self.given)]
        if deletes:
            del self.given
            seen += ["given" in self.__dict__, hasattr(self, "given")]
        return x * 2, seen


def kept(kind):
    linear = paddle.nn.Linear(2, 2)
    return {"number": 3, "layer": linear, "tensor": paddle.ones([2]), "parameter": linear.weight, "none": None}[kind]


def told(layer, run, kinds, deletes):
    """What each call says, and where the layer has the attribute behind it."""
    out = []
    for kind in kinds:
        try:
            out.append(run(paddle.ones([2]), kept(kind), deletes)[1])
        except TypeError as error:
            out.append(str(error))
        parts = [layer.__dict__, layer._sub_layers, layer._parameters, layer._buffers]
        out.append(["given" in part for part in parts])
    return out


@pytest.mark.parametrize("deletes", [False, True])
@pytest.mark.parametrize("first", ["number", "layer", "tensor", "parameter", "none"])
@pytest.mark.parametrize("second", ["number", "layer", "tensor", "parameter", "none"])
def test_an_attribute_is_in_the_instance_dict_only_where_the_framework_keeps_it_there(first, second, deletes):
    kinds = [first, second, second]
    plain, captured = Keeping(), Keeping()
    assert told(captured, sot.to_static(captured), kinds, deletes) == told(plain, plain, kinds, deletes)
    assert sot.stats()["captures"] > 0
