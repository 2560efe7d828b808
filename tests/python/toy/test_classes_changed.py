"""A class statement in a captured function reads globals, bases, decorators, defaults, annotations: when one of them has changed
between two calls, the next call notices."""

import builtins
import types

import pytest

from doors import DOORS
from toy_framework import toy

t = toy.tensor

SOURCE = '''
K = 2
LIST = [1, 2]
SLOTS = ("a",)
NAME = "One"
T = int
ERROR = ValueError

class Base:
    v = 1
    def go(self):
        return "base"

class Other:
    v = 10
    def go(self):
        return "other"

B = Base

class Config:
    attr = 1

config = Config()

class Tells:
    def __init_subclass__(cls):
        cls.got = "one"

class Meta(type):
    def __call__(cls, *args):
        return "meta"

def mark(cls):
    cls.mark = "first"
    return cls

def mark_again(cls):
    cls.mark = "second"
    return cls

def same(f):
    return f

def wraps(f):
    return lambda self: ("wrapped", f(self))

CLASS_DECORATOR, METHOD_DECORATOR = mark, same

def helper():
    return "h1"

def another():
    return "h2"

H = helper

def plain():
    class L:
        k = K
        def go(self):
            return self.k + K
    return L().go(), L.k

def based():
    class L(B):
        def more(self):
            return self.go(), self.v
    return L().more(), L.__bases__[0].__name__, isinstance(L(), Base)

def decorated():
    @CLASS_DECORATOR
    class L: pass
    return L.mark

def decorated_method():
    class L:
        @METHOD_DECORATOR
        def go(self):
            return 5
    return L().go()

def defaults():
    class L:
        def go(self, a=K, *, b=K):
            return a, b
    return L().go()

def annotated():
    class L:
        x: T = K
    return L.__annotations__["x"].__name__, L.x

def closed_over():
    n = K
    class L:
        z = n
        def go(self):
            return n, self.z
    return L().go()

def containers():
    class L:
        items = [i * K for i in LIST]
        pair = tuple(LIST)
        n = len(LIST)
        d = {"k": K}
    return L.items, L.pair, L.n, L.d

def conditional():
    class L:
        if K > 2:
            def go(self):
                return "big"
        else:
            def go(self):
                return "small"
    return L().go()

def called():
    class L:
        v = H()
        s = staticmethod(H)
        p = property(lambda self: H())
    return L.v, L.s(), L().p

def chain():
    class P:
        k = K
    class Q(P):
        def go(self):
            return super().k
    return Q().go()

def configured():
    class L:
        a = config.attr
        def go(self):
            return config.attr, self.a
    return L().go()

def raised():
    class E(ERROR):
        code = K
    try:
        raise E("x")
    except ValueError as error:
        return "value", error.code
    except Exception as error:
        return "other", error.code

def by_type():
    L = type(NAME, (B,), {"k": K})
    return L.__name__, L.k, L.v

def slots():
    class L:
        __slots__ = SLOTS
    try:
        L().a = 1
    except AttributeError:
        return "no a"
    return "a"

def of_builtins():
    class L:
        n = len("abc")
        def go(self):
            return len([1])
    return L.n, L().go()

def told():
    class L(Tells): pass
    return L.got
'''

PROGRAMS = [
    "plain based decorated decorated_method defaults annotated closed_over containers conditional called chain configured",
    "raised by_type slots of_builtins told",
]


def c_code(m):
    m.helper.__code__ = m.another.__code__


def c_mid(m):
    class Mid(m.Base):
        v = 77

    m.B = Mid


def c_bases(m):
    class Mid(m.Base):
        pass

    m.B = Mid
    yield
    Mid.__bases__ = (m.Other,)


def c_class_attribute(m):
    del m.config.attr


CHANGES = {
    "a number": lambda m: vars(m).update(K=3),
    "a number of another type": lambda m: vars(m).update(K=2.0),
    "a base": lambda m: vars(m).update(B=m.Other),
    "what a base holds": lambda m: setattr(m.Base, "v", 2),
    "a method of a base": lambda m: setattr(m.Base, "go", lambda self: "new"),
    "a decorator": lambda m: vars(m).update(CLASS_DECORATOR=m.mark_again),
    "a decorator of methods": lambda m: vars(m).update(METHOD_DECORATOR=m.wraps),
    "a decorator's code": lambda m: setattr(m.mark, "__code__", m.mark_again.__code__),
    "an annotation": lambda m: vars(m).update(T=str),
    "a list": lambda m: m.LIST.append(5),
    "an item": lambda m: m.LIST.__setitem__(0, 9),
    "a function": lambda m: vars(m).update(H=m.another),
    "a function's code": c_code,
    "an attribute": lambda m: setattr(m.config, "attr", 2),
    "an attribute deleted": lambda m: setattr(m.Config, "attr", 3),
    "an exception": lambda m: vars(m).update(ERROR=KeyError),
    "a name": lambda m: vars(m).update(NAME="Two"),
    "slots": lambda m: vars(m).update(SLOTS=("b",)),
    "a base in between": c_mid,
    "bases of a base": c_bases,
    "a builtin in globals": lambda m: vars(m).update(len=lambda x: 77),
    "who is told of subclasses": lambda m: setattr(
        m.Tells, "__init_subclass__", classmethod(lambda cls: setattr(cls, "got", "two"))
    ),
    "a metaclass": lambda m: vars(m).update(B=m.Meta("MB", (), {"v": 4, "go": lambda self: 1})),
    "who builds classes": lambda m: vars(m).update(
        __builtins__={**vars(builtins), "__build_class__": lambda f, name, *bases: types.SimpleNamespace}
    ),
}


def outcome(call):
    try:
        return repr(call()[1])
    except Exception as error:
        return repr(error)


def calls(door, name, change):
    module = types.ModuleType("changed_classes")
    exec(SOURCE, vars(module))
    f = vars(module)[name]
    run = door(lambda x: (x + 1, f()))
    found = [outcome(lambda: run(t([1.0]))) for _ in range(3)]
    # A change may have several stages.
    for _ in CHANGES[change](module) or (None,):
        found += [outcome(lambda: run(t([1.0]))) for _ in range(2)]
    found += [outcome(lambda: run(t([1.0]))) for _ in range(2)]
    return found


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", " ".join(PROGRAMS).split())
def test_a_change_is_noticed(name, door):
    for change in CHANGES:
        wanted = calls(lambda f: f, name, change)
        assert calls(door, name, change) == wanted, change
        stats = toy.stats()
        assert stats["captures"] > 0 and "internal-error" not in stats["reasons"], change
