"""Functions, their parts, closures, modules and names."""

import builtins
import functools
import sys
import types

from changing import change
from toy_framework import toy


def double(x):
    return x * 2


def hundred(x):
    return x * 100


@change
def name_of_a_function():
    def inner(x):
        return x

    def f(x):
        return inner(x), inner.__name__, inner.__qualname__, inner.__module__

    def go():
        inner.__name__, inner.__qualname__, inner.__module__ = "a", "b", "c"

    return f, go


@change
def attribute_of_a_function():
    def inner(x):
        return x * inner.n

    inner.n = 2

    def f(x):
        return inner(x)

    return f, lambda: setattr(inner, "n", 3)


@change
def attribute_of_a_function_is_added():
    def inner(x):
        return x

    def f(x):
        return inner(x) * getattr(inner, "n", 2)

    return f, lambda: setattr(inner, "n", 3)


@change
def code_of_a_method():
    class Own:
        def scale(self, x):
            return x * 2

    obj = Own()

    def f(x):
        return obj.scale(x)

    def go():
        Own.scale.__code__ = (lambda self, x: x * 9).__code__

    return f, go


@change
def code_of_the_function_itself():
    def f(x):
        return x * 2

    def go():
        f.__code__ = (lambda x: x * 9).__code__

    return f, go


@change
def defaults_are_removed():
    def inner(x, n=2):
        return x * n

    def f(x):
        try:
            return inner(x)
        except TypeError:
            return "TypeError"

    return f, lambda: setattr(inner, "__defaults__", None)


@change
def defaults_of_the_function_itself():
    def f(x, n=2):
        return x * n

    return f, lambda: setattr(f, "__defaults__", (9,))


@change
def keyword_defaults_are_replaced():
    def inner(x, *, n=2):
        return x * n

    def f(x):
        return inner(x)

    return f, lambda: setattr(inner, "__kwdefaults__", {"n": 9})


@change
def mutable_default():
    def inner(x, held=[1, 2]):
        return x * len(held) * held[0]

    def f(x):
        return inner(x)

    return f, lambda: inner.__defaults__[0].append(3)


@change
def cell_is_emptied():
    n = [2]

    def f(x):
        try:
            return x * 2, n
        except NameError:
            return "NameError"

    def go():
        nonlocal n
        del n

    return f, go


@change
def cell_holds_another_function():
    inner = double

    def f(x):
        return inner(x)

    def go():
        nonlocal inner
        inner = hundred

    return f, go


@change
def type_in_a_cell():
    n = 1

    def f(x):
        return x * 2, n is True, n

    def go():
        nonlocal n
        n = True

    return f, go


@change
def builtin_is_patched():
    def f(x):
        return x * abs(-2)

    def go():
        saved = builtins.abs

        def once(value):
            return saved(value) + 5

        builtins.abs = once
        restore.append(lambda: setattr(builtins, "abs", saved))

    restore = []

    def undo(x):
        try:
            return f(x)
        finally:
            while restore:
                restore.pop()()

    return undo, go


def space(source, **names):
    names["__builtins__"] = builtins
    exec(source, names)
    return names


@change
def builtins_of_the_globals():
    names = space("def f(x):\n    return x * len('abc')")

    def go():
        own = dict(vars(builtins))
        own["len"] = lambda value: 50
        names["__builtins__"] = own

    return names["f"], go


@change
def builtins_of_the_globals_of_a_callee():
    names = space("def inner(x):\n    return x * len('abc')")

    def f(x):
        return names["inner"](x)

    inner = names["inner"]

    def g(x):
        return inner(x)

    def go():
        own = dict(vars(builtins))
        own["len"] = lambda value: 50
        names["__builtins__"] = own

    return g, go


@change
def entry_of_the_builtins_of_a_callee():
    own = dict(vars(builtins))
    names = {"__builtins__": own}
    exec("def inner(x):\n    return x * len('abc')", names)
    inner = names["inner"]

    def f(x):
        return inner(x)

    return f, lambda: own.update(len=lambda value: 50)


@change
def global_of_a_callee_hides_a_builtin():
    names = space("def inner(x):\n    return x * len('abc')")
    inner = names["inner"]

    def f(x):
        return inner(x)

    return f, lambda: names.update(len=lambda value: 50)


@change
def global_that_is_only_passed_on():
    names = space("HELD = [1]\ndef f(x):\n    return x * 2, HELD")

    def f(x):
        try:
            return names["f"](x)
        except NameError:
            return "NameError"

    inner = names["f"]

    def g(x):
        try:
            return inner(x)
        except NameError:
            return "NameError"

    return g, lambda: names.pop("HELD")


@change
def attribute_of_a_module_is_removed_and_has_a_fallback():
    module = types.ModuleType("settings")
    module.n = 2

    def f(x):
        return x * module.n

    def go():
        del module.n
        module.__getattr__ = lambda name: 7

    return f, go


@change
def module_in_the_table_of_modules():
    one, two = types.ModuleType("settings_xyz"), types.ModuleType("settings_xyz")
    one.n, two.n = 2, 3
    sys.modules["settings_xyz"] = one

    def f(x):
        import settings_xyz

        return x * settings_xyz.n

    return f, lambda: sys.modules.update(settings_xyz=two)


@change
def class_of_a_module():
    module = types.ModuleType("settings")
    module.n = 2

    class Own(types.ModuleType):
        def __getattribute__(self, name):
            return 7

    def f(x):
        return x * module.n

    return f, lambda: setattr(module, "__class__", Own)


@change
def function_of_a_partial():
    held = types.SimpleNamespace(part=functools.partial(double))

    def f(x):
        return held.part(x), held.part.func is double

    return f, lambda: setattr(held, "part", functools.partial(hundred))


@change
def state_of_a_partial():
    part = functools.partial(toy.add, y=1)

    def f(x):
        return part(x)

    return f, lambda: part.__setstate__((toy.add, (), {"y": 5}, None))


@change
def wrapped_function():
    @functools.lru_cache(None)
    def inner(n):
        return n + held[0]

    held = [1]

    def f(x):
        return x * inner(2)

    def go():
        held[0] = 5
        inner.cache_clear()

    return f, go


@change
def method_object_in_a_list():
    class Own:
        n = 2

        def scale(self, x):
            return x * self.n

    one, two = Own(), Own()
    two.n = 9
    methods = [one.scale]

    def f(x):
        return methods[0](x)

    return f, lambda: methods.__setitem__(0, two.scale)


@change
def method_of_a_builtin_value():
    one, two = [1], [1, 2, 3]
    held = types.SimpleNamespace(count=one.count)

    def f(x):
        return x * held.count(1), held.count.__self__ is one

    return f, lambda: setattr(held, "count", two.count)
