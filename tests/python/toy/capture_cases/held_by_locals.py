"""Locals that are not read any more hold what containers, iterators and functions have been given: weak references to it live on
until the function is over."""

import contextlib
import weakref

from observe import case
from toy_framework import toy

t = toy.tensor


class Kept:
    def __init__(self, number):
        self.number = number


@toy.disable
def look(kept):
    return [weakref.ref(value) for value in kept]


def alive(refs):
    return [ref() is not None for ref in refs]


def in_a_list():
    a, b = Kept(1), Kept(2)  # noqa: F841
    kept = [a, b]
    refs = look(kept)
    kept.clear()
    return alive(refs)


def in_an_iterator():
    a, b, c = Kept(1), Kept(2), Kept(3)
    refs = list(map(weakref.ref, [a, b, c]))
    return alive(refs)


def in_an_attribute():
    a, owner = Kept(1), Kept(2)
    owner.part = a
    refs = look([owner.part, owner])
    owner.part = None
    return alive(refs)


def in_a_closure():
    a = Kept(1)
    kept = [a]

    def inner():
        return look(kept)

    refs = inner()
    del kept[:]
    return alive(refs)


def in_a_dict_two_deep():
    def callee(box):
        refs = look(box.values())
        box.clear()
        return refs

    a = Kept(1)
    refs = callee({"a": a})
    return alive(refs)


def in_a_loop():
    told = []
    for number in range(3):
        a = Kept(number)
        refs = look([a])
        told.append(alive(refs))
    return told


def by_nobody():
    refs = look([Kept(1), Kept(2)])
    return alive(refs)


def register(way):
    def build():
        def f(x):
            return x + 1, way()

        return {"f": f, "args": lambda: (t([1.0]),)}

    build.__name__ = f"held_by_locals_{way.__name__}"
    case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


class Asked:
    """As `contextlib` has it: what its generator was called with is let go of when it is entered."""

    def __init__(self, function, args, kwargs):
        self.generator = function(*args, **kwargs)
        self.function, self.args, self.kwargs = function, args, kwargs

    def __enter__(self):
        del self.function, self.args, self.kwargs
        return next(self.generator)

    def __exit__(self, *exc):
        next(self.generator, None)


def asks(a, b):
    a, b = weakref.ref(a), weakref.ref(b)
    yield [a() is None, b() is None]


def by_a_manager():
    with Asked(asks, (Kept(1), Kept(2)), {}) as told:
        pass
    return told


def by_a_manager_of_a_callee():
    def make(*args, **kwargs):
        return Asked(asks, args, kwargs)

    with make(Kept(1), b=Kept(2)) as told:
        pass
    return told


def by_a_manager_of_contextlib():
    with contextlib.contextmanager(asks)(Kept(1), b=Kept(2)) as told:
        pass
    return told


managed = contextlib.contextmanager(asks)


def by_a_manager_made_beforehand():
    with managed(Kept(1), b=Kept(2)) as told:
        pass
    return told


def by_a_manager_of_a_local_class():
    class Local:
        pass

    with managed(Local(), b=Local()) as told:
        pass
    return told


class Leaves:
    """Tells at its exit whether what it was given lives, which it has let go of before."""

    def __init__(self, *given):
        self.refs = look(given)

    def __enter__(self):
        return self.refs

    def __exit__(self, *raised):
        self.refs[:] = alive(self.refs)


def by_a_manager_that_looks_at_its_exit():
    with Leaves(Kept(1), Kept(2)) as told:
        pass
    return told


for _way in (
    in_a_list,
    in_an_iterator,
    in_an_attribute,
    in_a_closure,
    in_a_dict_two_deep,
    in_a_loop,
    by_nobody,
    by_a_manager,
    by_a_manager_of_a_callee,
    by_a_manager_of_contextlib,
    by_a_manager_made_beforehand,
    by_a_manager_of_a_local_class,
    by_a_manager_that_looks_at_its_exit,
):
    register(_way)
