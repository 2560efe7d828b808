"""Instances that have items by number alone: whoever takes their items asks `__getitem__` until it raises IndexError."""

import traceback

from capture_cases.protected import log_case
from observe import case
from toy_framework import toy

t = toy.tensor


class Indexed:
    """Writes down what it is asked; `loud` breaks there."""

    end = IndexError

    def __init__(self, log, loud=False):
        self.log, self.loud = log, loud

    def __getitem__(self, index):
        self.log.append(index)
        if self.loud:
            print("item", index)
        if index == 3:
            raise self.end(index)
        return index * 10


class Stopping(Indexed):
    end = StopIteration


class Failing(Indexed):
    end = KeyError


class Long(Indexed):
    def __len__(self):
        self.log.append("len")
        return 2


def loop(s):
    items = []
    for item in s:
        items.append(item)
    else:
        items.append("end")
    return items


def left_early(s):
    for item in s:
        if item:
            return item


def twice(s):
    return [(a, b) for a in s for b in s]


def inner(s):
    return [[b + a for b in s] for a in s]


def unpacked(s):
    a, b, c = s
    return a, b, c


def unpacked_two(s):
    a, b = s
    return a, b


def starred(s):
    a, *b = s
    return a, b


def extended(s):
    items = [1]
    items.extend(s)
    items += s
    return items


WAYS = {
    "loop": loop,
    "left early": left_early,
    "twice": twice,
    "inner": inner,
    "list": list,
    "tuple": tuple,
    "display": lambda s: [0, *s],
    "call": lambda s: (lambda *args: args)(*s),
    "sorted": lambda s: sorted(s, reverse=True),
    "sum": sum,
    "max": max,
    "any": any,
    "in": lambda s: (10 in s, 20 not in s, 5 in s),
    "unpacked": unpacked,
    "unpacked two": unpacked_two,
    "starred": starred,
    "extended": extended,
    "join": lambda s: ",".join(map(str, s)),
    "zip": lambda s: list(zip(s, s)),
    "enumerate": lambda s: list(enumerate(s)),
    "iter": lambda s: (lambda it: (type(it).__name__, next(it), list(it), next(it, None)))(iter(s)),
    "comprehension": lambda s: {item: item for item in s},
    "generator": lambda s: list(item + 1 for item in s),
    "fromkeys": lambda s: dict.fromkeys(s),
    "set": lambda s: sorted(set(s)),
    "until": lambda s: list(iter(lambda it=iter(s): next(it), 20)),
}


def register(name, way):
    for loud in (False, True):

        def build(loud=loud):
            def f(x, log):
                for kind in (Indexed, Stopping, Failing, Long):
                    log.append(kind.__name__)
                    try:
                        log.append(way(kind(log, loud)))
                    except Exception as error:
                        frames = [(f.name, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
                        log.append((type(error).__name__, str(error), type(error.__context__).__name__, frames[1:]))
                return x + 1

            return {"f": f, "args": lambda: (t([1.0]), [])}

        build.__name__ = f"items_by_number_in_{name.replace(' ', '_')}{'_and_a_break' if loud else ''}"
        case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


for _name, _way in WAYS.items():
    register(_name, _way)


class Layers:
    def __init__(self, x, loud=False):
        self.x, self.loud = x, loud

    def __getitem__(self, index):
        if index > 2:
            raise IndexError
        if self.loud:
            print(index)
        return self.x * index


@log_case()
def items_by_number_are_inlined():
    def f(x, log):
        layers, y = Layers(x), x
        for layer in layers:
            y = y + layer
        a, b, c = layers
        log.extend([len(list(layers)), len([*layers, 1]), sum(item.ndim for item in layers)])
        return y + a + b + c

    return f


@case(graphs=4, captures=None, breaks=3, reasons=("builtin-with-output",))
def a_break_in_each_item_by_number():
    def f(x):
        y = x + 1
        for layer in Layers(x, True):
            y = y + layer
        return y

    return {"f": f, "args": lambda: (t([1.0]),)}


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def items_by_number_while_all_runs_as_python():
    def f(x):
        log = []

        class Turning(Indexed):
            def __getitem__(self, index):
                toy.set_debug_mode(True)
                log.append([(f.name, f.line) for f in traceback.extract_stack() if f.filename == __file__])
                return super().__getitem__(index)

        class TurningAndFailing(Turning):
            end = KeyError

        for way in (list, loop, lambda s: [a for a in s], unpacked, lambda s: 20 in s):
            for kind in (Turning, TurningAndFailing):
                try:
                    log.append(way(kind([])))
                except KeyError as error:
                    log.append([(f.name, f.line) for f in traceback.extract_tb(error.__traceback__)][1:])
                toy.set_debug_mode(False)
        return log, x + 1

    return {"f": f, "args": lambda: (t([1.0]),)}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def the_rest_asks_for_the_length_of_items_by_number():
    class Sized:
        def __init__(self, log, length):
            self.log, self.length = log, length

        def __len__(self):
            self.log.append("len")
            return self.length[0]

        def __getitem__(self, index):
            if index > 3:
                raise IndexError(index)
            self.log.append(index)
            return index

    def f(x):
        log = []
        a, *b = Sized(log, [4])
        (*c,) = Sized(log, [2])
        try:
            d, *e = Sized(log, [])
        except IndexError as error:
            log.append(str(error))
        return x + a, b, c, log

    return {"f": f, "args": lambda: (t([1.0, 2.0]),)}
