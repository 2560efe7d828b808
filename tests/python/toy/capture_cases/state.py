"""State outside of the frame: globals, attributes, iterators, tensors in place."""

import math

from observe import case
from toy_framework import toy

t = toy.tensor

COUNT = 0
SCALE = t([2.0])
REGISTRY = {}


def reset():
    global COUNT
    COUNT = 0
    REGISTRY.clear()


@case(graphs=None, captures=None)
def global_counter():
    reset()

    def f(x):
        global COUNT
        COUNT += 1
        return x * SCALE

    return {"f": f, "args": lambda: (t([1.0]),), "watch": lambda: COUNT}


@case(captures=2, breaks=1, reasons=("builtin-with-output",))
def global_written_before_a_break():
    reset()

    def f(x):
        global COUNT
        COUNT = 5
        y = x + COUNT
        print(COUNT)
        COUNT = y.ndim
        return y

    return {"f": f, "args": lambda: (t([1.0]),), "watch": lambda: COUNT}


@case(graphs=None, captures=None)
def global_registry():
    reset()

    def f(x):
        REGISTRY["last"] = x * 2
        REGISTRY.setdefault("all", []).append(1)
        return x

    return {"f": f, "args": lambda: (t([1.0]),), "watch": lambda: REGISTRY}


class Box:
    def __init__(self, value):
        self.value = value


@case()
def attribute_is_written():
    def f(x, box):
        box.value = box.value + 1
        box.other = x * 2
        return box.other + box.value

    return {"f": f, "args": lambda: (t([1.0]), Box(1))}


@case(graphs=None, captures=None)
def attribute_of_a_closure_object():
    box = Box(0)

    def f(x):
        box.value += 1
        return x * 2

    return {"f": f, "args": lambda: (t([1.0]),), "watch": lambda: box}


@case()
def attribute_is_deleted():
    def f(x, box):
        del box.value
        return x * 2, hasattr(box, "value")

    return {"f": f, "args": lambda: (t([1.0]), Box(1))}


@case(graphs=2, captures=3, breaks=2, reasons=("builtin-with-output",))
def attribute_across_breaks():
    def f(x, box):
        box.value = x * 2
        print("one")
        box.value = box.value + 1
        print("two")
        return box.value

    return {"f": f, "args": lambda: (t([1.0]), Box(None))}


@case()
def setattr_getattr():
    def f(x, box):
        setattr(box, "name", x + 1)
        return getattr(box, "name"), getattr(box, "missing", 3), hasattr(box, "value")

    return {"f": f, "args": lambda: (t([1.0]), Box(1))}


@case()
def iterator_is_advanced():
    def f(x, it):
        first = next(it)
        for n in it:
            x = x + n
            if n == 3:
                break
        return x * first, next(it, "end")

    def args():
        return t([1.0]), iter([1, 2, 3, 4, 5])

    def call(x, it):
        result = f(x, it)
        return result, list(it)

    return {"f": call, "args": args}


@case(graphs=2, captures=2, breaks=1, reasons=("builtin-with-output",))
def iterator_of_a_list_across_a_break():
    def f(x, items):
        it = iter(items)
        x = x + next(it)
        print("break")
        return [x + n for n in it]

    return {"f": f, "args": lambda: (t([1.0]), [1, 2, 3])}


@case(graphs=None, captures=None, breaks=1, reasons=("in-place-tensor",))
def in_place_tensor():
    def f(x, y):
        z = x * 2
        x.add_(y)
        return z + x

    return {"f": f, "args": lambda: (t([1.0]), t([5.0]))}


@case(captures=3, breaks=2, reasons=("in-place-tensor",))
def augmented_tensor():
    def f(x, y):
        z = x * 2
        z += y
        x += 1
        return z, x

    return {"f": f, "args": lambda: (t([1.0]), t([5.0]))}


@case(graphs=2, captures=2, breaks=1, reasons=("in-place-tensor",))
def item_assignment_of_a_tensor():
    def f(x):
        y = x + 0
        y[0] = 7
        return y * 2

    return {"f": f, "args": lambda: (t([1.0, 2.0]),)}


@case(graphs=None, captures=None, breaks=1, reasons=("in-place-tensor",))
def in_place_through_a_view():
    def f(x):
        view = x.reshape([2, 1])
        view.add_(1)
        return x * 2

    return {"f": f, "args": lambda: (t([1.0, 2.0]),)}


@case()
def view_is_written_by_the_caller(translate):
    @translate
    def f(x):
        return x.reshape([2, 1])

    def call(x):
        view = f(x)
        view.add_(5)
        return x

    return {"f": call, "args": lambda: (t([1.0, 2.0]),)}


@case()
def two_results_of_one_memory(translate):
    @translate
    def f(x):
        y = x * 2
        return y, y[0], y.detach()

    def call(x):
        a, b, c = f(x)
        a.add_(5)
        return toy.shares_memory(a, b), b, c

    return {"f": call, "args": lambda: (t([1.0, 2.0]),)}


@case()
def flag_of_a_tensor():
    def f(x):
        y = x * 2
        return y.requires_grad, x.requires_grad, y.detach()

    return {"f": f, "args": lambda: (t([1.0], requires_grad=True),)}


@case()
def grad_mode_is_changed():
    def f(x):
        before = toy.set_grad_enabled(False)
        y = x * 2
        toy.set_grad_enabled(before)
        return y.requires_grad, (x * 2).requires_grad

    return {"f": f, "args": lambda: (t([1.0], requires_grad=True),)}


@case()
def module_attributes():
    def f(x):
        return x * math.pi + math.floor(2.5) + math.sqrt(4)

    return {"f": f, "args": lambda: (t([1.0]),)}


@case()
def import_in_the_frame():
    def f(x):
        import math as m
        from os import path

        return x * m.e, path.join("a", "b")

    return {"f": f, "args": lambda: (t([1.0]),)}
