"""Places that are empty at the first call, and are filled, read and filled anew by each call: what was there dies when its
place gets the next one, though an earlier capture has found it there."""

import itertools

from observe import open_case, world_of
from toy_framework import toy

t = toy.tensor

WORLD = """
told = []

class Loud:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        told.append(self.name)

class Plain:
    pass

class Slotted:
    __slots__ = ("before",)

numbers = iter(range(1000))

def touch(x):
    return x

touch = toy.disable(touch)
"""

# What is kept from call to call, how it is read, and how it is written.
PLACES = {
    "dict_get": ("kept = {}", "kept.get('k')", "kept['k'] = {made}"),
    "dict_in": ("kept = {}", "kept['k'] if 'k' in kept else None", "kept['k'] = {made}"),
    "dict_of_numbers": ("kept = {}", "kept[1] if 1 in kept else None", "kept[1] = {made}"),
    "dict_set_before": ("kept = {'k': None}", "kept['k']", "kept['k'] = {made}"),
    "dict_update": ("kept = {}", "kept.get('k')", "kept.update(k={made})"),
    "dict_many": ("kept = dict.fromkeys(range(80))", "kept.get('k')", "kept['k'] = {made}"),
    "list_last": ("kept = []", "kept[-1] if kept else None", "kept[:] = [{made}]"),
    "list_item": ("kept = [None]", "kept[0]", "kept[0] = {made}"),
    "attribute": ("kept = Plain()", "getattr(kept, 'before', None)", "kept.before = {made}"),
    "attribute_set_before": ("kept = Plain(); kept.before = None", "kept.before", "kept.before = {made}"),
    "slot": ("kept = Slotted()", "getattr(kept, 'before', None)", "kept.before = {made}"),
    "global_set_before": ("kept = None", "kept", "globals()['kept'] = {made}"),
    "attribute_of_function": ("def kept(): pass", "getattr(kept, 'before', None)", "kept.before = {made}"),
    "attribute_of_class": ("class kept: pass", "getattr(kept, 'before', None)", "kept.before = {made}"),
    "nested": ("kept = {'in': [{}]}", "kept['in'][0].get('k')", "kept['in'][0]['k'] = {made}"),
}
VALUES = {
    "list": ("[x * 2, Loud(next(numbers))]", "before[0]"),
    "dict": ("{'x': x * 2, 'loud': Loud(next(numbers))}", "before['x']"),
    "tuple": ("(x * 2, Loud(next(numbers)))", "before[0]"),
    "object": ("Loud(next(numbers))", "before.name"),
}
PROGRAMS = {
    "at_once": """
def f(x):
    before = {read}
    {write}
    return x * 3.0 if before is None else x * 3.0 - {use}
""",
    "behind_a_break": """
def f(x):
    before = {read}
    touch(x)
    {write}
    return x * 3.0 if before is None else x * 3.0 - {use}
""",
    "read_behind_a_break": """
def f(x):
    touch(x)
    before = {read}
    y = x * 3.0 if before is None else x * 3.0 - {use}
    before = None
    {write}
    return y
""",
}


def filled_case(name, source):
    def build():
        world = world_of(name, source)
        return {"f": world["f"], "args": lambda: (t([1.0, 2.0]),), "watch": lambda: world["told"]}

    build.__name__ = name
    open_case(build)


for (place, (kept, read, write)), (value, (made, use)), (where, text) in itertools.product(
    PLACES.items(), VALUES.items(), PROGRAMS.items()
):
    body = text.replace("{read}", read).replace("{write}", write).replace("{made}", made).replace("{use}", use)
    filled_case(f"filled_{place}_{value}_{where}", f"{WORLD}\n{kept}\n{body}")
