"""Instances of classes that extend numbers, texts and bytes, made in the function: what C says when it refuses them tells their class."""

import math
import operator

from observe import open_case
from toy_framework import toy

t = toy.tensor


class Whole(int):
    pass


class Real(float):
    pass


class Text(str):
    pass


class Raw(bytes):
    pass


MAKERS = [lambda n: Whole(n), lambda n: Real(n), lambda n: Text("ab"), lambda n: Raw(b"ab")]

OPERATIONS = {
    "length": lambda v: len(v),
    "order": lambda v: v < ["q"],
    "order_with_text": lambda v: v < "q",
    "order_with_number": lambda v: 1.5 < v,
    "order_with_bytes": lambda v: v >= b"1",
    "sum_with_text": lambda v: v + "q",
    "sum_of_text": lambda v: "q" + v,
    "sum_with_number": lambda v: v + 1,
    "difference": lambda v: v - "x",
    "product": lambda v: v * 1.5,
    "remainder": lambda v: v % 3,
    "quotient": lambda v: v // 0,
    "power": lambda v: v ** "a",
    "matrices": lambda v: v @ v,
    "shift": lambda v: v << 1,
    "bits": lambda v: v & 1.5,
    "minus": lambda v: -v,
    "plus": lambda v: +v,
    "invert": lambda v: ~v,
    "abs": lambda v: abs(v),
    "bin": lambda v: bin(v),
    "chr": lambda v: chr(v),
    "hex": lambda v: hex(v),
    "oct": lambda v: oct(v),
    "ord": lambda v: ord(v),
    "int": lambda v: int(v),
    "float": lambda v: float(v),
    "range": lambda v: range(v),
    "round": lambda v: round(v),
    "root": lambda v: math.sqrt(v),
    "index": lambda v: operator.index(v),
    "as_an_index": lambda v: [1, 2][v],
    "item": lambda v: v["a"],
    "a_method": lambda v: v.upper(1),
    "a_method_of_numbers": lambda v: v.as_integer_ratio(1),
    "a_method_of_texts": lambda v: v.join([1]),
    "no_such_method": lambda v: v.nothing,
    "smallest": lambda v: min(v, "a", 1),
    "sum": lambda v: sum([v, "a"]),
    "callee": lambda v: v(),
    "items": lambda v: list(v),
}


def refused(name, operation):
    def f(x, n):
        told = []
        for make in MAKERS:
            try:
                told.append(repr(operation(make(n))))
            except Exception as error:
                told.append((type(error), str(error)))
        return told, x + 1

    def build():
        return {"f": f, "args": lambda: (t([1.0, 2.0]), 2)}

    build.__name__ = "a_part_is_refused_" + name
    open_case(build)


for name, operation in OPERATIONS.items():
    refused(name, operation)
