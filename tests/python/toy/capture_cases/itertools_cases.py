"""Iterators of module itertools: consumed in the call, half used, handed out, over breaks."""

import contextlib
import itertools
import operator
import sys
from itertools import chain, count, cycle, islice, product, repeat, takewhile, zip_longest

from observe import case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


@case()
def everything_at_once():
    def f(x):
        a, b = [1, 2, 3], (4, 5)
        out = [
            list(chain(a, b, "xy", {"k": 1}, range(2))),
            list(chain()),
            list(chain.from_iterable([a, b, []])),
            list(islice(a, 2)),
            list(islice(a, 1, None)),
            list(islice(range(10), 1, 8, 3)),
            list(islice(count(5), 3)),
            list(islice(count(1.5, 0.25), 3)),
            list(islice(repeat("r"), 2)),
            list(repeat(7, 3)),
            list(repeat(7, times=0)),
            list(islice(cycle("abc"), 7)),
            list(cycle([])),
            list(product(a, b)),
            list(product("ab", repeat=2)),
            list(product()),
            list(itertools.combinations("abcd", 2)),
            list(itertools.combinations_with_replacement("abc", 2)),
            list(itertools.permutations("abc")),
            list(itertools.permutations("abc", 2)),
            list(itertools.combinations("ab", 5)),
            list(itertools.accumulate(a)),
            list(itertools.accumulate(a, operator.mul)),
            list(itertools.accumulate(a, lambda p, q: p - q, initial=10)),
            list(zip_longest(a, b, "x", fillvalue=0)),
            list(zip_longest()),
            list(zip_longest([], [1])),
            list(takewhile(lambda v: v < 3, a)),
            list(itertools.dropwhile(lambda v: v < 2, a)),
            list(itertools.filterfalse(lambda v: v % 2, a)),
            list(itertools.filterfalse(None, [0, 1, "", []])),
            list(itertools.starmap(pow, [(2, 3), [3, 2]])),
            list(itertools.compress("abcd", [1, 0, 1])),
            [list(part) for part in itertools.tee(a)],
        ]
        return x + len(out), out

    return {"f": f, "args": x1}


@case()
def of_tensors():
    def f(x):
        total = x
        for a, b in product([x, x + 1], [2, 3]):
            total = total + a * b
        for v in chain([x], (x * 2 for _ in range(2))):
            total = total * 2 + v
        for i, v in zip(count(1), [x, x]):
            total = total + v * i
        for v in itertools.accumulate([x, x, x]):
            total = total + v
        for v, w in zip_longest([x], [1, 2], fillvalue=3):
            total = total + v * w
        return total, sum(islice(cycle([1, 2]), 5)), max(itertools.starmap(lambda p, q: p * q, [(1, 2), (3, 4)]))

    return {"f": f, "args": x1}


@case()
def half_used():
    def f(x):
        it = chain([1, 2], [3])
        first = next(it)
        kinds = type(it) is chain, isinstance(it, chain), iter(it) is it, hasattr(it, "send"), hasattr(it, "__next__")
        rest = list(it)
        counter = count(10)
        numbers = next(counter), next(counter), counter.__next__()
        head = list(islice(counter, 2))
        a, b = itertools.tee(iter([1, 2, 3]))
        mixed = next(a), next(a), next(b), list(a), list(b)
        lazy = takewhile(lambda v: v < 2, counter)
        return x + first, kinds, rest, numbers, head, mixed, next(lazy, "end")

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def an_iterator_handed_out():
    def f(x):
        it = chain([1, 2], [3])
        next(it)
        return it, x + 1

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def stored_away():
    class Box:
        pass

    def f(x, box):
        y = x + 1
        box.it = islice(count(), 3)
        return y * 2

    return {"f": f, "args": lambda: (t([1.0]), Box()), "watch": tuple}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def a_loop_that_breaks():
    def f(x):
        for v in chain([x, x + 1], (x * i for i in range(2))):
            print("round")
            x = x + v
        for a, b in zip_longest([1], [2, 3]):
            print(a, b)
            x = x * b
        return x

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def a_counted_loop_that_breaks():
    def f(x):
        for a, b in product([1, 2], [3, 4]):
            print(a, b)
            x = x + a * b
        for i in islice(count(), 3):
            print(i)
            x = x * i
        it = iter(islice([1, 2, 3], 2))
        print(type(it).__name__)
        return x, list(it)

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def a_named_one_over_a_break():
    def f(x):
        it = chain([1, 2, 3], [4])
        a = next(it)
        print(type(it).__name__)
        return x + a, list(it), type(it).__name__

    return {"f": f, "args": x1}


def loud(v):
    print("loud", v)
    return v < 3


@case(graphs=None, captures=None, breaks=None, reasons=None)
def functions_that_break():
    def f(x):
        out = list(takewhile(loud, [1, 2, 3])), list(itertools.dropwhile(loud, [1, 5, 1]))
        out += (list(itertools.filterfalse(loud, [1, 5])), [v for v in itertools.starmap(lambda p: print(p), [(1,)])])
        return x + 1, out, list(itertools.accumulate([1, 2], lambda p, q: print(p) or q))

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def exceptions_on_the_way():
    def f(x):
        out = []

        def failing(v):
            if v == 2:
                raise ValueError(v)
            return True

        def ending(v):
            if v == 2:
                raise StopIteration
            return v

        def items():
            yield 1
            yield 2
            raise KeyError("items")

        for make in [
            lambda: takewhile(failing, [1, 2, 3]),
            lambda: itertools.filterfalse(failing, [1, 2, 3]),
            lambda: itertools.starmap(ending, [(1,), (2,), (3,)]),
            lambda: itertools.accumulate([1, 2, 3], lambda p, q: ending(q)),
            lambda: takewhile(ending, [1, 2, 3]),
            lambda: chain([0], items()),
            lambda: chain([0], 5),
            lambda: islice(items(), 5),
            lambda: zip_longest(items(), [1]),
            lambda: cycle(items()),
            lambda: product(items()),
            lambda: islice([1], -1),
            lambda: repeat(),
            lambda: count("a"),
            lambda: chain.from_iterable(3),
            lambda: itertools.starmap(max, [3]),
        ]:
            got = []
            try:
                it = make()
                for v in it:
                    got.append(v)
                    if len(got) > 4:
                        break
            except (ValueError, KeyError, TypeError) as error:
                got.append((type(error).__name__, str(error)))
            out.append(got)
        return x + 1, out

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def asked_again_after_an_exception():
    def f(x):
        def failing(v):
            if v == 2:
                raise ValueError(v)
            return True

        it = takewhile(failing, [1, 2, 3])
        out = []
        for _ in range(4):
            try:
                out.append(next(it))
            except (ValueError, StopIteration) as error:
                out.append(type(error).__name__)
        return x + 1, out

    return {"f": f, "args": x1}


class Loud:
    def __init__(self, name, log):
        self.name, self.log = name, log

    def __del__(self):
        self.log.append(self.name)


@case(graphs=None, captures=None, breaks=None, reasons=None)
def what_they_hold_dies():
    def f(x, log):
        for v in chain([Loud("a", log)], [Loud("b", log)]):
            log.append(v.name + "!")
        del v
        log.append("end")
        for v in (Loud(i, log) for i in islice(count(), 2)):
            log.append(v.name)
        return x + 1

    return {"f": f, "args": lambda: (t([1.0]), [])}


@case()
def in_generators():
    def f(x):
        def flat(parts):
            yield from chain.from_iterable(parts)

        def numbered(parts):
            for i, v in zip(count(), flat(parts)):
                yield i, v

        return [v * i for i, v in numbered([[x], [x + 1, 3]])], dict(zip("ab", count()))

    return {"f": f, "args": x1}


if sys.version_info >= (3, 10):

    @case()
    def pairs():
        def f(x):
            return [b - a for a, b in itertools.pairwise([x, x * 2, x * 3])], list(itertools.pairwise([1]))

        return {"f": f, "args": x1}


@toy.disable
def opaque_value(value):
    return value


@contextlib.contextmanager
def kept(owner, name):
    before = getattr(owner, name)
    try:
        yield before
    finally:
        setattr(owner, name, before)


class Owner:
    part = 5


class Counting:
    def __init__(self, item, times, error):
        self.item, self.times, self.error = item, times, error

    def __iter__(self):
        return self

    def __next__(self):
        if self.times == 0:
            raise self.error
        self.times -= 1
        return self.item


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def a_loop_of_one_waits_where_frames_go_on_as_plain_python():
    def f(x, error):
        owner, told = Owner(), []
        rows = itertools.zip_longest(Counting(1, 3, error), Counting(2, 4, StopIteration), fillvalue=0)
        try:
            for i, j in rows:
                with kept(owner, "part") as part:
                    told.append(opaque_value((i, j, part)))
        except RuntimeError as caught:
            told.append(str(caught))
        return told, x + len(told)

    errors = iter([StopIteration, RuntimeError("ended"), StopIteration] * 10)
    return {"f": f, "args": lambda: (t([1.0]), next(errors))}


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def chains_wait_where_frames_go_on_as_plain_python():
    def f(x):
        owner, told = Owner(), []
        for item in itertools.chain([1, 2], "ab"):
            for row in itertools.accumulate([item, item]):
                with kept(owner, "part"):
                    told.append(opaque_value(row))
        return told, x + len(told)

    return {"f": f, "args": lambda: (t([1.0]),)}
