"""Scalars of numpy beside objects with operators of their own: numpy asks those again, by what Python makes of the scalar."""

import operator
from fractions import Fraction

import numpy as np
from observe import open_case
from toy_framework import toy

t = toy.tensor


class Money:
    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Money(self.value + other) if type(other) is int else NotImplemented

    def __lt__(self, other):
        return self.value < other if type(other) in (int, float) else NotImplemented

    __radd__ = __add__


OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow]
OPERATORS += [operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge, operator.iadd]
SCALARS = {"int64": np.int64(3), "float32": np.float32(3), "bool": np.bool_(True)}
OTHERS = {"fraction": Fraction(1, 3), "money": Money(2)}


def beside(name, scalar, other_name, other):
    def build():
        def f(x, a, b):
            seen = []
            for operate in OPERATORS:
                for left, right in ((a, b), (b, a)):
                    try:
                        result = operate(left, right)
                        seen.append((type(result).__name__, getattr(result, "value", None), str(result) if isinstance(result, Fraction) else 0))
                    except TypeError as error:
                        seen.append(str(error))
            return x * 2.0, seen

        return {"f": f, "args": lambda: (t([1.0]), scalar, other)}

    build.__name__ = f"{other_name}_beside_{name}_of_numpy"
    open_case(build)

    def build():
        def f(x, a, b):
            try:
                return x * 2.0, type(a >= b).__name__, type(b < a).__name__, str(type(a + b))
            except TypeError as error:
                return str(error)

        return {"f": f, "args": lambda: (t([1.0]), scalar, other)}

    build.__name__ = f"{other_name}_beside_{name}_of_numpy_by_instructions"
    open_case(build)


for one in SCALARS.items():
    for two in OTHERS.items():
        beside(*one, *two)


@open_case
def what_only_a_metaclass_has():
    names = ["mro", "__subclasses__", "__call__", "__or__", "__annotations__", "__dir__", "dtype", "item", "shape"]

    def f(x):
        values = [np.float32(1), x, x.dtype]
        return (
            [[hasattr(value, name) for name in names] for value in values],
            [getattr(value, "__annotations__", None) for value in values],
            [type(value.__dir__).__name__ for value in values],
            x * 2.0,
        )

    return {"f": f, "args": lambda: (t([1.0]),)}
