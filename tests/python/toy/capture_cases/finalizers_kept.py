"""Values with finalizers that a function keeps from call to call, or binds while it handles an exception."""

from capture_cases.finalizers import DEAD, Loud
from observe import open_case
from toy_framework import toy

t = toy.tensor

KEPT = {}


def keeping_case(f):
    """Of a function of a tensor, which starts with nobody dead, and of what it kept nothing."""

    def call(x):
        DEAD.clear()
        return f(x)

    def build():
        KEPT.update(list=[], dict={})
        return {"f": call, "args": lambda: (t([1.0, 2.0]),), "watch": lambda: list(DEAD)}

    build.__name__ = f.__name__
    return open_case(build)


def filled_list(x):
    KEPT["list"] = KEPT["list"][:1]
    before = len(DEAD)
    KEPT["list"].append(Loud())
    return before, x + 1


def filled_dict(x):
    KEPT["dict"] = dict(KEPT["dict"])
    before = len(DEAD)
    KEPT["dict"]["d"] = Loud()
    return before, x + 1


def filled_display(x):
    KEPT["dict"] = {key: value for key, value in KEPT["dict"].items() if key != "d"}
    before = len(DEAD)
    KEPT["dict"]["d"] = Loud()
    return before, x + 1


def bound_again_in_a_handler(x):
    try:
        raise ValueError
    except ValueError:
        held = Loud()
        held = None  # noqa: F841
        before = len(DEAD)
    return before, x + 1


def deleted_in_a_handler(x):
    try:
        raise ValueError
    except ValueError:
        held = Loud()
        del held
        before = len(DEAD)
    return before, x + 1


def bound_again_in_a_finally(x):
    before = []
    try:
        try:
            raise ValueError
        finally:
            held = Loud()
            held = None  # noqa: F841
            before.append(len(DEAD))
    except ValueError:
        pass
    return before, x + 1


def as_a_frame_of_its_own(f):
    """Called from a function that is not captured itself."""

    def outer(x):
        toy._psdb.fallback()
        return f(x)

    outer.__name__ = f.__name__ + "_in_a_frame_of_its_own"
    return outer


for f in (
    filled_list,
    filled_dict,
    filled_display,
    bound_again_in_a_handler,
    deleted_in_a_handler,
    bound_again_in_a_finally,
):
    f.__name__ += "_lets_go"
    keeping_case(f)
    keeping_case(as_a_frame_of_its_own(f))
