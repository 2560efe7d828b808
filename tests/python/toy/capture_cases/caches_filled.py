"""Calls that a function cache does not remember yet: the function is simulated, and the cache remembers what it comes to."""

import functools

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


def counted(maxsize=None, typed=False):
    asked = []

    @functools.lru_cache(maxsize=maxsize, typed=typed)
    def width(n, *more, scale=1.0):
        asked.append((n, more, scale))
        return n * scale

    return width, lambda: [asked, width.cache_info()]


# What the first call fills the second one finds.
@case(graphs=2, captures=2)
def filled_by_the_first_call():
    width, watch = counted()

    def f(x):
        return x * width(3) + width(4, scale=2.0) + width(3), width(4, scale=2.0) is width(4, scale=2.0)

    return {"f": f, "args": x1, "watch": watch}


@case(graphs=2, captures=2)
def filled_with_room():
    width, watch = counted(maxsize=4)
    width(1)

    def f(x):
        return x * width(3) + width(4, scale=2.0) + width(3) + width(1)

    return {"f": f, "args": x1, "watch": watch}


@open_case
def the_order_in_which_it_lets_go():
    width, watch = counted(maxsize=4)
    width(1)

    def f(x):
        return x * width(3) + width(4, scale=2.0) + width(3) + width(1)

    def order():
        return [watch(), width(1), width(8), width(9), width(4, scale=2.0), watch()]

    return {"f": f, "args": x1, "watch": order}


@open_case
def keys_of_one_length():
    width, watch = counted()

    def f(x):
        return x * width(3, scale=2.0), width(3, 4, 5), width(3, 4), width(3, scale=3.0), width((3,)[0], "a")

    return {"f": f, "args": x1, "watch": watch}


# It lets go of another one, which Python itself does.
@open_case
def filled_without_room():
    width, watch = counted(maxsize=2)

    def f(x):
        return x * width(3) + width(4) + width(5) + width(3)

    return {"f": f, "args": x1, "watch": watch}


@open_case
def filled_in_vain():
    width, watch = counted(maxsize=0)

    def f(x):
        return x * width(3) + width(3)

    return {"f": f, "args": x1, "watch": watch}


@case(graphs=2, captures=2)
def filled_by_itself():
    @functools.lru_cache(None)
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    return {"f": lambda x: x * fib(12), "args": x1, "watch": fib.cache_info}


@case(graphs=2, captures=2)
def filled_by_a_method():
    class Grid:
        def __init__(self):
            self.n = 2.0

        @functools.lru_cache(None)
        def at(self, k):
            return self.n * k

    grid = Grid()
    return {"f": lambda x: x * grid.at(2) + grid.at(3), "args": x1, "watch": Grid.at.cache_info}


@case(graphs=2, captures=2)
def filled_with_a_tensor():
    @functools.lru_cache(None)
    def mask(n):
        return t([float(n), 1.0])

    kept = []

    def f(x):
        kept.append(mask(2))
        return x * mask(2) + mask(2), mask(2) is kept[-1]

    return {"f": f, "args": x1, "watch": lambda: (kept, all(one is kept[0] for one in kept), mask.cache_info())}


@case(graphs=2, captures=2)
def filled_with_a_list():
    @functools.lru_cache()
    def kept(name):
        return [name]

    def f(x):
        first = kept("a")
        first.append(1)
        return x * float(len(kept("a"))), first is kept("a")

    def args():
        kept.cache_clear()
        return x1()

    return {"f": lambda x: (x * 2.0, kept("a")), "args": x1, "watch": lambda: (kept("a"), kept.cache_info(), f, args)}


@open_case
def a_list_that_grows():
    @functools.lru_cache()
    def kept(name):
        return [name]

    def f(x):
        first = kept("a")
        first.append(1)
        return x * float(len(kept("a"))), first is kept("a")

    return {"f": f, "args": x1, "watch": lambda: (kept("a"), kept.cache_info())}


# Nothing is remembered, but it was asked.
@case(captures=None, graphs=None)
def what_raises_is_not_remembered():
    @functools.lru_cache(None)
    def width(n):
        if n < 0:
            raise ValueError("%d is negative" % n)
        return n

    def f(x):
        try:
            return x * width(-1)
        except ValueError as error:
            return x * 2.0, str(error)

    return {"f": f, "args": x1, "watch": width.cache_info}


@open_case
def what_raises_to_the_caller():
    @functools.lru_cache(None)
    def width(n):
        raise ValueError(n)

    return {"f": lambda x: x * width(-1), "args": x1, "watch": width.cache_info}


@open_case
def a_break_in_the_function():
    @functools.lru_cache(None)
    def width(n):
        print("width", n, width.cache_info())
        return n * 2.0

    def f(x):
        y = x * width(2)
        return y + width(3) + width(2)

    return {"f": f, "args": x1, "watch": width.cache_info}


# Whoever clears it meets the first capture again.
@case(graphs=1, captures=1)
def cleared_between():
    width, watch = counted()

    def args():
        width.cache_clear()
        return x1()

    return {"f": lambda x: x * width(2) + width(2), "args": args, "watch": watch}


@open_case
def cleared_meanwhile():
    width, watch = counted()

    def f(x):
        y = x * width(2)
        width.cache_clear()
        return y * width(2)

    return {"f": f, "args": x1, "watch": watch}


@open_case
def the_same_call_within():
    depth = [0]

    @functools.lru_cache(None)
    def width(n):
        depth[0] += 1
        if depth[0] % 2:
            width(n)
        return n + depth[0]

    return {"f": lambda x: x * width(2), "args": x1, "watch": lambda: (depth, width.cache_info(), width(2))}


@case(graphs=2, captures=2)
def types_that_tell_keys_apart_when_filled():
    width, watch = counted(typed=True)
    return {"f": lambda x: (x * width(2), width(2.0), width(True), width(1)), "args": x1, "watch": watch}


class Word(str):
    pass


class Loose:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        TOLD.append("compared")
        return self.value == other

    def __hash__(self):
        return hash(self.value)


TOLD = []


# A key that is kept and that code compares with the key that is asked for: only a call tells what the cache has.
KEPT = {
    "word": (Word("ab"), "ab"),
    "loose": (Loose(3), 3),
    "loose_number": (Loose(2.5), 2.5),
    "loose_of_another_value": (Loose(4), 4.0),
}


def kept_under(name, given, limit):
    kept, asked = given

    def make():
        calls = []

        @functools.lru_cache(maxsize=limit)
        def made(key, more=0):
            calls.append(more)
            return (key, len(calls))

        made(kept, 1)
        made(kept)

        def f(x):
            TOLD.clear()
            found = made(asked, 1)[1], made(asked)[1], len(calls), tuple(made.cache_info())
            return x * 2.0, found, list(TOLD)

        return {"f": f, "args": x1}

    make.__name__ = "kept_under_" + name
    return make


for NAME, GIVEN in KEPT.items():
    for LIMIT in (None, 8):
        open_case(kept_under(NAME + ("_of_many" if LIMIT is None else "_of_eight"), GIVEN, LIMIT))


@open_case
def the_outer_of_two_calls_with_one_key():
    def of(limit):
        calls = []

        @functools.lru_cache(maxsize=limit)
        def made(key):
            calls.append(key)
            if len(calls) % 3 == 1:
                return made(key), "outer", len(calls)
            return "inner", len(calls)

        return made

    free, bounded = of(None), of(8)

    def f(x):
        return x * 2.0, free(0), free(0), bounded(0), bounded(0), tuple(free.cache_info()), tuple(bounded.cache_info())

    return {"f": f, "args": x1}


@open_case
def keywords_tell_calls_apart():
    @functools.lru_cache(maxsize=8)
    def made(key, *, scale=1):
        return [key, scale]

    def f(x):
        return x * 2.0, made(1), made(1, scale=2), made(scale=2, key=1), tuple(made.cache_info())

    return {"f": f, "args": x1}
