"""Methods of C that a class has for its hooks: `__getattr__ = dict.__getitem__` and the like, as configurations of models have them."""

import collections

from observe import case, open_case
from toy_framework import toy

t = toy.tensor
x1 = lambda: (t([1.0]),)  # noqa: E731


class Config(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__


class Lenient(dict):
    __getattr__ = dict.get


class Remembers(dict):
    __getattr__ = dict.setdefault


class Ordered(collections.OrderedDict):
    __getattr__ = collections.OrderedDict.__getitem__
    __setattr__ = collections.OrderedDict.__setitem__


class Default(collections.defaultdict):
    __getattr__ = collections.defaultdict.__getitem__


class Below(Config):
    def __init__(self, **values):
        super().__init__(values)
        self.own = 5

    @property
    def double(self):
        return self.scale * 2


KINDS = {
    "config": lambda: Config(scale=2.0, act=None),
    "lenient": lambda: Lenient(scale=2.0, act=None),
    "remembers": lambda: Remembers(scale=2.0),
    "ordered": lambda: Ordered(scale=2.0, act=None),
    "default": lambda: Default(lambda: 4.0, scale=2.0),
    "below": lambda: Below(scale=2.0, act=None),
}


def reads(x, c):
    return x * c.scale, c.items and 1, len(c)


def reads_what_is_missing(x, c):
    try:
        found = c.missing
    except (KeyError, AttributeError) as error:
        found = type(error).__name__, str(error), error.__context__
    try:
        asked = hasattr(c, "other"), getattr(c, "third", 7)
    except KeyError as error:
        asked = repr(error)
    return x + 1.0, found, asked, sorted(c)


def writes(x, c):
    c.step = 3
    c.scale = c.scale + 1.0
    return x * c.scale, c.get("step"), sorted(vars(c))


def deletes(x, c):
    c["gone"] = 1
    try:
        del c.gone
        del c.never
    except (KeyError, AttributeError) as error:
        return x * c.scale, repr(error), sorted(c)
    return x + 1.0, sorted(c)


def special(x, c):
    return x * c.scale, bool(c), c == dict(c), "scale" in c, [key for key in c][0]


USES = [reads, reads_what_is_missing, writes, deletes, special]


def used(name, make, use, where):
    def build():
        if where == "made":
            return {"f": lambda x: use(x, make()), "args": x1}
        held = make()
        if where == "given":
            return {"f": use, "args": lambda: (t([1.0]), held), "watch": lambda: sorted(held.items(), key=str)}
        return {"f": lambda x: use(x, held), "args": x1, "watch": lambda: sorted(held.items(), key=str)}

    build.__name__ = f"{name}_{use.__name__}_{where}"
    open_case(build)


for one in KINDS.items():
    for use in USES:
        for where in ("held", "given", "made"):
            used(*one, use, where)


@case()
def a_configuration_is_one_graph():
    held = Config(scale=2.0, act=None, inner=Config(deep=3))

    def f(x):
        y = x * held.scale + held.inner.deep
        return y if held.act is None else y * 0.0

    return {"f": f, "args": x1}


@case()
def one_that_is_made_is_one_graph():
    def f(x):
        made = Config(a=1)
        made.b = x
        return made.a * made.b, made.b is x

    return {"f": f, "args": x1}
