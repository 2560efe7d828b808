"""Lists of numbers that are shuffled, samples, and numbers by methods of `random.Random` that are written in Python: the very numbers that
plain Python draws, and the stream stands where it does afterwards."""

import random

from observe import case, open_case
from toy_framework import toy

t = toy.tensor
speak = toy.disable(lambda *args: None)
rng = random.Random(0)
KEPT = [1, 2, 3, 4, 5]


def x1():
    return (t([1.0, 2.0]),)


def drawn(build=None, **decisions):
    """The streams begin at the same place in each world."""

    def seeded(function):
        def world():
            random.seed(5)
            rng.seed(6)
            KEPT[:] = [1, 2, 3, 4, 5]
            watch = lambda: [random.getstate()[2], hash(random.getstate()), hash(rng.getstate()), KEPT]  # noqa: E731
            return {"f": function, "args": x1, "watch": watch}

        world.__name__ = "shuffled_" + function.__name__
        world.__module__ = __name__
        (case(**decisions) if decisions else open_case)(world)

    return seeded(build) if build else seeded


@drawn(graphs=1, captures=1, breaks=0)
def a_list_of_the_frame(x):
    order = list(range(4))
    random.shuffle(order)
    return x * 2.0, order


@drawn(graphs=1, captures=1, breaks=0)
def scales_of_tensors(x):
    scales = [1.0, 2.0, 4.0]
    same = scales
    random.shuffle(scales)
    for scale in scales:
        x = x * scale + scale
    return x, scales[0] + scales[1], same is scales


@drawn(graphs=1, captures=1, breaks=0)
def samples(x):
    first, *rest = random.sample(range(1000), 5)
    return x + first, rest, rng.sample([1, 2, 3, 4], 2), rng.sample((0.5, 1.5), k=1), random.random()


@drawn(graphs=1, captures=1, breaks=0)
def samples_of_many(x):
    return x * 2.0, random.sample(range(10), 7), random.sample(range(100000), 12), random.sample([], 0)


@drawn(graphs=1, captures=1, breaks=0)
def numbers_around_a_mean(x):
    noise = random.gauss(0.0, 1.0), random.gauss(1, 2), random.gauss(0, 0.5), rng.gauss(2, 3)
    return x + noise[0], noise, random.normalvariate(0, 1), rng.normalvariate(1.5, 2.0), random.random()


@drawn
def one_number_around_a_mean(x):
    """The second of the two is kept for the next call."""
    return x * rng.gauss(0.0, 1.0)


@drawn
def what_is_kept_is_read(x):
    first = rng.gauss(0.0, 1.0)
    kept = rng.gauss_next, vars(rng)["gauss_next"]
    rng.gauss_next = 0.5
    return x * first, kept, rng.gauss(0.0, 1.0), rng.gauss_next


@drawn
def by_a_deviation_that_is_drawn(x):
    first = rng.gauss(0.0, 1.0)
    return x * first, rng.gauss(0.0, first), rng.gauss(first, 1.0), rng.gauss(0.0, 1.0)


@drawn
def a_stream_that_is_seeded(x):
    first = rng.gauss(0.0, 1.0)
    rng.seed(8)
    state = rng.getstate()
    other = rng.gauss(0.0, 1.0), rng.random()
    rng.setstate(state)
    return x * first, other, rng.random(), rng.gauss(0.0, 1.0)


@drawn
def with_another_way_below(x):
    numbers, other = [1, 2, 3, 4], [1, 2, 3, 4]
    rng._randbelow = lambda end: 0
    try:
        rng.shuffle(numbers)
        return x * 2.0, numbers, rng.sample([1, 2, 3], 2)
    finally:
        del rng._randbelow
        rng.shuffle(other)


@drawn
def kept_before_a_break(x):
    first = rng.gauss(0.0, 1.0)
    speak()
    return x * first, rng.gauss(0.0, 1.0), rng.normalvariate(0.0, first)


@drawn
def a_list_from_before(x):
    random.shuffle(KEPT)
    return x * 2.0, list(KEPT), KEPT[0] * 2


@drawn
def a_list_from_before_that_was_written(x):
    KEPT.append(6)
    random.shuffle(KEPT)
    KEPT.append(KEPT.pop(0))
    return x * 2.0


@drawn
def shuffled_twice(x):
    order = [1, 2, 3]
    random.shuffle(order)
    random.shuffle(order)
    return x * 2.0, order


@drawn
def places_of_tensors(x):
    parts = [x, x + 1.0, x * 2.0]
    order = list(range(3))
    random.shuffle(order)
    return [parts[at] for at in order]


@drawn
def tensors(x):
    parts = [x, x + 1.0, x * 2.0]
    random.shuffle(parts)
    return parts


@drawn
def texts_and_pairs(x):
    names, pairs = ["a", "b", "c"], [(1, "a"), (2, "b")]
    random.shuffle(names)
    random.shuffle(pairs)
    return x * 2.0, names, pairs, random.sample(names, 2)


@drawn
def of_several_types(x):
    numbers = [1, 2.5, 3]
    random.shuffle(numbers)
    return x * 2.0, numbers, random.sample([True, 1], 1)


@drawn
def that_decide(x):
    order = [0, 1, 2]
    random.shuffle(order)
    if order[0] == 0:
        return x * 2.0
    return x + 1.0 if sorted(order) == [0, 1, 2] else x


@drawn
def batches(x):
    order = list(range(6))
    rng.shuffle(order)
    for start in range(0, 6, 2):
        for at in order[start : start + 2]:
            x = x + at
    return x, order[::2], len(order), order[-1]


@drawn
def numbers_that_vary(x):
    first = [rng.random(), 2.0]
    rng.shuffle(first)
    return x * 2.0, first


@drawn
def what_is_refused(x):
    said = []
    for call in (lambda: random.sample([1, 2], 3), lambda: random.shuffle((1, 2)), lambda: random.sample({1: 2}, 1)):
        try:
            said.append(call())
        except (TypeError, ValueError) as error:
            said.append(str(error))
    return x * 2.0, said


@drawn
def of_no_item_and_of_one(x):
    empty, one = [], [7]
    random.shuffle(empty)
    random.shuffle(one)
    return x * 2.0, empty, one, random.sample([1], 1), random.sample(range(3), 0)


@drawn
def with_weights(x):
    return x * 2.0, random.choices([1, 2, 3], weights=[1, 2, 3], k=2), random.choices([0.5, 1.5], k=2)


class Loud(random.Random):
    def shuffle(self, numbers):
        super().shuffle(numbers)
        numbers.append("loud")


loud = Loud(3)


@drawn
def by_a_class_of_its_own(x):
    loud.seed(3)
    numbers = [1, 2, 3]
    loud.shuffle(numbers)
    return x * 2.0, numbers


@drawn
def with_another_way_to_draw(x):
    other = [1, 2, 3]
    rng.random = lambda: 0.25
    try:
        rng.shuffle(other)
        return x * rng.random(), other, rng.gauss(0, 1), rng.sample([1, 2, 3], 2)
    finally:
        del rng.random
        rng.gauss_next = None
