"""Random worlds, random functions that read and write them, and one change: guards accept the world that a capture came
from and reject every change that the function could tell.

A world is a graph of containers, instances and values, made again from its seed as often as wanted. A function reads
random paths of it in random ways. It is captured, called on an equal world (which must be a hit), and on worlds of
which a single place was changed: replaced, removed, swapped, given an equal value of another type, or made an alias of
another place. Results and the world afterwards must be those of plain Python. `SOT_VERIFY_GUARDS` compares each answer
of the native guards with their reference meanwhile.
"""

import copy
import random

import pytest

from doors import DOORS
from observe import freeze
from toy_framework import toy

t = toy.tensor
SEEDS = 80
CHANGES = 12


class Base:
    n = 2

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class Sub(Base):
    m = 3


class Slotted:
    __slots__ = ("u", "v")


def double(x):
    return x * 2


def triple(x):
    return x * 3


def leaf(rng):
    return rng.choice([0, 1, 2, -0.0, 0.0, 1.0, True, False, None, "a", "b", "", (1, 2), (), double, triple, Base, len])


def make(rng, depth, made):
    """A value; sometimes one that was made before, or its twin."""
    if made and rng.random() < 0.4:
        value = rng.choice(made)
        twin = rng.random() < 0.6 and isinstance(value, (list, dict, Base))
        return copy.copy(value) if twin else value
    if depth == 0 or rng.random() < 0.2:
        return leaf(rng)
    kind = rng.randrange(6)
    parts = [make(rng, depth - 1, made) for _ in range(rng.randrange(1, 4))]
    if kind == 0:
        value = parts
    elif kind == 1:
        value = dict(zip(["k", "l", 1], parts))
    elif kind == 2:
        return tuple(parts)
    elif kind == 3:
        value = Slotted()
        value.u = parts[0]
    elif kind == 4:
        return t([1.0] * rng.randrange(1, 3))
    else:
        value = rng.choice([Base, Sub])(**dict(zip(["k", "l", "n"], parts)))
    made.append(value)
    return value


class World:
    def __init__(self, seed):
        rng = random.Random(seed)
        made = []
        self.args = [make(rng, 2, made) for _ in range(3)]
        self.space = {"G": make(rng, 2, made), "H": make(rng, 2, made), "Base": Base, "Sub": Sub}

    def places(self):
        """(how to reach it as text, container, key) of everything in the world, each container once."""
        found, seen = [], set()

        def visit(text, container, key, value):
            found.append((text, container, key, value))
            if id(value) in seen:
                return
            seen.add(id(value))
            if isinstance(value, (list, tuple)):
                for i, item in enumerate(value):
                    visit(f"{text}[{i}]", value, i, item)
            elif isinstance(value, dict):
                for k, item in list(value.items()):
                    visit(f"{text}[{k!r}]", value, k, item)
            elif isinstance(value, Base):
                for k, item in list(vars(value).items()):
                    visit(f"{text}.{k}", value, k, item)
            elif isinstance(value, Slotted):
                visit(f"{text}.u", value, "u", value.u)

        for name, value in zip("abc", self.args):
            visit(name, self.args, "abc".index(name), value)
        for name in "GH":
            visit(name, self.space, name, self.space[name])
        return found


def of_its_type(rng, places, value):
    """Places that could be the same object, mostly."""
    return [p for p in places if type(p[3]) is type(value)] if rng.random() < 0.8 else places


def reads(rng, places):
    """Lines of a function that looks at random places in random ways."""
    lines = []
    for _ in range(rng.randrange(2, 6)):
        e, _, _, value = rng.choice(places)
        o, _, _, other = rng.choice(of_its_type(rng, places, value))
        ways = [
            f"out.append({e})",
            f"out.append(type({e}) is type({o}))",
            f"out.append({e} is {o})",
            f"out.append(isinstance({e}, Base))",
            f"out.append({e} is None)",
            f"out.append(hasattr({e}, 'l'))",
        ]
        if isinstance(value, (list, tuple, dict)):
            ways += [f"out.append(len({e}))", f"out.append(list({e}))"]
        if isinstance(value, list) and isinstance(other, list):
            ways += [f"{e}.append(x); out.append(len({o}))", f"{e}.clear(); out.append(list({o}))"] * 3
        if isinstance(value, dict) and isinstance(other, dict):
            ways += [f"{e}['k'] = 7; out.append(list({o}.items()))"] * 5
        if isinstance(value, Base) and isinstance(other, Base):
            ways += [f"{e}.k = 8; out.append(getattr({o}, 'k', 1))"] * 5
        if isinstance(value, list):
            ways += [f"{e}.append(x)", f"{e}.pop()", f"{e}[0] = 5", f"out.append(len({o}) if {e} is {o} else 0)"]
        if isinstance(value, dict):
            ways += [f"{e}['k'] = 7", f"out.append({e}.get('l'))", f"out.append(list({e}.items()))"]
        if isinstance(value, Base):
            ways += [f"{e}.k = 8", f"out.append({e}.n)", f"out.append(getattr({e}, 'm', 4))"]
        if isinstance(value, Slotted):
            ways += [f"out.append(hasattr({e}, 'v'))"]
        if type(value) is int:
            ways += [f"x = x * {e}"]
        if value is double or value is triple:
            ways += [f"x = {e}(x)"]
        if isinstance(value, toy.Tensor):
            ways += [f"out.append({e} * 2)"]
        lines.append(rng.choice(ways))
    return lines


def function(lines, space):
    body = "".join(f"    {line}\n" for line in lines)
    source = f"def f(x, a, b, c):\n    out = []\n{body}    return x * 2, out\n"
    space["__builtins__"] = __builtins__
    exec(compile(source, "cases_of_properties", "exec"), space)
    return space["f"]


def alike(value):
    """An equal value of another type."""
    swaps = {int: float, bool: int, float: int, tuple: list, list: tuple}
    return swaps[type(value)](value) if type(value) in swaps and value == value else "else"


def disturb(world, rng, lines):
    """One change, mostly of something that the function mentions."""
    places = [p for p in world.places() if not isinstance(p[1], tuple)]
    mentioned = [p for p in places if any(p[0] in line for line in lines)]
    text, container, key, value = rng.choice(mentioned if mentioned and rng.random() < 0.8 else places)
    other = rng.choice(of_its_type(rng, places, value))[3]
    twins = [p[3] for p in places if p[3] is not value and type(p[3]) is type(value) and freeze(p[3]) == freeze(value)]
    if twins and rng.random() < 0.7:
        other = rng.choice(twins)
    what = rng.randrange(6)
    if what == 4 and isinstance(value, (list, dict)):
        if isinstance(value, list):
            value.append(3)
        else:
            value["z"] = value.pop(next(iter(value)), 1)
        return
    if what == 5 and isinstance(value, Base):
        value.__class__ = Base if type(value) is Sub else Sub
        return
    new = [leaf(rng), alike(value), other, other, 1, None][what]
    if isinstance(container, (list, dict)):
        container[key] = new
    else:
        setattr(container, key, new)


def observe(call, world):
    try:
        result = call(t([1.0]), *world.args)
    except Exception as error:
        result = type(error).__name__
    return freeze([result, world.args, world.space["G"], world.space["H"]])


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("seed", range(SEEDS))
def test_one_change(seed, door, capsys):
    world = World(seed)
    lines = reads(random.Random(seed), world.places())
    other = World(seed)
    expected = observe(function(lines, other.space), other)
    space = world.space
    translated = door(function(lines, space))

    def call(other):
        """The globals stay the captured function's; what they hold is the world's."""
        space.update(G=other.space["G"], H=other.space["H"])
        return observe(translated, other)

    toy.reset()
    for number in range(3):
        assert call(World(seed)) == expected, f"call {number} of {lines}"
    for change in range(CHANGES):
        eager, captured = World(seed), World(seed)
        disturb(eager, random.Random(seed * 1000 + change), lines)
        disturb(captured, random.Random(seed * 1000 + change), lines)
        plain = function(lines, eager.space)
        assert call(captured) == observe(plain, eager), f"change {change} of {lines}"
        assert call(World(seed)) == expected, f"after change {change} of {lines}"
    assert "internal-error" not in toy.stats()["reasons"], lines
    capsys.readouterr()
