"""Methods that `types.MethodType` binds, and lists that are repeated in place."""

import types

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


class Box:
    def __init__(self, k):
        self.k = k

    def own(self, x):
        return x * self.k


def scale(self, x, *more):
    return x * self.k + len(more)


@case()
def a_method_is_bound_and_called():
    def f(x):
        box = Box(2)
        box.scale = types.MethodType(scale, box)
        free = types.MethodType(lambda a, b: (a, b), x)
        same = types.MethodType(scale, box)
        return (
            box.scale(x), box.scale(x, 1, 2), free(3)[1], same.__self__ is box, same.__func__ is scale, type(same).__name__,
            callable(same), isinstance(same, types.MethodType),
        )

    return {"f": f, "args": x1}


@case()
def a_method_is_bound_to_a_class_and_to_what_is_given():
    def f(x, box):
        class_bound = types.MethodType(lambda cls, v: cls(v), Box)
        box.go = types.MethodType(Box.own, box)
        return class_bound(3).k, box.go(x)

    boxes = []

    def args():
        boxes.append(Box(4))
        return t([1.0]), boxes[-1]

    return {"f": f, "args": args}


@case()
def a_bound_method_goes_out():
    def f(x):
        box = Box(3)
        method = types.MethodType(scale, box)
        return method(x), method.__self__, [method.__func__ is scale]

    return {"f": f, "args": x1}


@open_case
def what_cannot_be_bound():
    def f(x):
        said = []
        for bad in ((scale, None), (3, x), (scale,), (scale, x, 1)):
            try:
                types.MethodType(*bad)
            except TypeError as error:
                said.append(str(error))
        try:
            types.MethodType(scale, instance=1)
        except TypeError as error:
            said.append(str(error))
        return said, types.MethodType(len, "abc")(), x + 1

    return {"f": f, "args": x1}


@case(graphs=2, captures=2, breaks=1, reasons=("builtin-with-output",))
def a_bound_method_lives_on_over_a_break():
    def f(x):
        method = types.MethodType(lambda items, v: v * items[0], [3])
        y = method(x)
        print("between")
        return method(y), method.__self__

    return {"f": f, "args": x1}


@case()
def lists_repeated_in_place():
    def f(x):
        items, none, less, once = [1, [x]], [x], [5], [6]
        alias = items
        items *= 3
        none *= 0
        less *= -2
        once *= True
        return x + len(items), alias is items, items, none, less, once, items[1] is items[5]

    return {"f": f, "args": x1}


@case()
def a_given_list_repeated_in_place():
    def f(x, items, emptied):
        same = items
        items *= 2
        items.append(x)
        emptied *= 0
        return x + 1, items is same

    return {"f": f, "args": lambda: (t([1.0]), [1, 2], [3, 4])}


@case()
def a_list_that_cannot_be_repeated():
    def f(x):
        items, said = [1], []
        for count in ("a", 1.5, None, [2]):
            try:
                items *= count
            except TypeError as error:
                said.append(str(error))
        return x * len(said), said, items

    return {"f": f, "args": x1}


@case(graphs=2, captures=2, breaks=1, reasons=("builtin-with-output",))
def a_list_repeated_behind_a_break():
    def f(x):
        items = [x + 1]
        both = [items, items]
        print("between")
        items *= 2
        both *= 2
        items.append(3)
        return x * len(items), items, both[3] is items

    return {"f": f, "args": x1}
