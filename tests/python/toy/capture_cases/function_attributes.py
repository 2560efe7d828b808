"""Attributes of functions, decorators that are made on the spot, and the `__dict__` of what the frame has made."""

import contextlib
import functools
import inspect

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


def counted(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        """Of the wrapper."""
        wrapper.calls += 1
        return function(*args, **kwargs)

    wrapper.calls = 0
    return wrapper


def scaled(x, by=2):
    """Of the wrapped."""
    return x * by


scaled.unit = "m"


def told(function):
    names = ("__name__", "__qualname__", "__doc__", "__module__", "__defaults__", "__kwdefaults__", "__annotations__")
    return [getattr(function, name) for name in names] + [sorted(function.__dict__.items(), key=lambda item: item[0])]


@case()
def wraps_on_the_spot():
    def f(x):
        wrapped = counted(scaled)
        y = wrapped(x) + wrapped(x, by=3)
        return y, wrapped.calls, wrapped.unit, wrapped.__wrapped__ is scaled, wrapped.__name__, wrapped.__doc__

    return {"f": f, "args": x1}


@case()
def wraps_twice_on_the_spot():
    def f(x):
        def inner(a: "int", b=2, *, c=3) -> "int":
            """Inner."""
            return a + b + c

        wrapped = counted(counted(inner))
        return wrapped(x), told(wrapped), told(inner), wrapped.__wrapped__.__wrapped__ is inner

    return {"f": f, "args": x1}


@open_case
def wraps_a_method():
    class Model:
        @counted
        def step(self, x):
            return x + self.bias

        bias = 2

    def f(x):
        model = Model()
        step = counted(model.step)
        return step(x), model.step(x), step.calls, step.__name__

    return {"f": f, "args": x1}


@case()
def managers_on_the_spot():
    def f(x):
        @contextlib.contextmanager
        def scale(by):
            """Scales."""
            yield by * 2

        with scale(x) as y:
            z = y + 1
        return z, scale.__name__, scale.__doc__

    return {"f": f, "args": x1}


@open_case
def wraps_what_is_given():
    def f(x, function):
        wrapped = functools.wraps(function)(lambda *args: function(*args) + 1)
        return wrapped(x), wrapped.__name__, wrapped.__dict__

    return {"f": f, "args": lambda: (t([1.0]), counted(scaled))}


@case()
def attributes_of_a_new_function():
    def f(x):
        def g(a: int, b=(1, 2), *, c=4) -> float:
            """Doc."""
            return a + c

        before = told(g)
        g.count = 0
        g.count += 1
        g.__name__, g.__qualname__, g.__doc__, g.__module__ = "named", "far.named", None, 7
        annotations = g.__annotations__
        annotations["late"] = 1
        return g(x), before, told(g), annotations is g.__annotations__, getattr(g, "none", "nothing"), g

    return {"f": f, "args": x1}


@case()
def dict_of_a_new_function():
    def f(x):
        def g(a):
            return a + 1

        names = g.__dict__
        names["one"] = 1
        g.two = 2
        del names["one"]
        names.update(three=x)
        return g(x) + g.three, list(names), names is g.__dict__, names, g

    return {"f": f, "args": x1}


@open_case
def new_functions_over_a_break():
    def f(x):
        g = counted(lambda a: a + 1)
        names = g.__dict__
        y = g(x)
        print("break")
        names["late"] = g.calls
        g.later = g.late
        return g(y), sorted(name for name in names), g.calls, names is g.__dict__

    return {"f": f, "args": x1}


@open_case
def what_functions_refuse():
    def f(x):
        def g():
            yield 1

        said = []
        for name, value in (("__name__", 3), ("__qualname__", None), ("__annotations__", 3), ("__globals__", {})):
            try:
                setattr(g, name, value)
            except (TypeError, AttributeError) as error:
                said.append((type(error), str(error)))
        try:
            g.none
        except AttributeError as error:
            said.append(str(error))
        return x + 1, said, g.__name__

    return {"f": f, "args": x1}


@open_case
def a_new_generator_function_with_another_name():
    def f(x):
        def g(a):
            yield a + 1

        g.__name__, g.__qualname__ = "h", "far.h"
        made = g(x)
        return next(made), made.__name__, made.__qualname__, g(x)

    return {"f": f, "args": x1}


@open_case
def calls_that_a_renamed_function_refuses():
    def f(x):
        def g(a):
            return a

        g.__qualname__ = "far.g"
        try:
            g()
        except TypeError as error:
            return x + 1, str(error)

    return {"f": f, "args": x1}


@open_case
def what_is_wrapped_is_found():
    def f(x):
        wrapped = counted(scaled)
        return wrapped(x), inspect.unwrap(wrapped) is scaled

    return {"f": f, "args": x1}


@open_case
def attributes_of_a_function_from_before():
    def g(a):
        """Doc."""
        return a + 1

    def f(x, given):
        g.calls = getattr(g, "calls", 0) + 1
        given.calls = g.calls + 1
        g.late = x
        names = g.__dict__
        return g(x) + given(x), g.calls, given.calls, sorted(names), g.__doc__, g.late

    return {"f": f, "args": lambda: (t([1.0]), counted(scaled)), "watch": lambda: (sorted(g.__dict__), g.calls)}


@open_case
def one_function_under_two_names():
    def g(a):
        return a + 1

    def f(x, given):
        given.mark = 1
        g.mark = 2
        return x + given.mark, given.mark

    return {"f": f, "args": lambda: (t([1.0]), g), "watch": lambda: g.mark}


@case()
def what_new_functions_are_called_by():
    def f(x):
        def g(a, b=1, *, c=2):
            return a + b + c

        before = g.__defaults__, g.__kwdefaults__, g.__closure__, g.__code__.co_name
        g.__defaults__, g.__kwdefaults__ = (5,), {"c": 7}
        g.__kwdefaults__["c"] = 8
        return g(x), before, g.__defaults__, g.__kwdefaults__, g

    return {"f": f, "args": x1}


def held(by):
    def holder(a, b=1, *, c=2):
        return a * by + b + c

    return holder


@open_case
def what_given_functions_are_called_by():
    def known(a):
        return a + 1

    def f(x, given):
        parts = [
            (g.__defaults__, g.__kwdefaults__, g.__code__.co_name, g.__closure__ and len(g.__closure__))
            for g in (given, known, scaled)
        ]
        return given(x) + given.__closure__[0].cell_contents, parts, known(x)

    return {"f": f, "args": lambda: (t([1.0]), held(3))}


@open_case
def defaults_of_a_given_function_are_set():
    def f(x, given):
        given.__defaults__ = (given.__defaults__[0] + 1,)
        given.__kwdefaults__["c"] = 9
        given.__doc__, given.__module__ = "Said.", "elsewhere"
        return given(x), given.__defaults__, given.__kwdefaults__, given.__doc__, given.__module__

    return {"f": f, "args": lambda: (t([1.0]), held(3))}


@open_case
def a_cell_that_is_read_and_set():
    def f(x):
        count = 1

        def g():
            return count

        before = g.__closure__[0].cell_contents
        count += x.shape[0]
        try:
            del count
            g.__closure__[0].cell_contents
        except ValueError as error:
            return x + before, type(error)

    return {"f": f, "args": x1}


class Config:
    kind = "config"

    def __init__(self, **values):
        self.first = 1
        self.__dict__.update(values)
        self.last = 2

    @property
    def both(self):
        return self.first + self.last


class Slotted:
    __slots__ = ("slot", "__dict__")


@case()
def dict_of_a_new_instance():
    def f(x):
        config = Config(value=x, first=5)
        names = vars(config)
        names["z"] = 9
        del config.last
        config.y = 1
        names.pop("y")
        names.setdefault("w", 3)
        config.last = 4
        listed = [(name, value) for name, value in names.items() if name != "value"]
        return config.value + config.both, listed, "z" in names, len(names), names is config.__dict__, config, names

    return {"f": f, "args": x1}


@case()
def dict_of_an_instance_with_slots():
    def f(x):
        made = Slotted()
        made.slot = 1
        made.other = 2
        return x + made.slot, made.__dict__, made

    return {"f": f, "args": x1}


@case()
def dict_of_an_instance_is_copied():
    def f(x):
        config = Config(value=x)
        other = Config.__new__(Config)
        other.__dict__.update(config.__dict__)
        copied = dict(vars(config), more=1)
        config.first = 7
        return other.value + other.first, copied["first"], sorted(copied), list(other.__dict__)

    return {"f": f, "args": x1}


@open_case
def dict_of_an_instance_over_a_break():
    def f(x):
        config = Config(value=x)
        names = config.__dict__
        print("break")
        names["late"] = 1
        config.later = config.late + 1
        return config.value + names["later"], sorted(names), names is vars(config)

    return {"f": f, "args": x1}


@open_case
def dict_of_an_instance_that_grows_while_it_is_walked():
    def f(x):
        config = Config(value=x)
        try:
            for name in vars(config):
                setattr(config, name + "_", 1)
        except RuntimeError as error:
            return x + 1, str(error), sorted(vars(config))

    return {"f": f, "args": x1}


@open_case
def names_of_the_class_in_the_dict():
    def f(x):
        config = Config()
        config.__dict__["both"] = 100
        config.__dict__["kind"] = "own"
        config.__dict__[1] = "odd"
        return x + config.both, config.kind, list(vars(config))

    return {"f": f, "args": x1}


@open_case
def dict_of_an_instance_with_half_characters_as_names():
    def f(x):
        config = Config(value=x)
        names = vars(config)
        names["\ud800"], names["\ud801"] = 1, 2
        setattr(config, "\ud802", 3)
        return sorted(map(ascii, names)), config.value + 1

    return {"f": f, "args": x1}


@open_case
def a_list_that_holds_itself_is_not_read_again():
    def f(x):
        loop = [Config(value=x)]
        loop.append(loop)
        print("break")
        y = x + 1
        print("break")
        return y

    return {"f": f, "args": x1}


@open_case
def parts_of_code_are_the_same_ones():
    def g(a, b=(1, 2)):
        return (a, 3, "text"), (4.5, "more")

    def f(x):
        code = g.__code__
        parts = code.co_consts, code.co_names, code.co_consts
        same = [parts[0] is parts[2], parts[1] is g.__code__.co_names, g(1)[1] is code.co_consts[-1]]
        return x * 2.0, same, parts, code.co_varnames, code.co_freevars, any(k is g(2)[1] for k in code.co_consts)

    return {"f": f, "args": lambda: (t([1.0]),)}
