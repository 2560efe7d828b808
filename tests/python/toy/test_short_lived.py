"""What is made afresh for each call: capturing pauses, says so, and goes on when a call meets what was captured."""

import os

# Which calls run as plain Python is no matter of time here.
os.environ["SOT_MEASURE"] = "0"

from toy_framework import toy  # noqa: E402

t = toy.tensor
LOST = 256


def new_layer(n):
    return toy.Linear(t([[float(n)]]), t([0.0]))


def call_it(x, layer):
    return layer(x)


X = t([[1.0]])


def lose(translated, times):
    for n in range(times):
        assert translated(X, new_layer(n)).tolist() == [[float(n)]]


def test_capturing_pauses_and_goes_on():
    translated = toy.to_static(call_it)
    lose(translated, LOST)
    assert toy.stats()["captures"] == LOST
    assert "short-lived" not in toy.stats()["reasons"]
    lose(translated, 2_000)
    stats = toy.stats()
    # Ever more seldom.
    assert LOST < stats["captures"] < LOST + 40
    assert stats["reasons"]["short-lived"] == 1
    report = toy.explain(translated)(X, new_layer(1))
    assert [b.code for b in report.breaks] == ["short-lived"] and report.breaks[0].fallback
    # What stays is captured after a while, and then is everything else.
    kept = [new_layer(n) for n in range(3)]
    for _ in range(3_000):
        for n, what in enumerate(kept):
            assert translated(X, what).tolist() == [[float(n)]]
    assert toy.stats()["hits"] > 3_000
    before = toy.stats()["captures"]
    lose(translated, 10)
    assert toy.stats()["captures"] == before + 10


def test_hits_put_the_pause_off():
    translated = toy.to_static(call_it)
    kept = new_layer(7)
    for _ in range(1_000):
        translated(X, kept)
    lose(translated, 400)
    assert toy.stats()["captures"] == 401
    assert "short-lived" not in toy.stats()["reasons"]


def test_reset_forgets_what_was_lost():
    translated = toy.to_static(call_it)
    lose(translated, LOST + 100)
    lose(translated, 10)
    toy.reset()
    lose(translated, 10)
    assert toy.stats()["captures"] == 10
