"""The library around tensors: groups, methods made by hand, functions of C over constants, questions about the process."""

import bisect
import contextlib
import copy
import functools
import itertools
import logging
import operator
import os
import struct
import sys
import threading
import types
import zlib

from observe import case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


@case()
def groups():
    def f(x):
        counted = [(key, len(list(group))) for key, group in itertools.groupby("aabbbca")]
        by_length = {key: list(group) for key, group in itertools.groupby(["a", "b", "cc", "d"], key=len)}
        heads = [next(group) for _, group in itertools.groupby([1, 1, 2, 2, 1])]
        keys = [key for key, _ in itertools.groupby([3, 3, 3, 4], lambda v: v // 2)]
        lost = [group for _, group in itertools.groupby([1, 1, 2])]
        none = list(itertools.groupby([]))
        return x + len(counted), counted, by_length, heads, keys, [list(group) for group in lost], none

    return {"f": f, "args": x1}


@case()
def groups_of_tensors():
    def f(x):
        rows = [{"kind": 1, "value": x}, {"kind": 1, "value": x * 2.0}, {"kind": 2, "value": x * 3.0}]
        by_kind = itertools.groupby(rows, key=operator.itemgetter("kind"))
        return {kind: sum(row["value"] for row in group) for kind, group in by_kind}

    return {"f": f, "args": x1}


@case(graphs=2, captures=2)
def groups_of_what_is_equal_by_its_own_word():
    class Key:
        asked = []

        def __init__(self, name):
            self.name = name

        def __eq__(self, other):
            Key.asked.append((self.name, other.name))
            return self.name == other.name

    def f(x):
        Key.asked.clear()
        keys = [Key(name) for name in "aabb"]
        return x + 1.0, [len(list(group)) for _, group in itertools.groupby(keys)]

    return {"f": f, "args": x1, "watch": lambda: Key.asked}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def groups_that_live_on():
    def f(x):
        groups = itertools.groupby([1, 1, 2])
        key, group = next(groups)
        return x + 1.0, key, next(group), [type(v).__name__ for v in (groups, group)], list(groups)[0][0]

    def g(x):
        groups = itertools.groupby([1, 1, 2])
        return x + 1.0, next(groups)[0], groups

    def both(x):
        a, key, groups = g(x)
        return f(x), a, key, [(k, list(v)) for k, v in groups]

    return {"f": both, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def groups_around_a_break():
    def f(x):
        for key, group in itertools.groupby([1, 1, 2, 3, 3], key=lambda v: v > 1):
            print(key)
            x = x * 2.0 + len(list(group))
        return x

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def a_key_that_raises():
    def key(value):
        if value == 2:
            raise ValueError("two")
        return value

    def f(x):
        seen = []
        try:
            for name, group in itertools.groupby([1, 1, 2, 3], key):
                seen.append((name, list(group)))
        except ValueError as error:
            return x + 1.0, seen, str(error)
        return x

    return {"f": f, "args": x1}


@case()
def methods_made_by_hand():
    class A:
        k = 3.0

    def scaled(self, x):
        return x * self.k

    def f(x):
        a = A()
        a.scaled = types.MethodType(scaled, a)
        method = types.MethodType(scaled, a)
        return a.scaled(x) + method(x), method.__self__ is a, method.__func__ is scaled

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def methods_of_what_is_none():
    def f(x):
        said = []
        for args in ((len, None), (3, x), (f,)):
            try:
                types.MethodType(*args)
            except TypeError as error:
                said.append(type(error).__name__)
        return x + 1.0, said, types.MethodType(len, "abc")()

    return {"f": f, "args": x1}


@case()
def stacks_of_contexts():
    @contextlib.contextmanager
    def noted(log, name):
        log.append(name)
        yield name
        log.append("-" + name)

    def f(x):
        log = []
        with contextlib.ExitStack() as stack:
            a = stack.enter_context(noted(log, "a"))
            stack.callback(log.append, "called")
            x = x * 2.0
            b = stack.enter_context(noted(log, "b"))
        return x + 1.0, log, a + b

    return {"f": f, "args": x1}


@case()
def functions_of_c_over_constants():
    def f(x):
        place = bisect.bisect([1, 3, 5], 3), bisect.bisect_left([1, 3, 5], 3)
        packed = struct.pack("<if", 1, 2.0)
        return x + place[0], place, packed, struct.unpack("<if", packed), struct.calcsize("<ii"), zlib.crc32(b"abc")

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def functions_of_c_that_refuse():
    class Loud:
        def __lt__(self, other):
            print("asked")
            return False

    def f(x):
        said = []
        for call in (lambda: struct.pack("<i", "no"), lambda: bisect.bisect([1, "a"], 2), lambda: os.fspath(3)):
            try:
                said.append(call())
            except (struct.error, TypeError) as error:
                said.append(str(error))
        return x + 1.0, said, bisect.bisect([1, 2], Loud())

    return {"f": f, "args": x1}


@case()
def paths():
    def f(x):
        path = os.path.join("a", "b.txt")
        name = os.path.basename(path)
        return x + 1.0, path, os.path.splitext(name), os.fspath(name) is name

    return {"f": f, "args": x1}


@case()
def questions_about_the_process():
    def f(x):
        main = threading.get_ident() == threading.main_thread().ident
        return x + 1.0, os.getpid(), main, threading.current_thread().name, os.getcwd(), sys.getdefaultencoding()

    return {"f": f, "args": x1}


@case()
def answers_that_nobody_asks_for():
    calls, limit = [0], sys.getrecursionlimit()

    def f(x):
        return x + 1.0, sys.getrecursionlimit()

    def args():
        calls[0] += 1
        sys.setrecursionlimit(limit + calls[0])
        return x1()

    return {"f": f, "args": args, "watch": lambda: [sys.setrecursionlimit(limit)]}


@case(graphs=None, captures=None)
def answers_that_change():
    calls, limit = [0], sys.getrecursionlimit()

    def f(x):
        now = sys.getrecursionlimit()
        return x * 2.0 if now > limit else x * 3.0, now + 1

    def args():
        calls[0] += 1
        sys.setrecursionlimit(limit + calls[0] % 3)
        return x1()

    return {"f": f, "args": args, "watch": lambda: [sys.setrecursionlimit(limit)]}


@case()
def pieces_of_sequences():
    def f(x):
        return operator.concat([1], [x])[1] + 1.0, operator.concat((1,), (2,)), operator.concat([], [3])

    return {"f": f, "args": x1}


@case()
def records_of_c():
    def f(x):
        info = sys.version_info
        y = x * 2.0 if info >= (3, 8) else x
        return y + info[0], info.major, info[:2], len(info), isinstance(info, tuple), info is sys.version_info

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def records_of_c_as_text():
    def f(x):
        info = sys.version_info
        return x + 1.0, str(info), repr(info), f"{info}", info + (1,), type(info).__name__, hasattr(info, "_fields"), info

    return {"f": f, "args": x1}


@case()
def nobody_handles_anything():
    if sys.version_info < (3, 11):
        return {"f": lambda x: x + 1.0, "args": x1}

    def f(x):
        return x + 1.0, sys.exc_info()

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def who_calls_handles_something(translate):
    inner = translate(lambda x: (x + 1.0, sys.exc_info()[0]))

    def f(x):
        a = inner(x)
        try:
            raise KeyError("k")
        except KeyError:
            b = inner(x)
        return a, b, inner(x)

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def a_level_that_is_off():
    logger = logging.getLogger("sot.cases.off")
    logger.setLevel(logging.ERROR)

    def f(x):
        y = x * 2.0
        logger.debug("shape %s", x.shape)
        logger.info("again")
        return y + 1.0, logger.isEnabledFor(logging.INFO)

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def a_level_that_changes():
    logger = logging.getLogger("sot.cases.changes")
    records, calls = [], [0]

    class Kept(logging.Handler):
        def emit(self, record):
            records.append((record.levelname, record.getMessage(), record.funcName))

    logger.handlers[:] = [Kept()]
    logger.propagate = False
    logger.setLevel(logging.ERROR)

    def f(x):
        calls[0] += 1
        logger.setLevel(logging.DEBUG if calls[0] == 2 else logging.ERROR)
        y = x * 2.0
        logger.debug("call %d", calls[0])
        return y + 1.0

    return {"f": f, "args": x1, "watch": lambda: records}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def copies_of_trees():
    shared = [1]
    tree = {"a": shared, "b": [shared, (2, [3])], "c": "text"}

    def f(x):
        deep, flat = copy.deepcopy(tree), copy.copy(tree)
        deep["a"].append(4)
        return x + len(deep["b"]), deep, deep["a"] is deep["b"][0], flat["a"] is shared, tree["a"] is deep["a"]

    return {"f": f, "args": x1, "watch": lambda: tree}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def caches_of_functions():
    asked = []

    @functools.lru_cache(maxsize=2)
    def width(n):
        asked.append(n)
        return n * 2

    def f(x):
        y = x * width(2) + width(3)
        return y, width.cache_info()[:2], width(2)

    return {"f": f, "args": x1, "watch": lambda: [asked, width.cache_info()]}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def environment():
    os.environ.pop("SOT_CASE", None)

    def f(x):
        before = os.environ.get("SOT_CASE", "1")
        y = x * int(before)
        os.environ["SOT_CASE"] = str(int(before) + 1)
        return y, before, os.environ["SOT_CASE"], "SOT_CASE" in os.environ, os.getenv("SOT_NO_CASE")

    return {"f": f, "args": x1, "watch": lambda: [os.environ.get("SOT_CASE")]}
