"""Instances with `__slots__`: read, written, emptied; made by the call and found by it."""

import dataclasses
import sys

from observe import case
from toy_framework import toy

t = toy.tensor


class Pair:
    __slots__ = ("left", "right")

    def __init__(self, left, right=None):
        self.left = left
        if right is not None:
            self.right = right

    def total(self):
        return self.left + self.right


class Named(Pair):
    __slots__ = ("__hidden", "name")

    def __init__(self, left, right, name):
        super().__init__(left, right)
        self.name = name
        self.__hidden = 3

    def hidden(self):
        return self.__hidden


class Open(Pair):
    def __init__(self, left):
        super().__init__(left, 1)
        self.other = left * 2


class Answers:
    __slots__ = ("value", "__dict__")

    def __getattr__(self, name):
        return "no " + name


class Frozen:
    __slots__ = ("value",)

    def __init__(self, value):
        object.__setattr__(self, "value", value)

    def __setattr__(self, name, value):
        raise TypeError(f"frozen: {name}")


def tried(way, *args):
    try:
        return way(*args)
    except (AttributeError, TypeError) as error:
        return type(error).__name__, str(error)


@case()
def slotted_made_inside():
    def f(x):
        p, n, o = Pair(x, 2), Named(x, 3, "n"), Open(x)
        p.right = p.right + 1
        del n.left
        n.left = x * 4
        o.late = 5
        return p.total(), n.total(), n.hidden(), n.name, o.other, o.late, o.right, Frozen(x).value, p, n, o

    return {"f": f, "args": lambda: (t([1.0]),)}


@case(captures=2, breaks=1, reasons=("builtin-with-output",))
def slotted_over_a_break():
    def f(x):
        p = Pair(x)
        n, empty, frozen = Named(x, p, "n"), Pair.__new__(Pair), Frozen(x)
        print("break")
        p.right = 2
        n.right.left = x + 1
        return p.total(), n.hidden(), hasattr(empty, "left"), p is n.right, frozen.value, n

    return {"f": f, "args": lambda: (t([1.0]),)}


@case()
def slotted_found_outside():
    def f(x, p, n):
        p.left, p.right = p.right, p.left
        n.name = n.name + "!"
        n.right = x
        del p.left
        p.left = n
        del n.left
        return x * p.right, hasattr(n, "left"), p.left is n, getattr(n, "left", 7)

    return {"f": f, "args": lambda: (t([1.0]), Pair(1, 2), Named(1, 2, "n"))}


@case(graphs=2, captures=2)
def a_slot_that_is_empty_at_times():
    calls = []

    def f(x, p):
        return x * (p.right if hasattr(p, "right") else 5)

    def args():
        calls.append(None)
        return t([1.0]), Pair(1, 2 if len(calls) == 2 else None)

    return {"f": f, "args": args}


@case()
def slots_that_are_empty():
    def f(x, p):
        out = []
        for q in (Pair(x), p):
            out.append(tried(lambda: q.right))
            out.append(tried(delattr, q, "right"))
            q.right = 1
            del q.right
            out.append((tried(getattr, q, "right"), hasattr(q, "right"), getattr(q, "right", None)))
            out.append(tried(q.total))
        return x + 1, out

    return {"f": f, "args": lambda: (t([1.0]), Pair(1))}


@case(graphs=0)
def empty_slots_that_are_answered_for():
    def f(x, given):
        new = Answers()
        for a in (new, given):
            a.before = a.value
            a.value = x
            a.now = a.value
            del a.value
            a.after = a.value, a.other
        return new, given

    return {"f": f, "args": lambda: (t([1.0]), Answers())}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def what_has_no_place():
    def f(x, p):
        return [tried(setattr, q, "other", 1) for q in (Pair(x), p)], tried(setattr, Frozen(x), "value", 2), x + 1

    return {"f": f, "args": lambda: (t([1.0]), Pair(1))}


class Loud:
    def __init__(self, log):
        self.log = log

    def __del__(self):
        self.log.append("died")


@case(graphs=None, captures=None, breaks=None, reasons=None)
def what_a_slot_held_dies():
    def f(x, p, log):
        p.left = x
        log.append("set")
        del p.right
        log.append("deleted")
        return x + 1

    def args():
        log = []
        return t([1.0]), Pair(Loud(log), Loud(log)), log

    return {"f": f, "args": args}


if sys.version_info >= (3, 10):

    @dataclasses.dataclass(slots=True)
    class Data:
        a: object
        b: int = 2

    @dataclasses.dataclass(slots=True, frozen=True)
    class Cold:
        a: object
        b: int = 2

    @case()
    def dataclasses_with_slots():
        def f(x, d, c):
            made = Data(x, 3)
            made.b += d.b
            d.a = x
            cold = Cold(x)
            return made.a * made.b + cold.b + c.b, made, cold

        return {"f": f, "args": lambda: (t([1.0]), Data(1), Cold(2))}
