"""What `__exit__` answers is asked for its truth where the block has raised, and only there: by code of the program, or by a
tensor, which is a break."""

import sys

from observe import case
from toy_framework import toy

t = toy.tensor


class Truth:
    def __init__(self, log, answer, loud=False):
        self.log, self.answer, self.loud = log, answer, loud

    def __bool__(self):
        self.log.append("bool")
        if self.loud:
            print("asked")
        return self.answer


class Length:
    def __init__(self, log, answer, loud=False):
        self.log, self.answer, self.loud = log, answer, loud

    def __len__(self):
        self.log.append("len")
        if self.loud:
            print("asked")
        return self.answer


class Refuses:
    def __init__(self, log):
        self.log = log

    def __bool__(self):
        self.log.append("refuses")
        raise LookupError("no truth")


class Manager:
    def __init__(self, answer):
        self.answer = answer

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        return self.answer


# What answers, and the breaks that its question costs.
ANSWERS = {
    "a_true_instance": (lambda log: Truth(log, True), 0),
    "a_false_instance": (lambda log: Truth(log, False), 0),
    "a_loud_true_instance": (lambda log: Truth(log, True, loud=True), 1),
    "a_loud_false_instance": (lambda log: Truth(log, False, loud=True), 1),
    "a_length": (lambda log: Length(log, 2), 0),
    "no_length": (lambda log: Length(log, 0), 0),
    "a_loud_length": (lambda log: Length(log, 2, loud=True), 1),
    "a_wrong_truth": (lambda log: Truth(log, 3), None),
    "a_negative_length": (lambda log: Length(log, -1), None),
    # 3.8 raises it in a frame that still handles what the block raised.
    "a_refusal": (Refuses, 0 if sys.version_info >= (3, 9) else None),
    "a_tensor": (lambda log: t([1.0]), 1),
    "a_tensor_of_zero": (lambda log: t([0.0]), 1),
    "a_tensor_of_two": (lambda log: t([1.0, 2.0]), None),
    "a_list": (lambda log: [0], 0),
    "an_empty_text": (lambda log: "", 0),
}


def returns(x, answer, log):
    y = x * 2
    with Manager(answer):
        return {}["none"]
    return y + 1


def goes_round(x, answer, log):
    for i in range(2):
        with Manager(answer):
            x = x * 2
            raise ValueError(i)
        log.append(i)
    return x + 1


def is_inlined(x, answer, log):
    def inner(x):
        with Manager(answer):
            x = x + 1
            raise KeyError("inner")
        return x * 3

    try:
        return inner(x) + 1
    except LookupError as error:
        log.append((type(error).__name__, str(error.__context__)))
        return x - 1


def falls_through(x, answer, log):
    with Manager(answer):
        x = x * 2
    return x + 1


def register(form, name):
    make, breaks = ANSWERS[name]
    asked = form is not falls_through
    rounds = 2 if form is goes_round else 1
    decided = breaks == 0 or not asked

    def build():
        def f(x, log):
            return form(x, make(log), log)

        return {"f": f, "args": lambda: (t([1.0, 2.0]), [])}

    build.__name__ = f"{name}_that_{form.__name__}"
    if decided:
        raises = form in (returns, goes_round) and name in ("a_false_instance", "no_length", "a_refusal", "an_empty_text")
        # 3.9 and 3.10: what the refusal raises leaves the function while that still handles what the block raised.
        if form in (returns, goes_round) and name == "a_refusal" and sys.version_info < (3, 11):
            return case(graphs=None, captures=1, breaks=1, reasons=("would-raise",))(build)
        return case(graphs=None if raises else 1, captures=1)(build)
    breaks = None if breaks is None or rounds > 1 else breaks
    return case(graphs=None, captures=None, breaks=breaks, reasons=None)(build)


for form in (returns, goes_round, is_inlined, falls_through):
    for name in ANSWERS:
        register(form, name)
