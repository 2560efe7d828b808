"""Iterators over items by number and over calls, held by the program: asked again behind errors and behind their end, combined,
and handed on over breaks."""

import traceback

from observe import case
from toy_framework import toy

t = toy.tensor


class Indexed:
    """Writes down what it is asked; `loud` breaks there; refuses one item once."""

    end = IndexError

    def __init__(self, log, loud, refused=None):
        self.log, self.loud, self.refused = log, loud, refused

    def __getitem__(self, index):
        self.log.append(index)
        if self.loud:
            print("item", index)
        if index == self.refused:
            self.refused = None
            raise KeyError(index)
        if index == 3:
            raise self.end(index)
        return index * 10


class Stopping(Indexed):
    end = StopIteration


class Sized(Indexed):
    def __len__(self):
        self.log.append("len")
        if self.loud:
            print("len")
        return 2


class Unsized(Indexed):
    def __len__(self):
        self.log.append("no len")
        raise TypeError("no len")


class Badly(Indexed):
    def __len__(self):
        self.log.append("bad len")
        raise ValueError("bad len")


class Calls:
    """Gives 0, 1, 2 .., or ends."""

    def __init__(self, log, loud, refused=None):
        self.log, self.loud, self.refused, self.count = log, loud, refused, -1

    def __call__(self):
        self.count += 1
        self.log.append(self.count)
        if self.loud:
            print("call", self.count)
        if self.count == self.refused:
            raise KeyError(self.count)
        if self.count == 5:
            raise StopIteration("ended")
        return self.count


class Last:
    """Is equal to one number, and says what it is compared with."""

    def __init__(self, number, log):
        self.number, self.log = number, log

    def __eq__(self, other):
        self.log.append(("eq", other))
        return other == self.number

    __hash__ = None


def error_of(action, log, lines=False):
    try:
        log.append(action())
    except Exception as error:
        log.append((type(error).__name__, str(error), error.__context__ is None))
        if lines:
            log.append([(f.name, f.lineno) for f in traceback.extract_tb(error.__traceback__)][1:])


def by_index(log, loud):
    yield "plain", iter(Indexed(log, loud))
    yield "refuses", iter(Indexed(log, loud, 1))
    yield "stopping", iter(Stopping(log, loud))
    yield "sized", iter(Sized(log, loud))


def of_lengths(log, loud):
    yield "sized", iter(Sized(log, loud))
    yield "unsized", iter(Unsized(log, loud))
    yield "badly", iter(Badly(log, loud))


def of_calls(log, loud):
    calls, bound = Calls(log, loud), Calls(log, loud)
    yield "up to 3", iter(calls, 3)
    yield "to the end", iter(bound.__call__, "never")
    yield "refuses", iter(Calls(log, loud, 1), 2)
    yield "closure", iter(lambda call=Calls(log, loud): call() * 2, 4)
    yield "asked", iter(Calls(log, loud), Last(2, log))
    yield "list", iter([3, 2, 1].pop, 2)


def of_combined(log, loud):
    yield "enumerate", enumerate(Indexed(log, loud, 1), 5)
    yield "zip", zip(Stopping(log, loud), Indexed(log, loud, 2), [7, 8, 9, 10])
    yield "map", map(lambda a, b: (a, b), Indexed(log, loud, 1), Sized(log, loud))
    yield "filter", filter(None, Indexed(log, loud, 2))
    yield "zip of calls", zip(iter(Calls(log, loud, 1), 3), Indexed(log, loud))


def looped(it, log):
    for item in it:
        log.append(("item", item))
        if item == 20:
            break
    for item in it:
        log.append(("more", item))
    return next(it, "end")


def asked(it, log):
    for _ in range(3):
        error_of(lambda: next(it), log)
    error_of(lambda: next(it), log, lines=True)
    error_of(lambda: next(it), log)
    return next(it, "end"), list(it)


def listed(it, log):
    log.append(next(it, "end"))
    error_of(lambda: list(it), log)
    error_of(lambda: [*it, 1], log)
    return type(it).__name__


def unpacked(it, log):
    def starred():
        a, *b = it
        return a, b

    error_of(starred, log)
    error_of(starred, log)
    return len(tuple(it))


def handed_on(it, log):
    log.append(next(it, "end"))
    print("on the way")
    log.append(next(it, "end"))
    held = [it]
    print("again")
    return sum(1 for _ in held.pop()), type(it).__name__


SOURCES = by_index, of_lengths, of_calls, of_combined
WAYS = (looped, False), (listed, False), (asked, True), (unpacked, True), (handed_on, False), (handed_on, True)


def register(source, way, loud):
    def build():
        def f(x):
            log = []
            for name, it in list(source(log, loud)):
                log.append(name)
                error_of(lambda: way(it, log), log)
            return x + 1, log

        return {"f": f, "args": lambda: (t([1.0]),)}

    build.__name__ = f"{source.__name__}_{way.__name__}{'_and_a_break' if loud else ''}"
    case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


for _source in SOURCES:
    for _way, _loud in WAYS:
        register(_source, _way, _loud)


class Data:
    def __init__(self, x, loud=False):
        self.x, self.loud = x, loud

    def __len__(self):
        return 3

    def __getitem__(self, index):
        if index >= 3:
            raise IndexError
        if self.loud:
            print(index)
        return self.x * index


@case()
def items_by_number_are_numbered_and_combined():
    def f(x):
        y = x
        for index, item in enumerate(Data(x)):
            y = y + item * index
        for a, b in zip(Data(x), Data(y)):
            y = y + a + b
        first, *rest = Data(y)
        it = iter(Data(y))
        return next(it), first, rest, list(it), list(map(lambda item: item + 1, Data(y)))

    return {"f": f, "args": lambda: (t([1.0]),)}


@case()
def calls_are_iterated():
    def f(x):
        left = [x, x + 1, None, x + 2]

        def take():
            return left.pop(0)

        y = x
        for item in iter(take, None):
            y = y + item
        counted = [0]

        def count():
            counted[0] += 1
            return counted[0]

        return y, list(iter(count, 4)), sum(iter(lambda: count(), 9)), left

    return {"f": f, "args": lambda: (t([1.0]),)}


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def data_with_breaks_is_numbered():
    def f(x):
        y = x
        for index, item in enumerate(Data(x, True)):
            y = y + item * index
        for a, b in zip(Data(x, True), [1, 2, 3]):
            print(b)
            y = y + a
        return y

    return {"f": f, "args": lambda: (t([1.0]),)}
