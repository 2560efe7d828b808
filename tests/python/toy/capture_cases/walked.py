"""Containers that change while `repr` or `==` walks them, by the program's own methods; classes whose keys are asked as well."""

import traceback

from observe import case
from toy_framework import toy

t = toy.tensor


class Item:
    """Does something to the dict that it is in when it is asked; `loud` breaks before and after."""

    def __init__(self, name, log, act, loud=False):
        self.name, self.log, self.act, self.loud = name, log, act, loud

    def asked(self, what):
        self.log.append((what, self.name))
        if self.loud:
            print(what, self.name)
        self.act(self.name)
        if self.loud:
            print("done", self.name)

    def __repr__(self):
        self.asked("repr")
        return f"<{self.name}>"

    def __eq__(self, other):
        self.asked("eq")
        return other is not None

    __hash__ = None


def nothing(d):
    return lambda name: None


def grows(d):
    return lambda name: d.setdefault(len(d), len(d)) if len(d) < 9 else None


def grows_by_items(d):
    def act(name):
        if len(d) < 20:
            d[len(d)] = d[1]

    return act


def shrinks(d):
    return lambda name: d.pop(0, None)


def shrinks_behind(d):
    return lambda name: d.pop(3, None)


def clears(d):
    return lambda name: d.clear()


def sets(d):
    def act(name):
        d[3] = name

    return act


def moves(d):
    def act(name):
        d[0] = d.pop(0, None)

    return act


def fails(d):
    def act(name):
        if name == "b":
            raise KeyError(name)

    return act


ACTS = nothing, grows, grows_by_items, shrinks, shrinks_behind, clears, sets, moves, fails


def filled(d, act, log, loud):
    d[0] = 0
    d[1] = Item("a", log, act(d), loud)
    d[2] = Item("b", log, act(d), loud)
    d[3] = 3
    return d


def written(d, other):
    return repr(d)


def written_deep(d, other):
    return f"{[d, (d,)]}" + "%s" % d + "{x!s}".format(x=[d])


def equal(d, other):
    return d == other, d != other


def equal_to_fewer(d, other):
    other.pop(3)
    return [d] == [other], d == other


def equal_from_the_right(d, other):
    return other == d


WAYS = written, written_deep, equal, equal_to_fewer, equal_from_the_right


def tried(way, d, other, log):
    try:
        log.append(way(d, other))
    except Exception as error:
        log.append((type(error).__name__, str(error), [f.lineno for f in traceback.extract_tb(error.__traceback__)][1:]))
    log.append((list(d), list(other)))


def register(way, loud, outside):
    def build():
        def own(x, log):
            for act in ACTS:
                d, other = filled({}, act, log, loud), filled({}, nothing, log, loud)
                tried(way, d, other, log)
            return x + 1

        def given(x, log, dicts):
            for d, other in dicts:
                tried(way, d, other, log)
            return x + 1

        def args():
            log = []
            if not outside:
                return t([1.0]), log
            dicts = [(filled({}, act, log, loud), filled({}, nothing, log, loud)) for act in ACTS]
            # A dict that has lost keys has gaps, which are closed when it grows.
            for act in ACTS:
                d = {-1: 0, -2: 0, -3: 0}
                filled(d, act, log, loud)
                del d[-1], d[-2]
                dicts.append((d, filled({}, nothing, log, loud)))
            return t([1.0]), log, dicts

        return {"f": given if outside else own, "args": args}

    build.__name__ = f"{way.__name__}_dict{'_from_outside' if outside else ''}{'_and_a_break' if loud else ''}"
    case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


for _way in WAYS:
    for _loud in (False, True):
        for _outside in (False, True):
            register(_way, _loud, _outside)


@case(graphs=1, captures=1)
def a_dict_that_grows_is_written_and_compared():
    def f(x, log):
        d = {1: Item("a", log, log.append)}
        d[2] = Item("b", log, log.append)
        return x + 1, repr(d), d == {1: 2, 2: 3}

    return {"f": f, "args": lambda: (t([1.0]), [])}


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def keys_of_classes_are_asked_when_the_program_runs():
    log = []

    class Key:
        def __init__(self, name):
            self.name = name

        def __hash__(self):
            return hash(self.name)

        def __eq__(self, other):
            log.append((self.name, other))
            self.holder.__bases__ = (Second,)
            return False

    class First:
        one, two = "first one", "first two"

    class Second:
        one, two = "second one", "second two"

    def look(holder):
        # What the interpreter remembers of the first look-up may be found again or not.
        return getattr(holder, "one"), holder.two, hasattr(holder, "three")

    def f(x):
        key = Key("one")
        holder = type("Holder", (First,), {key: 1, "three": 3})
        key.holder = holder
        log.append("asking")
        found = look(holder)
        return x + 1, found, isinstance(holder(), Second), len(log) > 1

    return {"f": f, "args": lambda: (t([1.0]),)}


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def keys_of_a_class_from_outside_are_asked_when_the_program_runs():
    def args():
        log = []

        class Key:
            def __hash__(self):
                return hash("one")

            def __eq__(self, other):
                # How often depends on what the interpreter remembers of other classes.
                if "asked" not in log:
                    log.append("asked")
                return False

        class Base:
            one = "one of the base"

        return t([1.0]), type("Holder", (Base,), {Key(): 1}), log

    def f(x, holder, log):
        log.append("before")
        x = x + 1
        log.append(holder.one)
        log.append("after")
        return x, holder().one

    return {"f": f, "args": args}
