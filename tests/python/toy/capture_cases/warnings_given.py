"""Operations of C that give a warning: the program's own line gives it, at each call, and no capture does."""

import operator
import re
import sys
import warnings

from observe import case, open_case
from toy_framework import toy

t = toy.tensor
x1 = lambda: (t([1.0]),)  # noqa: E731
N = NotImplemented
# Where there is nothing to warn of, all is one graph.
DECISIONS = dict(graphs=2, captures=2, breaks=1, reasons=("gives-warning",)) if sys.version_info >= (3, 9) else {}


def called():
    return bool(N)


TRUTHS = {
    "bool": lambda x: bool(N),
    "not": lambda x: not N,
    "if": lambda x: 1 if N else 2,
    "and": lambda x: N and 3,
    "or": lambda x: N or 3,
    "any": lambda x: any([N]),
    "all": lambda x: all((1, N)),
    "filter": lambda x: len(list(filter(None, [N, 0]))),
    "truth": lambda x: operator.truth(N),
    "not_": lambda x: operator.not_(N),
    "map": lambda x: list(map(bool, [N])),
    "comprehension": lambda x: [i for i in range(1) if N],
    "key": lambda x: sorted([2], key=lambda item: bool(N)),
    "two_calls_deep": lambda x: called(),
}
if sys.version_info >= (3, 12):
    TRUTHS["inverted"] = lambda x: operator.invert(True)
    TRUTHS["inverted_all"] = lambda x: list(map(operator.invert, [True, False]))


def truths(name, ask):
    def build():
        def f(x):
            y = x + 1
            return y, ask(x), y * 2

        return {"f": f, "args": x1}

    build.__name__ = f"warns_of_truth_{name}"
    case(**DECISIONS)(build)


for truth in TRUTHS.items():
    truths(*truth)


@open_case
def warnings_that_are_errors():
    def f(x):
        try:
            return x * 2, bool(N)
        except DeprecationWarning as error:
            return x * 3, str(error)

    def called_so(x):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return f(x)

    return {"f": called_so, "args": x1}


def substitutes(name, pattern, template, text):
    def build():
        calls = iter(range(100))
        # It warns of what it has not seen before.
        re.purge()

        def f(x, groups):
            try:
                found = re.sub(pattern * groups, template, text)
            except (re.error, IndexError) as error:
                found = str(error)
            return x + 1, found

        return {"f": f, "args": lambda: (t([1.0]), 1 + next(calls))}

    build.__name__ = f"substitutes_{name}"
    open_case(build)


for name, template in {
    "a_sign": r"\g<+1>",
    "a_space": r"\g< 1 >",
    "another_digit": "\\g<\u0967>",
    "a_word": r"\g<word>",
    "a_number": r"\g<1>|\1",
    "nothing": r"\g<>",
}.items():
    substitutes(name, "()", template, "ab")
    substitutes(f"{name}_in_bytes", b"()", template.encode(), b"ab")


@open_case
def filters_changed_on_the_way():
    def f(x):
        warnings.filters.insert(0, ("error", None, UserWarning, None, 0))
        try:
            warnings.warn("told")
            told = "nothing"
        except UserWarning as error:
            told = str(error)
        finally:
            del warnings.filters[0]
        return x + 1.0, told

    return {"f": f, "args": x1}
