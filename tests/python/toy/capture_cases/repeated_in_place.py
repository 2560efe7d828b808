"""`+=` and `*=` where one side is a sequence of C and the other one's class says NotImplemented: who has slots of sequences is asked alone."""

from observe import case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0]),)


def refuses(*args):
    return NotImplemented


METHODS = {"__%s%s__" % (prefix, name): refuses for name in ("add", "mul") for prefix in ("", "r", "i")}
Number = type("Number", (int,), METHODS)
PlainNumber = type("PlainNumber", (int,), {"__mul__": refuses})
Real = type("Real", (float,), METHODS)
Nothing = type("Nothing", (), METHODS)
Index = type("Index", (), dict(METHODS, __index__=lambda self: 2))
Text = type("Text", (bytes,), METHODS)
Items = type("Items", (list,), METHODS)


def plus(left, right):
    return left + right


def times(left, right):
    return left * right


def plus_in_place(left, right):
    left += right
    return left


def times_in_place(left, right):
    left *= right
    return left


MAKERS = {
    "bytes": lambda: b"ab",
    "text": lambda: "ab",
    "list": lambda: [1],
    "tuple": lambda: (1,),
    "byte_array": lambda: bytearray(b"ab"),
    "number": lambda: 2,
    "Number": lambda: Number(2),
    "PlainNumber": lambda: PlainNumber(2),
    "Real": lambda: Real(2),
    "Nothing": Nothing,
    "Index": Index,
    "Text": lambda: Text(b"ab"),
    "Items": lambda: Items([1]),
}


def of_both(way, left, right):
    try:
        result = way(MAKERS[left](), MAKERS[right]())
    except TypeError as error:
        return str(error)
    return type(result).__name__, str(result)


def repeated(way, left, right):
    def build():
        def f(x):
            return x + 1, of_both(way, left, right)

        return {"f": f, "args": x1}

    build.__name__ = "in_place_beside_%s_%s_%s" % (left, way.__name__, right)
    build.__module__ = __name__
    case(graphs=1, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


OF_C = ("bytes", "text", "list", "tuple", "byte_array", "number")
for way in (plus, times, plus_in_place, times_in_place):
    for of_c in OF_C:
        for own in sorted(set(MAKERS) - set(OF_C)):
            repeated(way, of_c, own)
            repeated(way, own, of_c)
