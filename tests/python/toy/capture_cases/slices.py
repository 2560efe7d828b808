"""Slices: read, assigned and deleted; of lists that the call makes and of those that it finds."""

from observe import case
from toy_framework import toy

t = toy.tensor

SLICES = [
    slice(1, 3),
    slice(None),
    slice(None, None, 2),
    slice(None, None, -1),
    slice(5, 2),
    slice(4, 1, -2),
    slice(-2, None),
    slice(100, 200),
    slice(0, 0),
    slice(True, 3),
]
VALUES = [[], [7], (8, 9), "abc", range(3), {"k": 1, "l": 2}, 5, None]


def write(items, key, value):
    try:
        items[key] = value
    except (TypeError, ValueError, IndexError) as error:
        return str(error)
    return None


def remove(items, key):
    try:
        del items[key]
    except (TypeError, ValueError, IndexError) as error:
        return str(error)
    return None


@case()
def every_slice_of_a_new_list():
    def f(x):
        out = []
        for key in SLICES:
            for value in VALUES:
                items = [x, 1, 2, 3, 4, 5]
                out.append((write(items, key, value), items))
            items = [0, 1, x, 3, 4, 5]
            out.append((remove(items, key), items, items[key]))
        return x + len(out), out

    return {"f": f, "args": lambda: (t([1.0]),)}


@case()
def every_slice_of_a_given_list():
    def f(x, lists):
        out = []
        for at, (key, value) in enumerate([(key, value) for key in SLICES for value in VALUES]):
            out.append(write(lists[at], key, value))
            out.append(remove(lists[at], key))
        return x + len(out), out

    return {"f": f, "args": lambda: (t([1.0]), [[0, 1, 2, 3, 4, 5] for _ in range(len(SLICES) * len(VALUES))])}


@case()
def a_list_in_itself_and_under_two_names():
    def f(x, given):
        items = [x, 2, 3]
        other = items
        items[:] = items
        items[1:1] = items
        items[::-1] = items
        given[2:] = given
        given[:0] = [given[0] + x]
        del given[-1:]
        return items is other, items, len(given), given

    return {"f": f, "args": lambda: (t([1.0]), [t([2.0]), t([3.0]), 4])}


LIST = [1, 2, 3]


@case()
def a_global_list():
    def f(x):
        LIST[1:2] = [x, 5]
        del LIST[:1]
        return x * len(LIST), LIST[-2:]

    LIST[:] = [1, 2, 3]
    return {"f": f, "args": lambda: (t([1.0]),), "watch": lambda: len(LIST)}


@case()
def wrong_indices():
    def f(x, given):
        out = []
        for items in [[1, 2], given, (1, 2)]:
            for key in ["a", 1.5, None, (1, 2), [1]]:
                for way in (lambda: items[key], lambda: write(items, key, 1), lambda: remove(items, key)):
                    if isinstance(items, tuple):
                        break
                    try:
                        out.append(way())
                    except TypeError as error:
                        out.append(str(error))
        for key in [slice(0, 2, 0), slice("a", None), slice(None, 1.5)]:
            for way in (lambda: given[key], lambda: write(given, key, [1]), lambda: remove(given, key)):
                try:
                    out.append(way())
                except (TypeError, ValueError) as error:
                    out.append(str(error))
        return x + 1, out

    return {"f": f, "args": lambda: (t([1.0]), [1, 2, 3])}


@case()
def slice_objects():
    def f(x, given, items):
        made = slice(1, None, 2)
        s = slice(3)
        parts = made.start, made.stop, made.step, s.start, s.stop, s.step, given.start, given.stop
        places = made.indices(5), s.indices(2), given.indices(10), GLOBAL.indices(4)
        found = [v[k] for v in ([0, 1, 2, 3], (0, 1, 2, 3), range(4), "abcd", b"abcd") for k in (made, s, given, GLOBAL)]
        items[GLOBAL] = [x]
        return made == slice(1, None, 2), made != s, parts, places, found, repr(made), x[given], items

    return {"f": f, "args": lambda: (t([1.0, 2.0, 3.0]), slice(0, 2), [1, 2, 3])}


GLOBAL = slice(1, 3)


@case()
def items_by_code():
    def f(x, given):
        log = []

        def make(n):
            for i in range(n):
                log.append(len(given))
                yield x + i

        given[1:2] = make(3)
        given[::2] = (v for v in [1, 2, 3])
        items = [1, 2, 3]
        items[1:] = map(lambda v: v * 2, items)
        try:
            items[::2] = make(5)
        except ValueError as error:
            log.append(str(error))
        return log, items, given

    return {"f": f, "args": lambda: (t([1.0]), [1, 2, 3, 4])}


@case(graphs=0)
def a_list_that_shrinks_while_its_items_are_asked_for():
    def f(x, given):
        def make(items):
            yield 1
            items.clear()
            items.append(x)
            yield 2

        given[1:3] = make(given)
        items = [0, 1, 2, 3]
        items[2:] = make(items)
        return items, given

    return {"f": f, "args": lambda: (t([1.0]), [1, 2, 3, 4])}


@case(graphs=2, captures=2, breaks=1, reasons=("builtin-with-output",))
def a_break_among_the_items():
    def f(x, given):
        def make():
            yield x + 1
            print("made")
            yield x + 2

        given[1:2] = make()
        return x * 3, given

    return {"f": f, "args": lambda: (t([1.0]), [1, 2, 3])}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def indices_by_code():
    class At:
        def __init__(self, n, log):
            self.n, self.log = n, log

        def __index__(self):
            self.log.append(self.n)
            return self.n

    def f(x, items):
        log = []
        items[At(1, log) : At(2, log)] = [x]
        del items[At(0, log) :: At(2, log)]
        return items, log, x + 1

    return {"f": f, "args": lambda: (t([1.0]), [1, 2, 3, 4])}


@case(captures=3, breaks=2, reasons=("finalizer",))
def what_is_thrown_away_dies():
    class Loud:
        def __init__(self, log):
            self.log = log

        def __del__(self):
            self.log.append("died")

    def f(x, items, log):
        del items[1:2]
        log.append("deleted")
        items[:1] = []
        log.append("replaced")
        return x + 1

    def args():
        log = []
        return t([1.0]), [Loud(log), Loud(log), 3], log

    return {"f": f, "args": args}
