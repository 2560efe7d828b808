"""Where tracebacks point: the instruction, and so the columns, of each frame that an exception has passed."""

import sys

from observe import open_case
from toy_framework import toy

t = toy.tensor


class Loud:
    def __init__(self, value):
        self.value = value

    def __bool__(self):
        print("asked", self.value)
        return True


def places(error):
    """Of each frame its name, its line and what of it: exact columns where the interpreter keeps them."""
    seen, entry = [], error.__traceback__
    while entry is not None:
        code = entry.tb_frame.f_code
        columns = None
        if sys.version_info >= (3, 11):
            columns = list(code.co_positions())[entry.tb_lasti // 2][2:]
        seen.append((code.co_name, entry.tb_lineno - code.co_firstlineno, columns))
        entry = entry.tb_next
    return seen


def plain(x, loud):
    made = [loud and 1]
    made.append(len(5))
    return made, x


def own_cells(x, loud):
    log = []
    made = [loud and 1]
    made.append(len(5))
    return made, [(x, log) for _ in (1, 2)], lambda: (x, log)


def own_cells_read_before(x, loud):
    log = []
    keep = lambda: (x, log)  # noqa: E731
    made = [log, loud and 1, log, x]
    log.append(len(made)), log.append(len(5)), log.append(x)
    return keep


def own_cells_in_a_loop(x, loud):
    total = 0

    def add():
        nonlocal total
        total += 1

    for i in (1, 2, 3):
        add()
        made = (total, loud and i, total) if i < 3 else (total, total.missing, total)
    return made, x


def outer(x, loud):
    log = [x]

    def inner(flag):
        made = [log, flag and 1, log]
        return made, log[0], log[5], made

    return inner(loud)


def in_a_block(x, loud):
    log = []
    keep = lambda: log  # noqa: E731
    try:
        made = loud and [log]
    finally:
        log.append(1)
    return keep, made, log, {}[len(log)], log


def deleted(x, loud):
    log = []
    keep = lambda: log  # noqa: E731
    made = loud and 1
    del log
    return made, keep, [made, log], made


def deeper(x, loud):
    log = []
    made = [log, own_cells(x, loud), log]
    return lambda: (made, log)


def family(raises, called_at):
    def build():
        def f(x):
            loud = Loud(x)
            try:
                raises(x, loud) if called_at == "once" else [raises(x, loud), raises(x, loud)]
            except Exception as error:
                return x + 1.0, places(error), type(error).__name__, str(error)

        return {"f": f, "args": lambda: (t([1.0]),)}

    build.__name__ = build.__qualname__ = "position_in_%s_%s" % (raises.__name__, called_at)
    build.__module__ = __name__
    open_case(build)


for function in (plain, own_cells, own_cells_read_before, own_cells_in_a_loop, outer, in_a_block, deleted, deeper):
    for how in ("once", "twice"):
        family(function, how)


# A generator that waits while a break runs tells where it waits, as one that never was anything but an object.
@open_case
def a_generator_that_waits_over_a_break():
    def f(x):
        def numbers():
            made = [(yield x * 2), (yield x * 3)]
            return made

        generator = numbers()
        next(generator), next(generator)
        print("between")
        frame = generator.gi_frame
        columns = None
        if sys.version_info >= (3, 11):
            columns = list(frame.f_code.co_positions())[frame.f_lasti // 2][2:]
        return frame.f_lineno - frame.f_code.co_firstlineno, columns

    return {"f": f, "args": lambda: (t([1.0]),)}


@open_case
def a_generator_that_waits_for_another_over_a_break():
    def f(x):
        def inner():
            made = [(yield x * 2), (yield x * 3)]
            return made

        def outer():
            result = 0; result = yield from inner()  # noqa: E702
            return result

        generator = outer()
        next(generator), next(generator)
        print("between")
        frames = [generator.gi_frame, generator.gi_yieldfrom.gi_frame]
        columns = []
        if sys.version_info >= (3, 11):
            columns = [list(frame.f_code.co_positions())[frame.f_lasti // 2][2:] for frame in frames]
        return [frame.f_lineno - frame.f_code.co_firstlineno for frame in frames], columns

    return {"f": f, "args": lambda: (t([1.0]),)}
