"""Iterators over lists that were longer when they stood where they stand: CPython keeps the index, and the list may grow again."""

from observe import open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0]),)


def iterators(items):
    """Over all of a list, three items in, from both sides, alone and within others."""
    forward, backward = iter(items), reversed(items)
    inside, counted = zip(items, range(9)), enumerate(items, 4)
    made = [forward, backward, inside, counted, map(str, items), filter(None, items)]
    for iterator in made:
        for _ in range(3):
            next(iterator)
    return made


SHORTER = {
    "cut": lambda items: items.__delitem__(slice(1, None)),
    "cleared": lambda items: items.clear(),
    "popped": lambda items: [items.pop() for _ in range(3)],
    "replaced": lambda items: items.__setitem__(slice(None), [8]),
}


def shorter(name, shorten):
    def within():
        def f(x):
            items = [1, 2, 3, 4, 5]
            made = iterators(items)
            shorten(items)
            print("break")
            items.extend([6, 7, 8, 9])
            return x + 1.0, [list(iterator) for iterator in made], items

        return {"f": f, "args": x1}

    def given():
        def f(x, items, made):
            shorten(items)
            hints = [made[0].__length_hint__(), made[1].__length_hint__()]
            print("break")
            items.extend([6, 7, 8, 9])
            return x + 1.0, hints, [next(iterator, None) for iterator in made], made

        def args():
            items = [1, 2, 3, 4, 5]
            return t([1.0]), items, iterators(items)

        return {"f": f, "args": args}

    def handed_out():
        held = []

        def f(x):
            items = [1, 2, 3, 4, 5]
            made = iterators(items)
            shorten(items)
            held.append((items, made))
            return x + 1.0

        def watch():
            seen = []
            for items, made in held:
                items.extend([6, 7, 8, 9])
                seen.append([list(iterator) for iterator in made])
            held.clear()
            return seen

        return {"f": f, "args": x1, "watch": watch}

    for build in (within, given, handed_out):
        build.__name__ = f"longer_once_{name}_{build.__name__}"
        open_case(build)


for name, shorten in SHORTER.items():
    shorter(name, shorten)


def sorted_with(items, look):
    """Sorts a list that two iterators stand in, one item in from either side: what its keys see of them, and the iterators."""
    iterator, back = iter(items), reversed(items)
    next(iterator), next(back)
    seen = []

    def key(item):
        seen.append(look(iterator, back))
        return item

    items.sort(key=key)
    return seen, iterator, back


@open_case
def empty_while_sorted():
    # A list that is being sorted is empty for those who look; its iterators stay where they are.
    def f(x):
        items = [3, 1, 2, 0]

        def look(iterator, back):
            print("key")
            return len(items), list(items)

        seen, iterator, back = sorted_with(items, look)
        return x + 1.0, seen, list(iterator), list(back), items

    return {"f": f, "args": x1}


@open_case
def ended_while_sorted():
    # Whoever asks while it is empty has come to the end, for ever.
    def f(x):
        items = [3, 1, 2, 0]
        seen, iterator, back = sorted_with(items, lambda iterator, back: (next(iterator, None), next(back, None)))
        print("break")
        return x + 1.0, seen, list(iterator), list(back)

    return {"f": f, "args": x1}
