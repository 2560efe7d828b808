"""What captures and guards look into may hold objects of the program where others expect names: their `==` is not asked for."""

import subprocess
import sys
import types

import pytest

from toy_framework import toy

t = toy.tensor
log = []


class Like:
    """Hashed as a text; writes down what it is compared with."""

    def __init__(self, text):
        self.text = text

    def __hash__(self):
        return hash(self.text)

    def __eq__(self, other):
        log.append((self.text, other))
        return NotImplemented


class Loud:
    """A constant of code that writes down what it is compared with."""

    def __eq__(self, other):
        log.append("compared")
        return self is other

    def __hash__(self):
        log.append("hashed")
        return 1


def asked(function, *makers):
    """What is asked of the program's objects in some calls."""
    found = []
    for _ in range(4):
        arguments = [make() for make in makers]
        del log[:]
        function(t([1.0]), *arguments)
        found.append(list(log))
    return found


def same(function, *makers):
    wanted = asked(function, *makers)
    captured = toy.to_static(function)
    assert asked(captured, *makers) == wanted
    stats = toy.stats()
    assert stats["captures"] > 0 and "internal-error" not in stats["reasons"]
    return stats


def local_class(extra=()):
    class Local:
        k = 2.0

        def times(self, x):
            return x * self.k

    return type("Local", (), {**{name: 0 for name in extra}, **{k: v for k, v in vars(Local).items() if k[:2] != "__"}})


def calls(x, what):
    return what().times(x)


def of_an_instance(x, what):
    return what.times(x)


@pytest.fixture
def odd_modules():
    keys = [Like(name) for name in (__name__, "numpy", "paddle", "enum", "builtins")]
    for key in keys:
        sys.modules[key] = None
    yield
    for key in keys:
        sys.modules.pop(key, None)


@pytest.mark.parametrize("function", [calls, of_an_instance])
def test_modules(odd_modules, function):
    same(function, local_class if function is calls else lambda: local_class()())


@pytest.mark.parametrize("name", ["__module__", "__qualname__", "k", "times", "other"])
@pytest.mark.parametrize("function", [calls, of_an_instance])
def test_class_dicts(function, name):
    def make():
        made = local_class([Like(name)])
        return made if function is calls else made()

    same(function, make)


def code_with(constants):
    def f(x):
        return x * 2.0 + 1.0

    # Code of no file may be compiled anew at each call.
    code = f.__code__.replace(co_filename="<compiled>")
    return types.FunctionType(code.replace(co_consts=code.co_consts + constants), globals())


CONSTANTS = {
    "loud": lambda: (Loud(),),
    "in a tuple": lambda: ((1, (Loud(), 2)),),
    "in a set": lambda: (frozenset([Loud(), 3]),),
    "like a name": lambda: (Like("x"),),
}


@pytest.mark.parametrize("constants", CONSTANTS)
def test_constants_of_code(constants):
    same(lambda x, g: g(x), lambda: code_with(CONSTANTS[constants]()))


@pytest.mark.parametrize(
    "one, other, alike",
    [
        ((1, "a", b"b", None, 1.5), (1, "a", b"b", None, 1.5), True),
        ((0.0,), (-0.0,), False),
        ((1,), (True,), False),
        ((1,), (1.0,), False),
        ((0j,), (-0.0j,), False),
        (((1, (2.0, "x")),), ((1, (2.0, "x")),), True),
        (((1, (2.0, "x")),), ((1, (2.0, "y")),), False),
        ((frozenset([1, "a"]),), (frozenset([1, "a"]),), True),
        ((frozenset([1, "a"]),), (frozenset([True, "a"]),), False),
        ((float("nan"),), (float("nan"),), True),
    ],
)
def test_alike_constants(one, other, alike):
    made = [code_with(one), code_with(other)] * 2

    def f(x, g):
        return g(x)

    captured = toy.to_static(f)
    for g in made:
        assert captured(t([1.0]), g).tolist() == [3.0]
    assert toy.stats()["captures"] == (1 if alike else 2)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="there are no groups")
def test_groups_are_known_whatever_the_program_makes_of_builtins():


    program = """
import builtins, sys, toy_backend as toy
kept = builtins.ExceptionGroup
seen = []
def f(x):
    y = x * 2
    try:
        raise kept("g", [ValueError(1), TypeError(2)])
    except* ValueError:
        y = y + 1
    except* TypeError:
        y = y * 3
    return y
builtins.ExceptionGroup = lambda *args: seen.append(args)
captured = toy.to_static(f)
assert [captured(toy.tensor([1.0])).tolist() for _ in range(3)] == [[9.0]] * 3
assert not seen, seen
assert toy.stats()["graphs"] == 1 and toy.stats()["hits"] == 2, toy.stats()
"""
    ran = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    assert ran.returncode == 0, ran.stdout.decode()
