"""Clocks that a function asks: each is asked once, at its place before or behind what is computed, and what it says is never the same."""

import functools
import time

from observe import case
from toy_framework import toy

t = toy.tensor
ONE_GRAPH = {"graphs": 1, "breaks": 0, "captures": 1}
NAMES = ["time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time", "process_time_ns"]


def registered(name, world, expect):
    """A case of the function that `world()` gives, and of what tells the state that it leaves."""

    def build():
        f, watch = world()
        return {"f": f, "args": lambda: (t([1.0, 2.0]),), "watch": watch}

    build.__name__ = name
    build.__module__ = __name__
    case(**expect)(build)


def of_one_clock(ask, how):
    def before(x):
        began = ask()
        y = x * 2.0 + 1.0
        kept.append(began)
        return y

    def behind(x):
        y = x * 2.0 + 1.0
        kept.append(ask())
        return y

    def around(x):
        began = ask()
        y = x * 2.0 + 1.0
        took = ask() - began
        return y, took >= 0, took * 1000 >= 0.0, type(took).__name__

    kept = []

    def rises():
        """Each that was said is no less than the one before, and it is another object."""
        return [type(number) for number in kept], all(a <= b for a, b in zip(kept, kept[1:])), len({id(k) for k in kept}) == len(kept)

    return {"before": before, "behind": behind, "around": around}[how], rises


for _clock in NAMES:
    if hasattr(time, _clock):
        for _how in ("before", "behind", "around"):
            registered(f"clock_{_clock}_{_how}", functools.partial(of_one_clock, getattr(time, _clock), _how), ONE_GRAPH)


def texts(x):
    began = time.perf_counter()
    y = x * 2.0
    took = time.perf_counter() - began
    return y, len(f"{took:.3f}") >= 5, "e" in repr(round(took, 2)), isinstance(int(took), int)


def carried(x):
    began = time.time()
    y = x * 2.0
    return y, [0 < now for now in (began, time.time(), time.time())]


class Timer:
    def __init__(self):
        self.total, self.calls = 0.0, 0

    def __enter__(self):
        self.began = time.monotonic()
        return self

    def __exit__(self, *raised):
        self.total += time.monotonic() - self.began
        self.calls += 1



def in_a_manager(x):
    timer = Timer()
    with timer:
        y = x * 2.0
    return y, timer.total >= 0.0, timer.calls


def decided(x):
    if time.time() > 5.0:
        return x * 2.0
    return x


def between(x):
    began = time.perf_counter()
    y = x * 2.0
    took = time.perf_counter() - began
    return y + 1.0, took >= 0.0


def over_a_break(x):
    began = time.perf_counter()
    y = x * 2.0
    print("so far", end="")
    return y + 1.0, time.perf_counter() >= began


def divided(x):
    began = time.monotonic()
    y = x * 2.0
    return y, 1.0 / (time.monotonic() - began + 1.0) <= 1.0


def refused(x):
    try:
        time.time(1)
    except TypeError as error:
        return x * 2.0, str(error)


def by_another_name(x):
    now = time.monotonic
    return x * 2.0, now() <= now()



def alone(f):
    return lambda: (f, lambda: None)


registered("clock_in_texts", alone(texts), {"graphs": None, "captures": None, "breaks": None, "reasons": None})
registered("clock_carried", alone(carried), ONE_GRAPH)
registered("clock_in_a_manager", alone(in_a_manager), ONE_GRAPH)
registered("clock_that_decides", alone(decided), {"graphs": 2, "breaks": 1, "captures": 3, "reasons": ("opaque-call",)})
registered("clock_between_operations", alone(between), {"graphs": 3, "breaks": 1, "captures": 3, "reasons": ("opaque-call",)})
registered("clock_over_a_break", alone(over_a_break), {"graphs": 3, "breaks": 1, "captures": 3, "reasons": ("builtin-with-output",)})
registered("clock_divided", alone(divided), {"graphs": None, "captures": None, "breaks": None, "reasons": None})
registered("clock_refused", alone(refused), {"captures": 2, "breaks": 1, "reasons": None})
registered("clock_by_another_name", alone(by_another_name), ONE_GRAPH)
