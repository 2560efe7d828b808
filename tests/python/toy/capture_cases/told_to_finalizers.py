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

seen = toy.disable(lambda: told.append("seen"))

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
    {behind}
    return x + 1
""",
    "in_a_handler": """
def f(x):
    try:
        raise ValueError(1)
    except ValueError as e:
        {death}
    {behind}
    return x + 1
""",
    "of_a_plain_call": """
def f(x):
    try:
        plain()
    except KeyError as e:
        {death}
    {behind}
    return x + 1
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
        {behind}
    {behind}
    return x + 1
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
    {behind}
    return x + 1
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
    {behind}
    return x + 1
""",
    "below_a_handler": """
def g(x):
    {death}
    return x + 1
def f(x):
    try:
        raise ValueError(1)
    except ValueError as e:
        g(x)
    {behind}
    return x + 1
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
    {behind}
    return x + 1
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
    {behind}
    return x + 1
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
    {behind}
    return x + 1, r
""",
    "and_returned": """
def g(x):
    try:
        raise ValueError(1)
    except ValueError as e:
        {death}
        return x + 1
def f(x):
    r = g(x)
    {behind}
    return r
""",
}

# What follows the death, and what comes behind the place of it.
FOLLOWED = {
    "": ('told.append("then")', 'told.append("behind")'),
    "_before_the_end": ("pass", "pass"),
    "_before_a_break": ("seen()", "pass"),
    "_before_a_break_behind": ("pass", "seen()"),
}


def told_case(name, source):
    def build():
        world = world_of(name, WORLD + source)
        args = world.get("args", lambda: (t([1.0, 2.0]),))
        return {"f": world["f"], "args": args, "watch": lambda: world["told"]}

    build.__name__ = name
    open_case(build)


def filled(text, **parts):
    """The text with lines in such places, each as far to the right as that stands."""
    for part, lines in parts.items():
        while (place := "{" + part + "}") in text:
            before = text[: text.index(place)]
            text = text.replace(place, ("\n" + before[before.rindex("\n") + 1 :]).join(lines), 1)
    return text


# Each value in what is followed by effects; else one after the other.
in_turn = itertools.cycle(VALUES)
for (how, death), (where, text), (follows, (then, behind)) in itertools.product(
    DEATHS.items(), PLACES.items(), FOLLOWED.items()
):
    for what in [next(in_turn)] if follows else VALUES:
        lines = [line.format(value=VALUES[what]) for line in [*death, then]]
        told_case(f"told_to_{what}_{how}_{where}{follows}", filled(text, death=lines, behind=[behind]))


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


# So does not what something else still holds.
STILL_HELD = {
    "of_a_display": "[b, {}[1]]",
    "of_arguments": "str(b, plain())",
    "of_a_call": "missing(b)",
    "of_a_loop": "for b in [b]: {}[1]",
    "of_the_exception": "raise KeyError(b)",
}

STILL_HELD_PLACES = {
    "in_the_handler": """
def f(x):
    b = Loud('b')
    try:
        {raised}
    except Exception:
        b = None
        {then}
    {behind}
    return x + 1
""",
    "behind_the_handler": """
def f(x):
    b = Loud('b')
    try:
        raise ValueError(0)
    except ValueError:
        try:
            {raised}
        except Exception:
            pass
        b = None
        {then}
    {behind}
    return x + 1
""",
    "with_another": """
def f(x):
    b = Loud('b')
    try:
        raise ValueError(0)
    except ValueError:
        a = Loud('a')
        a = None
        try:
            {raised}
        except Exception:
            b = None
            {then}
    {behind}
    return x + 1
""",
}

for (how, raised), (where, text), (follows, (then, behind)) in itertools.product(
    STILL_HELD.items(), STILL_HELD_PLACES.items(), FOLLOWED.items()
):
    text = filled(text, then=[then], behind=[behind])
    told_case(f"told_still_held_{how}_{where}{follows}", text.replace("{raised}", raised))


# What objects from before refer to, from one place or two.
REFERRED = {
    "an_attribute": ("b.a = v", "b.a = 1"),
    "a_list": ("b.l = [v]", "b.l = 1"),
    "an_item": ("b.d = {'k': v}", "b.d['k'] = 1"),
    "an_object": ("b.n = Plain(); b.n.a = v", "b.n = 1"),
}

DROPPED_PLACES = {
    "before_the_raise": """
def f(x, b):
    {drops}
    try:
        raise ValueError(1)
    except ValueError:
        seen()
    return x + 1
""",
    "before_another": """
def f(x, b):
    try:
        raise KeyError(1)
    except KeyError:
        {drops}
        try:
            raise ValueError(1)
        except ValueError:
            seen()
    return x + 1
""",
    "before_the_end": """
def f(x, b):
    try:
        raise ValueError(1)
    except ValueError:
        {drops}
    return x + 1
""",
    "before_a_break_behind": """
def f(x, b):
    try:
        raise ValueError(1)
    except ValueError:
        {drops}
    seen()
    return x + 1
""",
}

for what, (where, text) in itertools.product(("an_object", "what_is_referred_to_weakly"), DROPPED_PLACES.items()):
    for referred in [*itertools.combinations(REFERRED, 1), *itertools.combinations(REFERRED, 2)]:
        given = [f"v = {VALUES[what]}", "b = Plain()", *(REFERRED[by][0] for by in referred)]
        args = "\ndef args():\n    {given}\n    return t([1.0, 2.0]), b\n"
        text_of_args = filled("from toy_framework import toy\nt = toy.tensor\n" + args, given=given)
        drops = [REFERRED[by][1] for by in referred]
        told_case(f"told_to_{what}_dropped_by_{'_and_'.join(referred)}_{where}", text_of_args + filled(text, drops=drops))
