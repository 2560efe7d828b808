"""A mode of the framework changes within a function: one graph, and everybody finds the mode that plain Python has there."""

from observe import case
from toy_framework import toy

t = toy.tensor

SEEN = []


class no_grad:
    def __init__(self, on=False):
        self.on = on

    def __enter__(self):
        self.before = toy.set_grad_enabled(self.on)

    def __exit__(self, *_):
        toy.set_grad_enabled(self.before)


class Modes:
    """What a world tells of the mode: after each call, and in a log; and it is put back."""

    def __init__(self):
        SEEN.clear()
        toy.set_grad_enabled(True)

    def __call__(self):
        after = toy.is_grad_enabled()
        toy.set_grad_enabled(True)
        return after, list(SEEN)


def world(f, **others):
    return {"f": f, "args": lambda: (t([1.0, 2.0], requires_grad=True),), "watch": Modes(), **others}


@case()
def operations_within():
    def f(x):
        y = x * 2
        with no_grad():
            z = y * 3
            w = y.sum()
        return y, z, w, y * z

    return world(f)


@case()
def nested_both_ways():
    def f(x):
        with no_grad():
            a = x * 2
            with no_grad(True):
                b = x * 3
            c = b * 4
        return a, b, c, a * b

    return world(f)


@case()
def reads_of_the_mode():
    def f(x):
        modes = [toy.is_grad_enabled()]
        with no_grad():
            modes.append(toy.is_grad_enabled())
            y = x * 2
            modes.append(y.requires_grad)
        modes.append(toy.is_grad_enabled())
        modes.append((x * 2).requires_grad)
        return modes, y

    return world(f)


@case()
def a_mode_that_stays():
    def f(x):
        y = x * 2
        toy.set_grad_enabled(False)
        return y, x * 3

    return world(f)


@case(captures=1, graphs=0)
def a_mode_that_stays_without_a_graph():
    def f(x):
        toy.set_grad_enabled(on=False)
        return toy.is_grad_enabled()

    return world(f)


@case(captures=2, graphs=1, breaks=1, reasons=("framework-function",))
def what_is_no_bool_is_the_frameworks_affair():
    def f(x):
        try:
            toy.set_grad_enabled("no")
        except TypeError:
            return x * 2, toy.is_grad_enabled()

    return world(f)


@case(graphs=2, captures=3, breaks=2, reasons=("builtin-with-output",))
def breaks_within_and_after():
    def f(x):
        with no_grad():
            y = x * 2
            print(toy.is_grad_enabled(), y.requires_grad)
            z = y * x
        print(toy.is_grad_enabled())
        return y, z, z.requires_grad

    return world(f)


@case()
def an_exception_passes():
    def f(x):
        try:
            with no_grad():
                y = x * 2
                raise KeyError(1)
        except KeyError:
            return y, toy.is_grad_enabled(), x * y

    return world(f)


@case(breaks=None, captures=None, reasons=None)
def an_exception_leaves_the_function():
    def f(x):
        toy.set_grad_enabled(False)
        y = x * 2
        raise KeyError(y.requires_grad)

    return world(f)


@case()
def a_generator_waits_within():
    def g(x):
        with no_grad():
            yield x * 2
            yield x * 3

    def f(x):
        modes = []
        for y in g(x):
            modes.append(toy.is_grad_enabled())
            modes.append(y * x)
        return modes, toy.is_grad_enabled()

    return world(f)


@case()
def other_effects_between():
    class Box:
        pass

    box = Box()

    def f(x):
        with no_grad():
            box.a = x * 2
        box.b = toy.is_grad_enabled()
        toy.set_grad_enabled(False)
        box.c = x * 3
        return x * 4

    return world(f, watch=lambda modes=Modes(): (modes(), vars(box)))


class Ends:
    def __del__(self):
        SEEN.append(toy.is_grad_enabled())


@case(graphs=None, captures=None, breaks=None, reasons=None)
def finalizers_find_the_mode():
    def f(x):
        with no_grad():
            Ends()
            held = Ends()
        del held
        y = x * 2
        with no_grad():
            other = Ends()
            del other
            z = x * 3
        return y, z

    return world(f)


@case(captures=1, graphs=1)
def a_mode_changed_in_vain():
    def f(x):
        with no_grad():
            pass
        with no_grad(toy.is_grad_enabled()):
            return x * 2

    return world(f)


@case(graphs=2, captures=2)
def the_mode_that_a_function_is_entered_in():
    calls = []

    def f(x):
        with no_grad():
            y = x * 2
        return y, x * 3

    def args():
        calls.append(1)
        toy.set_grad_enabled(len(calls) % 2 == 0)
        return (t([1.0], requires_grad=True),)

    return world(f, args=args)


@case(captures=1)
def a_layer_is_called_within():
    layer = toy.Linear(t([[1.0, 2.0], [3.0, 4.0]], requires_grad=True), t([0.5, 0.5]))

    def f(x):
        with no_grad():
            y = layer(x)
        return y, layer(x)

    return world(f, args=lambda: (t([[1.0, 2.0]], requires_grad=True),))


@case()
def an_attribute_that_is_an_operation():
    def f(x):
        with no_grad():
            y = (x * 1).T
        return y, (x * 1).T

    return world(f, args=lambda: (t([[1.0, 2.0]], requires_grad=True),))


# ----- flags of tensors


@case()
def a_flag_of_a_result():
    def f(x):
        y = x * 2
        y.requires_grad = False
        return y, y * 3, y * x, y.requires_grad

    return world(f)


@case()
def a_flag_to_and_fro():
    def f(x):
        y = x * 2
        a = y * 3
        y.requires_grad = False
        b = y * 3
        y.requires_grad = True
        return a, b, y * 3

    return world(f)


@case()
def a_flag_of_an_argument():
    def f(x):
        x.requires_grad = False
        y = x * 2
        x.requires_grad = True
        return y, x * 2, x.requires_grad

    return world(f)


@case()
def a_flag_of_an_argument_that_stays():
    def f(x):
        x.requires_grad = False
        return x * 2

    return world(f)


@case(captures=1, graphs=None)
def a_flag_of_an_argument_that_no_operation_sees():
    def f(x):
        x.requires_grad = False
        return 3

    return world(f)


@case(graphs=2, captures=2, breaks=1, reasons=("builtin-with-output",))
def flags_at_a_break():
    def f(x):
        y = x * 2
        y.requires_grad = x.requires_grad = False
        print(y.requires_grad, x.requires_grad)
        return y * x

    return world(f)


@case()
def a_flag_and_another_effect():
    held = []

    def f(x):
        held.append(x * 2)
        held[-1].requires_grad = False
        x.requires_grad = False
        return held.pop() * x

    return world(f)
