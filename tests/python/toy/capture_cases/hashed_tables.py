"""Keys that the program hashes like strings: the dict's table is eager's, by its size and by where later keys go."""

import sys

from observe import case
from toy_framework import toy

t = toy.tensor


class Like:
    """Hashed as a text, and equal to nothing else."""

    def __init__(self, text, log):
        self.text, self.log = text, log

    def __hash__(self):
        self.log.append(("hash", self.text))
        return hash(self.text)

    def __eq__(self, other):
        self.log.append(("eq", self.text, other if isinstance(other, str) else other.text))
        return self is other


def stored_once(x, d, keys):
    d[keys[0]] = 1
    return x + 1


def stored_all(x, d, keys):
    for key in keys:
        d[key] = key.text
    return x + 1


def stored_and_deleted(x, d, keys):
    for key in keys:
        d[key] = key.text
    for key in keys[::2]:
        del d[key]
    for key in keys:
        d[key] = 0
    return x + 1


def made_here(x, d, keys):
    d = {name: 0 for name in list(d)}
    for key in keys:
        d[key] = key.text
    return x + 1, d, d.__sizeof__()


def add(body, strings, taken):
    def build():
        log, dicts = [], []

        def args():
            d = {f"k{n}": n for n in range(strings)}
            for n in range(taken):
                del d[f"k{n}"]
            dicts.append(d)
            return t([1.0]), d, [Like(f"k{n}", log) for n in range(max(strings, 1))]

        def watch():
            sizes = [sys.getsizeof(dicts[-1])]
            for n in range(12):
                dicts[-1][f"later {n}"] = n
                sizes.append(sys.getsizeof(dicts[-1]))
            names = [key if isinstance(key, str) else "like " + key.text for key in dicts[-1]]
            return sizes, names, list(log)

        return {"f": body, "args": args, "watch": watch}

    build.__name__ = f"{body.__name__}_into_{strings}_strings_less_{taken}"
    case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


for body in (stored_once, stored_all, stored_and_deleted, made_here):
    for strings in (1, 4, 5, 6, 10, 11):
        add(body, strings, 0)
    add(body, 5, 1)
    add(body, 5, 4)
