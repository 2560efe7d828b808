"""What is made afresh for each call: capturing ends, and goes on when calls meet what is captured."""

import os

# Which calls run as plain Python is no matter of time here.
os.environ["SOT_MEASURE"] = "0"

from toy_framework import toy  # noqa: E402

t = toy.tensor


def new_layer(n):
    return toy.Linear(t([[float(n)]]), t([0.0]))


def call_it(x, layer):
    return layer(x)


X = t([[1.0]])


def lose(translated, times):
    for n in range(times):
        assert translated(X, new_layer(n)).tolist() == [[float(n)]]


def test_capturing_ends_and_goes_on():
    translated = toy.to_static(call_it)
    lose(translated, 300)
    # One that breaks at the call serves them all, but for a few that are tried again.
    assert toy.stats()["captures"] < 16
    assert "short-lived" not in toy.stats()["reasons"]
    # What stays is captured after a while, and then is everything else.
    kept = [new_layer(n) for n in range(3)]
    for _ in range(300):
        for n, what in enumerate(kept):
            assert translated(X, what).tolist() == [[float(n)]]
    before = toy.stats()
    for n, what in enumerate(kept):
        assert translated(X, what).tolist() == [[float(n)]]
    assert [toy.explain(translated)(X, what).breaks for what in kept] == [[], [], []]
    assert toy.stats()["captures"] == before["captures"] < 32


def test_hits_are_no_reason_to_go_on():
    translated = toy.to_static(call_it)
    kept = new_layer(7)
    for _ in range(1_000):
        translated(X, kept)
    lose(translated, 400)
    assert toy.stats()["captures"] < 16
    assert translated(X, kept).tolist() == [[7.0]]


def test_reset_forgets_what_was_lost():
    translated = toy.to_static(call_it)
    lose(translated, 100)
    toy.reset()
    lose(translated, 4)
    assert toy.stats()["captures"] == 4
