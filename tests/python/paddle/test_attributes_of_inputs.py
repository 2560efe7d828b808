"""What eager keeps beside the data of a tensor is read of tensors from before the frame: in the graph, and anew where it has changed."""

import paddle
import pytest

import sot
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(2, 2), nn.LayerNorm(2)
        self.norm.bias.no_decay = True

    def forward(self, x):
        return self.norm(self.linear(x))


NET = Net()
W = NET.linear.weight
OTHERS = [nn.Linear(2, 2).weight for _ in range(2)]

FORMS = {
    "trainable": lambda x, w: [n for n, p in NET.named_parameters() if p.trainable],
    "by_name": lambda x, w: {p.name: p.shape for p in NET.parameters()},
    "name": lambda x, w: (w.name, W.name),
    "leaf": lambda x, w: (w.is_leaf, x.is_leaf),
    "persistable": lambda x, w: (w.persistable, x.persistable, W.persistable),
    "of_the_optimizer": lambda x, w: (w.optimize_attr["learning_rate"], W.optimize_attr, W.regularizer),
    "distributed": lambda x, w: (w.is_distributed, w.need_clip, w.do_model_average),
    "tagged": lambda x, w: [p.name for p in NET.parameters() if getattr(p, "no_decay", False)],
    "whether_tagged": lambda x, w: [hasattr(p, "no_decay") for p in (x, w, W, *NET.parameters())],
    "layout": lambda x, w: (x.layout, w.layout),
}


def seen(result):
    y, value = result
    return y.tolist(), repr(value)


def captures_of(name, calls, change=lambda: None):
    form = FORMS[name]

    def f(x, w):
        return (x @ w) * 2, form(x, w)

    sot.reset()
    captured = sot.to_static(f)
    for at, (x, w) in enumerate(calls):
        if at == len(calls) // 2:
            change()
        assert seen(captured(x, w)) == seen(f(x, w)), at
    assert sot.stats()["breaks"] == 0, sot.stats()["reasons"]
    return sot.stats()["captures"]


@pytest.mark.parametrize("name", FORMS)
def test_in_the_graph(name):
    x = paddle.ones([1, 2])
    assert captures_of(name, [(x, W)] * 4) == 1


def changed(name, old, new):
    def change():
        for tensor in (W, NET.norm.bias):
            setattr(tensor, name, new)

    def back():
        for tensor in (W, NET.norm.bias):
            setattr(tensor, name, old)

    return change, back


CHANGES = {
    "trainable": changed("stop_gradient", False, True),
    "by_name": (lambda: setattr(W, "name", W.name + "_again"), lambda: None),
    "name": (lambda: setattr(W, "name", W.name + "_again"), lambda: None),
    "persistable": changed("persistable", True, False),
    "of_the_optimizer": (lambda: W.optimize_attr.update(learning_rate=0.5), lambda: W.optimize_attr.update(learning_rate=1.0)),
    "distributed": changed("need_clip", True, False),
    "tagged": (lambda: setattr(NET.linear.bias, "no_decay", 1), lambda: delattr(NET.linear.bias, "no_decay")),
    "whether_tagged": (lambda: setattr(W, "no_decay", 0), lambda: delattr(W, "no_decay")),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_has_changed_is_seen(name):
    change, back = CHANGES[name]
    x = paddle.ones([1, 2])
    try:
        captures_of(name, [(x, W)] * 6, change)
    finally:
        back()


def test_of_another_parameter():
    x = paddle.ones([1, 2])
    OTHERS[1].persistable = False
    OTHERS[0].optimize_attr["learning_rate"] = 3.0
    for name in FORMS:
        captures_of(name, [(x, w) for w in (W, *OTHERS, W, *OTHERS)])


def test_whether_an_argument_is_a_leaf():
    w = paddle.ones([2, 2])
    w.stop_gradient = False
    made = w * 2
    assert captures_of("leaf", [(paddle.ones([1, 2]), w), (paddle.ones([1, 2]), made)] * 2) == 2


def test_the_name_of_what_nobody_has_named_is_given_in_order():
    def f(x, y):
        return x + y, y.name, x.name

    def numbers(function):
        _, *names = function(paddle.ones([2]) * 2, paddle.ones([2]) * 3)
        first, second = (int(name.rsplit("_", 1)[1]) for name in names)
        return second - first

    captured = sot.to_static(f)
    assert [numbers(captured) for _ in range(3)] == [numbers(f)] * 3 == [1] * 3


def test_where_a_tensor_is():
    def f(x):
        y = x * 2
        return y, x.is_cuda, y.is_cuda

    sot.reset()
    captured = sot.to_static(f)
    for _ in range(3):
        assert seen((captured(W)[0], captured(W)[1:])) == seen((f(W)[0], f(W)[1:]))
    assert (sot.stats()["captures"], sot.stats()["breaks"]) == (1, 0)
