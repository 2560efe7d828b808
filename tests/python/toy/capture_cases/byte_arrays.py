"""`bytearray`: what a function makes, fills, cuts and reads is simulated; one that others have is looked at for real."""

from observe import case
from toy_framework import toy

t = toy.tensor


def tried(way, *args):
    try:
        return way(*args)
    except Exception as error:
        return type(error).__name__, str(error)


def of_bytes(function):
    """A case of `f(x, b)` for a new bytearray."""

    def build():
        return {"f": lambda x: (x + 1, *function(bytearray(b"abcd"))), "args": lambda: (t([1.0]),)}

    build.__name__ = "bytes_" + function.__name__
    case()(build)
    return function


@of_bytes
def grow(b):
    b.append(5)
    b.extend([1, 2])
    b.extend(b"xy")
    b.extend(bytearray(b"z"))
    b.extend(b)
    b.insert(1, 7)
    b += b"qq"
    b *= 2
    return b, len(b), bool(b)


@of_bytes
def shrink(b):
    c = b.copy()
    out = [b.pop(), b.pop(0), b.remove(98), c.reverse()]
    del c[0], c[-1:]
    b.clear()
    return b, c, out, not b, c is b, c == bytearray(b"cb")


@of_bytes
def read(b):
    first, *rest = b
    return b[1], b[-1], b[1:3], b[::-1], first, rest, list(b), tuple(b), sorted(b), sum(b), max(b), 98 in b, b"bc" in b, 300 == b


@of_bytes
def write(b):
    c = b
    b[0] = 65
    b[1:3] = b"ZZZ"
    b[::2] = b"QQQ"
    del b[3]
    for at in range(len(b)):
        b[at] ^= 1
    return b, c is b


@of_bytes
def compare(b):
    return b == b"abcd", b"abcd" == b, b != bytearray(b), b < b"b", b >= bytearray(), b == "abcd", bytearray() == b""


@of_bytes
def operate(b):
    return b + b"x", b"x" + b, b * 2, 2 * b, bytearray(b"%d|%s") % (5, b"k"), type(b"x" + b), type(b + b"x"), b"".join([b, b])


@of_bytes
def ask(b):
    found = b.find(b"c"), b.index(98), b.rfind(b"d"), b.count(b"a"), b.startswith(b"a"), b.endswith((b"d", b"z"))
    texts = b.decode(), b.hex(), str(b), repr(b), f"{b}", bytes(b), {bytes(b): 1}[b"abcd"]
    tests = b.isalpha(), b.isdigit(), b.isspace(), b.islower(), b.isupper(), b.istitle(), b.isalnum()
    return found, texts, tests, type(b) is bytearray, isinstance(b, (bytes, bytearray))


@of_bytes
def made_of_it(b):
    cases = b.upper(), b.title(), b.swapcase(), b.capitalize(), b.lower(), b.replace(b"a", b"b"), b.expandtabs()
    parts = b.split(b"c"), b.rsplit(None, 1), b.splitlines(), b.partition(b"b"), b.rpartition(b"b"), b.join([b"1", b"2"])
    return cases, parts, b.strip(b"a"), b.lstrip(), b.rstrip(), b.center(9), b.ljust(9, b"-"), b.rjust(9), b.zfill(9)


@of_bytes
def refuse(b):
    out = [
        tried(lambda: b[99]),
        tried(b.__setitem__, 0, 300),
        tried(b.append, "x"),
        tried(b.remove, 1),
        tried(bytearray().pop),
        tried(b.index, b"zz"),
        tried(b.extend, 5),
        tried(lambda: b + "x"),
        tried(lambda: hash(b)),
        tried(lambda: {b: 1}),
        tried(lambda: b["k"]),
        tried(lambda: b.nothing),
        tried(bytearray, "text"),
        tried(bytearray, [256]),
    ]
    return out, b


@of_bytes
def walk(b):
    seen = []
    for n in b:
        seen.append(n)
        if len(b) < 7:
            b.append(n + 1)
    return seen, [n * i for i, n in enumerate(b)], list(zip(b, b)), [n for n in bytearray()]


@of_bytes
def make(b):
    return bytearray(3), bytearray([1, 2]), bytearray("ab", "utf8"), bytearray(), bytearray(b), bytearray(range(3))


@case(graphs=2, captures=2, breaks=1, reasons=("builtin-with-output",))
def bytes_over_a_break():
    def f(x):
        a = bytearray(b"ab")
        b = [a, a]
        a.append(99)
        x = x + 1
        print("break")
        return x * 2, a, b, b[0] is a

    return {"f": f, "args": lambda: (t([1.0]),)}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def bytes_that_are_exported():
    def f(x):
        b = bytearray(b"abc")
        view = memoryview(b)
        view[0] = 65
        refused = tried(b.append, 1)
        view.release()
        b.append(2)
        return x + 1, b, refused

    return {"f": f, "args": lambda: (t([1.0]),)}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def bytes_that_are_given():
    def f(x, a, b):
        a.append(1)
        b[0] = 90
        a += b
        return x + len(a), a is b, bytes(b)

    def args():
        a = bytearray(b"xyz")
        return t([1.0]), a, a

    return {"f": f, "args": args}
