"""Iterators that give one tuple again and again, as long as nobody else has it: it holds what they gave last."""

import itertools

from observe import case
from toy_framework import toy

t = toy.tensor


class Told:
    def __init__(self, number):
        self.number = number

    def __del__(self):
        print("gone", self.number)


def told():
    for number in range(3):
        yield Told(number)


MAKERS = {
    "enumerated": lambda: enumerate(told()),
    "from_a_huge_number": lambda: enumerate(told(), 2**63 - 2),
    "zipped": lambda: zip(told(), told()),
    "zipped_with_numbers": lambda: zip(range(9), told()),
    "items": lambda: iter({0: Told(0), 1: Told(1), 2: Told(2)}.items()),
    "zipped_to_the_longest": lambda: itertools.zip_longest(range(3), told()),
    "product": lambda: itertools.product(range(3), told()),
    "combinations": lambda: itertools.combinations(told(), 2),
}


def loop(x, pairs):
    for first, second in pairs:
        print("body")
        x = x + 1
        del first, second
        print("deleted")
    print("end")
    return x


def loop_that_binds(x, pairs):
    for first, second in pairs:
        x = x + 1
        print("body")
    print("end")
    return x


def loop_that_is_left(x, pairs):
    for first, second in pairs:
        print("body")
        break
    del first, second
    print("deleted")
    return x + 1


def asked(x, pairs):
    first, second = next(pairs)
    x = x + 1
    print("given")
    del first, second
    print("deleted")
    first, second = next(pairs)
    print("given again")
    del first, second
    print("deleted again")
    return x


# Where the iterator is made there is no order of deaths to compare but for those that generators give.
BY_CODE = ("enumerated", "from_a_huge_number", "zipped", "zipped_with_numbers")


def add(maker, body, given):
    def build():
        if given:
            return {"f": body, "args": lambda: (t([1.0]), MAKERS[maker]())}
        make = MAKERS[maker]
        return {"f": lambda x: body(x, make()), "args": lambda: (t([1.0]),)}

    build.__name__ = f"{maker}_{body.__name__}_{'given' if given else 'made'}"
    case(graphs=None, captures=None, breaks=None, reasons=None)(build)


for body in (loop, loop_that_binds, loop_that_is_left, asked):
    for maker in MAKERS:
        add(maker, body, given=True)
    for maker in BY_CODE:
        add(maker, body, given=False)
