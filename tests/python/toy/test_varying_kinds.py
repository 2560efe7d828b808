"""Values whose kind changes from call to call at one place: what lives on over a break is decided without a look at it."""

import collections
import weakref

import pytest
from toy_framework import toy

t = toy.tensor


class Kept:
    pass


MAKERS = {
    "none": lambda: None,
    "number": lambda: 3,
    "text": lambda: "s",
    "tensor": lambda: t([1.0]),
    "class": lambda: type("Local", (), {}),
    "function": lambda: lambda: 1,
    "list": lambda: [Kept()],
    "deque": lambda: collections.deque(),
    "instance": Kept,
}


class World:
    """Makes one value after the other, and tells which of those that take weak references live."""

    def __init__(self, kinds):
        self.kinds, self.refs = list(kinds), []

    def make(self):
        value = MAKERS[self.kinds.pop(0)]()
        self.watch(value)
        return value

    def watch(self, value):
        # A class lives until garbage is collected, whenever that is.
        if isinstance(value, type):
            value = None
        try:
            self.refs.append(weakref.ref(value[0] if isinstance(value, list) else value))
        except TypeError:
            self.refs.append(lambda: None)

    def alive(self):
        return [ref() is not None for ref in self.refs]


@pytest.fixture(autouse=True)
def anew():
    toy.reset()
    yield


def not_read_again(world):
    make, alive, opaque = toy.disable(world.make), toy.disable(world.alive), toy.disable(lambda: None)

    def f(x):
        a = make()  # noqa: F841
        opaque()
        return x + 1, alive()

    return f


def used_up(world):
    make, alive, opaque = toy.disable(world.make), toy.disable(world.alive), toy.disable(lambda: None)

    def f(x):
        a = make()
        opaque()
        a = None  # noqa: F841
        opaque()
        return x + 1, alive()

    return f


def held_by_the_caller(world):
    make, alive, opaque = toy.disable(world.make), toy.disable(world.alive), toy.disable(lambda: None)

    def callee(a):
        a = None  # noqa: F841
        opaque()
        return alive()

    def f(x):
        return x + 1, callee(*(make(),))

    return f


@pytest.mark.parametrize("way", [not_read_again, used_up, held_by_the_caller], ids=lambda way: way.__name__)
@pytest.mark.parametrize("first", MAKERS)
def test_another_kind_at_a_later_call(way, first):
    kinds = [first, *MAKERS, first]
    plain, captured = way(World(kinds)), toy.to_static(way(World(kinds)))
    for number in range(len(kinds)):
        assert captured(t([1.0]))[1] == plain(t([1.0]))[1], number
    assert toy.stats()["hook_failures"] == 0
    assert toy.stats()["hits"] > 0


@pytest.mark.parametrize("count", [2, 4, 6])
def test_kinds_by_turns_make_no_more_captures(count):
    names = ["v%d" % at for at in range(count)]
    source = "def f(x):\n    while go():\n        x = x + 1\n%s    return x\n" % "".join(
        "        %s = pick(%d)\n" % (name, at) for at, name in enumerate(names)
    )
    rounds = 2**count
    state = {"round": 0}

    def go():
        state["round"] += 1
        return state["round"] <= rounds

    def pick(at):
        return [1] if state["round"] >> at & 1 else None

    namespace = {"go": toy.disable(go), "pick": toy.disable(pick)}
    exec(source, namespace)
    f = toy.to_static(namespace["f"])
    assert f(t([0.0])).tolist() == [float(rounds)]
    # Two for each place: at first, and when all variables are bound.
    assert toy.stats()["captures"] <= 2 * count + 4
    assert toy.stats()["graphs"] <= 2
