"""Globals that a name writes, and that are read or written as the dict that they are."""

import types

from observe import open_case
from toy_framework import toy

t = toy.tensor


def as_an_item(d, key):
    return d[key]


def by_get(d, key):
    return d.get(key, "none")


def by_in(d, key):
    return key in d, key in list(d)


def by_items(d, key):
    return [value for name, value in d.items() if name == key]


def copied(d, key):
    return dict(d).get(key), {**d}.get(key)


def counted_up(d, key):
    if key in d:
        d[key] += 10
    return d.get(key)


def updated(d, key):
    d.update({key: 5})
    return d[key]


def popped(d, key):
    return d.pop(key, None), d.setdefault(key, 8)


READS = [as_an_item, by_get, by_in, by_items, copied, counted_up, updated, popped]

WRITES = {
    "stored": "global c\n    c = c + 1",
    "made": "global new\n    new = 3",
    "deleted": "global c\n    del c",
    "tensor": "global c\n    c = x * 2",
}

PLACES = {
    "function": lambda module, q: lambda: q.__globals__,
    "list": lambda module, q: (lambda held: lambda: held[0])([module.__dict__]),
    "cell": lambda module, q: (lambda d: lambda: d)(module.__dict__),
    "module": lambda module, q: lambda: module.__dict__,
}


def written(how, place, read, large):
    def build():
        module = types.ModuleType("written")
        # Large ones are not looked at as a whole.
        module.__dict__.update({f"filler{i}": i for i in range(100 if large else 0)}, c=1)
        exec(f"def q(x):\n    {WRITES[how]}\n    return x\ndef r(x, key):\n    return globals().get(key)", module.__dict__)
        q, r = module.q, module.r
        reach = PLACES[place](module, q)
        key = "new" if how == "made" else "c"

        def f(x):
            module.c = 1
            y = q(x)
            try:
                seen = read(reach(), key)
            except KeyError as error:
                seen = repr(error)
            return y * 2.0, seen, r(x, key)

        return {"f": f, "args": lambda: (t([1.0, 2.0]),), "watch": lambda: [module.__dict__.get(key)]}

    size = "_of_a_large_dict" if large else ""
    build.__name__ = f"globals_{how}_then_{read.__name__}_by_{place}{size}"
    return open_case(build)


for how in WRITES:
    for place in PLACES:
        for read in READS:
            for large in (False, True):
                written(how, place, read, large)


@open_case
def globals_of_the_frame_itself():
    names = {"c": 1, "G": []}
    names["G"].append(names)
    exec(
        """
def f(x):
    global c
    c = c + 1
    before = G[0]["c"]
    G[0]["c"] += 1
    y = x * 2
    if f.__globals__["c"] % 2:
        y = y + 100
    return y * c, before, c
""",
        names,
    )
    return {"f": names["f"], "args": lambda: (t([1.0, 2.0]),), "watch": lambda: [names["c"]]}
