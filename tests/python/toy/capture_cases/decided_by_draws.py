"""What numbers decide that are drawn: of a few ways to go on each is a capture, which is met by what is about to be drawn. Where there
are many ways, or a loop decides at each turn, the draw runs as Python."""

import random

from observe import case, open_case
from toy_framework import toy

t = toy.tensor
speak = toy.disable(lambda *args: None)
rng = random.Random(0)


def x1():
    return (t([1.0, 2.0]),)


def decided(build=None, seed=1, **decisions):
    """The stream begins at the same place in each world."""

    def seeded(function):
        def world():
            random.seed(seed)
            rng.seed(seed)
            watch = lambda: [hash(random.getstate()), hash(rng.getstate())]  # noqa: E731
            return {"f": function, "args": x1, "watch": watch}

        world.__name__ = "decided_by_draws_" + function.__name__
        world.__module__ = __name__
        (case(**decisions) if decisions else open_case)(world)

    return seeded(build) if build else seeded


@decided(graphs=2, captures=2, breaks=0)
def a_coin(x):
    if random.random() < 0.5:
        x = x * 2.0
    return x + 1.0


@decided(graphs=1, captures=2, breaks=0)
def two_coins(x):
    if rng.random() < 0.5:
        x = x * 2.0
    if rng.random() > 0.3:
        x = x + 3.0
    return x


@decided
def a_coin_and_a_number(x):
    keep = random.random()
    scale = random.uniform(0.5, 1.5)
    return (x * scale if keep < 0.7 else x), keep, scale


@decided(graphs=2, captures=2, breaks=0)
def one_of_two_texts(x):
    return x * 2.0, random.choice(["left", "right"])


@decided
def one_of_two_functions(x):
    return random.choice([lambda v: v * 2.0, lambda v: v + 1.0])(x)


@decided
def one_of_two_tensors(x):
    return random.choice([x * 2.0, x + 1.0])


@decided
def a_die_that_is_compared(x):
    if random.randint(1, 6) == 6:
        return x * 6.0
    return x


@decided
def a_die_that_is_an_index(x):
    return x, ["a", "b", "c", "d", "e", "f"][random.randint(0, 5)]


@decided
def a_coin_in_a_loop(x):
    kept = []
    for layer in range(6):
        if random.random() < 0.5:
            continue
        kept.append(layer)
        x = x + float(layer)
    return x, kept


@decided
def three_coins(x):
    for scale in (2.0, 3.0, 5.0):
        x = x * scale if random.getrandbits(1) else x + scale
    return x


@decided
def a_coin_behind_a_break(x):
    y = x * 2.0
    speak()
    if random.random() < 0.5:
        y = y + 1.0
    speak()
    return y if random.random() < 0.5 else y * 2.0


@decided
def a_coin_that_ends_a_loop(x):
    turns = 0
    while random.random() < 0.6:
        turns += 1
        x = x + 1.0
    return x, turns


@decided
def a_coin_under_a_handler(x):
    try:
        if random.random() < 0.5:
            raise ValueError("tails")
    except ValueError as error:
        return x * 2.0, str(error)
    return x


@decided
def the_larger_of_two(x):
    return x * max(random.random(), random.random()), min(rng.random(), 0.5)


@decided
def the_truth_of_bits(x):
    return x + 1.0 if random.getrandbits(2) else x


@decided
def what_is_done_before_and_after(x):
    kept = [random.random()]
    flip = random.random() < 0.5
    kept.append(flip)
    kept.append(random.random())
    return (x * 2.0 if flip else x), kept
