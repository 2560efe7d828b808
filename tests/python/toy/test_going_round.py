"""Loops that break each time round: what led to a continuation may be forgotten, and the loop still comes back to it."""

import itertools

import pytest
from toy_framework import toy

t = toy.tensor
ROUNDS = 200


@pytest.fixture(autouse=True)
def anew():
    toy.reset()
    yield


def opaque_numbers():
    numbers = itertools.cycle([3, 5, 8, 1, 9, 2, 6])
    return toy.disable(lambda: next(numbers))


def test_a_sum_of_a_generator_that_breaks():
    opaque = opaque_numbers()

    def f(x, n):
        return x + sum(opaque() % 3 == 2 for _ in range(n))

    expected = f(t([0.0]), ROUNDS).tolist()
    opaque = opaque_numbers()
    assert toy.to_static(f)(t([0.0]), ROUNDS).tolist() == expected
    assert toy.stats()["captures"] < 16


def test_a_callee_that_is_bound_anew():
    makes = itertools.cycle([b"\1\2", b"\3", b"", b"\4\5\6"])
    read = toy.disable(lambda: next(makes))

    def f(x, n):
        total = 0
        for _ in range(n):
            total += int.from_bytes(read(), "big") % 7
        return x + total

    expected = f(t([0.0]), ROUNDS).tolist()
    makes = itertools.cycle([b"\1\2", b"\3", b"", b"\4\5\6"])
    assert toy.to_static(f)(t([0.0]), ROUNDS).tolist() == expected
    assert toy.stats()["captures"] < 24


def test_who_led_here_is_forgotten():
    opaque = opaque_numbers()
    forget = toy.disable(lambda: toy.reset())

    def f(x, n):
        total = 0
        for i in range(n):
            if i == 0:
                forget()
            value = opaque()
            total += value
        return x + total

    expected = sum(itertools.islice(itertools.cycle([3, 5, 8, 1, 9, 2, 6]), ROUNDS))
    assert toy.to_static(f)(t([0.0]), ROUNDS).tolist() == [float(expected)]
    assert toy.stats()["captures"] < 16
