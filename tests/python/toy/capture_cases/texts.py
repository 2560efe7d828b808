"""Texts that the program's `__repr__`, `__str__` and `__format__` are a part of: who is asked, in which order, and what comes
of odd answers."""

from capture_cases.protected import log_case
from observe import case
from toy_framework import toy

t = toy.tensor


class Quiet:
    """Writes down what it is asked; `loud` breaks there."""

    def __init__(self, name, log, loud=False):
        self.name, self.log, self.loud = name, log, loud

    def note(self, what):
        self.log.append((what, self.name))
        if self.loud:
            print(what, self.name)

    def __repr__(self):
        self.note("repr")
        return f"<{self.name}>"


class Both(Quiet):
    def __str__(self):
        self.note("str")
        return self.name


class Formatted(Both):
    def __format__(self, spec):
        self.note("format " + spec)
        return self.name + spec


class Wrong(Quiet):
    def __repr__(self):
        self.note("repr")
        return 5


class Failing(Quiet):
    def __repr__(self):
        self.note("repr")
        raise KeyError(self.name)


class Getting(Quiet):
    def __getitem__(self, key):
        return key


class Plain:
    pass


def in_itself(a):
    items = [a, 1]
    items.append(items)
    items.append((items, {"items": items}))
    return repr(items)


def wide(a, b):
    return "{:>{width}}|{!r:^9}|{2!s}|{x!a}".replace("{2!s}", "{!s}").format(a, b, a, width=7, x=b)


WAYS = {
    "repr of a list": lambda a, b: repr([a, 1, b]),
    "repr of a tuple": lambda a, b: (repr((a,)), repr((a, b)), repr(((a, "x"), ()))),
    "repr of a dict": lambda a, b: repr({"a": a, 1: [b], "c": "d"}),
    "str of a list": lambda a, b: str([a, "é", b]),
    "str of a dict": lambda a, b: str({"a": a, "b": {"c": b}}),
    "ascii of a list": lambda a, b: ascii([a, "é", b]),
    "fields": lambda a, b: f"{a} {a!r} {a!s:>5} {b:x} {b!a}",
    "fields of containers": lambda a, b: f"{[a, b]} {[a]!r} {(a, b)!s:>20} {[a]!a} { {'a': a} }",
    "percent": lambda a, b: "%s %r %5s %-5r| %a %d%%" % (a, b, a, b, a, 5),
    "percent of one": lambda a, b: "%s" % a + "%r" % b,
    "percent of containers": lambda a, b: "%s %r" % ([a], (b,)),
    "percent by name": lambda a, b: "%(a)s %(b)r %(a)r" % {"a": a, "b": b, "c": 1},
    "percent as a number": lambda a, b: "%d" % a,
    "percent with too few": lambda a, b: "%s %s" % a,
    "percent with too many": lambda a, b: "%s" % (a, b),
    "percent with none": lambda a, b: "nothing" % a,
    "percent in place": lambda a, b: in_place("%s", a),
    "format": lambda a, b: "{} {!r} {:>3} {x} {x!s:>4}".format(a, b, a, x=b),
    "format by number": lambda a, b: "{1} {0} {1!r}".format(a, b),
    "format of containers": lambda a, b: "{} {!r:>20} {x}".format([a], [b], x={"b": b}),
    "format with a width": wide,
    "format of attributes": lambda a, b: "{0.name} {1.name}".format(a, b),
    "format with too few": lambda a, b: "{} {} {}".format(a, b),
    "format of a list with a specification": lambda a, b: "{:>5}".format([a]),
    "join": lambda a, b: ", ".join([str(a), repr(b)]) + ", ".join(map(repr, [a, b])),
    "print": lambda a, b: (print(a), print(b, 1, sep="-", end="!\n"), print([a, b]), print(1, a), print("%s" % b)),
    "error": lambda a, b: "%s %r" % (KeyError(a), ValueError("x", 1)),
    "in itself": lambda a, b: in_itself(a),
}


def in_place(text, value):
    text %= value
    return text


def register(name, way):
    for loud in (False, True):

        def build(loud=loud):
            def f(x, log):
                for kind in (Quiet, Both, Formatted, Wrong, Failing, Getting):
                    log.append(kind.__name__)
                    try:
                        log.append(way(kind("a", log, loud), Both("b", log)))
                    except Exception as error:
                        log.append((type(error).__name__, str(error), type(error.__context__).__name__))
                return x + 1

            return {"f": f, "args": lambda: (t([1.0]), [])}

        build.__name__ = f"text_by_{name.replace(' ', '_')}{'_and_a_break' if loud else ''}"
        case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


for _name, _way in WAYS.items():
    register(_name, _way)


@log_case()
def texts_are_inlined():
    def f(x, log):
        a, b = Both("a", log), Formatted("b", log)
        log.append((repr([a, b]), str({"a": a}), f"{[a]} {b:>3} {a!r}", "%s %r" % (a, [b]), "%(a)s" % {"a": a}))
        log.append(("{} {!r:>5} {b:c}".format(a, b, b=b), repr(((a,),)), "%s" % a, ascii(a)))
        return x + 1

    return f


@case(graphs=1, captures=None, breaks=1, reasons=("builtin-with-output",))
def a_break_in_a_text_of_a_container():
    def f(x, log):
        a, b = Quiet("a", log), Quiet("b", log, loud=True)
        return f"{[a, [b, a]]} {{}}", x + 1

    return {"f": f, "args": lambda: (t([1.0]), [])}


class Owner:
    def __init__(self, log, loud):
        self.items, self.log, self.loud = [1], log, loud
        self.items.append(self)

    def __repr__(self):
        self.log.append("repr")
        if self.loud:
            print("repr")
        return f"Owner({self.items})"


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def what_is_written_is_in_itself():
    def f(x):
        log = []
        quiet, loud = Owner(log, False), Owner(log, True)
        log.append((repr(quiet), repr(quiet.items), f"{quiet.items}", repr(loud), repr(loud.items)))
        return log, x + 1

    return {"f": f, "args": lambda: (t([1.0]),)}


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def what_is_written_outside_is_in_itself():
    def f(x, owner):
        return repr(owner), repr(owner.items), "%s" % owner, x + 1

    return {"f": f, "args": lambda: (t([1.0]), Owner([], False))}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def templates_that_ask_for_parts_of_values():
    class Named:
        """Has a name."""

        def __str__(self):
            return "named"

    def f(x):
        named, error = Named(), ValueError(1)
        return x + 1, [
            "{0.__class__.__name__}: {0}".format(named),
            "{0.__doc__} {0!s:>7}".format(named),
            "{error.__class__.__name__}: {error}".format(error=error),
            "{0.args[0]}".format(error),
        ]

    return {"f": f, "args": lambda: (t([1.0, 2.0]),)}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def printed_values_are_asked_when_the_arguments_are_right():
    class Told:
        def __init__(self, log):
            self.log = log

        def __str__(self):
            self.log.append("str")
            return "told"

    def f(x):
        log = []
        for options in {"sep": 5}, {"end": 3}, {"other": 1}, {"sep": "-", "end": "!"}:
            try:
                print(Told(log), Told(log), **options)
            except TypeError as error:
                log.append(str(error))
        return x + 1, log

    return {"f": f, "args": lambda: (t([1.0, 2.0]),)}
