"""Classes with a meaning of their own for `__dict__`: attributes are found without asking it."""

from observe import case
from toy_framework import toy

t = toy.tensor


class Plain:
    def __init__(self, left):
        self.left = left


def taken_over():
    """The names of a class are given to another one, with the descriptor that is not its own."""
    names = dict(vars(Plain))
    del names["__weakref__"]
    return type("TakenOver", (), names)


TakenOver = taken_over()


class Answers(Plain):
    asked = 0

    @property
    def __dict__(self):
        Answers.asked += 1
        return {"left": "of the property"}


class Constant(Plain):
    __dict__ = {"left": "of the class"}


CLASSES = [Plain, TakenOver, Answers, Constant]


# What observes the cases asks for `__dict__`: it does not see these.
HELD = []


def given():
    HELD[:] = [cls(n) for n, cls in enumerate(CLASSES, 1)]
    return (t([1.0]),)


# Other instances each time.
@case(graphs=2, captures=2)
def own_dicts_given():
    def f(x):
        for value in HELD:
            value.right = value.left + 1
        return x * HELD[0].left, [(value.left, value.right) for value in HELD]

    return {"f": f, "args": given}


@case()
def own_dicts_made_inside():
    def f(x):
        made = [cls(x) for cls in CLASSES]
        made[1].left = made[1].left + 1
        HELD[:] = made
        return [value.left for value in made]

    def g(x):
        return f(x), [value.left for value in HELD]

    return {"f": g, "args": given}


@case(graphs=3, captures=3, breaks=1, reasons=("builtin-with-output",))
def own_dicts_over_a_break():
    def f(x):
        made = [cls(x * 2) for cls in CLASSES]
        print("break")
        return [value.left for value in made], [x + value.left for value in HELD], Answers.asked

    return {"f": f, "args": given}
