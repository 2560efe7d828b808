"""An entry poses as the function it stands for, and lives and dies as an object should."""

import copy
import functools
import gc
import inspect
import pickle
import sys
import weakref

import pytest


def plain(a, b: int = 2, *, k=3) -> str:
    """Documented."""
    return a, b, k


plain.mark = "from the function"


def recursive(n):
    return 0 if n == 0 else 1 + recursive(n - 1)


@pytest.fixture
def entry(sot):
    return sot._probe_entry(plain, lambda *slots: slots)


def test_reads_like_the_function(entry):
    for name in (
        "__name__ __qualname__ __doc__ __module__ __annotations__ __defaults__ __kwdefaults__ "
        "__code__ __globals__ __closure__ mark"
    ).split():
        assert getattr(entry, name) == getattr(plain, name), name
    assert entry.__wrapped__ is plain
    assert inspect.signature(entry) == inspect.signature(plain)
    assert inspect.unwrap(entry) is plain
    assert repr(entry) == "<sot.Entry plain>"
    assert callable(entry) and not isinstance(entry, type)
    with pytest.raises(AttributeError):
        entry.missing


def test_local_attributes(entry):
    entry.note = 1
    assert entry.note == 1 and not hasattr(plain, "note")
    assert entry.__dict__ == {"note": 1}
    del entry.note
    assert not hasattr(entry, "note")
    entry.__doc__ = "own"
    entry.__name__ = "own_name"
    assert (entry.__doc__, entry.__name__) == ("own", "own_name")
    assert plain.__doc__ == "Documented." and plain.__name__ == "plain"
    with pytest.raises(AttributeError):
        del entry.never_set


def test_functools_wraps_both_ways(sot, entry):
    @functools.wraps(entry)
    def wrapper(*args):
        return entry(*args)

    assert wrapper.__name__ == "plain" and wrapper.__wrapped__ is entry
    functools.update_wrapper(entry, recursive)
    assert entry.__wrapped__ is recursive and entry.__name__ == "recursive"


def test_method_classmethod_staticmethod(sot):
    def f(*args):
        return args

    identity = lambda args: args  # noqa: E731

    class C:
        method = sot._probe_entry(f, identity)
        on_class = classmethod(sot._probe_entry(f, identity))
        static = staticmethod(sot._probe_entry(f, identity))

    c = C()
    assert c.method(1) == (c, 1)
    bound = c.method
    assert bound(2) == (c, 2) and bound.__self__ is c and bound.__func__ is C.method
    assert C.method(c, 3) == (c, 3)
    assert C.on_class(1) == (C, 1) == c.on_class(1)
    assert C.static(1) == (1,) == c.static(1)
    assert c.method(*[1, 2]) == (c, 1, 2)
    for _ in range(50):  # long enough for the interpreter to specialise the call
        assert c.method(4) == (c, 4)


def test_bound_entry_does_not_bind_again(sot):
    receiver = object()

    class C:
        call = sot._probe_entry(lambda *args: args, lambda args: args, receiver)

    for _ in range(20):
        assert C().call(1) == (receiver, 1)
    c = C()
    c.own = sot._probe_entry(lambda *args: args, lambda args: args)
    assert c.own(1) == (1,)


def test_bound_entry_reads_like_a_bound_method(sot):
    layer = Layer()
    entry = sot._probe_entry(Layer.forward, None, layer)
    assert inspect.signature(entry) == inspect.signature(layer.forward)
    assert entry.__self__ is layer and entry.__func__ is Layer.forward
    assert entry.__wrapped__ == layer.forward and entry.__name__ == "forward"
    free = sot._probe_entry(plain)
    assert not hasattr(free, "__self__") and not hasattr(free, "__func__")


def test_copy_and_pickle(sot):
    module = sys.modules[__name__]
    original = recursive
    entry = sot._probe_entry(original, lambda n: n)
    module.recursive = entry
    try:
        assert copy.copy(entry) is entry and copy.deepcopy(entry) is entry
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(entry, protocol)) is entry
    finally:
        module.recursive = original


class Layer:
    def forward(self, x):
        return self, x


def test_copy_of_an_object_with_a_bound_entry(sot):
    layer = Layer()
    layer.forward = sot._probe_entry(Layer.forward, None, layer)
    twin = copy.deepcopy(layer)
    assert twin.forward(1) == (twin, 1)
    again = pickle.loads(pickle.dumps(layer))
    assert again.forward(1) == (again, 1)


def test_weakref(sot):
    entry = sot._probe_entry(plain)
    died = []
    ref = weakref.ref(entry, died.append)
    assert ref() is entry
    del entry
    assert ref() is None and len(died) == 1


def test_cycles_are_collected(sot):
    def cycle(kind):
        def f():
            return holder

        holder = []
        if kind == "function":
            entry = sot._probe_entry(f)
        elif kind == "body":
            entry = sot._probe_entry(plain, lambda *s: holder)
        elif kind == "dict":
            entry = sot._probe_entry(plain)
            entry.me = entry
        elif kind == "self":
            entry = sot._probe_entry(lambda self: None, None, holder)
        elif kind == "shared":
            entry = sot._probe_entry(f)
            holder.append(sot._probe_entry_share(entry))
        else:
            entry = sot._probe_native(lambda: holder)
        holder.append(entry)
        return weakref.ref(entry)

    for kind in ("function", "body", "dict", "self", "shared", "native"):
        refs = [cycle(kind) for _ in range(20)]
        gc.collect()
        assert [ref() for ref in refs] == [None] * 20, kind


def test_a_shared_body_survives_its_cycle(sot):
    def f():
        return None

    target = lambda: "alive"  # noqa: E731
    first = sot._probe_entry(f, target)
    second = sot._probe_entry_share(first)
    del target
    first.me = first
    del first
    for _ in range(3):
        gc.collect()
    assert second() == "alive"


def test_panic_runs_the_original(sot, capfd):
    before = sot._hook_failures()
    entry = sot._probe_entry(plain, None, None, True)
    assert entry(1, k=5) == (1, 2, 5)
    layer = Layer()
    assert sot._probe_entry(Layer.forward, None, layer, True)(x=1) == (layer, 1)
    assert sot._hook_failures() == before + 2
    with pytest.raises(SystemError, match="panic: probe"):
        sot._probe_native(None, True)()


def test_exceptions_of_the_body_pass(sot):
    def boom(*slots):
        raise KeyError("x")

    with pytest.raises(KeyError):
        sot._probe_entry(plain, boom)(1)


def test_types_cannot_be_made_or_derived(sot, entry):
    for ty in (type(entry), type(sot._probe_native())):
        with pytest.raises(TypeError):
            ty()
        with pytest.raises(TypeError):
            type("Derived", (ty,), {})


def test_recursion_through_entries(sot):
    def f(n):
        return 0 if n == 0 else 1 + entry(n - 1)

    entry = sot._probe_entry(f, f)
    assert entry(100) == 100
    with pytest.raises(RecursionError):
        entry(10 ** 6)
    assert entry(100) == 100


def test_native_function(sot):
    native = sot._probe_native(lambda *args: args)
    assert native(1, 2) == (1, 2) and native() == ()
    assert native(*range(20)) == tuple(range(20))
    assert native.__name__ == "probe" and repr(native) == "<sot.NativeFunction probe>"
    with pytest.raises(TypeError, match="takes no keyword arguments"):
        native(a=1)
    assert native(**{}) == ()
    assert sot._probe_is_native(native) and not sot._probe_is_native(len)
    assert list(map(native, [1, 2])) == [(1,), (2,)]
    ref = weakref.ref(native)
    del native
    assert ref() is None
