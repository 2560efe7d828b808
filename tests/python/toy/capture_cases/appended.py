"""Lists from before the call to which it appends: one capture serves however long they have become."""

import collections

from doors import opaque
from observe import case, open_case
from toy_framework import toy

t = toy.tensor
x1 = lambda: (t([1.0]),)  # noqa: E731


class Meter:
    def __init__(self):
        self.history = []
        self.table = {"loss": []}


PUTS = {
    "a_number": lambda log, x: log.append(1),
    "a_tensor": lambda log, x: log.append(x * 2.0),
    "the_argument": lambda log, x: log.append(x),
    "a_tuple": lambda log, x: log.append(("step", 1, x)),
    "a_dict": lambda log, x: log.append({"loss": x, "rows": [1, (2,)]}),
    "many": lambda log, x: [log.append(at) for at in range(4)],
    "extended": lambda log, x: log.extend([1, x]),
    "extended_by_a_tuple": lambda log, x: log.extend((1, 2)),
    "by_a_name": lambda log, x: [put(at) for put in (log.append,) for at in "ab"],
}
PLACES = {
    "global": lambda log: lambda: log,
    "attribute": lambda log: (lambda meter: lambda: meter.history)(holds(log, Meter())),
    "item": lambda log: (lambda meter: lambda: meter.table["loss"])(holds(log, Meter())),
}


def holds(log, meter):
    meter.history = meter.table["loss"] = log
    return meter


def puts(name, put, where, place):
    def build():
        log = []
        at = place(log)

        def f(x):
            put(at(), x)
            return x + 1.0

        return {"f": f, "args": x1, "watch": lambda: list(log)}

    build.__name__ = f"appends_{name}_to_{where}"
    case(captures=1)(build)


for one in PUTS.items():
    for other in PLACES.items():
        puts(*one, *other)


@case()
def appends_to_an_argument():
    log = []

    def f(x, out):
        out.append(1)
        out.append(x * 2.0)
        return x + 1.0

    return {"f": f, "args": lambda: (t([1.0]), log), "watch": lambda: list(log)}


@case(graphs=2, captures=2, breaks=1, reasons=("disabled",))
def appends_around_a_break():
    log = []

    def f(x):
        log.append("before")
        y = x * 2.0
        opaque(None)
        log.append("behind")
        return y + 1.0

    return {"f": f, "args": x1, "watch": lambda: list(log)}


@case()
def appends_and_handles():
    log = []

    def f(x):
        try:
            log.append("tried")
            raise KeyError("k")
        except KeyError as error:
            log.append(str(error))
        finally:
            log.append("finally")
        return x + 1.0

    return {"f": f, "args": x1, "watch": lambda: list(log)}


@case(graphs=3, captures=3)
def what_is_asked_afterwards_is_known():
    log = []

    def f(x):
        log.append(3)
        length = len(log)
        log.append(x)
        last = log[-1]
        log.pop()
        log.extend((5, 6))
        return x * length, last is x, log[-1], list(log), 5 in log

    return {"f": f, "args": x1, "watch": lambda: list(log)}


@case(graphs=2, captures=2)
def one_list_by_two_names():
    log = []
    also = log

    def f(x, out):
        out.append(1)
        also.append(2)
        log.append(3)
        return x + 1.0, out

    given = iter([[], log, log, [], log, log])
    return {"f": f, "args": lambda: (t([1.0]), next(given)), "watch": lambda: list(log)}


class Loud(list):
    def append(self, item):
        super().append((item, item))


@case(graphs=2, captures=2)
def the_list_becomes_one_that_answers_itself():
    world = Meter()
    kinds = iter([list, Loud, Loud] * 2)

    def f(x):
        world.history.append(1)
        return x + 1.0

    def args():
        world.history = next(kinds)()
        return (t([1.0]),)

    return {"f": f, "args": args, "watch": lambda: list(world.history)}


@case()
def the_last_of_what_was_appended():
    kept, queue, calls = [t([9.0])], collections.deque(), []

    def f(x):
        kept.append(x * 2.0)
        kept.extend([1.5, x])
        queue.append(x + 1.0)
        calls.append(0)
        return kept[-1] * kept[-2] + kept[-3], queue[-1], kept[-1] is x

    return {"f": f, "args": x1, "watch": lambda: [list(kept), list(queue), len(calls)]}


@open_case
def further_back_than_was_appended():
    kept, empty = [t([9.0])], []

    def f(x, at):
        kept.append(x * 2.0)
        empty.append(1)
        try:
            return kept[-2] + x, kept[at], kept[True], kept[-1:], empty[-2]
        except IndexError as error:
            return str(error), kept[-at]

    calls = [0]

    def args():
        calls[0] += 1
        return (*x1(), -calls[0])

    return {"f": f, "args": args, "watch": lambda: [list(kept), list(empty)]}
