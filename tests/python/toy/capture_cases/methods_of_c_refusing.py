"""Methods of C that refuse their arguments name the class that has them where they were looked up for a call, and that of the
receiver where somebody had bound them."""

from collections import OrderedDict, defaultdict, deque

from observe import case
from toy_framework import toy

t = toy.tensor


class Ordered(OrderedDict):
    pass


class Queue(deque):
    pass


class Listed(list):
    pass


CLASSES = (OrderedDict, defaultdict, deque, Ordered, Queue, Listed, dict, list, set, tuple, str, int)


def x1():
    return (t([1.0]),)


def called_with_none(value):
    return value.__format__()


def called_with_many(value):
    return value.__reduce_ex__(1, 2, 3)


def called_by_name(value):
    return value.__format__(spec="")


def bound_before(value):
    method = value.__format__
    return method()


def cleared(value):
    return value.clear(1)


def got(value):
    return value.get(key=1)


def asked(value):
    return value.__contains__(1, 2)


def caught(way, value):
    try:
        return way(value)
    except (TypeError, AttributeError) as error:
        return type(error), str(error)


WAYS = (called_with_none, called_with_many, called_by_name, bound_before, cleared, got, asked)


def refusals(way):
    def inside():
        def f(x):
            return x + 1, [caught(way, kind()) for kind in CLASSES]

        return {"f": f, "args": x1}

    def given():
        def f(x, value):
            return x + 1, caught(way, value)

        return {"f": f, "args": lambda: (t([1.0]), OrderedDict(a=1))}

    def raised():
        def f(x, value):
            y = x + 1
            way(value)
            return y

        return {"f": f, "args": lambda: (t([1.0]), defaultdict(int))}

    def raised_here():
        space = {}
        exec("def f(x, value):\n    y = x + 1\n    value.%s\n    return y" % CALLS[way], space)
        return {"f": space["f"], "args": lambda: (t([1.0]), Queue())}

    # What was bound in a continuation that several classes share is another matter.
    for build in (given, raised) if way is bound_before else (inside, given, raised, raised_here):
        build.__name__ = "refused_by_methods_of_c_" + way.__name__ + "_" + build.__name__
        build.__module__ = __name__
        case(graphs=1, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


CALLS = {
    called_with_none: "__format__()",
    called_with_many: "__reduce_ex__(1, 2, 3)",
    called_by_name: "__format__(spec='')",
    cleared: "clear(1)",
    got: "__contains__(key=1)",
    asked: "__len__(1)",
}
for each in WAYS:
    refusals(each)
