"""Threads that ask the same dict for the same key at once are all given one answer."""

import threading

import pytest

from toy_framework import toy

t = toy.tensor


def answers(f, threads=4):
    """What each of them is given, all started at once."""
    start, given = threading.Barrier(threads), []

    def run():
        start.wait()
        given.append(f())

    running = [threading.Thread(target=run) for _ in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert len(given) == threads
    return given


def in_one_call(x, table, key):
    mine = object()
    return x + 1.0, table.setdefault(key, mine)


def in_a_call_below(x, table, key):
    def add(value):
        return table.setdefault(key, value)

    return x + 1.0, add([])


@pytest.mark.parametrize("f", [in_one_call, in_a_call_below])
def test_one_answer_for_all(f, switching):
    captured, x = toy.to_static(f), t([1.0])
    captured(x, {}, 1)
    for _ in range(60):
        table = {}
        for key in range(4):
            given = answers(lambda: captured(x, table, key)[1])
            assert all(value is table[key] for value in given)
