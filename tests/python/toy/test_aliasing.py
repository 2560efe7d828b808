"""What was one object at one call is two at the next, or the other way round: captured code must see it.

A case makes a function and the argument tuples of its calls. Captured in each way that a function can be met, and in
both orders, every call must do what it does eagerly; a call like the one before it must be a hit.
"""

import collections
import types

import pytest

from doors import DOORS
from observe import freeze
from toy_framework import toy

t = toy.tensor
CASES = []


def case(build):
    CASES.append(pytest.param(build, id=build.__name__))
    return build


def relu(x):
    return x * 2


def scale(x):
    return x * 3


SHARED = [0, 0]
TABLE = {"n": 1}
BOX = types.SimpleNamespace(n=1, items=[0, 0], inner=types.SimpleNamespace(n=1))


class Point:
    def __init__(self, n=1):
        self.n = n


KNOWN = Point()


class Slotted:
    __slots__ = "n", "items"

    def __init__(self, n=1, items=None):
        self.n, self.items = n, items


# ----- answers about identity


@case
def argument_is_a_global_function():
    def f(x, a):
        return x * (10 if a is relu else 1)

    return f, lambda: [(relu,), (scale,), (None,), (Point,), (types.FunctionType(relu.__code__, {}),)]


@case
def argument_is_not_a_global_function():
    def f(x, a):
        return x * (10 if a is not relu else 1)

    return f, lambda: [(relu,), (scale,), ([],)]


@case
def argument_is_a_global_list():
    def f(x, a):
        return x * (10 if a is SHARED else 1)

    return f, lambda: [(SHARED,), ([0, 0],), (None,)]


@case
def argument_is_a_class_a_module_or_a_builtin():
    def f(x, a):
        return x * ((a is Point) + 10 * (a is types) + 100 * (a is len) + 1000 * (a is toy.relu))

    return f, lambda: [(Point,), (types,), (len,), (toy.relu,), (toy.add,), (dict,), (BOX,)]


@case
def type_of_one_is_the_other():
    def f(x, a, cls):
        return x * (10 if type(a) is cls else 1)

    class Sub(Point):
        pass

    return f, lambda: [(Point(), Point), (Point(), Sub), (Sub(), Sub), (Sub(), None)]


@case
def attribute_is_an_argument():
    def f(x, box, a):
        return x * (10 if box.items is a else 1)

    def calls():
        items, other = [1], [1]
        return [(types.SimpleNamespace(items=items), items), (types.SimpleNamespace(items=items), other)]

    return f, calls


@case
def slot_is_a_function():
    def f(x, box):
        return x * (10 if box.items is relu else 1)

    return f, lambda: [(Slotted(1, relu),), (Slotted(1, scale),), (Slotted(1, [1]),)]


@case
def item_is_an_item():
    def f(x, items, table):
        return x * (10 if items[0] is table["k"] else 1), items[0] is items[1]

    def calls():
        a, b = Point(), Point()
        return [([a, b], {"k": a}), ([a, b], {"k": b}), ([a, a], {"k": b}), ([a, a], {"k": a})]

    return f, calls


@case
def instances_tensors_and_dicts_are_compared():
    def f(x, a, b):
        return x * (10 if a is b else 1), a is not b

    def calls():
        p, q, u, v = Point(), Point(), t([1.0]), t([1.0])
        d, e = {"a": 1}, {"a": 1}
        return [(p, p), (p, q), (u, u), (u, v), (d, d), (d, e), (p, d), (u, p), (relu, relu), (relu, scale)]

    return f, calls


@case
def tuples_and_methods_are_compared():
    def f(x, a, b):
        return x * (10 if a is b else 1)

    def calls():
        pair, other = (1, [2]), (1, [2])
        m, n = pair[1].append, pair[1].append
        return [(pair, pair), (pair, other), (m, m), (m, n)]

    return f, calls


@case
def not_a_number_is_itself():
    def f(x, a, b):
        return x * 1, a is b

    nan, other = float("nan"), float("-nan")
    lost = complex("nan")
    pairs = [(lost, lost), (lost, complex("nan")), (nan, nan), (nan, other), (float("nan"), float("nan")), (nan, 1.0)]
    return f, lambda: pairs


@case
def function_of_a_partial():
    import functools

    def f(x, part):
        return x * (10 if part.func is relu else 1)

    return f, lambda: [(functools.partial(relu),), (functools.partial(scale),), (functools.partial(len),)]


@case
def argument_that_is_called_and_compared():
    def f(x, a):
        return a(x) if a is relu else a(x) + 1

    return f, lambda: [(relu,), (scale,), (types.FunctionType(relu.__code__, {}),)]


@case
def key_of_a_dict_by_identity():
    def f(x, a, table):
        return x * table.get(a, 5), a in table

    return f, lambda: [(relu, {relu: 1}), (scale, {relu: 1}), (relu, {scale: 2, relu: 3}), (len, {len: 4})]


# ----- one is written to, another is read


@case
def argument_and_global_list():
    def f(x, items):
        items.append(1)
        return x * len(SHARED)

    return f, lambda: [([0, 0],), (SHARED,)]


@case
def global_list_is_written():
    def f(x, items):
        SHARED.append(1)
        return x * len(items)

    return f, lambda: [([0, 0],), (SHARED,)]


@case
def two_arguments():
    def f(x, a, b):
        a.append(5)
        b[0] = 7
        return x * a[0], len(b), a[-1]

    def calls():
        one = [1, 2]
        return [([1, 2], [1, 2]), (one, one)]

    return f, calls


@case
def items_of_arguments():
    def f(x, a, b):
        a[0].append(5)
        return x * len(b[1])

    def calls():
        one = [1, 2]
        return [([[1, 2]], [0, [1, 2]]), ([one], [0, one])]

    return f, calls


@case
def attribute_and_argument():
    def f(x, box, items):
        items.append(1)
        return x * len(box.items)

    def calls():
        one = [1, 2]
        return [(types.SimpleNamespace(items=[1, 2]), [1, 2]), (types.SimpleNamespace(items=one), one)]

    return f, calls


@case
def attribute_of_a_global_and_argument():
    def f(x, items):
        items.append(1)
        return x * len(BOX.items)

    return f, lambda: [([0, 0],), (BOX.items,)]


@case
def slot_and_argument():
    def f(x, box, items):
        items.append(1)
        return x * len(box.items)

    def calls():
        one = [1, 2]
        return [(Slotted(1, [1, 2]), [1, 2]), (Slotted(1, one), one)]

    return f, calls


@case
def content_of_a_cell_and_argument():
    held = [0, 0]

    def f(x, items):
        items.append(1)
        return x * len(held)

    return f, lambda: [([0, 0],), (held,)]


@case
def default_and_argument():
    def f(x, items, held=[0, 0]):
        items.append(1)
        return x * len(held)

    return f, lambda: [([0, 0],), (f.__defaults__[0],)]


@case
def default_of_a_callee():
    def g(x, items, held=[0, 0], *, more={"a": 1}):
        items.append(1)
        return x * len(held) * more["a"]

    def f(x, items):
        return g(x, items)

    return f, lambda: [([0, 0],), (g.__defaults__[0],)]


@case
def keyword_default_and_argument():
    def g(x, table, *, held={"n": 2}):
        table["n"] = 7
        return x * held["n"]

    def f(x, table):
        return g(x, table)

    return f, lambda: [({"n": 2},), (g.__kwdefaults__["held"],)]


@case
def dict_and_global_dict():
    def f(x, table):
        table["n"] = 9
        return x * TABLE["n"]

    return f, lambda: [({"n": 1},), (TABLE,)]


@case
def element_of_a_dict_and_argument():
    def f(x, table, items):
        items[0] = 9
        return x * table["k"][0]

    def calls():
        one = [1, 2]
        return [({"k": [1, 2]}, [1, 2]), ({"k": one}, one)]

    return f, calls


@case
def two_instances():
    def f(x, a, b):
        a.n = 9
        return x * b.n

    def calls():
        p = Point()
        return [(Point(), Point()), (p, p)]

    return f, calls


@case
def instance_and_global_instance():
    def f(x, box):
        box.n = 9
        return x * BOX.n

    return f, lambda: [(types.SimpleNamespace(n=1),), (BOX,)]


@case
def instance_inside_an_instance():
    def f(x, box):
        box.n = 9
        return x * BOX.inner.n

    return f, lambda: [(types.SimpleNamespace(n=1),), (BOX.inner,)]


@case
def dict_of_an_instance_and_the_instance():
    def f(x, box, table):
        table["n"] = 9
        return x * box.n

    def calls():
        p = Point()
        return [(Point(), {"n": 1}), (p, vars(p))]

    return f, calls


@case
def instance_and_its_dict():
    def f(x, box, table):
        box.n = 9
        return x * table["n"]

    def calls():
        p = Point()
        return [(Point(), {"n": 1}), (p, vars(p))]

    return f, calls


@case
def dict_of_an_instance_inside():
    def f(x, box):
        box.__dict__["n"] = 5
        y = x * box.n
        box.n = 6
        return y * box.__dict__["n"], box

    return f, lambda: [(Point(),), (Point(2),)]


@case
def instances_that_share_a_dict():
    def f(x, a, b):
        a.n = 9
        return x * b.n

    def calls():
        p, q = Point(), Point()
        q.__dict__ = p.__dict__
        return [(p, q)]

    return f, calls


@case
def globals_as_a_dict():
    space = {"N": 1, "__builtins__": __builtins__}
    exec("def f(x, table):\n    global N\n    N = 5\n    return x * table['N']", space)

    return space["f"], lambda: [({"N": 1},), (space,)]


@case
def globals_as_attributes_of_a_module():
    module = types.ModuleType("settings")
    module.module = module
    exec("N = 1\ndef f(x):\n    global N\n    N = N + 5\n    return x * module.N", module.__dict__)

    return module.f, lambda: [(), ()]


@case
def globals_written_as_a_dict():
    space = {"N": 1, "__builtins__": __builtins__}
    exec("def f(x, table):\n    table['N'] = 5\n    return x * N", space)

    return space["f"], lambda: [({"N": 1},), (space,)]


@case
def cells_of_two_closures():
    def make():
        n = 1

        def get():
            return n

        def put(value):
            nonlocal n
            n = value

        return get, put

    def f(x, get, put):
        put(5)
        return x * get()

    def calls():
        one, two = make(), make()
        return [(one[0], two[1]), make()]

    return f, calls


@case
def list_under_an_iterator():
    def f(x, items, it):
        for item in it:
            items.append(item)
            if len(items) > 4:
                break
            x = x * item
        return x, items

    def calls():
        one = [1, 2]
        return [([5, 6], iter([1, 2])), (one, iter(one))]

    return f, calls


@case
def list_that_grows_while_it_is_iterated_over():
    def f(x, items):
        for item in items:
            print(item)
            if len(items) < 4:
                items.append(item + 1)
            x = x * item
        return x

    return f, lambda: [([1],), ([1, 2],)]


@case
def ordered_dicts():
    def f(x, a, b):
        a["n"] = 9
        return x * b["n"], list(b)

    def calls():
        one = collections.OrderedDict(n=1)
        return [(collections.OrderedDict(n=1), collections.OrderedDict(n=1)), (one, one)]

    return f, calls


@case
def many_lists():
    def f(x, rows, items):
        items.append(1)
        for row in rows:
            x = x * len(row)
        return x

    def calls():
        rows = [[1] for _ in range(20)]
        return [(rows, [1]), (rows, rows[7]), (rows, rows[19])]

    return f, calls


@case
def many_lists_are_written_and_read():
    def f(x, written, read):
        for row in written:
            row.append(1)
        for row in read:
            x = x * len(row)
        return x

    def calls():
        def rows():
            return [[1] for _ in range(12)]

        one, two, three = rows(), rows(), rows()
        three[9] = three[2]
        return [(rows(), rows()), (one, [*rows()[:11], one[4]]), (two, two), (three, rows()), (rows(), three)]

    return f, calls


@case
def instances_with_one_dict_are_written():
    def f(x, points, table):
        for point in points:
            point.n = point.n + 1
        return x * table["n"]

    def calls():
        apart, shared = [Point(n) for n in range(4)], [Point(n) for n in range(4)]
        own = [Point(n) for n in range(4)]
        shared[3].__dict__ = shared[1].__dict__
        return [(apart, {"n": 3}), (shared, {"n": 3}), (own, own[2].__dict__)]

    return f, calls


@case
def members_that_are_told_apart():
    def f(x, points, others, found):
        known = {*points}
        return x * len(known), [other in known for other in others], KNOWN in known, found in known

    def calls():
        points, others = [Point() for _ in range(10)], [Point() for _ in range(3)]
        twice = [*points[:7], points[3], *points[8:]]
        return [
            (points, others, KNOWN),
            (twice, others, KNOWN),
            (points, [points[9], *others[:2]], KNOWN),
            (points, [others[0], others[0], others[1]], others[1]),
            ([KNOWN, *points[1:]], others, points[1]),
        ]

    return f, calls


@case
def keys_that_are_told_apart():
    def f(x, points, kinds):
        table = {}
        for at, point in enumerate(points):
            table[point] = at
        for at, kind in enumerate(kinds):
            table[kind] = -at
        return x * len(table), list(table.values())

    def calls():
        a, b, c, d = (Point() for _ in range(4))
        return [([a, b, c], [d, Slotted()]), ([a, b, a], [d, Slotted()]), ([a, b, c], [b, Slotted()])]

    return f, calls


@case
def readers_may_be_one():
    def f(x, a, b, items):
        items.append(1)
        return x * len(a) * len(b)

    def calls():
        one = [1, 2]
        return [([1, 2], [1, 2], [1, 2]), (one, one, [1, 2]), (one, [1, 2], one), (one, one, one)]

    return f, calls


# What these are called with is pinned by identity and new for each call, or they change what is not restored.
NEVER_ALIKE = """argument_is_a_global_function argument_that_is_called_and_compared attribute_of_a_global_and_argument
instance_inside_an_instance content_of_a_cell_and_argument default_and_argument default_of_a_callee
globals_as_attributes_of_a_module list_under_an_iterator list_that_grows_while_it_is_iterated_over""".split()


@pytest.fixture(autouse=True)
def world():
    def restore():
        SHARED[:] = [0, 0]
        TABLE.clear()
        TABLE["n"] = 1
        BOX.__dict__.clear()
        BOX.__dict__.update(n=1, items=[0, 0], inner=types.SimpleNamespace(n=1))

    restore()
    yield restore
    restore()


def observe(door, build, order, restore, capsys):
    """What each call came to; the world is new for each, so that calls of one kind are alike."""
    f, calls = build()
    translated = door(f)
    seen, misses = [], []
    for number in order:
        for _ in range(2):
            restore()
            args = calls()[number]
            before = toy.stats()["misses"]
            result = translated(t([1.0]), *args)
            misses.append(toy.stats()["misses"] - before)
            seen.append(freeze([result, list(args), SHARED, TABLE, BOX]))
    capsys.readouterr()
    return seen, misses


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("build", CASES)
def test_aliasing(build, door, world, capsys):
    count = len(build()[1]())
    for order in [list(range(count)), list(range(count))[::-1]]:
        toy.reset()
        expected, _ = observe(lambda f: f, build, order, world, capsys)
        toy.reset()
        got, misses = observe(door, build, order, world, capsys)
        for number, (e, g) in enumerate(zip(expected, got)):
            assert g == e, f"call {number} of the order {order}"
        if build.__name__ not in NEVER_ALIKE:
            assert misses[1::2] == [0] * len(order)
        assert "internal-error" not in toy.stats()["reasons"]
    toy.reset()
