"""Patterns that module `re` has not compiled yet: they are compiled at capture, and kept where the library keeps them."""

import fnmatch
import re
import textwrap

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


def kept():
    return [len(re._cache), [key[1] for key in list(re._cache)[-3:]]]


def compiled(**decisions):
    def build(function):
        def world():
            re.purge()
            getattr(fnmatch, "_compile_pattern").cache_clear()
            return {"f": function, "args": x1, "watch": kept}

        world.__name__ = "compiled_patterns_" + function.__name__
        world.__module__ = __name__
        (case(**decisions) if decisions else open_case)(world)

    return build


# What the cache lacks, and then what it has.
twice = compiled(graphs=2, captures=2, breaks=0)


@twice
def a_match_and_its_groups(x):
    found = re.match(r"layer(\d+)\.(?P<name>\w+)", "layer12.weight")
    return x * float(found.group(1)), found["name"], found.span()


@twice
def several_of_them(x):
    return x * 2.0, re.sub(r"\s+", " ", "a  b"), re.findall("[a-z]+", "ab cd"), re.split(r",\s*", "a, b,c"), re.search("q", "a")


@twice
def with_flags(x):
    pattern = re.compile("^a.b$", re.IGNORECASE | re.DOTALL)
    return x * 2.0, bool(pattern.match("A\nB")), pattern.flags, re.compile("^a.b$", re.I | re.S) is pattern


@twice
def bytes_and_texts(x):
    return x * 2.0, re.match(b"a+", b"aab").end(), re.match("a+", "aab").group()


@compiled()
def by_others(x):
    return x * 2.0, textwrap.dedent("  a\n  b"), fnmatch.fnmatch("a.py", "*.py"), fnmatch.filter(["a", "b"], "a*")


@compiled()
def what_is_refused(x):
    said = []
    for text in ("(", "[", "a**", r"\8", "(?P<1>a)"):
        try:
            re.compile(text)
        except re.error as error:
            said.append(str(error))
    return x * 2.0, said


@compiled()
def what_is_warned_of(x):
    return x * 2.0, bool(re.match("[[a]", "[")), bool(re.match("a[b--c]", "ab"))


@compiled()
def an_expression_with_parts(x):
    found = re.search(r"(?:a|b)(?=c)(?!d)(?P<one>c)(?P=one)?(?i:X)?", "bc")
    return x * 2.0, found.group(), re.sub(r"(\w)(\d)", lambda m: m.group(2) + m.group(1), "a1b2")


@compiled()
def patterns_of_patterns(x):
    return x * 2.0, re.compile(re.compile("abc")).pattern, re.escape("a.b"), bool(re.match(re.escape("a.b"), "a.b"))


@compiled()
def flags_of_the_library(x):
    return x * 2.0, [flag.name for flag in (re.I, re.M)], re.compile("a", re.I).flags == re.compile("a", 2).flags
