"""Values that nobody looks at and that are of another class at a later call, where they have a finalizer: they end in their order among
others, behind a break as before it."""

import itertools

from observe import called_between, open_case

WORLD = """
import itertools
calls = itertools.count()
told = []
class Loud:
    def __init__(self, name): self.name = name
    def __del__(self): told.append(self.name)
class Quiet:
    pass
def plain(): pass
def pick(n, first):
    made = Loud("given")
    opaque(0)
    return made if n >= 2 else first
@toy.disable
def hidden(n, first):
    return Loud("given") if n >= 2 else first
"""

FIRST = {
    "a_number": "n",
    "a_text": "'text'",
    "none": "None",
    "a_tuple": "(n,)",
    "a_list": "[n]",
    "a_dict": "{1: n}",
    "an_instance": "Quiet()",
    "a_function": "plain",
    "a_class": "Quiet",
    "a_tensor": "x",
}
INNER = {
    "before": "given = pick(n, {first})\n    later = Loud('later')",
    "behind": "later = None\n    given = pick(n, {first})\n    later = Loud('later')",
    "rebound": "given = pick(n, {first})\n    later = Loud('later')\n    given = None\n    later = None",
    "deleted": "given = pick(n, {first})\n    later = Loud('later')\n    del later\n    del given",
    "on_the_stack": "later = Loud('later')\n    [pick(n, {first}), opaque(1)]",
    "alone": "given = pick(n, {first})\n    given = None\n    told.append(len(told))",
    "alone_to_the_end": "given = pick(n, {first})",
    "alone_on_the_stack": "[pick(n, {first}), opaque(1)]\n    told.append(len(told))",
    "beside_what_stays": "early = Loud('early')\n    [pick(n, {first}), opaque(1)]\n    told.append(len(told))",
    "alone_from_plain_python": "given = hidden(n, {first})\n    given = None\n    told.append(len(told))",
    "alone_to_the_end_from_plain_python": "given = hidden(n, {first})",
    "on_the_stack_from_plain_python": "[hidden(n, {first}), opaque(1)]\n    told.append(len(told))",
    "beside_what_stays_from_plain_python": "early = Loud('early')\n    [hidden(n, {first}), opaque(1)]\n    told.append(len(told))\n    return [early]",
    "between": "early = Loud('early')\n    given = pick(n, {first})\n    later = Loud('later')",
}
ENDS = {
    "returns": "inner(x)\ntold.append('behind')\nreturn x + 1",
    "raises": "try:\n    inner(x)\n    raise KeyError\nexcept KeyError:\n    told.append('caught')\nreturn x + 1",
    "is_asked": "try:\n    for _ in inner(x):\n        pass\nexcept TypeError:\n    told.append('caught')\nreturn x + 1",
}


def register(name, body):
    open_case(called_between(name, WORLD, body, "", "told", lambda made: ()))


for (_first, _value), (_where, _inner), (_end, _body) in itertools.product(FIRST.items(), INNER.items(), ENDS.items()):
    register(
        f"{_first}_and_then_what_has_a_finalizer_{_where}_{_end}",
        f"def inner(x):\n    {_inner.format(first=_value)}\n{_body}",
    )
