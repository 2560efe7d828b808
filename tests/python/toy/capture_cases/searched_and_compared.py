"""What is found, compared, added and joined without code of the program: in lists, views of dicts, named tuples, and instances that
extend a list, a tuple or a dict."""

import collections
import sys

from observe import case, open_case
from toy_framework import toy

t = toy.tensor
HAS_UNIONS = sys.version_info >= (3, 10)
HAS_MERGES = sys.version_info >= (3, 9)


class Row(list):
    pass


class Pair(tuple):
    pass


class Table(dict):
    pass


class Odd(list):
    def __eq__(self, other):
        return "odd"

    __hash__ = None


class Unhashable:
    __hash__ = None


class Vector:
    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Vector(self.value + (other.value if isinstance(other, Vector) else other))

    __radd__ = __add__


class Handlers:
    def __init__(self):
        self.handlers = []

    def on(self, handler):
        self.handlers.append(handler)

    def off(self, handler):
        self.handlers.remove(handler)

    def own(self, x):
        return x + 2


Point = collections.namedtuple("Point", "a b")
ROW, PAIR, TABLE, POINT, ODD = Row([1, 2]), Pair((1, 2)), Table(a=1), Point(1, 2), Odd([1])
VALUES, ITEMS = {"a": 1, "b": [2]}, {"a": 1, 2: None}
FLAG = 4


def tried(way, *args):
    try:
        return way(*args)
    except Exception as error:
        return type(error).__name__, str(error)


def handler(x):
    return x * 3


def plain(function, expect=case()):
    """A case of `f(x)` that gives what a function of the tensor comes to."""

    def build():
        return {"f": lambda x: (x + 1, function(x)), "args": lambda: (t([1.0]),)}

    build.__name__ = "searched_" + function.__name__
    expect(build)
    return function


def asked(function):
    return plain(function, open_case)


# -- lists


@plain
def removed_of_local(x):
    found = [1, 2, 3, 2, "a", 1.0, True]
    found.remove(2)
    found.remove(1.0)
    found.remove("a")
    return found, tried(found.remove, 9), found


@plain
def removed_of_objects(x):
    kinds = [len, int, handler, collections, None, Vector, ROW, "a"]
    for one in (handler, int, None, ROW):
        kinds.remove(one)
    return len(kinds), tried(kinds.remove, handler), len(kinds)


@plain
def removed_of_lists(x):
    found = [[1], [2, [3]], (4,), {"a": 1}]
    found.remove([2, [3]])
    found.remove({"a": 1})
    return found


@plain
def removed_tensor(x):
    kept = [x, None, 3]
    kept.remove(x)
    return kept


@case()
def searched_removed_from_before():
    events = Handlers()

    def f(x):
        events.on(handler)
        events.on(events.own)
        y = events.handlers[0](x) + events.handlers[1](x)
        events.off(handler)
        events.off(events.own)
        return y, len(events.handlers)

    return {"f": f, "args": lambda: (t([1.0]),), "watch": lambda: [len(events.handlers)]}


@case()
def searched_removed_what_is_not_there():
    kept = [1]

    def f(x):
        return x + 1, tried(kept.remove, 3), kept.remove(1), kept.append(1)

    return {"f": f, "args": lambda: (t([1.0]),), "watch": lambda: [list(kept)]}


@plain
def functions_compared(x):
    same = handler
    return handler == same, handler != same, handler == len, handler == 3, [handler] == [same], int == int, int == str


# -- views


@plain
def values(x):
    return 1 in VALUES.values(), [2] in VALUES.values(), 3 in VALUES.values(), 1 not in VALUES.values(), None in ITEMS.values()


@plain
def values_that_are_tensors(x):
    return x in {"a": x}.values()


@plain
def items(x):
    pairs = [("a", 1), ("a", 2), ("c", 1), (2, None), ("a",), "a1", ["a", 1], Point("a", 1)]
    return [pair in ITEMS.items() for pair in pairs], ("a", 1) not in ITEMS.items()


@plain
def disjoint(x):
    keys, pairs = VALUES.keys(), ITEMS.items()
    return keys.isdisjoint(["c"]), keys.isdisjoint({"a"}), keys.isdisjoint(ITEMS), pairs.isdisjoint([("a", 1)]), pairs.isdisjoint(())


# -- sums


@plain
def sum_of_objects(x):
    return sum([Vector(x), Vector(x * 2)]).value


@plain
def sum_of_objects_with_a_start(x):
    return sum([Vector(x), Vector(x)], Vector(x * 3)).value, sum((1, Vector(2), 3)).value


# -- named tuples


@plain
def named_tuples(x):
    point, other = Point(1, 2), Point(1, 3)
    equal = point == (1, 2), (1, 2) == point, point == Point(1, 2), point != other, point == [1, 2], point == 1
    return equal, point < other, point >= (1, 2), point + (3,), (0,) + point, point + other, point * 2, 2 * point, point == POINT


@asked
def items_refuse(x):
    return tried(lambda: ([], 1) in ITEMS.items()), tried(lambda: ([], 1, 2) in ITEMS.items())


@asked
def named_tuples_refuse(x):
    point = Point(1, 2)
    return tried(lambda: point < 3), tried(lambda: point + [1]), tried(lambda: point < Point("a", 1))


@plain
def named_tuples_of_tensors(x):
    point = Point(x, 2)
    joined = point + (3,)
    return joined, joined[0] is x, Point(x, 2) == (x, 3)


# -- instances that extend containers


@plain
def lists_from_before(x):
    return ROW == [1, 2], [1, 2] == ROW, ROW != [1], ROW < [3], ROW == Row([1, 2]), ROW == (1, 2), ROW == 1, ROW + [3], [0] + ROW, ROW * 2


@plain
def lists_looked_into(x):
    return len(ROW), 2 in ROW, 3 in ROW, ROW[0], ROW[-1:], list(ROW), bool(ROW), type(ROW + [3]).__name__


@plain
def tuples_from_before(x):
    return PAIR == (1, 2), PAIR + (3,), PAIR < (2,), hash(PAIR) == hash((1, 2)), len(PAIR), 1 in PAIR, PAIR * 2, (1, 2) == PAIR


@plain
def dicts_from_before(x):
    return TABLE == {"a": 1}, {"a": 1} == TABLE, TABLE != {}, len(TABLE), "a" in TABLE, TABLE["a"], TABLE == Table(a=1), TABLE == []


@asked
def refuse(x):
    return tried(lambda: ROW < 3), tried(lambda: ROW + (1,)), tried(lambda: TABLE < {}), tried(hash, ROW), tried(hash, Unhashable())


@asked
def methods_of_their_own(x):
    return ODD == [1], [1] == ODD, ODD != [1], tried(hash, ODD), ODD in [[1]], [ODD].count([1])


@case()
def searched_lists_grow_from_before():
    row = Row([1])

    def f(x):
        row.append(2)
        return x + 1, row == [1, 2], row.pop(), row == [1], row + [5]

    return {"f": f, "args": lambda: (t([1.0]),), "watch": lambda: [list(row)]}


if HAS_MERGES:

    @plain
    def merged(x):
        table = {}
        table |= [("a", 1), ("b", x)]
        table |= (("c", 2),)
        table |= {"d": 3}.items()
        return table, TABLE | {"b": 2}, {"b": 2} | TABLE, type(TABLE | {}).__name__, table.__or__({"e": 1})

    @asked
    def merged_wrongly(x):
        table = {"a": 1}
        return tried(lambda: table.__ior__([(1, 2, 3)])), tried(table.__or__, [("b", 1)])

    @plain
    def aliases(x):
        found = list[int], dict[str, int], tuple[int, ...], list[Row], type(list[int]).__name__
        return found, list[int] is list

    @asked
    def aliases_asked(x):
        found = list[int], dict[str, int]
        return [str(one) for one in found], list[int] == list[int], list[int].__origin__ is list, dict[str, int].__args__


if HAS_UNIONS:
    NUMBER = int | float

    @plain
    def unions(x):
        found = [isinstance(one, int | float) for one in (1, 2.5, "a", None, True)]
        found += [isinstance(one, int | None) for one in (1, 2.5, None)]
        found += [isinstance(one, NUMBER) for one in (1, "a")]
        return found, issubclass(bool, int | str), isinstance(ROW, list | tuple), isinstance(x, int | toy.Tensor)

    @plain
    def zipped_strictly(x):
        found = [a * b for a, b in zip([1, 2], [3, 4], strict=True)]
        found.append(list(zip([1, 2], (3, 4), "ab", strict=True)))
        for parts in ([[1], [2, 3]], [[1, 2], [3]], [[1], [2], []], [[1], [2], [3, 4]], [[], [], [1]]):
            taken = [iter(part) for part in parts]
            found.append((tried(lambda: list(zip(*taken, strict=True))), [list(one) for one in taken]))
        return found, list(zip(strict=True)), list(zip([1], [1, 2], strict=False))

    @plain
    def zipped_strictly_by_code(x):
        def some(count):
            yield from range(count)

        found = []
        for counts in ((2, 2), (1, 2), (2, 1), (1, 1, 0), (1, 1, 2)):
            found.append(tried(lambda: list(zip(*map(some, counts), strict=True))))
        return found

    @open_case
    def searched_zipped_strictly_and_kept():
        def f(x):
            kept = zip([1, 2], [3, 4, 5], strict=True)
            return x + next(kept)[0], kept

        def with_what_is_left(translate):
            inner = translate(f)

            def g(x):
                y, kept = inner(x)
                return y, next(kept), tried(next, kept)

            return g

        return {"f": with_what_is_left(toy.to_static), "args": lambda: (t([1.0]),)}


# -- methods by their names


@plain
def methods_by_name(x):
    table, row = {"a": 1}, [1]
    put = table.__setitem__
    put("b", 2)
    table.__delitem__("a")
    compared = row.__eq__([1]), row.__ne__([1]), row.__eq__((1,)), row.__lt__([2]), (1,).__eq__((1,)), table.__eq__({"b": 2})
    return table, compared, row.__repr__(), table.__repr__(), table.__eq__(3) is NotImplemented, row.__contains__(1)


@case(graphs=2, captures=2)
def searched_set_by_name():
    kept = {}

    def f(x):
        put = kept.__setitem__
        put("a", x)
        return x * 2, kept["a"]

    return {"f": f, "args": lambda: (t([1.0]),), "watch": lambda: list(kept)}


@plain
def no_hash(x):
    return tried(hash, Unhashable()), tried(hash, ODD)


@plain
def own_globals(x):
    return globals().get("FLAG"), globals().get("NO_FLAG", 3), "FLAG" in globals(), globals()["FLAG"]


@open_case
def searched_globals_change():
    source = "def f(x):\n    global N\n    N = N + 1\n    return x + N, globals().get('N'), globals()['N']\n"
    world = {"N": 1}
    exec(source, world)
    return {"f": world["f"], "args": lambda: (t([1.0]),), "watch": lambda: [world["N"]]}


@open_case
def searched_globals_are_written():
    source = "def f(x):\n    globals()['N'] = N + 1\n    globals().setdefault('M', 5)\n    return x + N, M, globals().pop('M')\n"
    world = {"N": 1}
    exec(source, world)
    return {"f": world["f"], "args": lambda: (t([1.0]),), "watch": lambda: [world["N"], "M" in world]}


@plain
def names_of_a_tensor(x):
    y = x + 1
    return hasattr(x, "foo"), hasattr(y, "foo"), getattr(x, "foo", 3), hasattr(x, "shape")


@plain
def containers_and_other_instances(x):
    one = Vector(1)
    return one == ROW, ROW == one, PAIR != one, one in [ROW, one], TABLE == one, tried(lambda: ROW < one)[0]


@asked
def arguments_by_a_star(x):
    too_many, none = (1, 2), ()
    return [tried(lambda: one.count(*args)) for one in (ROW, PAIR, Row([1])) for args in (too_many, none, (1,))]


class Iterated(list):
    def __iter__(self):
        return iter(["own"])


ITERATED = Iterated([1, 2])


@asked
def grown_in_place(x):
    one, two, three, four = [0], [0], (0,), [1, 2]
    one += ITERATED
    two += ROW
    three += POINT
    four *= len(PAIR)
    return one, two, three, four, [0] + ITERATED, ITERATED == [1, 2], {} | Table(b=2) if HAS_MERGES else None


class Keyed(dict):
    def keys(self):
        return ["a"]

    def __getitem__(self, key):
        return "own"

    def __iter__(self):
        return iter(["a"])


KEYED = Keyed(a=1, b=2)


@asked
def dicts_that_are_read_in_their_own_way(x):
    found = [KEYED == {"a": 1, "b": 2}, {"a": 1} == KEYED, len(KEYED)]
    if HAS_MERGES:
        found += [KEYED | {}, {} | KEYED]
    return found
