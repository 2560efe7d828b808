"""A method of C (`items.sort`) that was looked up before a break holds its object until it was called: then that, and what it holds, may
end where the variables let go of it."""

import itertools

from capture_cases.worlds import GONE, NUMBERS
from observe import told_case

TEXT = GONE + """
told = []

class Holds:
    def __init__(self, items):
        self.items = items
    def each(self):
        opaque(self)
        for item in self.items:
            yield item.name, item

def let_go():
    opaque(Loud("first"))

def broken():
    return opaque(told) or 0

def f(x):
    items = [Loud(0), Loud(1), Loud(2)]
    made = MADE
    CALL
    del made
    told.append("made is gone")
    TAKEN
    return x + 1, len(told)
"""

MADE = {
    "list": "list(Holds(list(items)).each())",
    "pairs": "[(item.name, item) for item in items]",
    "dict": "{item.name: item for item in items}",
    "set": "set(items)",
}
CALLS = {
    "list": ("made.sort()", "made.reverse()", "made.append(broken())", "made.extend([broken(), 1])", "made.index(made[broken()])"),
    "pairs": ("made.sort()", "made.insert(broken(), (5, 5))", "made.pop(broken())", "made.count(broken())"),
    "dict": ("made.pop(broken())", "made.get(broken(), None)", "made.update({9: broken()})", "made.setdefault(7, broken())"),
    "set": ("made.add(broken())", "made.discard(broken())", "made.update([broken()])"),
}
TAKEN = {"deleted": "del items[0]", "popped": "items.pop(1)", "cleared": "items.clear()", "replaced": "items[2] = None"}


def held(name, made, call, taken):
    told_case(name, NUMBERS + TEXT.replace("MADE", made).replace("CALL", call).replace("TAKEN", taken))


for kind, made in MADE.items():
    for (number, call), (place, taken) in itertools.product(enumerate(CALLS[kind]), TAKEN.items()):
        held(f"method_of_c_of_a_{kind}_called_{number}_and_{place}", made, call, taken)
