"""A break at each place of an expression or statement where operands wait on the stack.

`speak` prints, so it breaks; what was pushed before it must be there after it.
"""

from observe import case
from toy_framework import toy

t = toy.tensor


def speak(value):
    print("speak", value)
    return value


class Box:
    def __init__(self, **values):
        self.__dict__.update(values)

    def method(self, x, n=0):
        return x * n + self.n


def x1():
    return (t([1.0, 2.0]),)


def open_decisions(**more):
    return case(graphs=None, captures=None, breaks=None, reasons=("builtin-with-output",), **more)


@open_decisions()
def in_a_binary_operator():
    def f(x):
        return (x + 1) * speak(2) - (speak(3) + x * 4)

    return {"f": f, "args": x1}


@open_decisions()
def in_keyword_arguments():
    def g(*args, **kwargs):
        return args, kwargs

    def f(x):
        return g(x, speak(1), k=speak(2), x=x + 1, last=speak(3))

    return {"f": f, "args": x1}


@open_decisions()
def in_star_arguments():
    def g(*args, **kwargs):
        return args, kwargs

    def f(x):
        return g(x, *[speak(1), 2], *(3, x * 2), **{"a": speak(4)}, b=speak(5), **{"c": x})

    return {"f": f, "args": x1}


@open_decisions()
def in_a_method_call():
    def f(x, box):
        return box.method(x + 1, speak(2)) + box.method(n=speak(3), x=x)

    return {"f": f, "args": lambda: (t([1.0]), Box(n=5))}


@open_decisions()
def in_a_method_of_a_tensor():
    def f(x):
        return (x * 2).reshape([speak(2), 1]).sum(axis=speak(1))

    return {"f": f, "args": x1}


@open_decisions()
def in_displays():
    def f(x):
        return [x, speak(1), x + 1], (x, speak(2)), {"a": x, speak("b"): speak(3)}, {speak(4), 5} == {4, 5}

    return {"f": f, "args": x1}


@open_decisions()
def in_unpacked_displays():
    def f(x):
        return [*[x, 1], speak(2), *(3,)], {**{"a": x}, "b": speak(1), **{"c": 2}}

    return {"f": f, "args": x1}


@open_decisions()
def in_a_subscript_store():
    def f(x, table, items):
        table[speak("k")] = x + speak(1)
        items[speak(0)] += speak(5)
        return table, items

    return {"f": f, "args": lambda: (t([1.0]), {}, [10])}


@open_decisions()
def in_an_attribute_store():
    def f(x, box):
        box.a = x + speak(1)
        box.n += speak(2)
        return box.n * x

    return {"f": f, "args": lambda: (t([1.0]), Box(n=1))}


@open_decisions()
def in_a_slice():
    def f(x, items):
        return items[speak(1) :], items[: speak(2)], items[speak(0) : speak(4) : speak(2)], x * 2

    return {"f": f, "args": lambda: (t([1.0]), [1, 2, 3, 4])}


@open_decisions()
def in_a_chained_comparison():
    def f(x):
        return x + (0 < speak(1) < 3), 5 < speak(2) < speak(9), 0 < len(x) < speak(5)

    return {"f": f, "args": x1}


@open_decisions()
def in_boolean_operators():
    def f(x):
        a = speak(0) or speak(2)
        b = speak(1) and x * 2
        c = not speak(0)
        return a, b, c, (speak(None) or x) + 1

    return {"f": f, "args": x1}


@open_decisions()
def in_a_conditional_expression():
    def f(x):
        return x + (speak(1) if speak(True) else speak(2)) * (3 if speak(False) else 4)

    return {"f": f, "args": x1}


@open_decisions()
def in_a_formatted_string():
    def f(x):
        return f"{speak('a')!r:>{speak(5)}}|{x.ndim}|{speak(2):03d}|", x * 2

    return {"f": f, "args": x1}


@open_decisions()
def in_an_unpacking_assignment():
    def f(x):
        a, (b, *c) = x * 2, [speak(1), speak(2), x]
        a, b = b, a
        return a, b, c

    return {"f": f, "args": x1}


@open_decisions()
def in_conditions():
    def f(x):
        if speak(1) > 0 and len(x) == speak(2):
            x = x * 2
        while speak(x.ndim) > 1:
            x = x.sum()
        return x if speak(3) is not None else None

    return {"f": f, "args": x1}


@open_decisions()
def in_the_iterable_of_a_loop():
    def f(x):
        for i in [speak(1), 2, speak(3)]:
            x = x + i
        for j in range(speak(2)):
            x = x * (j + 1)
        return x

    return {"f": f, "args": x1}


@open_decisions()
def in_an_assertion():
    def f(x):
        assert speak(1), "never"
        return x * 2

    return {"f": f, "args": x1}


@open_decisions()
def in_a_default_value():
    def f(x):
        def g(y, k=speak(2), *, m=speak(3)):
            return y * k + m

        return g(x) + g(x, 1, m=0)

    return {"f": f, "args": x1}


@open_decisions()
def in_an_argument_of_a_captured_lambda():
    def f(x):
        scale = x * 2
        add = lambda y: y + scale + speak(1)  # noqa: E731
        return add(x) * add(x + 1)

    return {"f": f, "args": x1}


@open_decisions()
def with_a_loop_iterator_below():
    def f(x):
        out = []
        for i, (a, b) in enumerate(zip([1, 2, 3], (4, 5, 6))):
            for key in {"p": 1, "q": 2}:
                out.append((i, key, x * a + speak(b)))
        return out

    return {"f": f, "args": x1}


@open_decisions()
def with_other_iterators_below():
    def f(x):
        out = []
        for a in reversed([1, 2, 3]):
            out.append(x * speak(a))
        for b in map(lambda v: v + 1, [1, 2]):
            out.append(x * speak(b))
        for c in "ab":
            out.append(speak(c))
        for d in {"k": 1}.items():
            out.append(speak(d))
        return out

    return {"f": f, "args": x1}


@open_decisions()
def with_two_uses_of_one_iterator():
    def f(x):
        it = iter([1, 2, 3, 4, 5, 6])
        out = [x * (a + speak(b)) for a, b in zip(it, it)]
        return out, list(it)

    return {"f": f, "args": x1}


@open_decisions()
def three_frames_deep_with_operands_below():
    def low(x, n):
        return [x, n, x * speak(n)][2] + n

    def mid(x, n):
        return (x + 1, low(x, n) * 2, n)[1] - low(x + speak(10), n=n)

    def f(x):
        return {"a": x, "b": [mid(x, 2), mid(n=3, x=x * 2)]}

    return {"f": f, "args": x1}


@open_decisions()
def in_a_recursive_closure():
    def f(x):
        seen = []

        def go(n):
            if n:
                seen.append(speak(n))
                return go(n - 1) + x * n
            return x

        return go(3), seen

    return {"f": f, "args": x1}


@open_decisions()
def in_a_property_and_a_constructor():
    class Thing:
        def __init__(self, x):
            self.x = x * 2
            self.y = speak(1)

        @property
        def total(self):
            return self.x + speak(self.y)

        def __add__(self, other):
            return self.x + speak(other)

        def __getitem__(self, key):
            return self.x * speak(key)

        def __bool__(self):
            return bool(speak(True))

    def f(x):
        thing = Thing(x)
        if thing:
            return thing.total, thing + 5, thing[3]

    return {"f": f, "args": x1}
