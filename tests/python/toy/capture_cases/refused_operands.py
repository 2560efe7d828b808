"""Temporary operands of what raises: the order in which their finalizers run, before a handler and in frames that are left."""

from observe import case
from toy_framework import toy

t = toy.tensor
LOG = []


class Mark:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        LOG.append(self.name)

    def method(self, a):
        pass


def takes_one(a):
    pass


def takes_named(a, *, k):
    pass


def takes_some(a, b=2, **others):
    pass


def too_many():
    takes_one(Mark(1), Mark(2), Mark(3))


def too_many_for_a_method():
    Mark(0).method(Mark(1), Mark(2))


def too_many_and_named():
    takes_named(Mark(1), Mark(2), k=Mark(3))


def unexpected():
    takes_one(Mark(1), z=Mark(2))


def given_twice():
    takes_one(Mark(1), a=Mark(2))


def given_twice_among_others():
    takes_some(Mark(1), c=Mark(3), a=Mark(4), d=Mark(5))


def not_callable():
    Mark(1)(Mark(2), Mark(3))


def added():
    Mark(1) + Mark(2)


def compared():
    Mark(1) < Mark(2)


def asked_for_an_item():
    Mark(1)[Mark(2)]


def asked_for_a_member():
    Mark(1) in Mark(2)


def stored():
    Mark(1)[Mark(2)] = Mark(3)


def of_a_builtin():
    max(Mark(1), Mark(2))


def in_the_middle_of_a_list():
    [Mark(1), Mark(2), None.missing]


def in_the_middle_of_a_tuple():
    (Mark(1), [Mark(2), Mark(3), None.missing])


def behind_a_tuple():
    (Mark(1), Mark(2))[5]


CALLS = [
    too_many,
    too_many_for_a_method,
    too_many_and_named,
    unexpected,
    given_twice,
    given_twice_among_others,
    not_callable,
    added,
    compared,
    asked_for_an_item,
    asked_for_a_member,
    stored,
    of_a_builtin,
    in_the_middle_of_a_list,
    in_the_middle_of_a_tuple,
    behind_a_tuple,
]


def caught(call):
    def f(x):
        LOG.clear()
        try:
            call()
        except (TypeError, AttributeError, IndexError):
            LOG.append("handler")
        return x + 1.0, list(LOG)

    return {"f": f, "args": lambda: (t([1.0]),)}


def family(call):
    def build():
        return caught(call)

    build.__name__ = build.__qualname__ = "operands_of_" + call.__name__
    build.__module__ = __name__
    case(graphs=None, breaks=None, captures=None, reasons=None)(build)


for call in CALLS:
    family(call)


@case(graphs=None, breaks=None, captures=None, reasons=None)
def operands_where_the_handler_stands():
    def f(x):
        LOG.clear()
        try:
            takes_one(Mark(1), Mark(2), Mark(3))
        except TypeError:
            LOG.append("first")
        try:
            [Mark(4), Mark(5), None.missing]
        except AttributeError:
            LOG.append("second")
        try:
            Mark(6)(Mark(7))
        except TypeError:
            LOG.append("third")
        return x + 1.0, list(LOG)

    return {"f": f, "args": lambda: (t([1.0]),)}
