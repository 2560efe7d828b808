"""What finalizers, callbacks of weak references, and generators that are closed see as the exception that is handled."""

import itertools

from observe import open_case, world_of
from toy_framework import toy

t = toy.tensor

WORLD = """
import sys
import weakref

told = []
KEPT = []
REFERENCES = []

def handled():
    return sys.exc_info()[0]

class Loud:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        told.append((self.name, handled()))

class Plain:
    pass

def watched(name):
    made = Plain()
    REFERENCES.append(weakref.ref(made, lambda reference: told.append((name, handled()))))
    return made

def cleaning_up():
    try:
        yield 1
    except GeneratorExit as error:
        told.append((type(error.__context__), handled()))
        raise
    finally:
        told.append(handled())

def waiting():
    made = cleaning_up()
    next(made)
    return made

def plain():
    raise KeyError("plain")

plain = toy.disable(plain)

def missing(a):
    raise KeyError(1)

def below():
    a = Loud('a')
    raise KeyError(2)
"""

VALUES = {
    "an_object": "Loud('a')",
    "what_is_referred_to_weakly": "watched('w')",
    "a_generator": "waiting()",
    "a_list": "[Loud('a'), Loud('b')]",
}

DEATHS = {
    "bound_again": ["a = {value}", "a = None"],
    "deleted": ["a = {value}", "del a"],
    "handed_to_a_call": ["def q(a):", "    return 1", "q({value})"],
    "of_a_call": ["def q():", "    a = {value}", "    return 1", "q()"],
    "popped": ["KEPT.append({value})", "KEPT.pop()"],
    "cleared": ["KEPT.append({value})", "KEPT.clear()"],
    "not_kept": ["{value}"],
    "of_an_attribute": ["w = Plain()", "w.a = {value}", "w.a = 1"],
}

PLACES = {
    "nothing_is_handled": """
def f(x):
    {death}
    told.append("after")
    return x
""",
    "in_a_handler": """
def f(x):
    try:
        raise ValueError(1)
    except ValueError as e:
        {death}
    told.append("after")
    return x
""",
    "of_a_plain_call": """
def f(x):
    try:
        plain()
    except KeyError as e:
        {death}
        toy.show(x)
    told.append("after")
    return x
""",
    "in_two": """
def f(x):
    try:
        raise ValueError(1)
    except ValueError as e:
        try:
            raise KeyError(1)
        except KeyError:
            {death}
        told.append("between")
    told.append("after")
    return x
""",
    "behind_the_inner": """
def f(x):
    try:
        raise ValueError(1)
    except ValueError as e:
        try:
            raise KeyError(1)
        except KeyError:
            pass
        {death}
    told.append("after")
    return x
""",
    "in_a_finally": """
def f(x):
    try:
        try:
            raise ValueError(1)
        finally:
            {death}
    except ValueError:
        told.append("caught")
    told.append("after")
    return x
""",
    "below_a_handler": """
def g(x):
    {death}
    return x
def f(x):
    try:
        raise ValueError(1)
    except ValueError as e:
        g(x)
    told.append("after")
    return x
""",
    "in_an_exit": """
class Manager:
    def __enter__(self):
        return self
    def __exit__(self, *about):
        {death}
        return True
def f(x):
    with Manager():
        raise ValueError(1)
    told.append("after")
    return x
""",
    "before_another": """
def f(x):
    try:
        try:
            raise ValueError(1)
        except ValueError as e:
            {death}
            raise TypeError(2)
    except TypeError as e:
        told.append(type(e.__context__))
    told.append("after")
    return x
""",
    "in_a_generator": """
def g():
    try:
        raise ValueError(1)
    except ValueError as e:
        yield 1
        {death}
        yield 2
def f(x):
    try:
        raise KeyError(1)
    except KeyError:
        r = list(g())
    told.append("after")
    return x, r
""",
    "and_returned": """
def g(x):
    try:
        raise ValueError(1)
    except ValueError as e:
        {death}
        return x
def f(x):
    r = g(x)
    told.append("after")
    return r
""",
}


def indented(lines, text):
    """The lines in the place of `{death}`, each as far to the right as that stands."""
    before = text[: text.index("{death}")]
    return ("\n" + before[before.rindex("\n") + 1 :]).join(lines)


def told_case(name, source):
    def build():
        world = world_of(name, WORLD + source)
        return {"f": world["f"], "args": lambda: (t([1.0, 2.0]),), "watch": lambda: world["told"]}

    build.__name__ = name
    open_case(build)


for (what, value), (how, death), (where, text) in itertools.product(VALUES.items(), DEATHS.items(), PLACES.items()):
    lines = [line.format(value=value) for line in [*death, 'told.append("then")']]
    told_case(f"told_to_{what}_{how}_{where}", text.replace("{death}", indented(lines, text)))


# Values that an exception takes from the stack on its way to a handler die before anybody handles it.
ON_THE_WAY = {
    "of_a_display": "[Loud('a'), 1 / 0]",
    "of_arguments": "str(Loud('a'), plain())",
    "of_a_loop": "for i in iter([Loud('a'), 2]): plain()",
    "of_a_generator": "for i in cleaning_up(): plain()",
    "of_a_comprehension": "[Loud(str(1 // i)) for i in (1, 0)]",
    "of_a_call": "missing(Loud('a'))",
    "of_a_local": "below()",
}

ON_THE_WAY_PLACES = {
    "to_a_handler": """
def f(x):
    try:
        {raised}
    except Exception:
        told.append("handled")
    told.append("after")
    return x + 1
""",
    "in_a_handler": """
def f(x):
    try:
        raise ValueError(0)
    except ValueError:
        try:
            {raised}
        except Exception:
            told.append("handled")
        told.append("between")
    told.append("after")
    return x + 1
""",
    "to_a_finally": """
def f(x):
    try:
        try:
            {raised}
        finally:
            told.append("finally")
    except Exception:
        told.append("handled")
    return x + 1
""",
}

for (how, raised), (where, text) in itertools.product(ON_THE_WAY.items(), ON_THE_WAY_PLACES.items()):
    told_case(f"told_on_the_way_{where}_{how}", text.replace("{raised}", raised))
