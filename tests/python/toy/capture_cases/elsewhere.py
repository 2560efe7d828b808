"""Functions that an inlined function of another module makes: their globals are those of that module."""

from observe import case
from toy_framework import toy

from . import another_module

t = toy.tensor
SCALE = "the wrong one"


def x1():
    return (t([1.0, 2.0]),)


def facts(f):
    return (
        f.__globals__ is vars(another_module),
        f.__module__,
        f.__qualname__,
        f.__name__,
        f.__doc__,
        f.__defaults__,
        f.__kwdefaults__,
        f.__annotations__,
        f.__code__.co_filename.endswith("another_module.py"),
    )


@case()
def function_made_elsewhere(translate):
    @translate
    def f(x):
        inner = another_module.make_function(2)
        return inner, x + inner(1), inner(x)

    def g(x):
        inner, *rest = f(x)
        return facts(inner), inner(1), inner(1, n=2), rest

    return {"f": g, "args": x1}


@case()
def returned_from_elsewhere(translate):
    @translate
    def f(x):
        return x * 2, another_module.make_lambda(), another_module.make_lambda(7), another_module.make_recursive()

    def g(x):
        y, *made = f(x)
        return y, [(facts(m), m(3)) for m in made]

    return {"f": g, "args": x1}


@case()
def recursive_function_of_the_frame(translate):
    @translate
    def f(x):
        def even(n):
            return n == 0 or odd(n - 1)

        def odd(n):
            return n != 0 and even(n - 1)

        return even, odd, x + 1

    def g(x):
        even, odd, y = f(x)
        return even(4), odd(4), even(3), even.__closure__[0].cell_contents is odd, y

    return {"f": g, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def generator_expression_elsewhere():
    def f(x):
        return x + another_module.sum_scaled([1, 2, 3])

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def made_elsewhere_and_needed_after_a_break():
    def f(x):
        inner = another_module.make_function(2)
        print(inner.__module__, inner.__globals__["SCALE"])
        return inner(x)

    return {"f": f, "args": x1}
