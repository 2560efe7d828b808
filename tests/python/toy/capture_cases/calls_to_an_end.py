"""`iter(function, last)` whose function asks, or ends, the iterator that asks it; recursion that breaks at each depth."""

import weakref

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


def ends_while_asked(shown):
    def f(x):
        asked = []

        def function():
            asked.append(1)
            if len(asked) == 1:
                if shown:
                    print("asked")
                list(iterator)
            return len(asked) if len(asked) < 4 else 9

        iterator = iter(function, 9)
        return x + 1, next(iterator, "end"), list(iterator), len(asked)

    return {"f": f, "args": x1}


@open_case
def an_iterator_that_its_function_ends():
    return ends_while_asked(False)


@open_case
def an_iterator_that_its_function_ends_over_a_break():
    return ends_while_asked(True)


@open_case
def an_iterator_that_its_function_moves():
    def f(x):
        numbers = iter(range(9))

        def function():
            number = next(numbers)
            return (number, next(iterator)) if number == 2 else number

        iterator = iter(function, 6)
        return x + 1, list(iterator), next(iterator, "end")

    return {"f": f, "args": x1}


@open_case
def items_by_number_that_end_while_they_are_asked():
    class Items:
        def __getitem__(self, at):
            if at == 2 and not self.inside:
                self.inside = True
                print(list(self.iterator))
            if at > 4:
                raise IndexError
            return at

        inside = False

    def f(x):
        items = Items()
        items.iterator = iter(items)
        return x + 1, list(items.iterator), next(items.iterator, "end")

    return {"f": f, "args": x1}


@open_case
def deaths_at_the_end_of_calls():
    class Last:
        def __eq__(self, other):
            return other == 3

        __hash__ = None

    def f(x):
        said = []
        numbers = iter(range(9))

        def function():
            return next(numbers)

        last = Last()
        iterator = iter(function, last)
        watched = [weakref.ref(function, lambda _: said.append("function")), weakref.ref(last, lambda _: said.append("last"))]
        del function, last
        taken = list(iterator)
        return x + 1, taken, said, len(watched)

    return {"f": f, "args": x1}


def deep(x, depth):
    if not depth:
        return x
    print("down", depth)
    y = deep(x, depth - 1) + 1
    print("up", depth)
    return y


@case(graphs=None, breaks=None, captures=None, reasons=None)
def recursion_that_breaks_at_each_depth():
    def f(x):
        return deep(x, 40)

    return {"f": f, "args": x1}
