"""A container of layers that each call makes anew (a slice of a list of layers) is captured once: what counts is what it holds."""

import paddle
import pytest
from paddle import nn

import sot


class Sliced(nn.Layer):
    def __init__(self):
        super().__init__()
        self.layers = nn.LayerList([nn.Linear(4, 4) for _ in range(4)])
        self.first, self.last = 0, 2


class Walked(Sliced):
    def forward(self, x):
        for layer in self.layers[self.first : self.last]:
            x = layer(x)
        return x


class Counted(Sliced):
    def forward(self, x):
        part = self.layers[self.first : self.last]
        for at, layer in enumerate(part):
            x = layer(x) + at
        return x * len(part), part[0] is self.layers[self.first], self.layers[0] in part, part[-1](x)


class Backwards(Sliced):
    def forward(self, x):
        for layer in reversed(list(self.layers[::2])):
            x = paddle.nn.functional.relu(layer(x))
        return x


class Extended(Sliced):
    def forward(self, x):
        part = self.layers[:1]
        part.append(self.layers[3])
        for layer in part:
            x = layer(x)
        return x, len(part), len(self.layers)


class Parameters(nn.Layer):
    def __init__(self):
        super().__init__()
        self.parts = [self.create_parameter([4]) for _ in range(3)]

    def forward(self, x):
        held = nn.ParameterList(self.parts[:2])
        return x * held[0] + held[1], len(held)


def seen(value):
    if isinstance(value, paddle.Tensor):
        return value.numpy().tolist(), value.stop_gradient
    if isinstance(value, (tuple, list)):
        return [seen(item) for item in value]
    return value


@pytest.mark.parametrize("cls, captures", [(Walked, 2), (Counted, 3), (Backwards, 2), (Extended, 3), (Parameters, 3)])
def test_made_anew(cls, captures):
    paddle.seed(1)
    net = cls()
    captured = sot.to_static(net)
    for call in range(8):
        x = paddle.rand([2, 4]) + call
        assert seen(captured(x)) == seen(net.forward(x))
    assert sot.stats()["captures"] <= captures


def test_another_part_is_seen():
    paddle.seed(1)
    net = Walked()
    captured = sot.to_static(net)
    x = paddle.rand([2, 4])
    for first, last in [(0, 2), (1, 3), (0, 2), (2, 2), (1, 3), (0, 4)]:
        net.first, net.last = first, last
        assert seen(captured(x)) == seen(net.forward(x))
    net.first, net.last = 0, 2
    net.layers[1] = nn.Linear(4, 4)
    assert seen(captured(x)) == seen(net.forward(x))
    net.layers[0].weight.set_value(net.layers[0].weight * 2)
    assert seen(captured(x)) == seen(net.forward(x))


def test_a_list_of_layers_is_an_argument():
    def f(x, layers):
        for layer in layers:
            x = layer(x)
        return x + len(layers)

    paddle.seed(1)
    lists = [nn.LayerList([nn.Linear(4, 4) for _ in range(count)]) for count in (2, 3, 2)]
    captured = sot.to_static(f)
    for _ in range(3):
        for layers in lists:
            x = paddle.rand([2, 4])
            assert seen(captured(x, layers)) == seen(f(x, layers))


class Listed(nn.Layer):
    def __init__(self):
        super().__init__()
        self.held = nn.ParameterList([self.create_parameter([4]) for _ in range(3)])

    def forward(self, x):
        for at in range(3):
            x = x * self.held[at]
        for parameter in self.held:
            x = x + parameter
        return x, len(self.held)


def test_parameters_in_a_list_are_in_the_graph():
    paddle.seed(1)
    net = Listed()
    captured = sot.to_static(net)
    for call in range(4):
        x = paddle.rand([2, 4]) + call
        assert seen(captured(x)) == seen(net.forward(x))
    assert (sot.stats()["breaks"], sot.stats()["captures"]) == (0, 1)
    net.held[1] = net.create_parameter([4])
    assert seen(captured(x)) == seen(net.forward(x))


class Back(Sliced):
    def forward(self, x):
        for layer in reversed(self.layers):
            x = layer(x)
        return x, len(list(reversed(self.layers)))


def test_backwards_through_a_list_of_layers():
    paddle.seed(1)
    net = Back()
    captured = sot.to_static(net)
    for _ in range(4):
        x = paddle.rand([2, 4])
        assert seen(captured(x)) == seen(net.forward(x))
    assert (sot.stats()["breaks"], sot.stats()["captures"]) == (0, 1)
