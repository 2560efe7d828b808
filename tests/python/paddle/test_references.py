"""Calls leak nothing: no reference to an argument, a result or a code object, and no memory."""

import gc
import sys
import weakref

import paddle
import pytest
import sot

CALLS = 10_000


def straight(x, y):
    return x * 2 + y


def branching(x, y):
    z = x * 2
    if z.sum() > 0:
        return z + y
    return z - y


def effects(x, y):
    box = {"x": x}
    box["y"] = [x + y, x]
    return box


def breaking(x, y):
    z = x + y
    print(end="")
    return [z * 2, z]


def raising(x, y):
    z = x + y
    raise KeyError("k")


def deep(x, y):
    return branching(x, y) + breaking(x, y)[0]


def falling_back(x, y):
    try:
        {}["k"]
    except KeyError:
        return x + y


def iterating(x, y):
    for i in range(2):
        x = x + i
        print(end="")
    return x


def closing(x, y):
    def inner(z):
        return z + x

    return inner(y)


CASES = [straight, branching, effects, breaking, raising, deep, falling_back, iterating, closing]


def call(f, x, y):
    try:
        f(x, y)
    except KeyError:
        pass


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_ten_thousand_calls(function):
    f = sot.to_static(function)
    x, y = paddle.ones([2]), paddle.ones([2])
    marker = object()
    # Not paddle.Tensor: Paddle itself keeps a reference to it for each tensor that it makes.
    watched = [x, y, function, function.__code__, None, True, (), marker]

    def measure():
        gc.collect()
        return [sys.getrefcount(o) for o in watched], sys.getallocatedblocks(), len(gc.get_objects())

    for _ in range(200):
        call(f, x, y)
    calls = CALLS if function in (straight, branching) else CALLS // 5
    refs, blocks, objects = measure()
    captures = sot.stats()["captures"]
    for _ in range(calls):
        call(f, x, y)
    refs_after, blocks_after, objects_after = measure()
    assert sot.stats()["captures"] == captures
    grown = [after - before for before, after in zip(refs, refs_after)]
    assert all(abs(g) <= 50 for g in grown), grown
    assert abs(objects_after - objects) <= 50
    assert blocks_after - blocks <= 500


class Box:
    def __init__(self, v):
        self.v = v


@pytest.mark.parametrize("breaks", [False, True])
def test_arguments_die_with_their_last_user(breaks):
    def f(box):
        y = box.v * 2
        if breaks:
            print(end="")
        return y + 1

    g = sot.to_static(f)
    refs = []
    for _ in range(5):
        box = Box(paddle.ones([2]))
        refs.append(weakref.ref(box))
        g(box)
        del box
    gc.collect()
    alive = [r() is not None for r in refs]
    assert not any(alive), alive


def test_a_captured_function_dies():
    def make():
        big = [0] * 1000

        def f(x):
            return x * len(big)

        return f

    refs = []
    for _ in range(5):
        f = make()
        refs.append(weakref.ref(f))
        g = sot.to_static(f)
        g(paddle.ones([2]))
        g(paddle.ones([2]))
        del f, g
    gc.collect()
    assert sum(r() is not None for r in refs) == 0


def test_a_captured_layer_dies():
    refs = []
    for _ in range(3):
        net = sot.to_static(paddle.nn.Linear(2, 2))
        refs.append(weakref.ref(net))
        net(paddle.ones([1, 2]))
        net(paddle.ones([1, 2])).sum().backward()
        del net
    gc.collect()
    assert sum(r() is not None for r in refs) == 0


def test_reset_lets_go():
    net = paddle.nn.Linear(2, 2)

    @sot.to_static
    def f(x):
        return net(x)

    f(paddle.ones([1, 2]))
    ref = weakref.ref(net)
    sot.reset()
    del net
    f = None
    gc.collect()
    assert ref() is None


def test_activations_are_freed_without_backward():
    net = sot.to_static(paddle.nn.Sequential(paddle.nn.Linear(256, 256), paddle.nn.ReLU(), paddle.nn.Linear(256, 256)))
    x = paddle.ones([512, 256])

    def resident():
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * 4096

    for _ in range(20):
        net(x)
    before = resident()
    for _ in range(200):
        net(x)
    # One call's activations are 1.5 MB: 200 of them would be 300.
    assert resident() - before < 60e6
