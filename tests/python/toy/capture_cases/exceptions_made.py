"""Exceptions whose classes are of the program: how they are made, and what they say of themselves."""


from observe import case
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
