"""Instances with `__slots__`: read, written, emptied; made by the call and found by it."""

import dataclasses
import sys
import weakref

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


# ----- what an instance holds dies with it


class Weakly(Pair):
    __slots__ = ("__weakref__",)


class Inherits(Pair):
    pass


class Rows(list):
    __slots__ = ("left",)


class Table(dict):
    __slots__ = ("left",)


class Members(set):
    __slots__ = ("left",)


HOLDERS = (Pair, Weakly, Inherits, Rows, Table, Members)


@toy.disable
def opaque(*given):
    return len(given)


def empty(cls):
    return cls.__new__(cls)


def in_slot(cls, log):
    holder = empty(cls)
    holder.left = Loud(log)
    return holder


def as_part(cls, log):
    if cls is Rows:
        return Rows([Loud(log)])
    if cls is Table:
        return Table(key=Loud(log))
    return Members([Loud(log)])


def let_go(holder, log):
    log.append(type(holder).__name__)


def slots_let_go(f):
    """A case of `f(x, cls, log)` for each class of holders."""

    def build():
        def each(x, log):
            for cls in HOLDERS:
                f(x, cls, log)
            return x + 1

        return {"f": each, "args": lambda: (t([1.0]), [])}

    build.__name__ = f.__name__
    return case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


@slots_let_go
def a_slot_dies_with_its_object(x, cls, log):
    holder = in_slot(cls, log)
    log.append("made")
    del holder
    log.append("gone")


@slots_let_go
def a_slot_dies_behind_a_break(x, cls, log):
    holder = in_slot(cls, log)
    opaque(holder)
    log.append("made")
    holder = None
    log.append("gone")


@slots_let_go
def a_slot_dies_before_a_break(x, cls, log):
    holder = in_slot(cls, log)
    log.append("made")
    holder = None
    log.append("gone")
    opaque(cls)
    log.append("after")


@slots_let_go
def a_slot_dies_in_a_callee(x, cls, log):
    held = [in_slot(cls, log)]
    opaque(held)
    let_go(held.pop(), log)
    log.append("gone")


@slots_let_go
def a_slot_dies_two_objects_down(x, cls, log):
    inner = in_slot(cls, log)
    outer = empty(Weakly)
    outer.left = [inner]
    del inner
    opaque(outer)
    log.append("made")
    del outer
    log.append("gone")


@slots_let_go
def a_slot_is_deleted_and_replaced(x, cls, log):
    holder = in_slot(cls, log)
    opaque(holder)
    log.append("made")
    del holder.left
    log.append("deleted")
    holder.left = Loud(log)
    log.append("set")
    holder.left = None
    log.append("replaced")


@slots_let_go
def a_slot_that_holds_a_slot_is_deleted(x, cls, log):
    holder = empty(Pair)
    holder.left = in_slot(cls, log)
    opaque(holder)
    log.append("made")
    del holder.left
    log.append("deleted")


@slots_let_go
def a_weak_reference_to_what_a_slot_held(x, cls, log):
    holder = empty(cls)
    holder.left = empty(Weakly)
    seen = weakref.ref(holder.left)
    opaque(holder)
    log.append(seen() is None)
    del holder
    log.append(seen() is None)


@slots_let_go
def a_part_dies_with_its_object(x, cls, log):
    if not issubclass(cls, Pair):
        holder = as_part(cls, log)
        opaque(holder)
        log.append("made")
        del holder
        log.append("gone")


@case(graphs=None, captures=None, breaks=None, reasons=None)
def a_slot_of_what_is_given_dies_with_it():
    def f(x, held, log):
        while held:
            log.append("next")
            let_go(held.pop(), log)
            log.append("gone")
        return x + 1

    def args():
        log = []
        return t([1.0]), [in_slot(cls, log) for cls in HOLDERS], log

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
