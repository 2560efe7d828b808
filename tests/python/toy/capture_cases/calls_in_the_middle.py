"""Instructions that come to code of the program in their middle, whatever it is: slices, and what `super()` finds."""

import gc

from observe import case
from toy_framework import toy

t = toy.tensor


class Rows(list):
    def __getitem__(self, at):
        found = super().__getitem__(at)
        return [row * 2 for row in found] if isinstance(at, slice) else found * 2


class Window:
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, at):
        return self.rows[at.start or 0 : at.stop]


class Above:
    @property
    def scale(self):
        self.asked += 1
        return self.double

    def double(self, x):
        return x * 2

    @property
    def none(self):
        raise AttributeError("nothing")


class Below(Above):
    asked = 0

    @property
    def scale(self):
        return None

    @property
    def none(self):
        return None

    def run(self, x):
        found = super().scale
        return super().scale(x) + found(x)

    def fail(self):
        try:
            super().none()
        except AttributeError as error:
            return str(error)


@case()
def slices_by_code():
    def f(x):
        rows, window = Rows([x, x + 1, x + 2]), Window([x, x + 3])
        return rows[:2], rows[1:], window[:1], window[1:]

    return {"f": f, "args": lambda: (t([1.0, 2.0]),)}


@case()
def methods_of_super_that_are_properties():
    def f(x):
        below = Below()
        return below.run(x), below.asked, below.fail()

    return {"f": f, "args": lambda: (t([1.0, 2.0]),)}


@case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)
def a_method_of_super_over_a_break():
    class Loud(Above):
        @property
        def scale(self):
            toy._psdb.breakgraph()
            return self.double

    class Lower(Loud):
        def run(self, x):
            y = x + 1
            return super().scale(y) + 1

    def f(x):
        return Lower().run(x * 3)

    return {"f": f, "args": lambda: (t([1.0, 2.0]),)}


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def counting_asks_nobody_about_the_collector():
    def f(x, rows, asked):
        out = []
        for at, row in enumerate(rows):
            toy._psdb.breakgraph()
            out.append((at, row, x + at))
        return out, list(asked)

    def args():
        return t([1.0]), [[1], [2], [3]], []

    def replaced(x, rows, asked):
        before = gc.is_tracked
        gc.is_tracked = lambda o: asked.append("asked") or before(o)
        try:
            return f(x, rows, asked)
        finally:
            gc.is_tracked = before

    return {"f": replaced, "args": args}
