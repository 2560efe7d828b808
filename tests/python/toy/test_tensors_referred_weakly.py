"""What is captured does not keep a tensor that only a weak reference leads to."""

import gc
import weakref

import pytest

from toy_framework import toy

SEEN = []


def made_and_asked(x):
    z = x + 1
    SEEN.append(weakref.ref(z))
    toy.graph_break()
    return z, [reference() is None for reference in SEEN]


def asked(x):
    old = SEEN[-1]() if SEEN else None
    return x + 1, old is None


def computed_with(x):
    old = SEEN[-1]() if SEEN else None
    return (x + 1 if old is None else old + x), 0


def is_the_one(x):
    z = x + 1
    SEEN.append(weakref.ref(z))
    toy.graph_break()
    return z, SEEN[-1]() is z


def run(f, g):
    SEEN.clear()
    told, last = [], None
    for _ in range(5):
        result = g(toy.tensor([1.0, 2.0]))
        told.append((result[0].tolist(), result[1]))
        if f in (asked, computed_with):
            SEEN.append(weakref.ref(result[0]))
        last = result
        del result
    told.append([reference() is None for reference in SEEN])
    del last
    return told, [reference() is None for reference in SEEN]


@pytest.mark.parametrize("door", ["entry", "hook"])
@pytest.mark.parametrize("f", [made_and_asked, asked, computed_with, is_the_one])
def test_a_tensor_dies_as_it_does_in_plain_python(f, door):
    gc.disable()
    try:
        expected = run(f, f)
        toy.reset()
        if door == "hook":
            toy._capture_all(True)
            try:
                got = run(f, f)
            finally:
                toy._capture_all(False)
        else:
            got = run(f, toy.to_static(f))
    finally:
        gc.enable()
    assert got == expected
    assert all(expected[1])
    assert toy.stats()["captures"] > 0
