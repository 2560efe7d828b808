"""Guard primitives: every change is seen, nothing runs user code."""

import operator
import sys
import types

import pytest

PY313 = sys.version_info >= (3, 13)


def fresh(sot, kind, obj, change=lambda: None):
    return sot._probe_stamp(kind, obj, change)


DICT_CHANGES = [
    lambda d: d.__setitem__("a", object()),
    lambda d: d.__setitem__("new", 1),
    lambda d: d.__delitem__("a"),
    lambda d: d.update(b=3),
    lambda d: d.pop("b"),
    lambda d: d.popitem(),
    lambda d: d.clear(),
    lambda d: d.setdefault("other", 1),
    lambda d: d.__setitem__(7, 1),
    lambda d: operator.ior(d, {"z": 1}) if hasattr(dict, "__ior__") else d.update(z=1),
]


@pytest.mark.parametrize("index", range(len(DICT_CHANGES)))
def test_dict_changes(sot, index):
    change = DICT_CHANGES[index]
    plain = {"a": 1, "b": 2}
    assert fresh(sot, "dict", plain)
    assert fresh(sot, "dict", plain, lambda: plain.get("a"))
    assert not fresh(sot, "dict", plain, lambda: change(plain))
    module = types.ModuleType("m")
    module.a = 1
    module.b = 2
    assert not fresh(sot, "dict", module.__dict__, lambda: change(module.__dict__))


class Plain:
    def __init__(self):
        self.a = 1
        self.b = 2


def add_many(obj):
    for n in range(40):
        setattr(obj, "n%d" % n, n)


INSTANCE_CHANGES = [
    lambda o: setattr(o, "a", object()),
    lambda o: setattr(o, "new", 1),
    lambda o: delattr(o, "a"),
    lambda o: o.__dict__.__setitem__("a", object()),
    lambda o: o.__dict__.pop("b"),
    lambda o: o.__dict__.clear(),
    lambda o: vars(o).update(q=1),
    lambda o: object.__setattr__(o, "a", object()),
    add_many,
]


@pytest.mark.parametrize("settle", [False, True])
@pytest.mark.parametrize("index", range(len(INSTANCE_CHANGES)))
def test_instance_changes(sot, index, settle):
    change = INSTANCE_CHANGES[index]
    warm = [Plain() for _ in range(10)]
    for obj in warm:
        obj.a = 3
    obj = Plain()
    held = sot._probe_fact("instance_dict", obj)
    assert held == {"a": 1, "b": 2} and held is obj.__dict__
    if settle:
        assert sot._probe_fact("settle_dict", held) is not None
        assert list(held.items()) == [("a", 1), ("b", 2)]
        assert held is obj.__dict__
        assert fresh(sot, "dict", held)
    elif not PY313:
        assert fresh(sot, "dict", held)
    assert not fresh(sot, "dict", held, lambda: change(obj))


def test_settled_dict_keeps_working(sot):
    obj = Plain()
    held = sot._probe_fact("instance_dict", obj)
    sot._probe_fact("settle_dict", held)
    obj.c = 3
    del obj.a
    assert obj.__dict__ is held and held == {"b": 2, "c": 3}


def test_instance_dict(sot):
    class Slots:
        __slots__ = ("a",)

    class Mixed(Slots):
        pass

    class Tuple(tuple):
        pass

    class Empty:
        pass

    def f():
        pass

    fact = lambda obj: sot._probe_fact("instance_dict", obj)  # noqa: E731
    assert fact(Slots()) is None and fact(3) is None and fact([]) is None and fact(Plain) is None
    for obj in (Mixed(), Tuple((1, 2, 3)), Empty(), f, types, Exception()):
        assert fact(obj) is obj.__dict__
    obj = Empty()
    first = fact(obj)
    obj.x = 1
    assert first == {"x": 1} and first is obj.__dict__

    class Hostile:
        def __getattribute__(self, name):
            raise AssertionError(name)

    assert fact(Hostile()) == {}


TYPE_CHANGES = [
    lambda c: setattr(c, "method", 1),
    lambda c: setattr(c, "new", 1),
    lambda c: delattr(c, "method"),
    lambda c: setattr(c.__mro__[1], "inherited", 1),
    lambda c: setattr(c, "__bases__", (Other,)),
    lambda c: setattr(c, "__getattr__", lambda self, name: 1),
]


class Other:
    pass


@pytest.mark.parametrize("index", range(len(TYPE_CHANGES)))
def test_type_changes(sot, index):
    class Base:
        pass

    class C(Base):
        def method(self):
            pass

    assert fresh(sot, "type", C)
    assert fresh(sot, "type", C, lambda: C().method())
    assert not fresh(sot, "type", C, lambda: TYPE_CHANGES[index](C))
    assert fresh(sot, "type", C)
    assert fresh(sot, "type", int) and fresh(sot, "type", type)


def test_function_changes(sot):
    def f(a=1, *, k=2):
        return a

    def g(a=1, *, k=2):
        return k

    assert fresh(sot, "function", f)
    assert not fresh(sot, "function", f, lambda: setattr(f, "__code__", g.__code__))
    assert not fresh(sot, "function", f, lambda: setattr(f, "__defaults__", (5,)))
    assert not fresh(sot, "function", f, lambda: setattr(f, "__kwdefaults__", {"k": 5}))
    assert fresh(sot, "function", f, lambda: setattr(f, "note", 5))


def test_iterators(sot):
    fact = lambda it: sot._probe_fact("iterator", it)  # noqa: E731
    for sequence in ([1, 2, 3], (1, 2, 3)):
        it = iter(sequence)
        assert fact(it) == (sequence, 0)
        next(it)
        assert fact(it)[0] is sequence and fact(it)[1] == 1
        assert list(it) == [2, 3]
        assert fact(it) == ()
    it = iter(range(10, 2, -3))
    seen = []
    for _ in range(3):
        seen.append(fact(it))
        next(it)
    assert seen == [(10, -3, 3), (7, -3, 2), (4, -3, 1)]
    assert fact(it)[2] == 0 and list(it) == []
    assert fact(iter({})) is None and fact(iter("ab")) is None and fact(iter(range(2 ** 70))) is None
    assert fact(reversed([1])) is None and fact(3) is None


def test_cells(sot):
    def make():
        value = "inside"
        return lambda: value

    def empty():
        inner = lambda: later  # noqa: E731
        return inner
        later = 1  # noqa: F841

    assert sot._probe_fact("cell_contents", make().__closure__[0]) == "inside"
    assert sot._probe_fact("cell_contents", empty().__closure__[0]) is None
    assert sot._probe_fact("cell_contents", 3) is None


def test_getattr_kind(sot):
    class Hook:
        def __getattr__(self, name):
            return 1

    class Hook2:
        def __getattribute__(self, name):
            return 1

    class Module(types.ModuleType):
        pass

    kind = lambda ty: sot._probe_fact("getattr_kind", ty)  # noqa: E731
    assert [kind(t) for t in (Plain, int, type(None))] == ["Generic"] * 3
    assert kind(type) == "Type" and kind(types.ModuleType) == kind(Module) == "Module"
    assert [kind(t) for t in (Hook, Hook2, super)] == ["Custom"] * 3


def test_thread_facts(sot):
    import threading

    assert sot._probe_fact("thread", None) == threading.get_ident()
    old = sys.gettrace()
    sys.settrace(None)
    try:
        assert sot._probe_fact("tracing", None) is False
    finally:
        sys.settrace(old)
