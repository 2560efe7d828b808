"""What a frame of a generator holds while it waits, over breaks and as an object: also variables that nothing reads any more."""

from observe import case
from toy_framework import toy

t = toy.tensor
pause = toy.disable(lambda *args: None)


def x1():
    return (t([1.0]),)


@toy.disable
def held(generator):
    return {name: str(value) for name, value in generator.gi_frame.f_locals.items()}


def counts(given, x):
    a = given
    while True:
        a += 1
        yield a


def steps(given, x):
    a = given + x
    for i in range(given):
        yield i


def keeps(given, x):
    b = [given]
    c = {"x": x, "b": b}
    d = x + given
    e = (d, given)
    yield given
    del given
    yield e


def pauses(given, x):
    a = given
    b = [given]
    c = {"x": x}
    pause()
    yield 1
    yield 2


def delegates(given, x):
    before = given
    yield from counts(before + 1, x)


KINDS = [counts, steps, keeps, pauses, delegates]


def waiting(kind, name, way):
    def build():
        return {"f": lambda x: way(kind(3, x), x), "args": x1}

    build.__name__ = f"held_by_waiting_{kind.__name__}_{name}"
    build.__module__ = __name__
    case(graphs=None, breaks=None, captures=None, reasons=None, fallbacks=None)(build)


def at_once(generator, x):
    first = next(generator)
    return x + 1, str(first), held(generator)


def twice(generator, x):
    next(generator)
    before = held(generator)
    next(generator)
    return x + 1, before, held(generator)


def over_a_break(generator, x):
    next(generator)
    pause()
    y = x + 1
    next(generator)
    pause()
    return y, held(generator)


def given_back(generator, x):
    next(generator)
    return x + 1, held(generator), held(generator)


WAYS = {"at_once": at_once, "twice": twice, "over_a_break": over_a_break, "given_back": given_back}
for kind in KINDS:
    for name, way in WAYS.items():
        waiting(kind, name, way)
