"""Attributes that are set on tuples and deleted from them: what refuses is heard as in plain Python."""

import collections
import typing

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


Pair = collections.namedtuple("Pair", "first second")


class Typed(typing.NamedTuple):
    first: int
    second: int = 2

    @property
    def both(self):
        return self.first + self.second


class Own(Pair):
    __slots__ = ()

    def __setattr__(self, name, value):
        raise KeyError(name)


class WithDict(Pair):
    pass


MADE = {"named": lambda: Pair(1, 2), "typed": lambda: Typed(1), "own": lambda: Own(1, 2), "plain": lambda: (1, 2)}
DONE = {
    "field": "it.first = 3",
    "property": "it.both = 3",
    "other": "it.other = 3",
    "method": "it.count = 3",
    "by_name": "setattr(it, 'second', 3)",
    "deleted": "del it.first",
    "deleted_other": "del it.other",
}


def written(name, how, given):
    source = f"def f(x, it=None):\n    it = make() if it is None else it\n    y = x * 2.0\n    try:\n        {DONE[how]}\n"
    source += "    except (AttributeError, KeyError) as error:\n        return y, type(error), error.args, it\n    return y\n"

    def build():
        world = {"make": MADE[name]}
        exec(source, world)
        return {"f": world["f"], "args": (lambda: (*x1(), MADE[name]())) if given else x1}

    build.__name__ = f"written_to_a_tuple_{name}_{how}_{'given' if given else 'made'}"
    build.__module__ = __name__
    (case() if name == "named" and how in ("field", "other", "by_name", "deleted") else open_case)(build)


for name in MADE:
    for how in DONE:
        for given in (False, True):
            written(name, how, given)


@open_case
def written_to_a_tuple_and_not_caught():
    def f(x, pair):
        y = x * 2.0
        pair.first = 3
        return y

    return {"f": f, "args": lambda: (*x1(), Pair(1, 2))}


@open_case
def written_to_a_tuple_that_has_a_dict():
    def f(x):
        pair = WithDict(1, 2)
        pair.more = 3
        try:
            pair.first = 4
        except AttributeError as error:
            return x * pair.more, error.args, vars(pair)
        return x

    return {"f": f, "args": x1}
