"""An entry binds arguments exactly as Python does, and fails exactly as Python does."""

import itertools

import pytest


def positional(a, b):
    return a, b


def defaults(a, b=2, c=3):
    return a, b, c


def star(a, *args):
    return a, args


def star_default(a, b=2, *args):
    return a, b, args


def keyword_only(a, *, k, m=5):
    return a, k, m


def double_star(a, **kw):
    return a, kw


def everything(a, b=2, *args, k, m=5, **kw):
    return a, b, args, k, m, kw


def nothing():
    return ()


def only_star(*args, **kw):
    return args, kw


def captured(a, *args, k=1, **kw):
    return (lambda: (a, args, k, kw))()


namespace = {}
exec(
    "def posonly(a, b=2, /, c=3, *, d=4): return a, b, c, d\n"
    "def posonly_kw(a, /, **kw): return a, kw\n",
    namespace,
)
FUNCTIONS = [
    positional,
    defaults,
    star,
    star_default,
    keyword_only,
    double_star,
    everything,
    nothing,
    only_star,
    captured,
    namespace["posonly"],
    namespace["posonly_kw"],
]
ARGS = [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)]
KWARGS = [
    dict(kw)
    for n in range(4)
    for kw in itertools.combinations([("a", 10), ("b", 11), ("k", 12), ("m", 13), ("zz", 14)], n)
] + [{"c": 1}, {"d": 1}, {"c": 1, "d": 2}, {"args": 1}, {"kw": 2}]


def outcome(function, args, kwargs):
    try:
        return "value", function(*args, **kwargs)
    except TypeError as error:
        return "error", str(error)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_binds_and_fails_like_python(sot, function):
    code = function.__code__
    named = code.co_argcount + code.co_kwonlyargcount
    slots_of = code.co_varnames

    def show(*slots):
        """Rebuild the function's own result from the slots, by calling it."""
        values = dict(zip(slots_of, slots))
        extra = iter(slots[named:])
        rest = next(extra) if code.co_flags & 4 else ()
        keywords = next(extra) if code.co_flags & 8 else {}
        given = [values[name] for name in slots_of[: code.co_argcount]]
        only = {name: values[name] for name in slots_of[code.co_argcount : named]}
        assert len(slots) == named + bool(code.co_flags & 4) + bool(code.co_flags & 8)
        return function(*(given + list(rest)), **dict(only, **keywords))

    entry = sot._probe_entry(function, show)
    seen = set()
    for args in ARGS:
        for kwargs in KWARGS:
            expected = outcome(function, args, kwargs)
            assert outcome(entry, args, kwargs) == expected, (args, kwargs)
            seen.add(expected[0])
    assert "error" in seen or function is only_star


def test_argument_objects_pass_by_identity(sot):
    entry = sot._probe_entry(everything, lambda *slots: slots)
    a, extra, k, z = object(), object(), object(), object()
    slots = entry(a, 1, extra, k=k, z=z)
    assert slots[0] is a and slots[2] is k and slots[3] == 5
    assert slots[4] == (extra,) and slots[5] == {"z": z}


def test_defaults_are_read_live(sot):
    def f(a=1, *, k=2):
        return a, k

    entry = sot._probe_entry(f, lambda *slots: slots)
    assert entry() == (1, 2)
    f.__defaults__ = (7,)
    f.__kwdefaults__ = {"k": 8}
    assert entry() == (7, 8)
    entry.__defaults__ = (9,)
    assert f.__defaults__ == (9,) and entry() == (9, 8)
    f.__kwdefaults__ = None
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'k'"):
        entry()


def test_more_defaults_than_arguments(sot):
    def f(a):
        return a

    f.__defaults__ = (1, 2, 3)
    entry = sot._probe_entry(f, lambda *slots: slots)
    assert entry() == (f(),) == (3,)


def test_code_can_be_exchanged(sot):
    def f(a):
        return a

    def g(a, b):
        return b

    entry = sot._probe_entry(f, lambda *slots: slots)
    f.__code__ = g.__code__
    assert entry(1, 2) == (1, 2)


def test_defaults_changed_during_the_call(sot):
    def f(a=[]):
        return a

    f.__defaults__ = (["alive"],)

    def body(a):
        f.__defaults__ = (None,)
        return a

    assert sot._probe_entry(f, body)() == ["alive"]


def test_keyword_subclass_and_equal_strings(sot):
    class Name(str):
        pass

    entry = sot._probe_entry(defaults, lambda *slots: slots)
    assert entry(1, **{Name("b"): 5}) == (1, 5, 3)
    assert entry(1, **{"".join(["b"]): 6}) == (1, 6, 3)


def test_bound_entry_prepends_its_receiver(sot):
    class Layer:
        def forward(self, x, *rest, k=1, **kw):
            return self, x, rest, k, kw

    layer = Layer()
    entry = sot._probe_entry(Layer.forward, lambda *slots: slots, layer)
    assert entry(1) == (layer, 1, 1, (), {})
    assert entry(1, 2, k=3, z=4) == (layer, 1, 3, (2,), {"z": 4})
    with pytest.raises(TypeError) as ours:
        entry()
    with pytest.raises(TypeError) as theirs:
        layer.forward()
    assert str(ours.value) == str(theirs.value)
    with pytest.raises(TypeError, match="multiple values for argument 'self'"):
        sot._probe_entry((lambda self: 1), None, layer)(self=3)


def test_not_a_function(sot):
    for bad in (len, 3, None, int, object().__str__):
        with pytest.raises(TypeError, match="needs a Python function"):
            sot._probe_entry(bad)
