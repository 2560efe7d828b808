"""Containers that hold themselves, written with breaks on the way: whoever asks in the meantime is told that it is under way."""

import traceback

from observe import case
from toy_framework import toy

t = toy.tensor


class Owner:
    """Its text is that of a container which holds it."""

    def __init__(self, log, loud, then=None):
        self.log, self.loud, self.then, self.items = log, loud, then, None

    def __repr__(self):
        self.log.append("repr")
        if self.loud in ("before", "both"):
            print("before")
        text = f"Owner({self.items})"
        if self.loud in ("after", "both"):
            print("after")
        if self.then is not None:
            self.log.append(self.then(self.items))
        return text


def as_tuple(owner):
    return (1, [owner])


def as_dict(owner):
    return {"a": 1, "owner": owner, "b": [owner]}


def in_itself(owner):
    items = [owner]
    items.append(items)
    items.append({"items": items})
    return items


MAKERS = as_tuple, as_dict, in_itself


def by_format(items):
    return f"{items!r:>9}", "%s" % (items,), "{}".format([items])


def for_real(items):
    print(items)
    return list(map(repr, [items]))[0]


def failing(items):
    raise KeyError("on the way")


THEN = None, by_format, for_real, failing


def write(items):
    return repr(items)


def write_deep(items):
    return (lambda: [write(items), f"{[items]}"])()


def register(loud, way, outside):
    def build():
        def tried(items, log):
            try:
                log.append(way(items))
            except KeyError as error:
                log.append((str(error), [f.lineno for f in traceback.extract_tb(error.__traceback__)]))
            # Nothing is under way any more.
            log.append(len(repr(items)) if len(log) < 5 else None)

        def made(maker, then, log):
            owner = Owner(log, loud, then)
            owner.items = maker(owner)
            return owner.items

        def own(x):
            logs = []
            for maker in MAKERS:
                for then in THEN:
                    log = []
                    try:
                        tried(made(maker, then, log), log)
                    except KeyError as error:
                        log.append(str(error))
                    logs.append(log)
            return x + 1, logs

        def given(x, all_items):
            for items, log in all_items:
                try:
                    tried(items, log)
                except KeyError as error:
                    log.append(str(error))
            return x + 1, [log for _, log in all_items]

        def args():
            if not outside:
                return (t([1.0]),)
            logs = [(maker, then, []) for maker in MAKERS for then in THEN]
            return t([1.0]), [(made(maker, then, log), log) for maker, then, log in logs]

        return {"f": given if outside else own, "args": args}

    build.__name__ = f"{way.__name__}_what_holds_itself{'_from_outside' if outside else ''}{f'_with_breaks_{loud}' if loud else ''}"
    case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


for _loud in (None, "before", "both"):
    for _outside in (False, True):
        register(_loud, write, _outside)
        register(_loud, write_deep, _outside)


class Inside:
    """Is captured while the container that holds it is being written by somebody else."""

    def __init__(self, entry):
        self.entry, self.items = entry, [0, self]

    def __repr__(self):
        return self.entry(self.items)


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def a_container_that_somebody_else_writes():
    class Told:
        def __repr__(self):
            return "told"

    def write(items):
        return repr(items), f"{items}"

    def f(x):
        entry = toy.to_static(lambda items: repr(items))
        inside = Inside(entry)
        inside.items.append(Told())
        first = entry([Told()])
        # The hook is not where the real `repr` calls back.
        return x + 1, first, list(map(repr, [inside.items])), entry([Told()]), write([inside])

    return {"f": f, "args": lambda: (t([1.0]),)}


HELD = {}


class Loud:
    """Asks for the text of what is held, between breaks."""

    def __init__(self, ask):
        self.ask = ask

    def __repr__(self):
        print("before")
        text = self.ask(HELD["items"])
        print("after")
        return f"<{text}>"


def asked_by_code(items):
    return [repr(items), repr([items]), f"{(items, 1)}"]


def asked_for_real(items):
    return "%-30s|%s" % (str(items), list(map(repr, [items, [items]])))


def asked_and_failing(items):
    repr([items])
    raise KeyError("on the way")


def register_held(name, make, ask, deep):
    def build():
        def inner():
            HELD["items"] = items = make(Loud(ask))
            try:
                return repr(items)
            except KeyError as error:
                return str(error), [f.lineno for f in traceback.extract_tb(error.__traceback__)]
            finally:
                # It is not under way any more.
                HELD["length"] = len(repr([items[:-1]])) if isinstance(items, (list, tuple)) else 0

        def outer():
            return [inner()]

        def f(x):
            y = x + 1
            text = outer() if deep else inner()
            return y + 1, text, HELD.pop("length"), HELD.pop("items") is not None

        return {"f": f, "args": lambda: (t([1.0]),)}

    build.__name__ = f"held_{name}_{ask.__name__}{'_deep' if deep else ''}"
    case(graphs=None, captures=None, breaks=None, reasons=None)(build)


for _name, _make in {
    "list": lambda loud: [0, loud, 1],
    "tuple": lambda loud: (0, loud, 1),
    "dict": lambda loud: {0: loud, 1: 1},
    "nest": lambda loud: [[(0, {1: loud})], 1],
}.items():
    for _ask in (asked_by_code, asked_for_real, asked_and_failing):
        for _deep in (False, True):
            register_held(_name, _make, _ask, _deep)
