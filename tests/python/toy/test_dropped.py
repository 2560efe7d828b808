"""What was captured goes with what it was captured for: nothing is left of functions and layers that are dropped."""

import gc
import os
import weakref

import pytest

from doors import opaque
from toy_framework import toy

t = toy.tensor
ROUNDS = 1_000


def plain_function():
    def f(x):
        return x * 2 + 1

    return f


def function_with_a_break():
    def f(x):
        y = x * 2
        opaque(y)
        return y + 1

    return f


def function_with_breaks_in_a_loop():
    def f(x):
        for _ in range(3):
            x = x + 1
            opaque(x)
        return x

    return f


def function_of_new_code():
    namespace = {"opaque": opaque}
    source = "def f(x):\n    y = x * 2\n    opaque(y)\n    return g(y)\n\ndef g(x):\n    return x + 1\n"
    exec(compile(source, __file__, "exec"), namespace)
    return namespace["f"]


def recursive_function_of_new_code():
    namespace = {"opaque": opaque}
    source = (
        "def f(x, n=2):\n    y = x * 2\n    opaque(y)\n    return y if n == 0 else f(y, n - 1)\n"
    )
    exec(compile(source, __file__, "exec"), namespace)
    return namespace["f"]


def frames_below_of_new_code():
    namespace = {"opaque": opaque}
    source = (
        "def helper(x):\n    y = x * 2\n    opaque(y)\n    return 1\n\n"
        "def f(x):\n    return sorted([x, x + 1], key=helper)[0] * 2\n"
    )
    exec(compile(source, __file__, "exec"), namespace)
    return namespace["f"]


def closure_that_captures_itself():
    kept = []

    def f(x):
        y = x * 2
        opaque(y)
        return y + len(kept)

    kept.append(f)
    return f


def handler_of_new_code():
    namespace = {"opaque": opaque}
    source = (
        "def f(x):\n    try:\n        y = x * 2\n        opaque(y)\n        {}[y.ndim]\n"
        "    except KeyError:\n        y = x + 1\n    return y\n"
    )
    exec(compile(source, __file__, "exec"), namespace)
    return namespace["f"]


def layer():
    made = toy.Linear(t([[1.0, 2.0], [3.0, 4.0]]), t([0.5, 0.5]))
    return made


def layer_of_its_own_class():
    class Net(toy.Layer):
        def __init__(self):
            super().__init__()
            self.first = toy.Linear(t([[1.0, 2.0], [3.0, 4.0]]), t([0.5, 0.5]))

        def forward(self, x):
            y = self.first(x)
            opaque(y)
            return self.first(y)

    return Net()


ALL = [
    plain_function,
    function_with_a_break,
    function_with_breaks_in_a_loop,
    function_of_new_code,
    recursive_function_of_new_code,
    frames_below_of_new_code,
    closure_that_captures_itself,
    handler_of_new_code,
    layer,
    layer_of_its_own_class,
]


def argument(build):
    return t([[1.0, 2.0]]) if build in (layer, layer_of_its_own_class) else t([1.0])


def one_round(build, died=None):
    owner = build()
    expected = owner(argument(build))
    translated = toy.to_static(owner)
    if died is not None:
        code = getattr(owner, "__code__", None)
        for thing in filter(None, (owner, code)):
            weakref.finalize(thing, died.append, type(thing).__name__)
        weakref.finalize(translated, died.append, "translated")
    for _ in range(2):
        assert translated(argument(build)).tolist() == expected.tolist()


def rounds(build, number):
    """So many rounds, with a collection after every hundred: the allocator keeps what a hundred of them need at once."""
    gc.disable()
    try:
        for n in range(number):
            one_round(build)
            if n % 100 == 0:
                gc.collect()
    finally:
        gc.enable()
    gc.collect()


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("build", ALL)
def test_dies_with_its_owner(build):
    died = []
    one_round(build, died)
    assert toy.stats()["captures"] > 0
    gc.collect()
    assert "translated" in died
    owner = build()
    assert type(owner).__name__ in died
    if "of_new_code" in build.__name__:
        assert "code" in died


@pytest.mark.parametrize("build", ALL)
def test_a_thousand_rounds_leave_nothing(build):
    rounds(build, 200)
    before, memory, tables = len(gc.get_objects()), resident(), toy.stats()["registries"]
    rounds(build, ROUNDS)
    assert len(gc.get_objects()) - before < 100
    assert resident() - memory < 8_000_000
    grown = {name: size for name, size in toy.stats()["registries"].items() if size > tables[name] + 64}
    assert not grown


def test_tables_of_the_process_are_told():
    translated = toy.to_static(function_with_a_break())
    before = toy.stats()["registries"]
    translated(t([1.0]))
    after = toy.stats()["registries"]
    assert {name for name, size in after.items() if size > before[name]} >= {"caches", "continuations", "code objects and functions"}


def test_a_disabled_function_is_forgotten():
    for _ in range(20):
        function = toy.disable(lambda x: x)
        alive = weakref.ref(function)
        del function
        assert alive() is None


def test_without_a_cycle_it_does_not_wait_for_the_collector():
    gc.disable()
    try:
        def f(x):
            return x * 2 + 1

        translated = toy.to_static(f)
        translated(t([1.0]))
        alive = weakref.ref(translated)
        del translated
        assert alive() is None
    finally:
        gc.enable()


def test_a_kept_one_still_serves_after_others_died():
    def make(n):
        def f(x):
            y = x * 2
            opaque(y)
            return y + n

        return f

    kept = toy.to_static(make(1))
    kept(t([1.0]))
    for n in range(20):
        toy.to_static(make(n))(t([1.0]))
    gc.collect()
    before = toy.stats()["captures"]
    assert kept(t([1.0])).tolist() == [3.0]
    assert toy.stats()["captures"] == before


def test_code_of_a_dead_function_whose_address_is_used_again():
    """A new code object may get the address of a dead one: what was known of that must not count."""
    for n in range(200):
        namespace = {"opaque": opaque}
        exec(f"def f(x):\n    y = x * {n}\n    opaque(y)\n    return y + {n}\n", namespace)
        assert toy.to_static(namespace["f"])(t([1.0])).tolist() == [2.0 * n]
        namespace.clear()
        if n % 7 == 0:
            gc.collect()
