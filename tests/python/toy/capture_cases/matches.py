"""Matches that a pattern finds one after the other, tables that are asked for one key, and arrays that are passed through."""

import re
import sys

from observe import case, open_case
from toy_framework import toy

t = toy.tensor
# From 3.13 on, functions of module `re` hand on a number of its own class where they are given none.
followed = case() if sys.version_info < (3, 13) else open_case
LAYER = re.compile(r"(?P<kind>[a-z]+)(\d+)?")


def x1():
    return (t([1.0, 2.0]),)


@case()
def all_matches_of_a_text():
    def f(x):
        found = [(m.group("kind"), m.start(), m.span(2), m.re is LAYER, m.lastindex) for m in LAYER.finditer("ab1 c d22")]
        first = next(LAYER.finditer("abc"))
        return x * len(found), found, first.group(), first.string, list(LAYER.finditer("")), next(LAYER.finditer(""), None)

    return {"f": f, "args": x1}


@case()
def replaced_by_what_a_function_says():
    def f(x):
        said = []

        def twice(match):
            said.append(match.span())
            return match.group() * 2

        texts = [
            LAYER.sub(twice, "ab1 c"),
            LAYER.sub(twice, "ab1 c", 1),
            LAYER.sub(lambda m: "", "ab1 c"),
            re.compile("x*").sub(lambda m: "-", "abxd"),
            re.compile(b"b").sub(lambda m: b"<" + m.group() + b">", b"abc"),
            LAYER.sub(lambda m: None, "ab1 c"),
            LAYER.sub(twice, "123"),
        ]
        return x * len(texts), texts, said

    return {"f": f, "args": x1}


@open_case
def functions_that_say_something_else():
    def f(x):
        said = []

        def fails(match):
            raise KeyError(match.group())

        for function in (lambda m: 3, fails, lambda m: m, "\\1"):
            try:
                said.append(LAYER.sub(function, "ab c1"))
            except (TypeError, KeyError, re.error) as error:
                said.append((type(error).__name__, str(error)))
        return x + 1.0, said

    return {"f": f, "args": x1}


@open_case
def functions_that_break_and_read_tensors():
    def f(x):
        parts = []

        def noted(match):
            print("found", match.group())
            parts.append(x * len(match.group()))
            return "n"

        text = LAYER.sub(noted, "ab1 c")
        return x + len(parts), parts, text

    return {"f": f, "args": x1}


@open_case
def matches_and_iterators_that_live_on():
    def f(x):
        rest = LAYER.finditer("ab1 c d22")
        first = next(rest)
        return x * 2.0, first, rest, list(LAYER.finditer("ab c"))

    def both(x):
        y, first, rest, others = f(x)
        return y, first.group(), [m.group() for m in rest], [m.span() for m in others], type(rest).__name__

    return {"f": both, "args": x1}


@open_case
def matches_around_a_break():
    def f(x):
        for match in LAYER.finditer("ab1 c d22"):
            print(match.group("kind"))
            x = x * float(match.group(2) or 1.0)
        return x

    return {"f": f, "args": x1}


@followed
def patterns_that_module_re_keeps():
    # What is kept is asked for by one key.
    re.sub("k(x)", "", ""), re.match("k(y)", "")
    calls = [0]

    def f(x):
        found = re.match("k(y)", "ky")
        return x * 2.0, found.group(1), re.sub("k(x)", lambda m: m.group(1), "akxb"), re.split("k(y)", "akyb")

    def args():
        calls[0] += 1
        re.compile(f"other{calls[0]}")
        return x1()

    return {"f": f, "args": args}


@case()
def one_key_of_a_large_table():
    table = {f"key{n}": n for n in range(100)}
    pairs = {(n, "k"): float(n) for n in range(3)}
    calls = [0]

    def f(x):
        return x * table["key3"] + pairs[2, "k"], "none" in table, (7, "k") in pairs

    def args():
        calls[0] += 1
        table[f"more{calls[0]}"] = 0
        pairs[calls[0], "more"] = 0.0
        return x1()

    return {"f": f, "args": args}


@open_case
def a_key_that_comes_goes_and_changes():
    table = {(n, "k"): float(n) for n in range(3)}
    calls = [0]

    def f(x):
        try:
            return x * table[2, "k"], (3, "k") in table
        except KeyError as error:
            return x + 1.0, str(error), (3, "k") in table

    def args():
        calls[0] += 1
        if calls[0] == 2:
            del table[2, "k"]
            table[3, "k"] = 1.0
        if calls[0] == 3:
            table[2, "k"] = 5.0
        return x1()

    return {"f": f, "args": args}


@open_case
def a_large_table_that_is_written_to():
    table = {n: float(n) for n in range(100)}

    def f(x):
        y = x * table[3]
        table[3] = table[3] + 1.0
        table[200] = 2.0
        return y + table[3] + table[200], len(table), table.get(4)

    return {"f": f, "args": x1, "watch": lambda: [table[3], len(table)]}


@open_case
def keys_of_tables_with_methods_of_their_own():
    class Key:
        def __init__(self, n):
            self.n = n

        def __hash__(self):
            return hash(self.n)

        def __eq__(self, other):
            seen.append("eq")
            return self.n == getattr(other, "n", other)

    seen = []
    table = {**{n: float(n) for n in range(100, 200)}, Key(3): 3.0, Key((1, 2)): 4.0}

    def f(x):
        return x * table[3] + table[150] + table[1, 2], 3 in table, 4 in table

    def args():
        seen.clear()
        return x1()

    return {"f": f, "args": args, "watch": lambda: seen}


@case()
def arrays_passed_through():
    try:
        import numpy
    except ImportError:
        return {"f": lambda x, array: x * 2.0, "args": lambda: (*x1(), None)}

    class Holder:
        pass

    holder = Holder()

    def f(x, array):
        holder.array = array
        rows = len(array)
        return x * rows + array.shape[1], {"a": array}, array.ndim, array.size, isinstance(array, numpy.ndarray)

    return {"f": f, "args": lambda: (*x1(), numpy.zeros((2, 3))), "watch": lambda: [holder.array.shape]}


@open_case
def arrays_of_other_shapes():
    try:
        import numpy
    except ImportError:
        return {"f": lambda x, array: x * 2.0, "args": lambda: (*x1(), None)}
    calls = [0]

    class Own(numpy.ndarray):
        @property
        def shape(self):
            print("asked")
            return (7,)

    def f(x, array):
        try:
            return x * len(array) + array.shape[0], str(array.dtype)
        except TypeError as error:
            return x + 1.0, str(error)

    def args():
        calls[0] += 1
        arrays = numpy.zeros((2, 3)), numpy.zeros((4,), "int32"), numpy.zeros(()), numpy.zeros((2,)).view(Own)
        return (*x1(), arrays[(calls[0] - 1) % len(arrays)])

    return {"f": f, "args": args}


TABLE = {(1, 2): 5.0}


class Loud(tuple):
    def __hash__(self):
        print("hash")
        return tuple.__hash__(self)

    def __eq__(self, other):
        print("equal")
        return tuple.__eq__(self, other)


LOUD = {**TABLE}
LOUD[Loud((3, 4))] = 6.0


@open_case
def keys_that_extend_tuples():
    def f(x):
        return x * TABLE[Loud((1, 2))] + TABLE[1, 2] + LOUD[3, 4] + LOUD[1, 2], (3, 5) in LOUD, (3, 4) in LOUD

    return {"f": f, "args": x1}
