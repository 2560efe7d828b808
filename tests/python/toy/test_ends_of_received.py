"""What a continuation was given and nobody needs any more ends where its variable is given something else, before the effects that follow.

A list that held nothing whose end is seen when the continuation was captured may hold a generator with a `finally` or an object with a
`__del__` when it runs again.
"""

import doors
import pytest
from toy_framework import toy

LOG = []


class Mortal:
    def __init__(self, n):
        self.n = n

    def __del__(self):
        LOG.append(("dead", self.n))


def closing(n):
    def numbers():
        try:
            yield n
        finally:
            LOG.append(("closed", n))

    made = numbers()
    next(made)
    return made


def pairs(make):
    def f(x, rounds):
        last = None
        for i in range(rounds):
            print("a")
            kept = [last]
            last = make(i)
            LOG.append(i)
        return x + 1

    return f


def tables(make):
    def f(x, rounds):
        table = {"last": 0}
        for i in range(rounds):
            print("a")
            values = list(table.values())
            table["last"] = make(i)
            LOG.append((i, len(values)))
        return x + 1

    return f


def nested(make):
    def f(x, rounds):
        last = None
        for i in range(rounds):
            print("a")
            kept = {"one": (last, [last])}
            last = make(i)
            LOG.append((i, "one" in kept))
            print("b")
            LOG.append("behind")
        return x + 1

    return f


def deleted(make):
    def f(x, rounds):
        last = None
        for i in range(rounds):
            kept = [last]
            last = make(i) if i else None
            print("a")
            LOG.append(i)
            del kept
            LOG.append("behind")
        return x + 1

    return f


def looked_at(make):
    def f(x, rounds):
        last = None
        for i in range(rounds):
            kept = [last, i]
            last = make(i) if i % 2 else i
            print("a")
            LOG.append(len(kept))
            kept = kept[1]
            LOG.append(kept)
        return x + 1

    return f


def course(f, door):
    f = door(f)
    became = []
    for rounds in (1, 2, 5, 5, 3):
        LOG.clear()
        f(toy.tensor([1.0]), rounds)
        became.append(list(LOG))
    return became


@pytest.mark.parametrize("door", doors.DOORS)
@pytest.mark.parametrize("make", [Mortal, closing])
@pytest.mark.parametrize("program", [pairs, tables, nested, deleted, looked_at])
def test_ends_of_what_was_received(program, make, door, capsys):
    plain = course(program(make), lambda f: f)
    toy.reset()
    assert course(program(make), door) == plain
    assert toy.stats()["hook_failures"] == 0
