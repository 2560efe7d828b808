"""What was captured of a function is shared by all that wraps it, and goes with it."""

import copy
import functools
import gc
import pickle
import types
import weakref

import doors
import pytest
from toy_framework import toy

t = toy.tensor
LOG = []


@pytest.fixture(autouse=True)
def fresh():
    toy.reset()
    del LOG[:]
    yield
    toy.reset()


def counted():
    stats = toy.stats()
    return stats["captures"], stats["hits"]


def module_level(x, k=2):
    return x * k


class Scaled:
    def __init__(self, by):
        self.by = by

    def of(self, x):
        return x * self.by

    @classmethod
    def twice(cls, x):
        return x * 2

    @staticmethod
    def thrice(x):
        return x * 3


class Slotted:
    __slots__ = ("by",)

    def of(self, x):
        return x * self.by


class Loud(Scaled):
    def __del__(self):
        LOG.append(self.by)


WAYS = {
    "to_static": toy.to_static,
    "to_static() as a decorator": lambda f: toy.to_static()(f),
    "full_graph": lambda f: toy.to_static(f, full_graph=True),
    "symbolic_translate": toy.symbolic_translate,
    "explain": toy.explain,
}


@pytest.mark.parametrize("way", WAYS)
def test_a_throwaway_wrapper_captures_once(way):
    for _ in range(5):
        WAYS[way](module_level)(t([1.0]))
    assert counted() == (1, 4)


def test_all_ways_share():
    for way in WAYS.values():
        way(module_level)(t([1.0]))
    assert counted() == (1, len(WAYS) - 1)


def test_wrappers_that_live_share():
    wrappers = [toy.to_static(module_level) for _ in range(4)]
    assert [wrapper(t([1.0]), k=3).tolist() for wrapper in wrappers] == [[3.0]] * 4
    del wrappers[1:]
    gc.collect()
    wrappers[0](t([1.0]), k=3)
    assert counted() == (1, 4)


def test_only_who_asks_for_a_full_graph_is_told_of_breaks():
    def f(x):
        y = x + 1
        doors.opaque(y)
        return y * 2

    for _ in range(2):
        assert toy.to_static(f)(t([1.0])).tolist() == [4.0]
        with pytest.raises(RuntimeError, match="the graph breaks"):
            toy.to_static(f, full_graph=True)(t([1.0]))


@pytest.mark.parametrize("owner", [Scaled, Slotted, Loud])
def test_methods_of_one_object_share(owner):
    one = owner(2) if owner is not Slotted else owner()
    one.by = 2
    held = toy.to_static(one.of)
    for _ in range(4):
        assert toy.to_static(one.of)(t([1.0])).tolist() == [2.0]
    assert counted() == (1, 3)
    del held
    assert toy.to_static(one.of)(t([1.0])).tolist() == [2.0]
    # Nothing is kept for an object that takes no weak references.
    assert counted() == ((2, 3) if owner is Slotted else (1, 4))


def test_class_and_static_methods_share():
    for _ in range(3):
        assert toy.to_static(Scaled.twice)(t([1.0])).tolist() == [2.0]
        assert toy.to_static(Scaled.thrice)(t([1.0])).tolist() == [3.0]
    assert counted() == (2, 4)


def test_objects_of_one_class_do_not_share_a_limit():
    many = [Scaled(by) for by in range(100)]
    wrappers = [toy.to_static(one.of) for one in many]
    for _ in range(2):
        for one, wrapper in zip(many, wrappers):
            assert wrapper(t([1.0])).tolist() == [float(one.by)]
    assert counted() == (100, 100)


def test_closures_of_one_code_do_not_share():
    def make(k):
        def f(x):
            return x * k

        return f

    functions = [make(k) for k in range(80)]
    for _ in range(2):
        for k, f in enumerate(functions):
            assert toy.to_static(f)(t([1.0])).tolist() == [float(k)]
    assert counted() == (80, 80)


def test_a_function_with_other_code_is_captured_anew():
    def f(x):
        return x * 2

    def g(x):
        return x * 5

    first = toy.to_static(f)
    assert first(t([1.0])).tolist() == [2.0]
    f.__code__ = g.__code__
    assert first(t([1.0])).tolist() == [5.0]
    assert toy.to_static(f)(t([1.0])).tolist() == [5.0]
    assert toy.to_static(f)(t([1.0])).tolist() == [5.0]
    assert counted() == (2, 1)


def test_a_copy_of_a_function_is_another_function():
    twin = types.FunctionType(module_level.__code__, globals(), "twin", (7,))
    assert toy.to_static(module_level)(t([1.0])).tolist() == [2.0]
    assert toy.to_static(twin)(t([1.0])).tolist() == [7.0]


def test_copies_and_pickles_share():
    wrapper = toy.to_static(functools.partial(module_level).func)
    wrapper(t([1.0]))
    for other in (copy.copy(wrapper), copy.deepcopy(wrapper), pickle.loads(pickle.dumps(wrapper))):
        other(t([1.0]))
    assert counted() == (1, 3)


def test_it_stays_while_a_module_has_the_function():
    toy.to_static(module_level)(t([1.0]))
    gc.collect()
    gc.collect()
    toy.to_static(module_level)(t([1.0]))
    assert counted() == (1, 1)


def dies_at_once(make):
    """Run what returns a weak reference, with the collector off."""
    gc.disable()
    try:
        return make()() is None
    finally:
        gc.enable()


def test_a_function_dies_when_it_would():
    def make():
        def f(x):
            return x * 2

        toy.to_static(f)(t([1.0]))
        return weakref.ref(f)

    assert dies_at_once(make)


def test_what_a_closure_holds_dies_when_it_would():
    def make():
        loud = Loud(3)

        def f(x):
            return x * loud.by

        toy.to_static(f)(t([1.0]))
        return weakref.ref(f)

    assert dies_at_once(make)
    assert LOG == [3]


def test_an_object_whose_death_is_seen_dies_when_it_would():
    def make():
        loud = Loud(3)
        toy.to_static(loud.of)(t([1.0]))
        return weakref.ref(loud)

    assert dies_at_once(make)
    assert LOG == [3]


def garbage_of(kind):
    """Something in a cycle, captured and let go of: its weak reference."""
    if kind == "function":

        def f(x):
            return x * 2 if f else x

        toy.to_static(f)(t([1.0]))
        return weakref.ref(f)
    if kind == "receiver":

        class Node:
            def of(self, x):
                return x * 2

        node = Node()
        node.itself = node
        toy.to_static(node.of)(t([1.0]))
        return weakref.ref(Node)
    if kind == "wrappers of a class":

        class Own:
            def of(self, x):
                return x * len(Own.__name__)

            first, second = toy.to_static(of), toy.to_static(of)

        Own().first(t([1.0])), Own().second(t([1.0]))
        return weakref.ref(Own)
    if kind == "wrappers in an object":

        class Own:
            def of(self, x):
                return x * 2

        own = Own()
        own.first, own.second = toy.to_static(own.of), toy.to_static(own.of)
        own.first(t([1.0])), own.second(t([1.0]))
        return weakref.ref(Own)
    names = {"toy": toy, "t": t}
    exec("def f(x):\n    return x * 2 if f else x\ntoy.to_static(f)(t([1.0]))", names)
    return weakref.ref(names["f"])


@pytest.mark.parametrize(
    "kind", ["function", "receiver", "wrappers of a class", "wrappers in an object", "a namespace"]
)
def test_one_collection_finds_garbage(kind):
    gone = garbage_of(kind)
    gc.collect()
    assert gone() is None


class Layer(toy.Layer):
    def __init__(self):
        super().__init__()
        self.by = 2

    def forward(self, x):
        return x * self.by

    def of(self, x):
        return self.forward(x) + 1


def test_receivers_die_when_they_would():
    for make in (lambda: Scaled(2), Layer):
        receiver = make()
        toy.to_static(receiver.of)(t([1.0]))
        gone = weakref.ref(receiver)
        gc.disable()
        del receiver
        assert gone() is None
        gc.enable()


def test_parts_of_receivers_die_when_they_would():
    receiver = Scaled(2)
    receiver.part = Loud(5)
    toy.to_static(receiver.of)(t([1.0]))
    gc.disable()
    del receiver
    assert LOG == [5]
    gc.enable()


def test_a_full_graph_is_asked_for_at_each_call():
    def f(x):
        toy.graph_break()
        return x

    strict, free = toy.to_static(f, full_graph=True), toy.to_static(f)
    for _ in range(200):
        free(t([1.0]))
    for _ in range(3):
        with pytest.raises(RuntimeError, match="the graph breaks"):
            strict(t([1.0]))


def test_throwaway_wrappers_leave_nothing():
    def registries():
        gc.collect()
        return toy.stats()["registries"], len(gc.get_objects())

    def wrap_all(rounds):
        for _ in range(rounds):
            toy.to_static(module_level)
            toy.to_static(lambda x: x * 2)
            toy.to_static(Scaled(1).of)

    toy.to_static(module_level)(t([1.0]))
    wrap_all(10)
    before, objects = registries()
    wrap_all(20_000)
    after, more = registries()
    assert after == before
    assert more - objects < 50


def test_frames_below_others_are_served_from_it():
    calls = []

    @toy.disable
    def call(f, x):
        calls.append(f)
        return f(x)

    def outer(x):
        return call(module_level, x) + 1

    toy.to_static(module_level)(t([1.0]))
    captured = toy.stats()["captures"]
    assert toy.to_static(outer)(t([1.0])).tolist() == [3.0]
    assert toy.stats()["captures"] - captured <= 2


def test_what_runs_as_plain_python_is_not_served_below():
    def breaks(x, n):
        doors.opaque(x)
        exec("pass")
        return x * n

    def outer(x):
        toy._psdb.fallback()
        return breaks(x, 2)

    wrapper = toy.to_static(outer)
    toy.to_static(breaks)(t([1.0]), 2)
    for _ in range(3):
        assert wrapper(t([1.0])).tolist() == [2.0]


def test_reset_forgets_what_rests():
    toy.to_static(module_level)(t([1.0]))
    toy.reset()
    toy.to_static(module_level)(t([1.0]))
    assert counted() == (1, 0)
