"""Values of C of the standard library that a function makes and asks: dates, structs, paths, lines of a stream, texts of members."""

import datetime
import enum
import io
import os
import stat
import struct
import sys

from observe import case, open_case
from toy_framework import toy

t = toy.tensor
speak = toy.disable(lambda *args: None)


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Mode(str, enum.Enum):
    FAST = "fast"


class Loud(int, enum.Enum):
    ONE = 1

    def __str__(self):
        return "loud " + self.name


def x1():
    return (t([1.0, 2.0]),)


def one_graph(f):
    def build():
        return {"f": f, "args": x1}

    build.__name__ = f.__name__
    case()(build)


def open_function(f):
    def build():
        return {"f": f, "args": x1}

    build.__name__ = f.__name__
    open_case(build)


@one_graph
def seconds_of_a_difference(x):
    span = datetime.timedelta(hours=1, milliseconds=5)
    nothing = datetime.timedelta()
    said = span.days, span.seconds, span.microseconds, bool(nothing), 1 if span else 2, not nothing
    return x * span.total_seconds(), said, [part.days for part in (span, nothing)]


@one_graph
def dates_that_are_made(x):
    day, moment = datetime.date(2020, 2, 29), datetime.datetime(2021, 3, 4, 5, 6)
    return x * float(day.toordinal()), day.isoformat(), day.weekday(), moment.year, moment.hour, moment.isoformat(" ")


@open_function
def dates_that_are_compared(x):
    a, b = datetime.date(2020, 1, 2), datetime.date(2020, 1, 2)
    later = a + datetime.timedelta(days=1)
    said = a == b, a is b, a < later, hash(a) == hash(b), {a: 1}.get(b), [a] == [b], a in [b], str(later), later - a
    return x * 2.0, [str(one) for one in said], later.day, f"{a:%Y}", -datetime.timedelta(1) == datetime.timedelta(-1)


# Up to 3.8 layouts are objects that nothing is known of, and break.
of_layouts = one_graph if sys.version_info >= (3, 9) else open_function


@of_layouts
def layouts_that_are_made(x):
    layout = struct.Struct("<If")
    packed = layout.pack(1, 2.0)
    return x * float(layout.size), packed, layout.unpack(packed), layout.format


@one_graph
def paths_that_are_normal(x):
    where = os.path.normpath("a//b/../c"), os.path.join("a", "b"), os.path.splitext("b.c"), os.path.isabs("/a")
    return x * 2.0, where, stat.S_ISDIR(0o040755), stat.S_IMODE(0o100644), os.path.split("/a/b")


@one_graph
def lines_of_a_stream(x):
    total = 0
    for line in io.StringIO("one\ntwo\nfour"):
        total += len(line)
        x = x + 1.0
    stream = io.BytesIO(b"a\nb\n")
    first = next(stream)
    return x * float(total), first, list(stream), list(stream), [line for line in io.StringIO("")]


@open_function
def lines_behind_a_break(x):
    stream, seen = io.StringIO("one\ntwo\nthree\n"), []
    for number, line in enumerate(stream):
        speak()
        seen.append((number, line))
        if number == 1:
            break
    rest = stream.read()
    return x * 2.0, seen, rest, iter(stream) is stream, next(stream, "end")


@one_graph
def texts_of_members(x):
    said = "%s" % Level.LOW, "{}".format(Level.HIGH), "%s and %r" % (Level.LOW, Level.HIGH), "%s" % Mode.FAST
    return x * Level.HIGH, said, f"{Level.LOW}", "{!r:>20}".format(Mode.FAST), repr([Level.LOW]), "%s" % Loud.ONE


@open_function
def texts_of_members_as_numbers(x):
    said = "%d" % Level.LOW, "{:03d}".format(Level.HIGH), "%5.1f" % Level.LOW, "%x" % Level.HIGH, "{:>6}".format(Loud.ONE)
    return x * 2.0, said, "%(a)s" % {"a": Level.LOW}, "{0.name}".format(Level.LOW), str([Loud.ONE, Mode.FAST]), f"{Loud.ONE!s:>8}"


@open_function
def closed_stream_refuses_to_be_iterated(x):
    stream, said = io.StringIO("one"), []
    stream.close()
    for way in (iter, next, list):
        try:
            way(stream)
        except ValueError as error:
            said.append(str(error))
    return x + 1, said
