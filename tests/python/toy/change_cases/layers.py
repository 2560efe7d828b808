"""Layers: their parameters, sub-layers, hooks, modes and classes."""

from changing import change
from toy_framework import toy

t = toy.tensor
ROW = t([[1.0]])


def linear(scale=1.0):
    return toy.Linear(t([[scale]]), t([0.5]))


class Net(toy.Layer):
    def __init__(self):
        super().__init__()
        self.one = linear()
        self.k = 2

    def forward(self, x):
        return self.one(x) * self.k


def net_case(go):
    def build():
        net = Net()

        def f(x):
            return net(ROW), x * 2

        return f, lambda: go(net)

    build.__name__ = go.__name__
    return change(build)


@net_case
def attribute_of_a_layer(net):
    net.k = 5


@net_case
def parameter_of_a_sublayer(net):
    net.one._parameters["weight"] = t([[7.0]])


@net_case
def sublayer_is_replaced(net):
    net.one = linear(9.0)


@net_case
def forward_of_an_instance(net):
    net.forward = lambda x: x - 1


@net_case
def class_of_a_layer(net):
    net.__class__ = type("Other", (Net,), {"forward": lambda self, x: x - 1})


@net_case
def class_of_a_sublayer(net):
    net.one.__class__ = type("Other", (toy.Linear,), {"forward": lambda self, x: x - 1})


@net_case
def hook_of_a_layer(net):
    net.register_hook(lambda layer, output: output + 100)


@net_case
def hook_of_a_sublayer(net):
    net.one.register_hook(lambda layer, output: output + 100)


@net_case
def parameter_in_place(net):
    net.one._parameters["weight"].add_(10)


@change
def copy_of_a_layer():
    net = Net()
    held = [net]

    def f(x):
        return held[0](ROW)

    def go():
        held[0] = Net.__new__(Net)
        held[0].__dict__.update(net.__dict__)
        held[0].k = 9

    return f, go


@change
def forward_of_a_class():
    cls = type("Own", (Net,), {})
    net = cls()

    def f(x):
        return net(ROW)

    return f, lambda: setattr(cls, "forward", lambda self, x: x - 1)


@change
def getattr_of_a_class_of_layers():
    cls = type("Own", (Net,), {})
    net = cls()

    def f(x):
        return net(ROW)

    return f, lambda: setattr(cls, "__getattr__", lambda self, name: (lambda x: x - 1))
