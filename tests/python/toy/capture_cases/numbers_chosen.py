"""Numbers that a draw chooses among those of a list: which one is known at run time, and cuts no graph where nothing is decided by it."""

import random

from observe import case
from toy_framework import toy

t = toy.tensor
speak = toy.disable(lambda *args: None)
SCALES = [0.5, 1.0, 2.0]


def chosen(name, function, **decisions):
    def build():
        random.seed(7)
        return {"f": function, "args": lambda: (t([1.0, 2.0]),), "watch": lambda: random.getstate()[1][-1]}

    build.__name__ = "numbers_chosen_" + name
    case(**decisions)(build)


def of_a_display(x):
    return x * random.choice([1.0, 2.0, 4.0]) + 1.0


def of_a_constant(x):
    y = x + 1.0
    return y * random.choice((3, 5, 7)), random.random()


def of_a_global(x):
    return x * random.choice(SCALES), random.choice(range(3))


def by_an_index(x):
    rates = [1.0, 2.0, 3.0]
    rates.append(4.0)
    chosen = rates[random.randint(0, 3)]
    rates[0] = 100.0
    return x * chosen, chosen, rates, rates[random.randrange(4)]


def several(x):
    return x * 2.0, random.choices([1, 2, 3], k=3), [random.choice([1, 2]) for _ in range(2)]


for function in (of_a_display, of_a_constant, by_an_index, several):
    chosen(function.__name__, function)


def behind_the_end(x):
    try:
        return x * [1.0, 2.0][random.randint(0, 5)]
    except IndexError as error:
        return x + 1.0, str(error)


def of_several_types(x):
    return x * random.choice([1, 2.5, True]), random.choice(["a", "b"]), random.choice([x, x + 1.0])


def that_decides(x):
    if random.choice([1, 2]) == 1:
        return x * 2.0
    return x + random.choice([5.0, 6.0])


def of_a_list_that_changes(x, chosen_from=SCALES):
    seen = list(chosen_from)
    scale = seen[random.randint(0, len(seen) - 1)]
    seen.append(3.0)
    other = seen[random.randint(0, len(seen) - 1)]
    speak()
    seen.insert(0, 9.0)
    return x * scale * other, len(seen), seen[random.randint(0, len(seen) - 1)]


for function in (of_a_global, behind_the_end, of_several_types, that_decides, of_a_list_that_changes):
    chosen(function.__name__, function, graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
