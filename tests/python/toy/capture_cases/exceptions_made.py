"""Exceptions whose classes are of the program: how they are made, and what they say of themselves."""


from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def told(value, seen):
    """A picture of an exception with all that raising has written in it, and of who is one with whom."""
    if isinstance(value, (list, tuple)):
        return [told(item, seen) for item in value]
    if not isinstance(value, BaseException):
        return repr(value)
    if id(value) in seen:
        return "same as %d" % seen[id(value)][0]
    seen[id(value)] = (len(seen), value)
    entries, traceback = [], value.__traceback__
    whose = seen.setdefault(id(traceback), (len(seen), traceback))[0] if traceback else None
    while traceback is not None:
        entries.append((traceback.tb_frame.f_code.co_name, traceback.tb_lineno))
        traceback = traceback.tb_next
    picture = [type(value).__name__, entries, whose, value.__suppress_context__]
    parts = {name: part for name, part in vars(value).items() if not isinstance(part, toy.Tensor)}
    picture.append(told([value.args, value.__cause__, value.__context__], seen))
    picture.append([(name, told(part, seen)) for name, part in parts.items()])
    if hasattr(value, "exceptions"):
        picture.append(told([value.message, value.exceptions], seen))
    return picture


def kept(**decisions):
    """A case `f(x, keep)`, whose exceptions in `keep` are compared with all that is written in them."""

    def register(make):
        def build():
            keep = []

            def args():
                keep.clear()
                return t([1.0, 2.0]), keep

            return {"f": make(), "args": args, "watch": lambda: told(keep, {})}

        build.__name__, build.__module__ = make.__name__, make.__module__
        return case(**decisions)(build)

    return register


class Silent(Exception):
    def __init__(self, *args):
        super().__init__(*args)
        self.given = len(args)


class Loud(Exception):
    def __init__(self):
        print("made")
        super().__init__("loud")


class Made(Exception):
    def __new__(cls, *args):
        print("new")
        self = super().__new__(cls, *args)
        self.made = True
        return self


class Other(Exception):
    def __new__(cls, *args):
        return 3


def from_classes(name, raised, cause, **decisions):
    def maker():
        def f(x, keep):
            y = x + 1
            try:
                raise raised from cause
            except Exception as error:
                keep.append((error, repr(error), str(error)))
                y = y * 2
            return y * 3

        return f

    maker.__name__ = "raised_from_%s" % name
    kept(**decisions)(maker)


from_classes("silent", Silent, Silent)
from_classes("builtin", Silent, ValueError)
from_classes("none", Silent, None)
from_classes("loud", Silent, Loud, breaks=1, captures=2, graphs=2, reasons=("builtin-with-output",))
from_classes("made", Made, KeyError, graphs=None, breaks=None, captures=None, reasons=None)
from_classes("other", Other, None, graphs=None, breaks=None, captures=None, reasons=None)
from_classes("other_cause", Silent, Other, graphs=None, breaks=None, captures=None, reasons=None)
from_classes("no_class", Silent, 3, graphs=None, breaks=None, captures=None, reasons=None)
from_classes("no_exception", int, Silent, graphs=None, breaks=None, captures=None, reasons=None)


class Texts(Exception):
    def __str__(self):
        print("str")
        return "text"

    def __repr__(self):
        print("repr")
        return "Texts!"


@case(breaks=6, captures=7, graphs=7, reasons=("builtin-with-output",))
def breaks_in_texts_of_exceptions():
    def f(x):
        y = x + 1
        error = Texts(x)
        texts = [str(error)]
        y = y * 2
        texts.append(repr(error))
        y = y * 2
        texts.append(f"{error}")
        y = y * 2
        texts.append(f"{error!r:>10}")
        y = y * 2
        texts.append("%s" % error)
        y = y * 2
        texts.append(repr([error]))
        return y * 2, texts

    return {"f": f, "args": lambda: (t([1.0]),)}


class Told(ValueError):
    pass


class Given(Exception):
    def __init__(self, first, second):
        super().__init__(first)
        self.second = second


@case()
def exceptions_made_are_given_arguments():
    def f(x):
        found = []
        for kind in (ValueError, KeyError, Told, RuntimeError):
            try:
                raise kind("a")
            except Exception as error:
                error.args += (1,)
                found.append((error.args, str(error), repr(error)))
                error.args = ()
                found.append((error.args, str(error)))
        try:
            raise Given(1, 2)
        except Given as error:
            error.args = (3, x)
            found.append((error.args[0], error.second, len(error.args)))
        return x + 1, found

    return {"f": f, "args": lambda: (t([1.0]),)}


@open_case
def exceptions_made_are_given_arguments_and_leave():
    def f(x, how):
        args = ("told", x)
        try:
            raise how("a")
        except how as error:
            error.args = args if how is not StopIteration else ("b",)
            raise

    def g(x):
        found = []
        for how in (ValueError, Told, OSError, StopIteration, SystemExit, AttributeError):
            try:
                f(x, how)
            except BaseException as error:
                found.append((type(error).__name__, len(error.args), error.args[0]))
        return x + 1, found

    return {"f": g, "args": lambda: (t([1.0]),)}


@open_case
def exceptions_made_are_given_odd_arguments():
    def f(x):
        found = []
        for odd in ([1, 2], "ab", 3, None):
            try:
                try:
                    raise ValueError("a")
                except ValueError as error:
                    error.args = odd
                    found.append(error.args)
            except TypeError as error:
                found.append(str(error))
        return x + 1, found

    return {"f": f, "args": lambda: (t([1.0]),)}


@open_case
def exceptions_made_are_given_arguments_and_returned():
    def f(x):
        args = (1, x)
        error = Told("a")
        error.args = args
        return error, args, error.args is args, x + 1

    return {"f": lambda x: (lambda e, args, same, y: (e.args, e.args is args, same, y, str(e)))(*f(x)), "args": lambda: (t([1.0]),)}
