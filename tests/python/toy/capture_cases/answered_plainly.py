"""What classes, tracebacks and modules of the library tell without a break: typed dicts, `__reduce__` of the program, lines."""

import copy
import struct
import sys

from observe import case
from toy_framework import toy

if sys.version_info >= (3, 9):
    from typing import TypedDict
else:
    TypedDict = None

t = toy.tensor


def x1():
    return (t([1.0]),)


def open_case(build):
    case(graphs=None, captures=None, breaks=0, fallbacks=0, reasons=())(build)


class Reduced:
    def __init__(self, value, told):
        self.value, self.told = value, told

    def __reduce__(self):
        self.told.append("reduced")
        return Reduced, (self.value, self.told)


class WithState(Reduced):
    def __reduce__(self):
        self.told.append("with state")
        return WithState, (self.value, self.told), {"value": 7}


@open_case
def copied_by_reduce():
    told = []
    given = Reduced(2, told)

    def f(x):
        made = copy.copy(given)
        other = copy.copy(Reduced(3, told))
        return x * made.value, other.value, made is given, made.told is told

    return {"f": f, "args": x1, "watch": lambda: list(told)}


@open_case
def copied_by_reduce_with_state():
    told = []
    given = WithState(2, told)

    def f(x):
        made = copy.copy(given)
        return x * made.value, vars(made) == {"value": 7, "told": told}

    return {"f": f, "args": x1, "watch": lambda: list(told)}


@open_case
def reduced_by_name():
    told = []
    given = Reduced(2, told)

    def f(x):
        return x + 1, given.__reduce_ex__(4) == (Reduced, (2, told)), object.__reduce_ex__(given, 2)[1][0]

    return {"f": f, "args": x1, "watch": lambda: list(told)}


def a_typed_dict_is_called():
    class Options(TypedDict):
        k: int

    Wide = TypedDict("Wide", {"k": int, "name": str}, total=False)

    def f(x):
        made, wide, empty = Options(k=3), Wide(k=1, name="n"), Options()
        made["more"] = 1
        return x * made["k"], made, type(made) is dict, wide, empty, Options({"k": 4}), made is Options(k=3)

    return {"f": f, "args": x1}


if TypedDict is not None:
    open_case(a_typed_dict_is_called)


class Called(type):
    __call__ = list


class MadeList(metaclass=Called):
    pass


@open_case
def a_metaclass_whose_call_is_a_class():
    def f(x):
        made = MadeList((1, 2))
        made.append(3)
        return x + len(made), made

    return {"f": f, "args": x1}


@open_case
def lines_of_tracebacks():
    def below(value):
        if value > 1:
            raise KeyError(value)
        return value

    def f(x):
        lines = []
        for value in range(4):
            try:
                try:
                    below(value)
                except KeyError as error:
                    lines.append(error.__traceback__.tb_lineno)
                    if value == 3:
                        raise
                    raise ValueError(value) from error
            except (KeyError, ValueError) as error:
                lines.append(error.__traceback__.tb_lineno)
        return x + 1, [line - lines[0] for line in lines], lines[0] - below.__code__.co_firstlineno

    return {"f": f, "args": x1}


@open_case
def read_from_bytes():
    def f(x):
        packed = struct.pack("<IHh", 3, 2, -1)
        return x * struct.unpack_from("<I", packed)[0], struct.unpack_from("<h", packed, 6), struct.unpack_from("<H", packed, offset=4)

    return {"f": f, "args": x1}
