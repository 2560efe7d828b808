"""Classes that extend text, with methods of their own: what C does with the content, and what the class does in its own way."""

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


class Name(str):
    def shout(self):
        return self.upper() + "!"

    def upper(self):
        return "UP" + super().upper()


class Shown(str):
    def __str__(self):
        return "<" + super().__str__() + ">"


class Formatted(str):
    def __format__(self, spec):
        return "as" + spec


class Amount(float):
    def doubled(self):
        return Amount(self * 2.0)


class Count(int):
    def __repr__(self):
        return "n" + super().__repr__()


def uses_of(s):
    return (
        f"{s}",
        f"{s!r}{s:>5}{s!s}",
        s.upper(),
        s.shout(),
        "".join([s, s]),
        "-".join([s]),
        "%s" % s,
        "%s %r" % (s, s),
        "{} {:>4}".format(s, s),
        str(s),
        repr(s),
        format(s, "<4"),
        s.title(),
        s.split("a"),
        s.startswith("a"),
        type(s.lower()) is str,
        s == "ab",
        s in ("ab",),
    )


@case()
def text_of_a_class_made_here():
    def f(x):
        s = Name("ab")
        return x * len(s), uses_of(s)

    return {"f": f, "args": x1}


@case()
def text_of_a_class_from_before():
    s = Name("ab")

    def f(x):
        return x * 2.0, uses_of(s)

    return {"f": f, "args": x1}


@case()
def a_class_with_its_own_text():
    def f(x):
        s, q = Shown("ab"), Formatted("cd")
        return x * 2.0, f"{s}", f"{s!r}", str(s), f"{s:>4}", f"{q:>3}", f"{q!s}", str(q), "".join([s, q])

    return {"f": f, "args": x1}


@case()
def numbers_with_methods():
    def f(x):
        a, n = Amount(2.5), Count(3)
        return x * a.doubled(), f"{a:.2f}", f"{n}", f"{n!s}", str(a), repr(n), "%s" % (a,), f"{n:>4}", str(n)

    return {"f": f, "args": x1}


@open_case
def a_class_that_gets_another_text():
    class Changing(str):
        pass

    calls, s = [0], Changing("ab")

    def f(x):
        return x * 2.0, f"{s}", str(s), "%s" % (s,), f"{Changing('q')}"

    def args():
        calls[0] += 1
        if calls[0] == 3:
            Changing.__str__ = lambda self: "changed"
        if calls[0] == 5:
            Changing.__format__ = lambda self, spec: "formatted"
        return x1()

    return {"f": f, "args": args}


@open_case
def templates_that_ask_for_parts():
    class Part(int):
        real = property(lambda self: "own")

    def f(x):
        return x * 2.0, "{0.real} {0}".format(Part(3))

    return {"f": f, "args": x1}


@open_case
def own_texts_in_templates():
    def f(x):
        s, n = Shown("ab"), Count(3)
        return x * 2.0, "%s" % (s,), "{} {!r}".format(s, n), {s: 1}["ab"], hash(n), round(Amount(2.5), 1)

    return {"f": f, "args": x1}


@open_case
def another_text_at_each_call():
    calls = [0]

    def f(x, s):
        return x * 2.0, f"{s}", s.upper()

    def args():
        calls[0] += 1
        return x1() + (Name("ab" * calls[0]),)

    return {"f": f, "args": args}


class Whole(float):
    def __int__(self):
        TOLD.append("int")
        return 42


class Real(int):
    def __float__(self):
        TOLD.append("float")
        return 9.5


TOLD = []
WHOLE, REAL = Whole(2.7), Real(3)


@open_case
def numbers_asked_as_other_numbers():
    def f(x):
        TOLD.clear()
        percents = "%d" % WHOLE, "%i %s" % (WHOLE, "a"), "%f" % REAL, "%g" % (REAL,), "%(n)e" % {"n": REAL}
        formats = "{:f}".format(REAL), "{0:g} {0:d}".format(REAL), f"{REAL:f}", f"{REAL:>4}", format(REAL, ".2f")
        return x * 2.0, percents, formats, list(TOLD)

    return {"f": f, "args": x1}


@open_case
def numbers_made_here_that_are_asked():
    def f(x):
        TOLD.clear()
        whole, real = Whole(2.5), Real(7)
        return x * 2.0, "%d" % whole, "%f" % real, f"{real:f}", "{:e}".format(real), list(TOLD)

    return {"f": f, "args": x1}


WHOLE_TEXTS = {
    "format": lambda s: s.format(),
    "format_of_something": lambda s: s.format(1),
    "format_map": lambda s: s.format_map({}),
    "partition": lambda s: s.partition("q")[0],
    "rpartition": lambda s: s.rpartition("q")[2],
    "spec": lambda s: "{:s}".format(s),
    "field": lambda s: "{}".format(s),
    "literal": lambda s: f"{s:s}",
    "percent": lambda s: s % (),
    "mod": lambda s: s.__mod__(()),
    "strip": lambda s: s.strip(),
    "slice": lambda s: s[:],
    "beside": lambda s: "{}.".format(s),
}


def whole_text(name, function):
    def make():
        def f(x, v):
            s = Name(v)
            made = function(s)
            return x * 2.0, type(made).__name__, made is s, made + ""

        return {"f": f, "args": lambda: x1() + ("aBc",)}

    make.__name__ = "text_that_may_be_the_object_" + name
    return make


for NAME, FUNCTION in WHOLE_TEXTS.items():
    open_case(whole_text(NAME, FUNCTION))
