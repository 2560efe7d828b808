"""Caches of functions (`functools.lru_cache`): what they remember, count, and let go of."""

import functools

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


def counted(maxsize=None, typed=False):
    """A cache of a function that notes what it is asked for."""
    asked = []

    @functools.lru_cache(maxsize=maxsize, typed=typed)
    def width(n, *more, scale=1.0):
        asked.append((n, more, scale))
        return n * scale

    return width, lambda: [asked, width.cache_info()]


@case()
def remembered():
    width, watch = counted()
    width(2), width(3, scale=2.0)

    def f(x):
        return x * width(2) + width(3, scale=2.0), width(2) is width(2)

    return {"f": f, "args": x1, "watch": watch}


@case()
def remembered_in_a_cache_of_limited_size():
    width, watch = counted(maxsize=3)
    for n in (1, 2, 3):
        width(n)

    def f(x):
        return x * width(2) + width(1)

    def order():
        # Which one goes next.
        width(4)
        return [watch(), width(2), watch()]

    return {"f": f, "args": x1, "watch": order}


# What is not remembered yet is simulated, and found from the second call on.
@case(graphs=2, captures=2)
def remembered_from_the_second_call_on():
    width, watch = counted()

    def f(x):
        y = x * 2.0
        y = y * width(2)
        return y + width(3)

    return {"f": f, "args": x1, "watch": watch}


@case()
def types_that_tell_keys_apart():
    width, watch = counted(typed=True)
    width(2), width(2.0), width(True, scale=1)

    def f(x):
        return x * width(2), width(2.0), width(True, scale=1)

    return {"f": f, "args": x1, "watch": watch}


@case()
def keys_that_are_equal():
    width, watch = counted()
    width(2.0, "a"), width(1, (1, None))

    def f(x):
        return x * width(2, "a"), width(True, (1.0, None)), width(2.0, "a")

    return {"f": f, "args": x1, "watch": watch}


@case()
def a_tensor_that_is_remembered():
    made = []

    @functools.lru_cache()
    def mask(n):
        made.append(n)
        return t([float(n), 1.0])

    first = mask(2)

    def f(x):
        return x * mask(2), mask(2) is first

    return {"f": f, "args": x1, "watch": lambda: [made, mask.cache_info()]}


@case()
def a_list_that_is_remembered():
    @functools.lru_cache(maxsize=None)
    def kept(name):
        return [name]

    kept("a")

    def f(x):
        kept("a").append(len(kept("a")))
        return x + len(kept("a")), kept("a")

    # The length is guarded: it grows at each call.
    return {"f": lambda x: (x * 2.0, kept("a")[0]), "args": x1, "watch": lambda: [kept.cache_info(), f is not None]}


@case()
def methods_with_a_cache():
    class A:
        k = 3.0

        @functools.lru_cache(maxsize=None)
        def scaled(self, n):
            return self.k * n

        @staticmethod
        @functools.lru_cache(maxsize=None)
        def halved(n):
            return n / 2

    a = A()
    a.scaled(2), A.halved(3)

    def f(x):
        return x * a.scaled(2) + A.halved(3) + a.halved(3) + A.scaled(a, 2)

    return {"f": f, "args": x1, "watch": lambda: [A.scaled.cache_info(), A.halved.cache_info()]}


@open_case
def cleared_between_calls():
    width, watch = counted()
    calls = [0]

    def f(x):
        return x * width(2)

    def args():
        calls[0] += 1
        if calls[0] == 3:
            width.cache_clear()
        return x1()

    return {"f": f, "args": args, "watch": watch}


@open_case
def cleared_in_the_middle():
    width, watch = counted()
    width(2)

    def f(x):
        y = x * width(2)
        width.cache_clear()
        return y + width(2), width.cache_info()

    return {"f": f, "args": x1, "watch": watch}


@open_case
def pushed_out_by_others():
    width, watch = counted(maxsize=1)

    def f(x):
        return x * width(2) + width(3) + width(2)

    return {"f": f, "args": x1, "watch": watch}


@open_case
def nothing_is_kept():
    width, watch = counted(maxsize=0)

    def f(x):
        return x * width(2) + width(2)

    return {"f": f, "args": x1, "watch": watch}


@open_case
def functions_that_raise():
    asked = []

    @functools.lru_cache()
    def width(n):
        asked.append(n)
        raise ValueError(n)

    def f(x):
        try:
            return x * width(2)
        except ValueError as error:
            return x + 1.0, str(error)

    return {"f": f, "args": x1, "watch": lambda: [asked, width.cache_info()]}


@open_case
def keys_with_methods_of_their_own():
    class Key:
        def __init__(self, n):
            self.n = n

        def __hash__(self):
            print("hash", self.n)
            return hash(self.n)

        def __eq__(self, other):
            print("eq", self.n)
            return isinstance(other, Key) and self.n == other.n

    @functools.lru_cache()
    def width(key):
        return getattr(key, "n", key)

    one = Key(2)
    width(one)

    def f(x):
        return x * width(one) + width(Key(2)) + width(2) + width((2,))[0]

    return {"f": f, "args": x1, "watch": lambda: [width.cache_info()]}


@open_case
def what_cannot_be_hashed():
    width, watch = counted()

    def f(x):
        try:
            return x * width([2])
        except TypeError as error:
            return x + 1.0, str(error)

    return {"f": f, "args": x1, "watch": watch}


@open_case
def a_cache_that_is_given():
    def f(x, width):
        return x * width(2)

    def args():
        width, _ = counted()
        width(2)
        return (*x1(), width)

    return {"f": f, "args": args}


@open_case
def caches_that_are_replaced():
    one, of_one = counted()
    two, of_two = counted()
    names = {"width": one}
    calls = [0]

    def f(x):
        return x * names["width"](2)

    def args():
        calls[0] += 1
        names["width"] = two if calls[0] == 3 else one
        return x1()

    return {"f": f, "args": args, "watch": lambda: [of_one(), of_two()]}


@open_case
def a_cache_that_calls_itself():
    asked = []

    @functools.lru_cache(maxsize=None)
    def below(n):
        asked.append(n)
        return 1.0 if n < 2 else below(n - 1) + below(n - 2)

    def f(x):
        return x * below(6)

    return {"f": f, "args": x1, "watch": lambda: [asked, below.cache_info()]}


@open_case
def numbers_that_vary():
    width, watch = counted()
    calls = [0]

    def f(x, n):
        return x * width(n)

    def args():
        calls[0] += 1
        return (*x1(), calls[0])

    return {"f": f, "args": args, "watch": watch}


@open_case
def keys_that_are_no_numbers_or_zeros():
    nan = float("nan")

    @functools.lru_cache(maxsize=None)
    def kept(*args, **keywords):
        return args, tuple(keywords)

    kept(nan), kept(0.0), kept(-0.0, z=1)

    def f(x):
        return x * 2.0, kept(nan) is kept(nan), str(kept(0.0)), str(kept(-0.0)), kept(0, z=True), kept(0.0, z=1.0)

    return {"f": f, "args": x1, "watch": lambda: [kept.cache_info()]}


def forgotten(use, forget):
    """A function that counts its calls, so that one capture serves them all, beside a cache that forgets in between."""

    def build():
        width, watch = counted(maxsize=1)
        calls, state, kept = [0], {"n": 0}, []

        def f(x):
            state["n"] += 1
            return use(x, width, kept)

        def args():
            calls[0] += 1
            if calls[0] in (4, 6):
                width.cache_clear() if forget == "cleared" else width(calls[0])
            return x1()

        return {"f": f, "args": args, "watch": lambda: [watch(), state, kept]}

    build.__name__ = f"forgotten_{forget}_{use.__name__}"
    return open_case(build)


def dropped(x, width, kept):
    width(2)
    return x * 2.0


def given_back(x, width, kept):
    return x * 2.0, width(2)


def put_into_a_list(x, width, kept):
    kept.append(width(2))
    return x * 2.0


def asked_for(x, width, kept):
    return x * width(2)


for use in (dropped, given_back, put_into_a_list, asked_for):
    for forget in ("cleared", "pushed_out"):
        forgotten(use, forget)


# What varies is known at the second capture.
@case(captures=2, graphs=2)
def asked_how_full_it_is():
    width, watch = counted(maxsize=8)
    width(2)

    def f(x):
        before = width.cache_info()
        y = x * width(2) + width(2)
        now = width.cache_info()
        return y, before, now.hits - before.hits, now.misses, now.maxsize, now._asdict()

    return {"f": f, "args": x1, "watch": watch}


@open_case
def asked_how_full_it_is_while_it_fills():
    width, watch = counted(maxsize=3)
    calls = [0]

    def f(x, number):
        y = x * width(number)
        toy.show(0)
        now = width.cache_info()
        width(number + 1)
        return y, now, width.cache_info(), width.cache_info().currsize

    def args():
        calls[0] += 1
        return (*x1(), calls[0])

    return {"f": f, "args": args, "watch": watch}


@open_case
def asked_how_full_it_is_when_cleared():
    width, watch = counted()

    def f(x):
        y = x * width(2)
        width.cache_clear()
        empty = width.cache_info()
        width(2)
        return y, empty, width.cache_info()

    return {"f": f, "args": x1, "watch": watch}


@open_case
def asked_how_full_one_is_that_is_given():
    width, watch = counted()
    other, _ = counted(maxsize=0)
    calls = [0]

    def f(x, cache):
        return x * cache(2), cache.cache_info()

    def args():
        calls[0] += 1
        return (*x1(), other if calls[0] % 3 == 2 else width)

    return {"f": f, "args": args, "watch": watch}


ASKED_BY_ALL = counted(maxsize=8)[0]


# The misses are no others, and neither is what it holds.
@case(captures=3, graphs=3)
def asked_how_full_the_one_of_a_module_is():
    ASKED_BY_ALL.cache_clear()

    def f(x):
        y = x * ASKED_BY_ALL(3)
        now = ASKED_BY_ALL.cache_info()
        return y * now.maxsize, now

    return {"f": f, "args": x1, "watch": lambda: [ASKED_BY_ALL.cache_info()]}
