"""Something that a captured function depends on changes between two calls: the change must be seen.

Each case makes a function and a change. Captured, the function is called twice, changed, called twice, and must give
what it gives eagerly. Where the change does not matter to the function, the last call must be a hit.
"""

import functools
import types

import pytest

import change_cases  # noqa: F401
from changing import CHANGES, change
from doors import DOORS
from known_failures import known
from observe import freeze
from toy_framework import toy

t = toy.tensor
def helper(x):
    return x * 2


def other_helper(x):
    return x * 100


SCALE = 3
TABLE = {"n": 1, "inner": [1, 2]}
MODULE = types.ModuleType("settings")


@change
def global_number():
    def f(x):
        return x * SCALE

    def go():
        globals()["SCALE"] = 7

    globals()["SCALE"] = 3
    return f, go


@change
def global_function():
    def f(x):
        return helper(x)

    def go():
        globals()["helper"] = other_helper

    globals()["helper"] = types.FunctionType((lambda x: x * 2).__code__, globals(), "helper")
    return f, go


@change
def code_of_a_function():
    def inner(x):
        return x * 2

    def f(x):
        return inner(x)

    def go():
        inner.__code__ = (lambda x: x * 5).__code__

    return f, go


@change
def defaults_of_a_function():
    def inner(x, n=2):
        return x * n

    def f(x):
        return inner(x)

    def go():
        inner.__defaults__ = (9,)

    return f, go


@change
def keyword_defaults_of_a_function():
    def inner(x, *, n=2):
        return x * n

    def f(x):
        return inner(x)

    def go():
        inner.__kwdefaults__["n"] = 9

    return f, go


@change
def cell_of_a_closure():
    scale = 2

    def f(x):
        return x * scale

    def go():
        nonlocal scale
        scale = 5

    return f, go


@change
def cell_of_an_inner_closure():
    scale = 2

    def inner(x):
        return x * scale

    def f(x):
        return inner(x)

    def go():
        nonlocal scale
        scale = "ab"

    def call(x):
        try:
            return f(x)
        except TypeError as error:
            return str(error)

    return call, go


@change
def entry_of_a_global_dict():
    def f(x):
        return x * TABLE["n"] + TABLE["inner"][1]

    def go():
        TABLE["inner"][1] = 50

    TABLE.update(n=1, inner=[1, 2])
    return f, go


@change
def new_entry_of_a_dict():
    table = {"a": 1}

    def f(x):
        for value in table.values():
            x = x + value
        return x, "b" in table, len(table), table.get("b")

    def go():
        table["b"] = 10

    return f, go


@change
def order_of_a_dict():
    table = {"a": 1, "b": 2}

    def f(x):
        return list(table), x * table["a"]

    def go():
        table["a"] = table.pop("a")

    return f, go


@change
def length_of_a_list():
    items = [1, 2]

    def f(x):
        return x * len(items), [i for i in items]

    def go():
        items.append(3)

    return f, go


@change
def type_of_an_item():
    items = [1]

    def f(x):
        return x * items[0], type(items[0]).__name__

    def go():
        items[0] = True

    return f, go


@change
def attribute_of_an_object():
    box = types.SimpleNamespace(a=1)

    def f(x):
        return x * box.a, hasattr(box, "b")

    def go():
        box.b = 2

    return f, go


class Model:
    factor = 2

    def scale(self, x):
        return x * self.factor

    @property
    def twice(self):
        return self.factor * 2

    @staticmethod
    def shift(x):
        return x + 1


def model(**names):
    return type("Own", (Model,), names)


@change
def class_attribute():
    cls = model(factor=3)
    obj = cls()

    def f(x):
        return obj.scale(x)

    def go():
        cls.factor = 8

    return f, go


@change
def instance_attribute_that_hides_a_class_attribute():
    obj = model()()

    def f(x):
        return obj.scale(x)

    def go():
        obj.factor = 8

    return f, go


@change
def method_of_a_class():
    cls = model()
    obj = cls()

    def f(x):
        return obj.scale(x)

    def go():
        cls.scale = lambda self, x: x - 1

    return f, go


@change
def method_of_a_base_class():
    base = model()
    obj = type("Sub", (base,), {})()

    def f(x):
        return obj.scale(x)

    def go():
        base.scale = lambda self, x: x - 1

    return f, go


@change
def instance_method_that_hides_a_method():
    obj = model()()

    def f(x):
        return obj.scale(x)

    def go():
        obj.scale = lambda x: x - 1

    return f, go


@change
def property_of_a_class():
    cls = model()
    obj = cls()

    def f(x):
        return x * obj.twice

    def go():
        cls.twice = property(lambda self: 50)

    return f, go


@change
def static_method():
    cls = model()

    def f(x):
        return cls.shift(x)

    def go():
        cls.shift = staticmethod(lambda x: x * 10)

    return f, go


@change
def class_of_an_object():
    obj = model()()

    def f(x):
        return obj.scale(x), type(obj).__name__

    def go():
        obj.__class__ = type("Another", (Model,), {"factor": 7})

    return f, go


@change
def bases_of_a_class():
    cls = type("Sub", (model(factor=3),), {})
    obj = cls()

    def f(x):
        return obj.scale(x), isinstance(obj, Model)

    def go():
        cls.__bases__ = (model(factor=6),)

    return f, go


@change
def special_method():
    cls = model(__len__=lambda self: 2)
    obj = cls()

    def f(x):
        return x * len(obj)

    def go():
        cls.__len__ = lambda self: 5

    return f, go


@change
def attribute_of_a_module():
    MODULE.value = 2

    def f(x):
        return x * MODULE.value

    def go():
        MODULE.value = 6

    return f, go


@change
def builtin_that_is_hidden_by_a_global():
    globals().pop("max", None)

    def f(x):
        return x * max(1, 2)

    def go():
        globals()["max"] = lambda a, b: 9

    return f, go


@change
def function_in_a_container():
    functions = [helper]

    def f(x):
        return functions[0](x)

    def go():
        functions[0] = other_helper

    return f, go


@change
def argument_of_a_partial():
    scale = functools.partial(toy.add, y=1)
    held = [scale]

    def f(x):
        return held[0](x)

    def go():
        held[0] = functools.partial(toy.add, y=5)

    return f, go


@change
def tensor_of_a_closure_in_place():
    bias = t([1.0])

    def f(x):
        return x + bias

    def go():
        bias.add_(10)

    return f, go


@change
def tensor_of_an_attribute():
    box = types.SimpleNamespace(bias=t([1.0]))

    def f(x):
        return x + box.bias

    def go():
        box.bias = t([[1.0], [2.0]])

    return f, go


@change
def function_that_is_disabled():
    def inner(x):
        return x * 2

    def f(x):
        return inner(x) + 1

    def go():
        toy.disable(inner)

    return f, go


@change
def decorated_function_that_is_wrapped_anew():
    def inner(x):
        return x * 2

    @functools.wraps(inner)
    def wrapper(x):
        return wrapper.__wrapped__(x) + 1

    def f(x):
        return wrapper(x)

    def go():
        wrapper.__wrapped__ = other_helper

    return f, go


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("build", CHANGES)
def test_a_change_is_seen(build, door, capsys):
    def run(translate):
        function, go = build()
        function = translate(function)
        seen = [freeze(function(t([1.0]))) for _ in range(2)]
        go()
        return seen + [freeze(function(t([1.0]))) for _ in range(2)]

    toy.reset()
    expected = run(lambda f: f)
    try:
        assert run(door) == expected
        assert "internal-error" not in toy.stats()["reasons"]
    finally:
        toy.reset()
        globals().pop("max", None)


def unrelated():
    """Functions with a change that does not concern them."""
    box = types.SimpleNamespace(a=1)
    table = {"a": 1}
    cls = model()
    obj = cls()

    def another_attribute(x):
        return x * box.a

    def another_entry(x):
        return x * table["a"]

    def another_class_attribute(x):
        return obj.scale(x)

    def another_global(x):
        return x * SCALE

    return [
        (another_attribute, lambda: setattr(box, "zzz", 1)),
        (another_entry, lambda: table.update(zzz=1)),
        (another_class_attribute, lambda: setattr(cls, "zzz", 1)),
        (another_global, lambda: globals().update(zzz=1)),
    ]


def numbered(number, name):
    marks = known(f"test_what_does_not_matter_costs_nothing[{name}]")
    return pytest.param(number, id=name, marks=marks)


@pytest.mark.parametrize("number", [numbered(n, f.__name__) for n, (f, _) in enumerate(unrelated())])
def test_what_does_not_matter_costs_nothing(number):
    toy.reset()
    function, go = unrelated()[number]
    translated = toy.to_static(function)
    translated(t([1.0]))
    for _ in range(3):
        go()
        translated(t([1.0]))
    stats = toy.stats()
    assert (stats["captures"], stats["hits"]) == (1, 3)


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([1, True, 1.0, 1 + 0j], id="equal numbers"),
        pytest.param([0.0, -0.0, 0, False], id="zeros"),
        pytest.param([float("nan"), float("inf"), 1e300], id="not a number"),
        pytest.param(["a", b"a", ("a",), ["a"]], id="texts"),
        pytest.param([None, (), [], {}, ""], id="empties"),
        pytest.param([[1, 2], [1, 2.0], (1, 2), [1, [2]], [1]], id="sequences"),
        pytest.param([{"a": 1}, {"a": 1.0}, {"a": 1, "b": 2}, {"b": 2, "a": 1}, {1: 1}, {True: 1}], id="dicts"),
        pytest.param([helper, other_helper, toy.relu, len], id="functions"),
        pytest.param([int, float, Model, toy.Tensor], id="classes"),
        pytest.param([2**62, 2**63, 2**64, -(2**63)], id="big numbers"),
        pytest.param([slice(1), slice(0, 1), slice(None)], id="slices"),
        pytest.param([{1}, {1, 2}, frozenset([1])], id="sets"),
    ],
)
def test_arguments_are_told_apart(values):
    def f(x, value):
        return x * 2, value, repr(value), type(value) is int

    toy.reset()
    translated = toy.to_static(f)
    for value in values + values[::-1]:
        x = t([1.0])
        assert repr(translated(x, value)) == repr(f(x, value))
        assert type(translated(x, value)[1]) is type(value)
