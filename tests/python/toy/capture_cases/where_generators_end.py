"""The frame of a generator that has handled an exception and raises it again: tracebacks show where it has ended."""

from observe import case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0]),)


def places(error):
    seen, entry = [], error.__traceback__
    while entry is not None:
        frame = entry.tb_frame
        first = frame.f_code.co_firstlineno
        seen.append((frame.f_code.co_name, entry.tb_lineno - first, frame.f_lineno - first))
        entry = entry.tb_next
    # The outermost goes on.
    return seen[1:]


def thrown_into():
    try:
        yield 1
    except ValueError:
        toy.graph_break()
        len([])
        raise


def raised_within():
    try:
        yield 1
        raise ValueError("within")
    except ValueError:
        len([])
        toy.graph_break()
        len([])
        raise


def finally_left():
    try:
        yield 1
    finally:
        toy.graph_break()
        len([])


def delegated(depth=2):
    try:
        if depth:
            yield from delegated(depth - 1)
        yield depth
    except ValueError as error:
        error.args = (depth,)
        toy.graph_break()
        raise


def another_raised():
    try:
        yield 1
    except ValueError as error:
        toy.graph_break()
        raise KeyError(2) from error


def thrown(asked):
    asked.throw(ValueError("thrown"))


def stepped(asked):
    return next(asked)


def family(generator, ends):
    def build():
        def f(x):
            asked = generator()
            next(asked)
            try:
                ends(asked)
            except (ValueError, KeyError) as error:
                toy.graph_break()
                cause = error.__cause__
                return x + 1, places(error), cause and places(cause)
            return x

        return {"f": f, "args": x1}

    build.__name__ = f"where_generators_end_{generator.__name__}_{ends.__name__}"
    build.__module__ = __name__
    case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


for generator in (thrown_into, raised_within, finally_left, delegated, another_raised):
    for ends in (thrown, stepped):
        family(generator, ends)
