"""Patterns of module `re` over texts that are known, and functions with a cache."""

import functools
import re

from observe import case
from toy_framework import toy

t = toy.tensor
LAYER = re.compile(r"(?P<kind>[a-z]+)_(\d+)")


def x1():
    return (t([1.0, 2.0]),)


@case()
def what_a_pattern_says():
    def f(x):
        found = LAYER.match("layer_12")
        number = int(found.group(2)) + int(found[2])
        spans = found.span(), found.start(1), found.end(), found.groups(), found.groupdict()
        nothing = LAYER.search("none"), LAYER.fullmatch("a_1_")
        others = LAYER.findall("a_1 b_2"), LAYER.sub("x", "a_1 b"), LAYER.split("u a_1 v"), LAYER.subn("y", "a_1")
        return x * number, spans, nothing, others, bool(found), found is None, found.group(0), found.expand(r"\1")

    return {"f": f, "args": x1}


@case()
def matches_that_live_on():
    def f(x, names):
        kept = {name: LAYER.match(name) for name in names}
        taken = [name for name in names if LAYER.match(name) is not None]
        return x + len(taken), kept["a_1"].group(1), kept["a_1"].string is names[0], taken, kept["b"] is None

    return {"f": f, "args": lambda: (t([1.0]), ["a_1", "b"])}


@case(captures=None, graphs=None, breaks=None, reasons=None)
def the_text_itself():
    def f(x, text):
        whole = LAYER.sub("x", text)
        found = LAYER.match("a_1")
        return x + 1.0, whole is text, found.re is LAYER, found.lastindex, type(found) is re.Match

    return {"f": f, "args": lambda: (t([1.0]), "no pattern here")}


@functools.lru_cache(maxsize=None)
def width(n, m=2):
    print("asked", n, m)
    return n * m


@functools.lru_cache(maxsize=3)
def limited(n):
    print("asked", n)
    return float(n), str(n)


@functools.lru_cache(maxsize=None)
def mask(n):
    print("asked", n)
    return t([float(n), 1.0])


def kept(*functions):
    def args():
        for function, given in functions:
            function(*given)
        return (t([1.0, 2.0]),)

    return args


@case(graphs=None, breaks=None, captures=None, reasons=None)
def results_from_caches():
    def f(x):
        return x * width(3) + width(3, 5), limited(4)[1]

    args = kept((width, (3,)), (width, (3, 5)), (limited, (4,)))
    return {"f": f, "args": args, "watch": lambda: (width.cache_info()[2:], limited.cache_info()[2:])}


@case(graphs=None, breaks=None, captures=None, reasons=None)
def tensors_from_caches():
    def f(x):
        return x * mask(3) + 1.0, mask(3) is mask(3)

    return {"f": f, "args": kept((mask, (3,)))}


class Table:
    @functools.lru_cache(maxsize=None)
    def entry(self, at):
        return at + 1


table = Table()


@case(graphs=None, breaks=None, captures=None, reasons=None)
def methods_with_caches():
    def f(x):
        return x * table.entry(3)

    return {"f": f, "args": kept((table.entry, (3,)))}


@case(captures=None, graphs=None, breaks=None, reasons=None)
def caches_that_are_emptied():
    @functools.lru_cache(maxsize=1)
    def last(n):
        print("asked", n)
        return n + 0.5

    def f(x):
        y = x * last(2)
        z = y + last(3)
        last.cache_clear()
        return z + last(2), last.cache_info()

    return {"f": f, "args": x1, "watch": lambda: last.cache_info()}
