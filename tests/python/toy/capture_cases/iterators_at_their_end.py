"""Iterators from before the call that have given all their items: one that has said so gives none more, whatever becomes of what it ran
over, and one that has not been asked again goes on when that grows."""

import itertools

from observe import open_case
from toy_framework import toy

# What is run over, how an iterator of it is made, and how more is put in.
OVER = {
    "a_list": (lambda: [1, 2], iter, lambda items: items.append(4)),
    "an_empty_list": (list, iter, lambda items: items.append(4)),
    "a_list_numbered": (lambda: [1, 2], enumerate, lambda items: items.append(4)),
    "a_list_in_pairs": (lambda: [1, 2], lambda items: zip(items, itertools.count()), lambda items: items.append(4)),
    "a_part_of_a_list": (lambda: [1, 2], lambda items: itertools.islice(items, 0, None), lambda items: items.append(4)),
    "a_list_through_a_function": (lambda: [1, 2], lambda items: map(str, items), lambda items: items.append(4)),
    "a_list_filtered": (lambda: [1, 2], lambda items: filter(None, items), lambda items: items.append(4)),
    "a_bytearray": (lambda: bytearray(b"ab"), iter, lambda items: items.append(4)),
    "a_dict": (lambda: {1: 2}, iter, lambda items: items.update({4: 5})),
    "values_of_a_dict": (lambda: {1: 2}, lambda items: iter(items.values()), lambda items: items.update({4: 5})),
    "a_set": (lambda: {1, 2}, iter, lambda items: items.add(4)),
    "a_list_backwards": (lambda: [1, 2], reversed, lambda items: items.append(4)),
}


def by_next(it):
    return next(it, "none")


def by_list(it):
    return list(it)


def by_loop(it):
    seen = []
    for item in it:
        seen.append(item)
    return seen


def by_unpacking(it):
    return (*it, "last")


def by_in(it):
    return 4 in it


def by_sum(it):
    return sum(1 for _ in it)


def at_the_end(name, use, first):
    make, iterate, grow = OVER[name]

    def build():
        calls = []

        def f(x, items, it):
            grow(items)
            try:
                said = use(it)
            except RuntimeError as error:
                said = str(error)
            return x * 2.0, said

        def args():
            items = make()
            it = iterate(items)
            for _ in range(len(items)):
                next(it)
            # At every other call it has said that it is at its end.
            calls.append(it)
            if len(calls) % 2 == first:
                next(it, None)
            return toy.tensor([1.0]), items, it

        return {"f": f, "args": args}

    build.__name__ = f"at_the_end_of_{name}_{use.__name__}_{first}"
    build.__module__ = __name__
    open_case(build)


for _name in OVER:
    for _use in (by_next, by_list, by_loop, by_unpacking, by_in, by_sum):
        for _first in (0, 1):
            at_the_end(_name, _use, _first)
