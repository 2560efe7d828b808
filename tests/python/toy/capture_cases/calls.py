"""Functions: arguments of every kind, closures, recursion, generators."""

import functools
import sys

from capture_cases.protected import log_case
from observe import case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


def double(x):
    return x * 2


@case()
def nested_calls():
    def inner(x, n=1):
        return double(x) + n

    def f(x):
        return inner(x) + inner(x, 5) + inner(n=7, x=x)

    return {"f": f, "args": x1}


@case()
def arguments_of_every_kind():
    def f(x, a, b=2, *rest, key, other="o", **more):
        return x * a + b + len(rest) + key, rest, other, sorted(more), more

    return {"f": f, "args": lambda: (t([1.0]), 1, 3, 4, 5), "kwargs": lambda: {"key": 7, "z": 1, "y": 2}}


@case()
def star_calls():
    def inner(x, a, b, *rest, k=0, **more):
        return x * a + b + k + sum(rest) + len(more)

    def f(x, args, kwargs):
        return inner(x, *args, **kwargs), inner(*[x, 1, 2], k=3), inner(x, *(1, 2, 3, 4), **{"k": 1, "q": 2})

    return {"f": f, "args": lambda: (t([1.0]), (2, 3), {"k": 4, "w": 5})}


@case()
def keyword_only_default():
    def inner(x, *, scale=3):
        return x * scale

    def f(x):
        return inner(x) + inner(x, scale=4)

    return {"f": f, "args": x1}


@case(graphs=None, captures=None)
def mutable_default():
    def inner(x, seen=[]):  # noqa: B006
        seen.append(1)
        return x * len(seen)

    def f(x):
        return inner(x)

    return {"f": f, "args": x1, "watch": lambda: inner.__defaults__}


@case()
def closures():
    scale = 3
    offset = t([10.0, 20.0])

    def f(x):
        def inner(y):
            return y * scale + local

        local = x + offset
        return inner(x), (lambda z: z - scale)(x)

    return {"f": f, "args": x1}


@case(graphs=None, captures=None)
def nonlocal_counter():
    count = 0

    def f(x):
        nonlocal count
        count += 1
        return x * 2

    return {"f": f, "args": x1, "watch": lambda: count}


@case()
def nonlocal_of_the_frame():
    def f(x):
        total = 0

        def bump(n):
            nonlocal total
            total += n
            return total

        bump(2)
        bump(3)
        return x * total, total

    return {"f": f, "args": x1}


@case()
def returned_closure():
    def f(x):
        y = x + 1

        def later(n):
            return y * n

        return later(2), later

    def call(x):
        first, later = f(x)
        return first, later(3)

    return {"f": call, "args": x1}


@case()
def decorators_with_wraps():
    def logged(fn):
        @functools.wraps(fn)
        def wrapper(*args, **kwargs):
            return fn(*args, **kwargs) + 1

        return wrapper

    @logged
    def inner(x, n):
        return x * n

    def f(x):
        return inner(x, 2) + inner(x, n=3)

    return {"f": f, "args": x1}


@case()
def partial():
    add = functools.partial(toy.add, y=t([5.0, 5.0]))

    def f(x):
        return add(x)

    return {"f": f, "args": x1}


@case()
def recursion():
    def power(x, n):
        return x if n == 0 else power(x, n - 1) * 2

    def f(x):
        return power(x, 6)

    return {"f": f, "args": x1}


@case(graphs=5, captures=5, breaks=4, reasons=("builtin-with-output",))
def recursion_with_breaks():
    def walk(x, n):
        if n == 0:
            return x
        y = walk(x, n - 1) + 1
        print(n)
        return y * 2

    def f(x):
        return walk(x, 4)

    return {"f": f, "args": x1}


@case()
def functions_as_values():
    def f(x, g, table):
        return g(x) + table["relu"](x - 1)

    return {"f": f, "args": lambda: (t([1.0]), double, {"relu": toy.relu})}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def generators_pass_through():
    def counted(n):
        for i in range(n):
            yield i * 2

    def f(x):
        total = x
        for i in counted(3):
            total = total + i
        return total, list(counted(2))

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def a_generator_itself(translate):
    def f(x):
        yield x * 2
        yield x * 3

    def call(x):
        return list(translate(f)(x))

    return {"f": call, "args": x1}


# Simulated where the version runs coroutines as generators.
AS_GENERATORS = case() if sys.version_info >= (3, 11) else case(graphs=0, captures=3, breaks=2, reasons=("builtin", "generator"))


@AS_GENERATORS
def coroutine():
    async def compute(x):
        return x * 2

    def f(x):
        try:
            compute(x).send(None)
        except StopIteration as stop:
            return stop.value

    return {"f": f, "args": x1}


@case(graphs=0, captures=2, breaks=1, reasons=("builtin",))
def dynamic_code():
    def f(x):
        return eval("x * 2", {"x": x}), len(locals())

    return {"f": f, "args": x1}


@case()
def translated_calls_translated():
    @toy.to_static
    def inner(x):
        return x * 2

    def f(x):
        return inner(x) + 1

    return {"f": f, "args": x1}


@case(graphs=2, captures=2, breaks=1, reasons=("disabled",))
def disabled_function():
    @toy.disable
    def secret(x):
        print("eager")
        return x * 2

    def f(x):
        return secret(x + 1) + 1

    return {"f": f, "args": x1}


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def functions_made_below_others_keep_their_annotations():
    class Makes:
        def made(self):
            def annotated(a: "first", b: "second" = 1) -> "third":  # noqa: F821
                pass

            annotated.attr = "set"
            return annotated

        def test(self, log):
            made = self.made()
            log.append((made.__annotations__, made.attr))

        def run(self, log):
            try:
                called = self.call(self.test, log)
            finally:
                log.append("ran")
            return called

        def call(self, method, log):
            if method(log) is not None:
                log.append("something")

    def f(x, log):
        method = Makes().run
        print("break")
        method(log)
        Makes().run(log)
        return x + 1

    return f
