"""Functions whose parts are set between calls: only the parts that a call depends on are guarded, by what was read of them."""

import pytest

from toy_framework import toy

t = toy.tensor


def fresh(value):
    """Equal, but another object where that can be."""
    if isinstance(value, str):
        return "".join(list(value))
    return type(value)(list(value.items())) if isinstance(value, dict) else tuple(list(value))


PARTS = {
    "__doc__": ["one", "others"],
    "__defaults__": [(4.5,), (5.5,)],
    "__kwdefaults__": [{"w": 2.5}, {"w": 3.5}],
    "__name__": ["one", "others"],
    "__qualname__": ["one.name", "others"],
    "__module__": ["one", "others"],
    "__annotations__": [{"x": 1}, {"k": 2}],
}


def make():
    def g(x, k=2, *, w=1):
        return x * k + w

    return g


def make_generator():
    def g(x, k=2, *, w=1):
        yield x * k + w

    return g


BODIES = {
    "call": lambda x, g: g(x),
    "__doc__": lambda x, g: x * len(g.__doc__ or ""),
    "__defaults__": lambda x, g: x * g.__defaults__[0],
    "__name__": lambda x, g: x * len(g.__name__),
    "__qualname__": lambda x, g: x * len(g.__qualname__),
    "__module__": lambda x, g: x * len(g.__module__),
    "name and call": lambda x, g: g(x) * len(g.__name__),
}

# Whose value a body depends on.
DEPENDS = {"call": {"__defaults__", "__kwdefaults__"}, "name and call": {"__defaults__", "__kwdefaults__", "__name__"}}


def captures(how, body, g, sets):
    f = BODIES[body]
    captured = toy.to_static({"cell": lambda x, o: f(x, g), "argument": f, "item": lambda x, o: f(x, o[0])}[how])
    argument = [g] if how == "item" else g
    toy.reset()
    for name, value in sets:
        setattr(g, name, value)
        assert captured(t([1.0]), argument).tolist() == f(t([1.0]), g).tolist()
    stats = toy.stats()
    assert not stats["reasons"], stats
    return stats["captures"]


@pytest.mark.parametrize("how", ["cell", "argument", "item"])
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("part", PARTS)
def test_one_part(how, body, part):
    one, others = PARTS[part]
    kept = [(part, one), (part, one)]
    assert captures(how, body, make(), kept) == 1
    matters = part in DEPENDS.get(body, {body})
    # Found by its path, a default argument is known by what it is; else by its object.
    assert captures(how, body, make(), [(part, one), (part, others), (part, one), (part, others)]) == 1 + matters
    if part not in ("__defaults__", "__kwdefaults__"):
        equal = [(part, fresh(one)) for _ in range(4)]
        assert captures(how, body, make(), equal) == 1


@pytest.mark.parametrize("how", ["cell", "argument", "item"])
@pytest.mark.parametrize("body", BODIES)
def test_all_parts_in_turn(how, body):
    sets = [(part, values[at]) for at in (0, 1, 0, 1) for part, values in PARTS.items()]
    captures(how, body, make(), sets)


@pytest.mark.parametrize("how", ["cell", "argument"])
def test_a_generator_is_named_after_its_function(how):
    g = make_generator()

    def f(x, h):
        made = (g if how == "cell" else h)(x)
        toy.graph_break()
        return x * 2, made

    captured = toy.to_static(f)
    for name in ("g", "other", "g", "other"):
        g.__name__ = name
        assert captured(t([1.0]), g)[1].__name__ == name
        assert "internal-error" not in toy.stats()["reasons"]
