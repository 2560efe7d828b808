"""Values that contain themselves, and values that are nested without end.

Whatever a program does with them is what eager does, Python's own RecursionError included; and no stack of the process
overflows.
"""

import types

import pytest

from toy_framework import toy

t = toy.tensor
DEEP = 100_000


def outcome(function, *args):
    try:
        result = function(*args)
    except RecursionError:
        return "RecursionError"
    return repr(result) if not isinstance(result, toy.Tensor) else result.tolist()


def agree(f, make, times=3):
    """Called as eager and captured, the outcome is the same; returns the reasons of stops."""
    translated = toy.to_static(f)
    for _ in range(times):
        assert outcome(translated, *make()) == outcome(f, *make())
    stats = toy.stats()
    assert stats["hook_failures"] == 0
    assert "internal-error" not in stats["reasons"]
    return stats["reasons"]


def own_list():
    values = [1]
    values.append(values)
    return values


def own_dict():
    values = {0: 1}
    values[1] = values
    return values


def own_tuple():
    inner = []
    values = (1, inner)
    inner.append(values)
    return values


def own_dict_of_list():
    values = {"items": []}
    values["items"].append(values)
    return values


SELVES = [own_list, own_dict, own_tuple, own_dict_of_list]
GLOBAL = {make.__name__: make() for make in SELVES}


@pytest.mark.parametrize("make", SELVES)
def test_text_of_an_argument(make):
    reasons = agree(lambda x, values: (x * 2, repr(values))[1], lambda: (t([1.0]), make()))
    assert set(reasons) == ({"depth"} if make is own_tuple else set()), "only a tuple cannot be made in pieces"


@pytest.mark.parametrize("make", SELVES)
def test_text_of_a_global(make):
    name = make.__name__
    reasons = agree(lambda x: (x * 2, str(GLOBAL[name]))[1], lambda: (t([1.0]),))
    assert set(reasons) == ({"depth"} if make is own_tuple else set())


@pytest.mark.parametrize("make", SELVES)
def test_equality(make):
    def f(x, a, b):
        y = x * 2
        same = a == b
        return y + 1 if same else y - 1

    reasons = agree(f, lambda: (t([1.0]), make(), make()))
    assert set(reasons) <= {"depth", "would-raise"} and reasons


@pytest.mark.parametrize("make", SELVES)
def test_equality_with_itself(make):
    agree(lambda x, a: x * (2 if a == a else 3), lambda: (t([1.0]), make()))


def test_made_inside():
    def f(x):
        d = {0: 1}
        d[1] = d
        items = [x * 2]
        items.append(items)
        return repr(d), len(items), items[1] is items

    agree(f, lambda: (t([1.0]),))


def test_made_inside_and_returned():
    def f(x):
        items = [x * 2]
        items.append(items)
        return items

    result = toy.to_static(f)(t([1.0]))
    assert result[1] is result and result[0].tolist() == [2.0]


def test_as_an_argument_of_the_framework():
    def f(x):
        items = [x, x]
        items.append(items)
        try:
            return toy.concat(items)
        except (TypeError, ValueError):
            return "refused"

    agree(f, lambda: (t([1.0]),))


def test_contained_in_itself():
    agree(lambda x, items: (x * 2, items in items, 1 in items)[1:], lambda: (t([1.0]), own_list()))


def test_a_shared_part_is_written_out_once_for_each_use():
    def f(x):
        items = [1]
        for _ in range(40):
            items = [items, items]
        y = x * 2
        return y if items == items else x

    agree(f, lambda: (t([1.0]),), times=1)


# ----- without end


def nested_tuple(levels=DEEP):
    value = ()
    for _ in range(levels):
        value = (value,)
    return value


def nested_list(levels=DEEP):
    value = []
    for _ in range(levels):
        value = [value]
    return value


def nested_dict(levels=DEEP):
    value = {}
    for _ in range(levels):
        value = {"k": value}
    return value


class Receiver:
    def __call__(self, x):
        return x * 2


def method_of_method(levels=DEEP):
    value = Receiver()
    for _ in range(levels):
        value = types.MethodType(value, 1)
    return value


def default_of_default(levels=DEEP):
    def value(x):
        return x

    for _ in range(levels):
        def value(x, inner=value):
            return x
    return value


def enumerate_of_enumerate(levels=1_000):
    value = iter([1, 2, 3])
    for _ in range(levels):
        value = enumerate(value)
    return value


@pytest.mark.parametrize("make", [nested_tuple, nested_list, nested_dict])
def test_deep_containers(make):
    value = make()
    same = make()
    agree(lambda x, v: (x * 2, repr(v))[1], lambda: (t([1.0]), value), times=2)
    agree(lambda x, v, w: (x * 2, v == w)[1], lambda: (t([1.0]), value, same), times=2)
    agree(lambda x, v: (x * 2, len(v))[0], lambda: (t([1.0]), value), times=2)


@pytest.mark.parametrize("make", [nested_tuple, nested_list, nested_dict])
def test_deep_containers_of_a_hundred(make):
    value = make(100)
    same = make(100)
    agree(lambda x, v, w: (x * 2 if v == w else x), lambda: (t([1.0]), value, same))


def test_deep_containers_made_inside():
    def f(x, n):
        v = ()
        w = [x]
        for _ in range(n):
            v = (v,)
            w = [w]
        y = x * 2
        return y if v else x, w

    result, w = toy.to_static(f)(t([1.0]), 5_000)
    assert result.tolist() == [2.0]
    depth = 0
    while isinstance(w, list):
        w, depth = w[0], depth + 1
    assert depth == 5_001 and w.tolist() == [1.0]


@pytest.mark.parametrize("make", [method_of_method, default_of_default])
def test_deep_callables(make):
    value = make()
    agree(lambda x, f: x * 2 if callable(f) else x, lambda: (t([1.0]), value), times=2)


def test_call_of_a_method_of_methods():
    value = method_of_method(300)
    agree(lambda x, f: f(x), lambda: (t([1.0]), Receiver()))
    toy.reset()

    def f(x, method):
        try:
            return method(x)
        except TypeError as error:
            return str(error)

    agree(f, lambda: (t([1.0]), value))


def test_method_wrappers_of_method_wrappers():
    def f(x, n):
        wrapper = len.__call__
        for _ in range(n):
            wrapper = wrapper.__call__
        return x * 2 if callable(wrapper) else x

    translated = toy.to_static(f)
    assert translated(t([1.0]), 2_000).tolist() == [2.0]


def test_iterators_over_iterators():
    def f(x, items):
        for _ in items:
            x = x + 1
        return x

    agree(f, lambda: (t([1.0]), enumerate_of_enumerate()))


class Node:
    def __init__(self, value, following):
        self.value, self.following = value, following


def test_a_linked_list():
    head = None
    for n in range(5_000):
        head = Node(n % 3, head)

    def f(x, node):
        while node is not None:
            x = x + node.value
            node = node.following
        return x

    agree(f, lambda: (t([1.0]), head), times=2)


def test_a_linked_list_of_a_hundred_is_one_graph():
    head = None
    for n in range(100):
        head = Node(n % 3, head)

    def f(x, node):
        while node is not None:
            x = x + node.value
            node = node.following
        return x

    assert agree(f, lambda: (t([1.0]), head)) == {}
    assert (toy.stats()["graphs"], toy.stats()["breaks"], toy.stats()["hits"]) == (1, 0, 2)
