"""Items that dicts are filled from and that are no pairs: what is let go of when that fails, and in which order."""

from capture_cases.worlds import GONE
from observe import told_case

WORLD = f"told = []\n{GONE}" + """
class Wrapped(Loud):
    def __init__(self, name, count):
        self.name, self.count = name, count
    def __iter__(self):
        told.append(("iter", self.name))
        return iter([Loud((self.name, at)) for at in range(self.count)])
def refused(call):
    try:
        call()
    except (TypeError, ValueError) as error:
        told.append(str(error))
"""

CALLS = {
    "dict": "dict([Wrapped('a', {0}), Wrapped('b', {1})])",
    "update": "{{}}.update([Wrapped('a', {0}), Wrapped('b', {1})])",
    "update_of_a_generator": "{{}}.update(Wrapped(n, c) for n, c in (('a', {0}), ('b', {1})))",
    "dict_of_an_iterator": "dict(iter([Wrapped('a', {0}), Wrapped('b', {1})]))",
    "lists": "dict([[Loud(1)] * {0}, [Loud(2)] * {1}])",
}

for _name, _call in CALLS.items():
    for _first in (0, 1, 2, 3):
        told_case(
            f"no_pairs_of_{_name}_{_first}",
            WORLD
            + f"""
def f(x):
    y = x + 1
    refused(lambda: {_call.format(_first, 1)})
    told.append("between")
    refused(lambda: {_call.format(2, _first)})
    return y * 2
""",
            alone=True,
        )

# The same of pairs: of equal keys the second goes with its item.
PAIRS = {
    "equal_keys": "dict(Pair(at, 1) for at in range(3))",
    "other_keys": "dict(Pair(at, at) for at in range(3))",
    "equal_keys_of_a_list": "dict([Pair(at, 1) for at in range(3)])",
    "keys_that_are_updated": "held.update(Pair(at, 1) for at in range(3))",
}
for _name, _call in PAIRS.items():
    told_case(
        f"pairs_with_{_name}",
        WORLD
        + f"""
class Key(Loud):
    def __init__(self, name, value):
        self.name, self.value = name, value
    def __hash__(self):
        return 1
    def __eq__(self, other):
        return self.value == other.value
class Pair(Loud):
    def __init__(self, name, value):
        self.name, self.value = name, value
    def __iter__(self):
        return iter([Key(("key", self.name), self.value), Loud(("value", self.name))])
def f(x):
    held = {{}}
    y = x + 1
    refused(lambda: {_call})
    told.append("between")
    return y * 2
""",
        alone=True,
    )
