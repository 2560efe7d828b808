"""Threads that take from one container at once are given each item once, and none is lost."""

import threading

import pytest

from toy_framework import toy

t = toy.tensor


def last_of_list(x, items):
    return x + 1.0, items.pop()


def first_of_list(x, items):
    return x + 1.0, items.pop(0)


def item_of_dict(x, table):
    return x + 1.0, table.popitem()[0]


def of_set(x, members):
    return x + 1.0, members.pop()


def of_iterator(x, iterator):
    return x + 1.0, next(iterator)


FORMS = [
    (last_of_list, lambda n: list(range(n))),
    (first_of_list, lambda n: list(range(n))),
    (item_of_dict, lambda n: {k: k for k in range(n)}),
    (of_set, lambda n: set(range(n))),
    (of_iterator, lambda n: iter(list(range(n)))),
]


@pytest.mark.parametrize("f, make", FORMS, ids=[f.__name__ for f, _ in FORMS])
def test_each_item_is_given_once(f, make, switching):
    captured, x = toy.to_static(f), t([1.0])
    for length in (1, 2, 3):
        captured(x, make(length))
    threads, each = 4, 3
    for _ in range(15):
        shared, given, start = make(threads * each), [], threading.Barrier(threads)

        def run():
            start.wait()
            for _ in range(each):
                given.append(captured(x, shared)[1])

        running = [threading.Thread(target=run) for _ in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
        assert sorted(given) == list(range(threads * each))
