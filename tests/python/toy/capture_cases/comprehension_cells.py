"""Comprehensions whose variables are cells: from 3.12 on they are inlined, and make cells of their own in the places of the frame's."""

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


def speak(value):
    print("speak", value)
    return value


@case()
def functions_of_the_last_item():
    def f(x):
        late = [lambda: x * n for n in range(3)]
        early = [lambda n=n: x * n for n in range(3)]
        return [g() for g in late], [g() for g in early]

    return {"f": f, "args": x1}


@case()
def the_function_has_a_cell_of_the_same_name():
    def f(x):
        n = 7
        mine = lambda: n  # noqa: E731
        theirs = [lambda: n for n in (1, 2)]
        table = {n: (lambda: n) for n in (3, 4)}
        n += 1
        return x * mine(), [g() for g in theirs], [g() for g in table.values()], n

    return {"f": f, "args": x1}


@case()
def one_within_the_other():
    def f(x):
        rows = [[lambda: (a, b) for b in (1, 2)] for a in (3, 4)]
        sums = [sum(c() for c in [lambda: a + b for b in (1, 2)]) for a in (3, 4)]
        return x * sums[0], [[g() for g in row] for row in rows], sums

    return {"f": f, "args": x1}


@case()
def a_cell_that_is_empty_before_and_behind():
    def f(x, early):
        def told():
            try:
                return n
            except NameError as error:
                return type(error).__name__

        before = told()
        made = [lambda: n for n in (1, 2)]
        behind = told()
        if early:
            n = 5
        return x + 1, before, [g() for g in made], behind, told()

    return {"f": f, "args": lambda: (t([1.0]), True)}


@case()
def a_free_variable_of_the_frame():
    def f(x):
        n = 2

        def inner():
            made = [lambda: n for n in (5, 6)]
            return n, [g() for g in made]

        return inner(), x * n

    return {"f": f, "args": x1}


@case()
def an_exception_leaves_one():
    def f(x):
        n = 2
        keep = lambda: n  # noqa: E731
        try:
            [(lambda: 1 // n)() for n in (1, 0)]
        except ZeroDivisionError:
            pass
        return x * keep(), n

    return {"f": f, "args": x1}


@open_case
def a_break_in_one():
    def f(x):
        n = 2
        keep = lambda: n  # noqa: E731
        made = [(lambda: x * n, speak(n), (lambda: n)()) for n in (3, 4)]
        n += keep()
        return [(g(), a, b) for g, a, b in made], keep(), n

    return {"f": f, "args": x1}


@open_case
def a_break_where_the_frames_own_cell_is_empty():
    def f(x):
        made = [[lambda: a + b + speak(0) for b in (1, speak(2))] for a in (speak(3), 4)]
        try:
            a
        except NameError as error:
            kind = type(error).__name__
        a = 9
        return [[g() for g in row] for row in made], kind, (lambda: a)(), x + 1

    return {"f": f, "args": x1}


@open_case
def in_a_generator_that_waits():
    def numbers(x):
        n = 1
        keep = lambda: n  # noqa: E731
        yield [lambda: x * n for n in (2, 3)]
        print("between", keep())
        yield [(lambda: n, speak(n)) for n in (4, 5)]

    def f(x):
        return [[g() if callable(g) else g[0]() for g in made] for made in numbers(x)]

    return {"f": f, "args": x1}


@open_case
def an_exception_behind_a_break_in_one():
    def f(x):
        n = 2
        keep = lambda: n  # noqa: E731
        try:
            [(speak(n), (lambda: 1 // n)()) for n in (1, 0)]
        except ZeroDivisionError:
            n += 1
        return x * keep(), n

    return {"f": f, "args": x1}
