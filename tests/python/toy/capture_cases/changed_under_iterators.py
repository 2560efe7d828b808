"""What iterators run over changes while they wait, some of them from before a break: their items are those of their turn."""

from observe import case
from toy_framework import toy

t = toy.tensor


@toy.disable
def opaque():
    return None


ITERATORS = {
    "iter": iter,
    "reversed": reversed,
    "enumerate": enumerate,
    "enumerate_from": lambda items: enumerate(items, 5),
    "zip": lambda items: zip(items, items),
    "zip_with_range": lambda items: zip(range(9), items),
    "enumerate_of_zip": lambda items: enumerate(zip(items, "abcdef")),
    "zip_of_enumerate": lambda items: zip("abcdef", enumerate(items)),
    "map": lambda items: map(str, items),
    "filter": lambda items: filter(None, items),
    "enumerate_of_reversed": lambda items: enumerate(reversed(items)),
}

CHANGES = {
    "insert": lambda items: items.insert(0, 7),
    "append": lambda items: items.append(8),
    "delete": lambda items: items.__delitem__(0),
    "pop": lambda items: items.pop(),
    "clear": lambda items: items.clear(),
    "store": lambda items: items.__setitem__(0, 9),
    "extend": lambda items: items.extend(items),
    "reverse": lambda items: items.reverse(),
    "grow_and_shrink": lambda items: (items.append(1), items.pop(), items.insert(1, 4)),
}


def behind_a_break(make, change):
    def f(x, items):
        waits = make(items)
        opaque()
        change(items)
        return list(waits), items, x + 1

    return f


def half_used(make, change):
    def f(x, items):
        waits = make(items)
        first = next(waits)
        opaque()
        change(items)
        seen = []
        for item in waits:
            seen.append(item)
        return first, seen, x + 1

    return f


def in_a_loop(make, change):
    def f(x, items):
        seen = []
        for item in make(items):
            if len(seen) < 2:
                opaque()
                change(items)
            seen.append(item)
            if len(seen) == 9:
                break
        return seen, items, x + 1

    return f


def given(make, change):
    def f(x, items, waits):
        change(items)
        return next(waits, None), list(zip(waits, range(9))), x + 1

    return f


def changing(shape, name, what):
    make, change = ITERATORS[name], CHANGES[what]

    def build():
        def args():
            items = [1, 2, 3, 4]
            return (t([1.0]), items, make(items)) if shape is given else (t([1.0]), items)

        return {"f": shape(make, change), "args": args}

    build.__name__ = "%s_%s_%s" % (what, name, shape.__name__)
    case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)(build)


for shape in (behind_a_break, half_used, in_a_loop, given):
    for name in ITERATORS:
        for what in CHANGES:
            changing(shape, name, what)
