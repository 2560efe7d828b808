"""`+` and `*` of classes that extend a sequence and have methods of their own for them; special methods of C by their names."""

import heapq
import operator
from collections import namedtuple

from observe import case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]), [])


def tried(way, *args):
    try:
        result = way(*args)
    except (TypeError, ValueError, IndexError) as error:
        return type(error).__name__, str(error)
    return type(result).__name__, result


class Point(namedtuple("Point", "a b")):
    def __add__(self, other):
        return Point(self.a + other.a, self.b + other.b)

    def __mul__(self, by):
        return Point(self.a * by, self.b * by)


def refusing(name, log, answer=NotImplemented):
    def method(self, other):
        log.append((name, type(self).__name__, type(other).__name__))
        return answer

    return method


class Quiet(tuple):
    pass


class Reflected(tuple):
    def __radd__(self, other):
        return "radd", tuple(other)


class Own(list):
    def __add__(self, other):
        return Own(list.__add__(self, other))


class Text(str):
    def __add__(self, other):
        return Text(super().__add__(other) + "!")

    def __mod__(self, other):
        return "mod", other


@case()
def named_tuples_add():
    def f(x, log):
        p = Point(1, 2) + Point(3, 4)
        p += Point(1, 1)
        log.append((type(p).__name__, tuple(p), tuple(p * 3), tuple(3 * p), p.a))
        return x * p.a

    return {"f": f, "args": x1}


@case()
def the_right_one_is_asked_first():
    def f(x, log):
        log.append(((1,) + Reflected((2,)), Reflected((2,)) + (1,), Reflected((1,)) + Reflected((2,))))
        log.append((Quiet((1,)) + (2,), (1,) + Quiet((2,)), Quiet((1,)) + Reflected((2,))))
        return x * 2

    return {"f": f, "args": x1}


def each_order(base, first, second):
    """Classes with each choice of methods, on either side of another one and of what they extend."""

    def build():
        def f(x, log):
            asked = []
            for names in (["__add__"], ["__radd__"], ["__add__", "__radd__"], ["__mul__"], ["__rmul__"], ["__iadd__"]):
                for answer in (NotImplemented, "said"):
                    log.append((names, answer))
                    for left, right in pairs[tuple(names), answer]:
                        log.append(tried(operator.add, left, right))
                        log.append(tried(operator.mul, left, right))
                        log.append(tried(operator.iadd, left, right))
                        if isinstance(left, list):
                            # It grows at each call otherwise.
                            del left[2:]
            return x * len(asked)

        kinds = (["__add__"], ["__radd__"], ["__add__", "__radd__"], ["__mul__"], ["__rmul__"], ["__iadd__"])
        pairs = {}
        for names in kinds:
            for answer in (NotImplemented, "said"):
                members = {name: refusing(name, [], answer) for name in names}
                own = type("Own", (base,), members)
                under = type("Under", (own,), {"__radd__": refusing("under", [], answer)})
                some = [own(first), base(second), under(second), 2, None]
                pairs[tuple(names), answer] = [(a, b) for a in some for b in some]
        return {"f": f, "args": x1}

    build.__name__ = f"each_order_of_{base.__name__}"
    case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


each_order(tuple, (1,), (2, 3))
each_order(list, [1], [2, 3])
each_order(str, "a", "bc")


@case()
def one_graph_for_those_who_refuse():
    def f(x, log):
        class Asked(tuple):
            __add__ = refusing("add", log)
            __radd__ = refusing("radd", log)
            __mul__ = refusing("mul", log)

        log.append(tried(operator.add, (1,), Asked((2,))))
        log.append(tried(operator.add, Asked((2,)), (1,)))
        log.append(tried(operator.add, Asked((2,)), 1))
        log.append(tried(operator.mul, 2, Asked((2,))))
        log.append(tried(operator.mul, Asked((2,)), 2))
        log.append(tried(operator.add, [1], Asked((2,))))
        return x * len(log)

    return {"f": f, "args": x1}


@case()
def lists_and_texts_of_their_own():
    def f(x, log):
        own = Own([1]) + [2] + Own([3])
        log.append((type(own).__name__, list(own), [0] + own, type([0] + own).__name__))
        text = Text("a") + "b"
        log.append((type(text).__name__, str(text), "x" + text, Text("%s") % 1))
        own += [4]
        log.append((type(own).__name__, list(own)))
        return x * len(own)

    return {"f": f, "args": x1}


@case()
def lists_that_grow_in_place_before_they_are_added():
    def grown(own, more):
        own += more
        return own

    def f(x, log):
        own = Own([1])
        log.append((grown(own, [4]) is own, grown(own, (5, x)) is own, len(own)))
        own += own
        log.append((type(own).__name__, len(own)))
        return x * len(own)

    return {"f": f, "args": x1}


class Chosen(dict):
    def __or__(self, other):
        return "or", len(other)

    def __ror__(self, other):
        return "ror", len(other)


@case()
def dicts_that_are_merged_in_their_own_way():
    def f(x, log):
        log.append((Chosen(a=1) | {1: 2}, {1: 2, 3: 4} | Chosen(a=1), Chosen() | Chosen()))
        return x * 2

    return {"f": f, "args": x1}


@case()
def special_methods_by_their_names():
    def f(x, log):
        items, table = [1, 2], {1: "a"}
        items.__setitem__(0, x)
        log.append((items.__len__(), [5, 2].__contains__(2), items.__getitem__(1), len(items.__add__([x])), table.__len__()))
        items.__delitem__(0)
        items.__iadd__([4, 5])
        log.append((list.__add__(items, [3]), items.__mul__(2), table.__getitem__(1), list(items.__reversed__())))
        step = iter(items).__next__
        log.append((step(), step(), list(table.__iter__())))
        return x * items[0]

    return {"f": f, "args": x1}


@case()
def helpers_of_the_library():
    def f(x, log):
        log.append((heapq.nsmallest(1, [3, 1]), heapq.nlargest(1, [3, 1]), list(heapq.merge([1, 4], [2]))))
        log.append((operator.concat("a", "b"), operator.concat([1], [2]), min([], default=x) is x))
        return x * 2

    return {"f": f, "args": x1}


@case()
def class_methods_of_constants():
    def f(x, log):
        table = str.maketrans("ab", "cd")
        table["new"] = 1
        log.append((int.from_bytes(b"ab", "big"), int.from_bytes([1, 2], byteorder="little", signed=True)))
        log.append((float.fromhex("0x1p3"), bytes.fromhex("ab 01"), bytes.maketrans(b"a", b"b"), table))
        log.append(("abc".translate(str.maketrans({"a": "x", "b": None})), (5).to_bytes(2, "big")))
        log.append((tried(int.from_bytes, b"a", "neither"), tried(float.fromhex, "z"), tried(bytes.fromhex, "z")))
        return x * 2

    return {"f": f, "args": x1}


class Unsaid:
    def __iadd__(self, other):
        return NotImplemented

    __add__ = None


class Formats(str):
    def __mod__(self, other):
        return NotImplemented


@case(graphs=None, captures=None, breaks=None, reasons=None)
def who_is_asked_behind_NotImplemented():
    def f(x, log):
        y = x * 2
        one, text, plain = Unsaid(), Formats("a%s"), Formats("a")
        try:
            one += 1
        except TypeError as error:
            log.append(str(error))
        log.append((tried(operator.mod, text, "c"), tried(operator.mod, plain, "c"), tried(operator.mod, text, 1)))
        return y

    return {"f": f, "args": x1}
