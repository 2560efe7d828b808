"""`SOT_VERIFY=1`: plain Python beside each captured call, in processes of their own, since the variable is read once.

Captures are made blind to a fact (`blind_to`, a hook for tests), the fact is changed, and the difference must be told with the fact. Without
that nothing may be told, whatever the program does."""

import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

HEAD = """
import collections, itertools, random, sys, warnings
import toy_backend as toy
t = toy.tensor


class Config:
    scale = 2

    def __init__(self):
        self.depth, self.table, self.sizes = 3, {"a": 1, "b": 2}, [4, 5]


class Slotted:
    __slots__ = "n",


config, slotted, mode, sizes, table = Config(), Slotted(), "add", [1, 2, 3], {"k": 1}
slotted.n = 1
"""


def run(program, verify="1"):
    """Counters and stderr of a program. Each line that it prints is `name value`."""
    tail = """
    print()
    for name in ("captures", "hits", "verified", "differences"):
        print(name, toy.stats()[name])
    """
    source = HEAD + textwrap.dedent(program) + textwrap.dedent(tail)
    env = dict(os.environ, SOT_VERIFY=verify, SOT_MEASURE="0")
    ran = subprocess.run([sys.executable, "-c", source], env=env, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    lines = [line.split(" ") for line in ran.stdout.split("\n\n")[-1].split("\n") if line]
    return {name: int(value) for name, value in lines}, ran.stderr


# A fact: what guards say of it, an expression that reads it, what changes it, and its name in the program's words.
FACTS = {
    "a global": ("mode", "len(mode)", "mode = 'subtract'", "mode == 'subtract'"),
    "an item of a list": ("<list>[1] ==", "sizes[1]", "sizes[1] = 7", "sizes"),
    "an item of a dict": ("<dict>['k'] ==", "table['k']", "table['k'] = 7", "table['k'] == 7"),
    "an attribute": ("depth", "config.depth", "config.depth = 7", "config.depth == 7"),
    "an attribute of a class": ("scale", "config.scale", "Config.scale = 7", "scale"),
    "an item of an attribute": ("<list>[0] ==", "config.sizes[0]", "config.sizes[0] = 7", "config.sizes[0] == 7"),
    "a slot": ("<Slotted>.n ==", "slotted.n", "slotted.n = 7", "slotted.n == 7"),
    "a length": ("len(<list>)", "len(config.sizes)", "config.sizes.append(7)", "len(config.sizes) == 3"),
    "a default": ("f", "k", "f.__defaults__ = (7,)", "k == 7"),
    "a cell": ("cell", "captive()", "refill(7)", "7"),
}
CELL = """
def make(value):
    def captive():
        return value
    def refill(other):
        nonlocal value
        value = other
    return captive, refill
captive, refill = make(2)
"""


@pytest.mark.parametrize("fact", FACTS)
def test_a_fact_that_no_guard_covers_is_told(fact):
    blind, read, change, told = FACTS[fact]
    blind = {"a default": "locals[\"k\"]"}.get(fact, blind)
    found, said = run(
        CELL
        + f"""
def f(x, k=2):
    return x * {read}

toy.blind_to({blind!r})
captured = toy.to_static(f)
for round in range(2):
    captured(t([1.0, 2.0]))
{change}
captured(t([1.0, 2.0]))
"""
    )
    assert found == {"captures": 1, "hits": 2, "verified": 3, "differences": 1}, said
    first, *rest = said.strip().split("\n")
    assert first == "sot.verify: f (<string>:%s) is not what plain Python comes to:" % first.split(":")[2].split(")")[0]
    assert "the result.numbers: captured" in rest[0] and "plain Python" in rest[0]
    behind = "\n".join(rest).split("no guard of this one checks:\n")
    assert len(behind) == 2 and told in behind[1], said


def test_without_it_nothing_runs_beside():
    found, said = run(
        """
        toy.blind_to("depth")
        captured = toy.to_static(lambda x: x * config.depth)
        captured(t([1.0]))
        config.depth = 5
        captured(t([1.0]))
        """,
        verify="0",
    )
    assert found == {"captures": 1, "hits": 1, "verified": 0, "differences": 0}
    assert said == ""


def test_a_difference_in_what_is_left_behind_is_told_by_its_path():
    found, said = run(
        """
        def f(x):
            config.table["a"] = config.depth + 1
            return x + 1

        toy.blind_to("depth")
        captured = toy.to_static(f)
        captured(t([1.0]))
        config.depth = 5
        captured(t([1.0]))
        """
    )
    assert found["differences"] == 1
    assert "globals['config'].table['a']: captured int 4, plain Python int 6" in said


def test_an_exception_that_differs_is_told_with_its_lines():
    found, said = run(
        """
        def f(x):
            if config.depth > 4:
                raise ValueError(config.depth)
            return x * 2

        toy.blind_to("depth")
        captured = toy.to_static(f)
        captured(t([1.0]))
        config.depth = 5
        captured(t([1.0]))
        """
    )
    assert found["differences"] == 1
    assert "the result: captured tensor, plain Python nothing" in said
    assert "the exception: captured nothing, plain Python ValueError at <string>:" in said


# Programs of which nothing is told: the body of `f`, what is called, and how often.
SAME = {
    "effects": "config.depth += 1; sizes.append(k); table[k] = x; config.sizes[0] = sizes; return x + config.depth, sizes",
    "random numbers": "return x * random.random(), random.randint(1, 9)",
    "an exception": "sizes.append(k)\n    raise ValueError(k, x)",
    "a break": "print('between')\n    y = x + 1\n    print('more')\n    return y * sizes[0]",
    "a generator": "def g():\n        yield x\n        yield k\n    made = g()\n    next(made)\n    return made, x + 1",
    "iterators": "return iter([1, 2]), zip([1], [2]), iter({1: 2}), itertools.count(), x + 1",
    "sets": "return {1, 2, 'a'}, {x.shape, k}, frozenset([object]), x + 1",
    "classes": "class Made:\n        n = k\n        def __init__(self): self.x = x\n    return Made(), Made",
    "functions": "return lambda: (x, k), f, sizes.append, config.__init__, x + 1",
    "self-containing values": "made = [k]\n    made.append(made)\n    return made, {1: made}, x + 1",
    "a warning": "warnings.warn('once')\n    return x + 1",
    "numbers of all kinds": "return 1.5, -0.0, float('nan'), 2j, True, None, ..., b'ab', 10 ** 30, x + 1",
    "deques": "made = collections.deque([1, x], 3)\n    made.append(made)\n    return made, collections.Counter('aab'), x + 1",
}


@pytest.mark.parametrize("what", SAME)
def test_nothing_is_told_where_nothing_differs(what):
    found, said = run(
        f"""
def f(x, k):
    {SAME[what]}

captured = toy.to_static(f)
for k in [1, 2, 3, 3]:
    try:
        captured(t([1.0, k]), k)
    except ValueError:
        pass
"""
    )
    assert found["differences"] == 0, said
    assert "sot.verify" not in said and "SOT_VERIFY" not in said
    assert found["verified"] == 4


def test_random_programs_come_to_the_same():
    """Their state changes between calls, in every way that they have."""
    driver = pathlib.Path(__file__).resolve().parents[2] / "driver" / "random_programs.py"
    command = [sys.executable, str(driver), "--verify", "--seeds", "0:60"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.startswith("60 programs, 0 differ")


def test_frames_that_the_hook_meets_are_looked_at():
    found, said = run(
        """
        def below(x):
            return x * config.depth

        def between(call, x):
            return next(call(each) for each in [x])

        def f(x):
            print("f")
            return [each for each in map(below, [x])], between(below, x)

        toy.blind_to("depth")
        captured = toy.to_static(f)
        captured(t([1.0]))
        config.depth = 5
        captured(t([1.0]))
        """
    )
    assert found["differences"] == 1, said


def test_what_is_written_is_written_once_and_children_are_gone():
    source = HEAD + textwrap.dedent(
        """
        import os
        captured = toy.to_static(lambda x: (print("here"), x * 2))
        captured(t([1.0]))
        captured(t([1.0]))
        print(toy.stats()["verified"])
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            print("none")
        """
    )
    env = dict(os.environ, SOT_VERIFY="1")
    ran = subprocess.run([sys.executable, "-c", source], env=env, capture_output=True, text=True, timeout=120)
    assert ran.stdout == "here\nhere\n2\nnone\n", ran.stderr
    assert ran.stderr == ""
