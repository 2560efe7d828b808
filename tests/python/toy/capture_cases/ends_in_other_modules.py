"""Values that end in a function of another module: the graph breaks where that is seen, though the names there are not those of the
function that was captured."""

import itertools

from doors import opaque
from observe import case, world_of
from toy_framework import toy

t = toy.tensor

HELPERS = """
import sys
import weakref

told = []
COUNT = 3
REFERENCES = []

class Loud:
    def __del__(self):
        told.append("gone")
    def drops_itself(self, x):
        del self
        told.append(len(told))
        return x + 1

class Plain:
    pass

def watched():
    made = Plain()
    REFERENCES.append(weakref.ref(made, lambda reference: told.append("gone")))
    return made

def use(held, x):
    global COUNT
    BODY
    return x + 1

def use_named(x, *, held):
    return use(held, x)

def use_in_a_try(held, x):
    try:
        given, held = held, None
        return use(given, x)
    finally:
        told.append("finally")
"""

BODIES = {
    "bound_anew": "held = None; told.append('used')",
    "deleted": "del held; told.append(len(told))",
    "a_global_is_counted": "COUNT = len(told); held = None; COUNT += len(told)",
    "a_global_is_deleted": "del held; del COUNT; COUNT = 3",
    "an_import": "held = None; import json; told.append(json.dumps(3))",
    "a_break_behind": "told.append(1); del held; told.append(len(told)); opaque(x); told.append(2)",
    "a_break_before": "opaque(x); del held; told.append(len(told))",
    "a_name_that_is_missing": "del held; held = [name for name in ('a',) if name in globals()]; told.append(held)",
    "a_branch": "held = None; x = x * 2 if told else x",
    "a_loop": "held = [held]; told.extend(range(2)); held.clear(); told.append(len(told))",
    "a_closure": "held = (lambda given: lambda: given)(held); held = None; told.append('used')",
}

CALLS = {
    "by_position": "helpers['use'](MADE, x)",
    "by_name": "helpers['use'](held=MADE, x=x)",
    "by_another": "helpers['use_named'](x, held=MADE)",
    "in_a_try": "helpers['use_in_a_try'](MADE, x)",
}

MADE = {"loud": "helpers['Loud']()", "watched": "helpers['watched']()"}


def ending(name, body, call):
    def build():
        helpers = world_of(name + "_helpers", HELPERS.replace("BODY", body.replace("; ", "\n    ")))
        helpers["opaque"] = opaque
        world = world_of(name, f"def f(x):\n    return {call}, len(helpers['told'])\n")
        world["helpers"] = helpers
        return {"f": world["f"], "args": lambda: (t([1.0, 2.0]),), "watch": lambda: [list(helpers["told"]), helpers["COUNT"]]}

    build.__name__ = name
    case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)(build)


for (body, code), (call, calls), (made, makes) in itertools.product(BODIES.items(), CALLS.items(), MADE.items()):
    ending(f"ends_in_another_module_{made}_{body}_{call}", code, calls.replace("MADE", makes))

ending("ends_in_another_module_as_a_receiver", "pass", "helpers['Loud']().drops_itself(x)")
