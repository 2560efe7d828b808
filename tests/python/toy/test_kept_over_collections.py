"""What somebody holds is not captured again because the collector ran: who holds it, and what hangs off it, makes no difference."""

import gc

import pytest

from toy_framework import toy

t = toy.tensor


class Leaf(toy.Layer):
    def __init__(self):
        super().__init__()
        self.scale = 3

    def forward(self, x):
        return x * self.scale


class Branch(toy.Layer):
    def __init__(self, sizes=(1, 2)):
        super().__init__()
        self.leaf, self.config, self.sizes = Leaf(), {"a": 1}, list(sizes)

    def forward(self, x):
        return self.leaf(x) + self.config["a"] + self.sizes[0]


class Tree(Branch):
    def __init__(self):
        super().__init__()
        self.left, self.right = Branch(), Branch((3,))

    def forward(self, x):
        return self.left(x) + self.right(super().forward(x))


class Holder:
    pass


def in_a_local(made):
    return (made, None), lambda held: held[0]


def in_a_list(made):
    return [made], lambda held: held[0]


def in_an_attribute(made):
    holder = Holder()
    holder.net = made
    return holder, lambda held: held.net


def in_a_closure(made):
    return (lambda: made), lambda held: held()


def in_a_layer(made):
    outer = Holder()
    outer.trainer = Holder()
    outer.trainer.parts = {"net": made}
    return outer, lambda held: held.trainer.parts["net"]


HOLDERS = [in_a_local, in_a_list, in_an_attribute, in_a_closure, in_a_layer]


@pytest.mark.parametrize("make", [Leaf, Branch, Tree])
@pytest.mark.parametrize("hold", HOLDERS)
def test_a_layer(make, hold):
    held, get = hold(make())
    toy.to_static(get(held))
    x = t([1.0, 2.0])
    expected = make()(x).tolist()
    for _ in range(3):
        assert get(held)(x).tolist() == expected
        gc.collect()
    assert toy.stats()["captures"] == 1


@pytest.mark.parametrize("hold", HOLDERS)
def test_a_method_and_a_function_that_reads_the_object(hold):
    made = Tree()
    held, get = hold(made)
    captured = toy.to_static(made.forward)
    del made
    x = t([1.0, 2.0])

    @toy.to_static
    def read(y):
        return get(held)(y) * 2

    for _ in range(3):
        captured(x)
        read(x)
        gc.collect()
    assert toy.stats()["captures"] == 2


def test_behind_a_break():
    net = Tree()

    @toy.to_static
    def f(x):
        y = net(x)
        print(end="")
        return y + net.leaf(x)

    for _ in range(3):
        f(t([1.0]))
        gc.collect()
    assert toy.stats()["captures"] == 2


def test_what_nobody_holds_goes():
    net = Tree()
    captured = toy.to_static(net)
    captured(t([1.0]))
    assert toy.stats()["memory"]["entries"]["count"] == 1
    del net, captured
    gc.collect()
    assert toy.stats()["memory"]["entries"] == {"count": 0, "bytes": 0}
