"""Who calls whom, as code at the bottom sees it: the frames below a break of an inlined function, whatever its instruction.

`warnings.warn(stacklevel=)` tells a frame's file and line and writes into its globals.
"""

import sys
import warnings

import pytest

from toy_framework import toy

t = toy.tensor
SEEN = []


@toy.disable
def look():
    frame, frames = sys._getframe(1), []
    while frame.f_code.co_name != "seen_by":
        frames.append((frame.f_code.co_name, frame.f_lineno))
        frame = frame.f_back
    SEEN.append(frames)


def say():
    for level in (1, 2, 3, 4):
        warnings.warn("said", UserWarning, stacklevel=level)


class Asks:
    """What its methods do is seen from the instruction that calls them."""

    def __init__(self, ask):
        self.ask, self.left = ask, 2

    def __iter__(self):
        self.ask()
        return self

    def __next__(self):
        self.ask()
        self.left -= 1
        if self.left < 0:
            raise StopIteration
        return self.left

    def __hash__(self):
        self.ask()
        return 1

    def __eq__(self, other):
        self.ask()
        return True

    def __len__(self):
        self.ask()
        return 1

    def __getattr__(self, name):
        self.ask()
        return name

    def keys(self):
        self.ask()
        return ["a"]

    def __getitem__(self, key):
        self.ask()
        return key

    def __enter__(self):
        self.ask()

    def __exit__(self, *args):
        self.ask()


def numbers(ask):
    ask()
    yield 1
    ask()
    yield 2


def delegated(ask):
    yield from numbers(ask)


def closed_over(ask):
    def inner():
        yield from Asks(ask)

    return inner()


def by_for(items):
    for item in items:
        str(item)
    else:
        len([])


def by_a_handled_for(items):
    try:
        for item in items:
            str(item)
    finally:
        len([])


def by_next(items):
    items = iter(items)
    next(items)
    next(items, None)
    next(items, None)


def by_list(items):
    return list(items)


def by_unpacking(items):
    first, second = items
    return first


def by_unpacking_some(items):
    first, *rest = items
    return rest


def by_star(items):
    return [0, *items]


def by_comprehension(items):
    return {item: 1 for item in items}


def by_in(items):
    return 5 in items


def by_yield_from(items):
    def inner():
        yield from items

    return sum(inner())


def by_zip(items):
    return dict(zip(items, "ab"))


def by_keys(item):
    made = {item: 1}
    made[item] = {item}
    made = {other: 1 for other in [item]}, {other for other in [item]}
    return {"b": item, **item}, made


def by_attributes(item):
    with item:
        return item.some, len(item), item == 1, item["a"], [item] == [2]


MAKERS = {"items": Asks, "generator": numbers, "delegated": delegated, "closure": closed_over}
TAKERS = [by_for, by_a_handled_for, by_next, by_list, by_unpacking, by_unpacking_some, by_star, by_comprehension]
TAKERS += [by_in, by_yield_from, by_zip]
WAYS = [(maker, taker) for maker in MAKERS for taker in TAKERS] + [("items", by_keys), ("items", by_attributes)]


def inside(x, maker, taker, ask):
    y = x * 2
    taker(MAKERS[maker](ask))
    return y


def given(x, maker, taker, ask):
    """The object is from outside: an iterator that is one to everybody."""
    y = x * 2
    taker(maker)
    return y


def seen_by(function, *args):
    SEEN.clear()
    globals().pop("__warningregistry__", None)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")
        result = function(t([1.0]), *args)
    registry = globals().get("__warningregistry__", {})
    told = [(str(w.message), w.filename, w.lineno) for w in said]
    return result.tolist(), list(SEEN), told, [key for key in registry if key != "version"]


@pytest.mark.parametrize("ask", [look, say])
@pytest.mark.parametrize(("maker", "taker"), WAYS, ids=lambda part: getattr(part, "__name__", part))
def test_made_inside(maker, taker, ask):
    eager = seen_by(inside, maker, taker, ask)
    assert eager[1] or eager[2]
    translated = toy.to_static(inside)
    for _ in range(3):
        assert seen_by(translated, maker, taker, ask) == eager


@pytest.mark.parametrize("ask", [look, say])
@pytest.mark.parametrize(("maker", "taker"), WAYS, ids=lambda part: getattr(part, "__name__", part))
def test_from_outside(maker, taker, ask):
    eager = seen_by(given, MAKERS[maker](ask), taker, ask)
    assert eager[1] or eager[2]
    translated = toy.to_static(given)
    for _ in range(3):
        assert seen_by(translated, MAKERS[maker](ask), taker, ask) == eager
