"""A frame holds the item that an iterator gave it last, while the iterator lets go of what it runs over: the others die first."""

import weakref

from observe import open_case
from toy_framework import toy

t = toy.tensor
LOG = []


class Noted:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        LOG.append("end of " + self.name)


class Watched:
    def __init__(self, name):
        weakref.finalize(self, LOG.append, "end of " + name)


def of_a_tuple(kind):
    return (kind("1"), kind("2"), kind("3"))


def of_a_list(kind):
    return [kind("1"), kind("2"), kind("3")]


def of_values(kind):
    return {"a": kind("1"), "b": kind("2"), "c": kind("3")}.values()


def reversed_list(kind):
    return reversed([kind("1"), kind("2"), kind("3")])


def of_two(kind):
    return (pair[1] for pair in zip("abc", (kind("1"), kind("2"), kind("3"))))


def filtered(kind):
    return filter(None, (kind("1"), kind("2"), kind("3")))


MAKERS = (of_a_tuple, of_a_list, of_values, reversed_list, of_two, filtered)


def family(make, kind, round_of_break, between):
    def build():
        def f(x):
            LOG.clear()
            count = 0
            for item in make(kind):
                count += 1
                if count == round_of_break:
                    print("round", count)
                LOG.append(count)
            if between:
                LOG.append("over")
            del item
            LOG.append("let go")
            return x + 1.0, list(LOG)

        return {"f": f, "args": lambda: (t([1.0]),)}

    build.__name__ = build.__qualname__ = "items_outlive_%s_%s_%d%s" % (
        make.__name__,
        kind.__name__.lower(),
        round_of_break,
        "_and_an_effect" if between else "",
    )
    build.__module__ = __name__
    open_case(build)


for maker in MAKERS:
    for noted in (Noted, Watched):
        for number in (0, 1, 2, 3):
            family(maker, noted, number, False)
            family(maker, noted, number, True)
