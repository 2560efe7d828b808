"""Iterators of the program in the hands of C: each is asked once for an iterator, whether the one of C is used at once, lives over a
break, or is handed out."""

import itertools
import sys

from observe import told_case

WORLD = """
import itertools
told = []

class Itself:
    def __init__(self, *items):
        self.items = list(items)
    def __iter__(self):
        told.append("iter")
        return self
    def __next__(self):
        if not self.items:
            raise StopIteration
        return self.items.pop(0)

class Other(Itself):
    def __iter__(self):
        told.append("other")
        return Itself(*self.items)

class Once(Itself):
    started = False
    def __iter__(self):
        if self.started:
            raise RuntimeError("started twice")
        self.started = True
        return self

class Out:
    # Nobody who compares asks it.
    def __init__(self, made):
        self.made = made

def f(x):
    made = MADE
    y = x * 2
    USED
    return y + 1, RESULT, told.copy()
"""

MADE = {
    "islice": "itertools.islice({}, 2)",
    "islice_of_three": "itertools.islice({}, 0, None, 2)",
    "accumulate": "itertools.accumulate({})",
    "accumulate_from": "itertools.accumulate({}, initial=5)",
    "compress": "itertools.compress({}, {})",
    "cycle": "itertools.islice(itertools.cycle({}), 5)",
    "starmap": "itertools.starmap(lambda *a: a, zip({}))",
    "takewhile": "itertools.takewhile(bool, {})",
    "dropwhile": "itertools.dropwhile(bool, {})",
    "filterfalse": "itertools.filterfalse(str, {})",
    "zip_longest": "itertools.zip_longest({}, {})",
    "chain": "itertools.chain({}, {})",
    "from_iterable": "itertools.chain.from_iterable([{}, {}])",
    "groupby": "map(lambda pair: pair[0], itertools.groupby({}))",
    "tee": "itertools.tee({})[0]",
    "zip": "zip({}, {})",
    "enumerate": "enumerate({}, 3)",
    "map": "map(str, {})",
    "filter": "filter(None, {})",
    "iter": "iter({})",
}
if sys.version_info >= (3, 10):
    MADE["pairwise"] = "itertools.pairwise({})"
USED = {
    "at_once": ("pass", "[str(one) for one in made]"),
    "over_a_break": ("opaque(y)", "[str(one) for one in made]"),
    "begun": ("next(made, None)\n    opaque(y)", "[str(one) for one in made]"),
    "handed_out": ("pass", "Out(made)"),
    "handed_out_begun": ("next(made, None)", "Out(made)"),
}

for (name, made), (of, one), (how, (used, result)) in itertools.product(
    MADE.items(), {"itself": "Itself(1, 2, 0)", "another": "Other(1, 2, 0)", "once": "Once(1, 2, 0)"}.items(), USED.items()
):
    text = WORLD.replace("MADE", made.replace("{}", one)).replace("USED", used).replace("RESULT", result)
    told_case(f"an_iterator_of_the_program_in_{name}_of_{of}_{how}", text)
