"""Iterators from before, over what the frame writes to or advances by another name, which at the first calls is another object."""

import collections
import itertools

from observe import open_case
from toy_framework import toy

t = toy.tensor


def list_and(make):
    return lambda: [1, 2, 3], make


def dict_and(make):
    return lambda: {"a": 1, "b": 2, "c": 3}, make


ITERATORS = {
    "iter": list_and(iter),
    "enumerate": list_and(enumerate),
    "enumerate_of_iter": list_and(lambda items: enumerate(iter(items))),
    "enumerate_twice": list_and(lambda items: enumerate(enumerate(items))),
    "reversed": list_and(reversed),
    "zip": list_and(lambda items: zip(items, "abc")),
    "map": list_and(lambda items: map(str, items)),
    "filter": list_and(lambda items: filter(None, items)),
    "keys": dict_and(iter),
    "values": dict_and(lambda items: iter(items.values())),
    "items": dict_and(lambda items: iter(items.items())),
    "enumerate_of_values": dict_and(lambda items: enumerate(items.values())),
    "counter": (lambda: collections.Counter("aab"), lambda items: iter(items.items())),
    "ordered": (lambda: collections.OrderedDict(a=1, b=2), lambda items: iter(items.values())),
    "set": (lambda: {1, 2, 3}, iter),
    "deque": (lambda: collections.deque([1, 2, 3]), iter),
}


def item(held):
    if isinstance(held, dict):
        held["a"] = 9
    elif not isinstance(held, set):
        held[0] = held[-1] = 9


def added(held):
    if isinstance(held, dict):
        held["new"] = 9
    elif isinstance(held, set):
        held.add(9)
    else:
        held.append(9)


def nothing(held):
    pass


def late(name, write, caught):
    make, over = ITERATORS[name]

    def build():
        calls = iter(range(100))

        def take(iterator):
            try:
                return next(iterator)
            except RuntimeError as error:
                return str(error)

        def f(x, held, iterator):
            write(held)
            first = take(iterator) if caught else next(iterator)
            return x * 2, first

        def args():
            held = make()
            return t([1.0, 2.0]), held, over(held if next(calls) > 1 else make())

        return {"f": f, "args": args}

    build.__name__ = f"{name}_over_what_is_{write.__name__}_by_another_name_later{'_caught' * caught}"
    open_case(build)


for name in ITERATORS:
    for write in (item, added, nothing):
        for caught in (False, True):
            # Plain Python raises where nobody catches it.
            late(name, write, caught)


# Two iterators, made of what both advance; at the first calls each of its own.
MAKERS = {
    "iter": iter,
    "enumerate": enumerate,
    "zip": lambda over: zip(over, "abcdef"),
    "zip_second": lambda over: zip("abcdef", over),
    "map": lambda over: map(str, over),
    "filter": lambda over: filter(None, over),
    "enumerate_twice": lambda over: enumerate(enumerate(over)),
    "enumerate_of_zip": lambda over: enumerate(zip(over, "abcdef")),
    "zip_of_enumerate": lambda over: zip("abcdef", enumerate(over)),
    "enumerate_of_map": lambda over: enumerate(map(str, over)),
}


def in_turns(a, b):
    return next(a), next(b), next(a)


def one_then_the_other(a, b):
    return list(a), list(b)


def some_of_one(a, b):
    found = []
    for item in a:
        found.append(item)
        if len(found) > 1:
            break
    return found, next(b)


def come_to_share(names, advance, at_first):
    first, second = (MAKERS[name] for name in names)

    def build():
        calls = iter(range(100))

        def f(x, a, b):
            return x * 2, advance(a, b)

        def args():
            shared = iter([1, 2, 3, 4, 5, 6])
            own = (next(calls) > 1) == at_first
            return t([1.0, 2.0]), first(shared), second(iter([7, 8, 9]) if own else shared)

        return {"f": f, "args": args}

    how = "share_at_first" if at_first else "come_to_share"
    build.__name__ = f"{'_and_'.join(names)}_{how}_what_is_advanced_{advance.__name__}"
    open_case(build)


for names in itertools.product(MAKERS, repeat=2):
    for advance in (in_turns, one_then_the_other, some_of_one):
        for at_first in (False, True):
            come_to_share(names, advance, at_first)
