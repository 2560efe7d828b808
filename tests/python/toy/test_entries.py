"""A translated function is, to whoever looks at it, the function: `inspect`, `pickle`, `copy`, `typing`, `mock`, `help`.

Each question is asked of the plain function and of the translated one, and must get the same answer.
"""

import abc
import asyncio
import contextlib
import copy
import dataclasses
import doctest
import functools
import inspect
import io
import pickle
import sys
import types
import typing
import weakref
from unittest import mock

import pytest

from toy_framework import toy

HERE = sys.modules[__name__]


def plain(a: int, b: "int" = 2, *, k=3) -> tuple:
    """Documented.

    >>> 1 + 1
    2
    """
    return a, b, k


translated = toy.to_static(plain)


@toy.to_static
def decorated(x, n=1):
    """A decorator's result."""
    return x * n


@toy.to_static(full_graph=True)
def in_one_graph(x):
    return x + 1


class Net(toy.Layer):
    def __init__(self, weight):
        super().__init__()
        self.weight = weight

    def forward(self, x):
        return x * self.weight


class Base:
    scale = 2

    @toy.to_static
    def scaled(self, x):
        return x * self.scale

    @classmethod
    @toy.to_static
    def of_class(cls, x):
        return x * cls.scale

    @staticmethod
    @toy.to_static
    def of_none(x):
        return x + 1


class Derived(Base):
    scale = 3

    def scaled(self, x):
        return super().scaled(x) + 1


def text_of_help(function):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        help(function)
    return out.getvalue()


def examples(function):
    module = types.ModuleType(__name__)
    module.__file__, module.plain = __file__, function
    found = doctest.DocTestFinder().find(module, "module", module=module)
    return [(test.name, len(test.examples)) for test in found]


def as_member(function):
    return type("Holder", (), {"member": function})


QUESTIONS = {
    "getfile": inspect.getfile,
    "getsourcefile": inspect.getsourcefile,
    "getsource": inspect.getsource,
    "getsourcelines": inspect.getsourcelines,
    "getmodule": inspect.getmodule,
    "getdoc": inspect.getdoc,
    "getcomments": inspect.getcomments,
    "signature": inspect.signature,
    "getfullargspec": inspect.getfullargspec,
    "getclosurevars": inspect.getclosurevars,
    "isfunction": inspect.isfunction,
    "isroutine": inspect.isroutine,
    "ismethod": inspect.ismethod,
    "isbuiltin": inspect.isbuiltin,
    "ismethoddescriptor": inspect.ismethoddescriptor,
    "isdatadescriptor": inspect.isdatadescriptor,
    "iscoroutinefunction": asyncio.iscoroutinefunction,
    "isgeneratorfunction": inspect.isgeneratorfunction,
    "isinstance": lambda f: (isinstance(f, types.FunctionType), isinstance(f, typing.Callable), isinstance(f, type)),
    "class": lambda f: f.__class__,
    "hints": typing.get_type_hints,
    "help": text_of_help,
    "doctest": examples,
    "names": lambda f: (f.__name__, f.__qualname__, f.__module__, f.__doc__),
    "parts": lambda f: (f.__code__, f.__globals__, f.__closure__, f.__defaults__, f.__kwdefaults__),
    "wraps": lambda f: inspect.signature(functools.wraps(f)(lambda *args: None)),
    "partial": lambda f: functools.partial(f, 1)(k=4),
    "singledispatch": lambda f: functools.singledispatch(f)(1),
    "lru_cache": lambda f: functools.lru_cache()(f)(1),
    "members": lambda f: [name for name, _ in inspect.getmembers(as_member(f), inspect.isfunction)],
    "methods": lambda f: [name for name, _ in inspect.getmembers(as_member(f)(), inspect.ismethod)],
    "binding": lambda f: type(as_member(f)().member),
    "bound to a class": lambda f: as_member(f).member is f,
    "autospec": lambda f: inspect.signature(mock.create_autospec(f)),
    "autospec's type": lambda f: type(mock.create_autospec(f)),
    "copy": lambda f: copy.copy(f) is f,
    "deepcopy": lambda f: copy.deepcopy({"f": f})["f"] is f,
    "hash": lambda f: {f: 1}[f],
    "weakref": lambda f: weakref.ref(f)() is f,
    "dir": lambda f: set(dir(plain)) <= set(dir(f)),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_same_answer(question):
    ask = QUESTIONS[question]
    assert ask(translated) == ask(plain)


def test_type_tells_the_truth():
    assert type(translated) is not types.FunctionType and type(translated).__name__ == "Entry"


def test_mock_rejects_wrong_calls():
    with pytest.raises(TypeError):
        mock.create_autospec(translated)()
    with mock.patch.object(HERE, "translated", return_value=5) as replaced:
        assert HERE.translated(1) == 5 and replaced.called
    assert HERE.translated(1) == (1, 2, 3)
    with mock.patch(__name__ + ".decorated", autospec=True) as replaced:
        HERE.decorated(1)
        replaced.assert_called_once_with(1)
    with mock.patch.object(translated, "note", 1, create=True):
        assert translated.note == 1
    assert not hasattr(translated, "note")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol):
    again = lambda value: pickle.loads(pickle.dumps(value, protocol))  # noqa: E731
    assert again(decorated) is decorated and again(in_one_graph) is in_one_graph, "found by their names"
    assert again([decorated, decorated]) == [decorated, decorated]
    other = again(translated)
    assert other.__code__ is plain.__code__ and type(other) is type(translated) and other(1) == (1, 2, 3)
    assert again(Base.of_none) is Base.of_none
    with pytest.raises((pickle.PicklingError, AttributeError)):
        again(toy.to_static(lambda x: x))


def test_pickle_keeps_full_graph():
    def build(x):
        print(x)
        return x

    build.__qualname__ = build.__name__ = "found"
    HERE.found = build
    try:
        strict = pickle.loads(pickle.dumps(toy.to_static(build, full_graph=True)))
    finally:
        del HERE.found
    with pytest.raises(RuntimeError):
        strict(toy.tensor([1.0]))


def test_a_bound_one_is_a_method():
    net = Net(3.0)
    method = net.forward
    entry = toy.to_static(net).forward
    assert inspect.ismethod(entry) and not inspect.isfunction(entry) and isinstance(entry, types.MethodType)
    for ask in (inspect.getfile, inspect.getsource, inspect.signature, inspect.isroutine, inspect.getdoc):
        assert ask(entry) == ask(method)
    assert entry.__self__ is net and entry.__func__ is Net.forward and entry.__class__ is types.MethodType


class Holder:
    """Something with a translated method of its own instance."""

    def __init__(self, factor):
        self.factor = factor
        self.method = toy.to_static(self.method)

    def method(self, x):
        return x * self.factor


def test_copies_of_what_holds_a_bound_one():
    x = toy.tensor([1.0, 2.0])
    holder = Holder(3.0)
    assert holder.method(x).tolist() == [3.0, 6.0]
    copies = [copy.deepcopy(holder)]
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        copies.append(pickle.loads(pickle.dumps(holder, protocol)))
        copies.append(pickle.loads(pickle.dumps(holder.method, protocol)).__self__)
    copies.append(copy.deepcopy(holder.method).__self__)
    for twin in copies:
        assert twin is not holder
        twin.factor = 5.0
        before = toy.stats()["captures"]
        assert twin.method(x).tolist() == [5.0, 10.0]
        assert toy.stats()["captures"] == before + 1, "the copy's method is translated, too"
        assert type(twin.__dict__["method"]) is type(holder.method)
    assert holder.method(x).tolist() == [3.0, 6.0]


def test_methods_of_classes():
    x = toy.tensor([1.0, 2.0])
    for _ in range(3):
        assert Base().scaled(x).tolist() == [2.0, 4.0]
        assert Derived().scaled(x).tolist() == [4.0, 7.0]
        assert Derived.of_class(x).tolist() == [3.0, 6.0] and Base.of_class(x).tolist() == [2.0, 4.0]
        assert Derived.of_none(x).tolist() == Base().of_none(x).tolist() == [2.0, 3.0]
    method = Base().scaled
    assert pickle.loads(pickle.dumps(method)).__func__ is Base.scaled


def test_abstract_methods():
    class Abstract(abc.ABC):
        @abc.abstractmethod
        @toy.to_static
        def must(self, x):
            return x + 1

    class Concrete(Abstract):
        @toy.to_static
        def must(self, x):
            return super().must(x) * 2

    with pytest.raises(TypeError, match="abstract"):
        Abstract()
    assert Concrete().must(toy.tensor([1.0])).tolist() == [4.0]


def test_default_of_a_dataclass_field():
    @dataclasses.dataclass
    class Options:
        activation: typing.Callable = translated
        other: int = 1

    assert Options().activation is translated and Options.activation is translated
    assert Options(activation=decorated).activation is decorated


def test_attributes_are_its_own():
    other = toy.to_static(plain)
    other.note = 1
    assert vars(other) == {"note": 1} and not hasattr(plain, "note") and not hasattr(translated, "note")
    functools.update_wrapper(other, decorated)
    assert other.__name__ == "decorated" and plain.__name__ == "plain"


def test_isinstance_inside_a_captured_function():
    def f(x):
        y = x * 2
        if isinstance(decorated, types.FunctionType) and inspect.isfunction(decorated):
            return decorated(y, 2)
        return y

    for _ in range(3):
        assert toy.to_static(f)(toy.tensor([1.0])).tolist() == f(toy.tensor([1.0])).tolist() == [4.0]


def implicit_methods(to_static):
    """What comes of entries under names of which a class statement makes class methods and static methods, step by step."""
    log = []

    def step(ask):
        try:
            log.append(ask())
        except Exception as error:
            log.append((type(error), str(error)))

    class Base:
        @to_static
        def __init_subclass__(cls, **options):
            log.append((cls.__name__, options))

        @to_static
        def __class_getitem__(cls, key):
            return cls.__name__, key

        @to_static
        def __new__(cls, *args):
            log.append(args)
            return object.__new__(cls)

        @to_static
        def plain(self):
            return type(self).__name__

    class Below(Base, option=1):
        pass

    class Wrapped:
        @classmethod
        @to_static
        def __class_getitem__(cls, key):
            return cls.__name__, key

        @to_static
        @classmethod
        def __init_subclass__(cls):
            log.append(cls.__name__)

    class BelowWrapped(Wrapped):
        pass

    class Later:
        pass

    Later.__class_getitem__ = to_static(lambda cls, key: key)
    step(lambda: type("Made", (Below,), {}, option=2).__name__)
    step(lambda: type("Own", (), {"__class_getitem__": to_static(lambda cls, key: (cls.__name__, key))})[2])
    for kind in (Base, Below, Wrapped, BelowWrapped, Later):
        step(lambda: kind[3])
        step(lambda: kind()[3])
        step(lambda: kind.__class_getitem__(4))
        step(lambda: kind().__class_getitem__(5))
        step(lambda: kind.__init_subclass__())
        step(lambda: type(kind().__new__(kind, 6)).__name__)
    names = ("__init_subclass__", "__class_getitem__", "__new__")
    step(lambda: [type(vars(Base)[name]) for name in names])
    step(lambda: [list(vars(Base)).index(name) for name in names])
    step(lambda: Base().plain())
    step(lambda: hasattr(vars(Base)["plain"], "__set_name__"))
    step(lambda: to_static(plain).__set_name__(Base, "__new__"))
    return log


def test_names_of_implicit_class_methods():
    expected = implicit_methods(lambda function: function)
    for _ in range(2):
        assert implicit_methods(toy.to_static) == expected


def test_implicit_class_methods_of_classes_made_by_captured_code():
    def build(to_static):
        def f(x):
            class Base:
                def __init_subclass__(cls):
                    seen.append(cls.__name__)

                __class_getitem__ = entry

            class Below(Base):
                pass

            return x + 1, Below[2], type(vars(Base)["__class_getitem__"]).__name__, seen

        seen = []
        entry = to_static(lambda cls, key: (cls.__name__, key))
        return to_static(f)

    plainly, translated = build(lambda function: function), build(toy.to_static)
    for _ in range(3):
        assert translated(toy.tensor([1.0]))[1:] == plainly(toy.tensor([1.0]))[1:]
