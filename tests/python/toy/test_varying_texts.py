"""Texts in which numbers vary: joined, written by methods of the program, kept in containers; keys that are made anew."""

import pytest
from toy_framework import toy

t = toy.tensor
CALLS = 8


class Meter:
    """What training loops write to their logs."""

    def __init__(self, name, spec=":.3f"):
        self.name, self.spec = name, spec
        self.value = self.average = self.total = 0.0
        self.count = 0

    def update(self, value):
        self.value = value
        self.total += value
        self.count += 1
        self.average = self.total / self.count

    def __str__(self):
        template = "{name} {value" + self.spec + "} ({average" + self.spec + "})"
        return template.format(**self.__dict__)


class Shown:
    def __init__(self, n):
        self.n = n

    def __repr__(self):
        return "Shown(%d)" % self.n

    def __format__(self, spec):
        return f"<{self.n}{spec}>"

    def __int__(self):
        return self.n + 1

    def __float__(self):
        return self.n * 0.5


NAMES = {"layer": 3}


def unique(prefix):
    key = "".join(["la", prefix])
    number = NAMES[key]
    NAMES[key] += 1
    return "_".join([key, str(number)])


BODIES = {
    "a meter": lambda m, n: str(m),
    "a meter in a field": lambda m, n: f"[{m}] {m.value:.2f}",
    "meters joined": lambda m, n: "\t".join([str(m), "and", str(m)]),
    "joined by nothing": lambda m, n: "".join(["n", str(n)]),
    "one joined": lambda m, n: "-".join([str(n)]),
    "joined of a generator": lambda m, n: ", ".join(str(k) for k in (n, 1, n + 1)),
    "repr": lambda m, n: repr(Shown(n)),
    "str by repr": lambda m, n: str(Shown(n)),
    "format": lambda m, n: format(Shown(n), "x") + f"{Shown(n):y}",
    "a list": lambda m, n: str([Shown(n), n]),
    "a tuple": lambda m, n: str((n, 1)) + repr((n,)),
    "a dict": lambda m, n: f"{ {'n': n, 'm': Shown(n)} }",
    "int and float": lambda m, n: (int(Shown(n)), float(Shown(n))),
    "a unique name": lambda m, n: unique("yer"),
    "an attribute": lambda m, n: setattr(m, "label", "run_%d" % n) or m.label,
}


def run(door, body):
    meter = Meter("loss")
    NAMES["layer"] = 3
    box = [0]

    def f(x, value):
        meter.update(value)
        box[0] += 1
        return x * 2, body(meter, box[0])

    call = door(f)
    return [[out if not hasattr(out, "tolist") else out.tolist() for out in call(t([1.0]), 1.0 + n * 0.37)] for n in range(CALLS)]


@pytest.mark.parametrize("name", BODIES)
def test_two_captures(name):
    wanted = run(lambda f: f, BODIES[name])
    toy.reset()
    assert run(toy.to_static, BODIES[name]) == wanted
    stats = toy.stats()
    assert (stats["breaks"], stats["fallbacks"], stats["hook_failures"]) == (0, 0, 0)
    assert stats["captures"] <= 3
