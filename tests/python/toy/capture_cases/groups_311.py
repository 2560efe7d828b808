"""`except*`, and groups of exceptions: what arms get, what is raised of the rest, and what is written in all of them."""

import sys

from capture_cases.exceptions_made import kept
from observe import case
from toy_framework import toy

t = toy.tensor


def kept_itself(**decisions):
    """A case as of `kept`, of this very function, which needs nothing made anew."""

    def register(f):
        def make():
            return f

        make.__name__, make.__module__ = f.__name__, f.__module__
        kept(**decisions)(make)
        return f

    return register


class Mine(ExceptionGroup):
    """Derives its own, with what else it knows."""

    def __new__(cls, message, exceptions, code=0):
        self = super().__new__(cls, message, exceptions)
        self.code = code
        return self

    def __init__(self, message, exceptions, code=0):
        super().__init__(message, exceptions)
        self.inits = 1

    def derive(self, exceptions):
        return Mine(self.message, exceptions, self.code + 1)


class Underived(ExceptionGroup):
    """Its parts are plain groups."""


def flat():
    return ExceptionGroup("flat", [ValueError(1), TypeError(2), KeyError(3)])


def nested():
    inner = ExceptionGroup("inner", [ValueError(1), ExceptionGroup("deep", [KeyError(2), ValueError(3)])])
    return ExceptionGroup("outer", [inner, TypeError(4), ExceptionGroup("last", [IndexError(5)])])


def noted():
    group = nested()
    group.add_note("a")
    group.add_note("b")
    group.exceptions[0].add_note("c")
    return group


RAISED = {
    "naked": lambda: ValueError("naked"),
    "naked_other": lambda: KeyError("other"),
    "flat": flat,
    "nested": nested,
    "noted": noted,
    "one": lambda: ExceptionGroup("one", [ValueError(1)]),
    "no_match": lambda: ExceptionGroup("none", [IndexError(1), OSError(2)]),
    "of_base": lambda: BaseExceptionGroup("base", [ValueError(1), KeyboardInterrupt()]),
    "mine": lambda: Mine("mine", [ValueError(1), Mine("in", [KeyError(2), TypeError(3)], 10)], 5),
    "underived": lambda: Underived("underived", [ValueError(1), KeyError(2)]),
}


def arm_passes(keep, group):
    keep.append(group)


def arm_tells(keep, group):
    keep.append((repr(group), str(group), group.message, group.exceptions, sys.exc_info()[1] is group))


def arm_raises(keep, group):
    keep.append(group)
    raise RuntimeError("new")


def arm_raises_from(keep, group):
    raise RuntimeError("new") from group


def arm_raises_a_part(keep, group):
    raise group.exceptions[0]


def arm_raises_it(keep, group):
    raise group


ARMS = [arm_passes, arm_tells, arm_raises, arm_raises_from, arm_raises_a_part, arm_raises_it]


def matching(name, make, arm):
    def maker():
        def f(x, keep):
            y = x * 2
            try:
                try:
                    raise make()
                except* ValueError as group:
                    y = y + 1
                    arm(keep, group)
                except* (KeyError, TypeError) as group:
                    y = y * 3
                    arm(keep, group)
            except BaseException as rest:
                keep.append(rest)
                y = y - 5
            return y * 2

        return f

    maker.__name__ = "raised_%s_and_%s" % (name, arm.__name__)
    kept()(maker)


for name, make in RAISED.items():
    for arm in ARMS:
        matching(name, make, arm)


def again(name, make):
    def maker():
        def f(x, keep):
            y = x * 2
            try:
                try:
                    raise make()
                except* ValueError:
                    y = y + 1
                    raise
                except* KeyError:
                    y = y * 3
            except BaseException as rest:
                keep.append(rest)
                y = y - 5
            return y * 2

        return f

    maker.__name__ = "raised_again_%s" % name
    kept()(maker)


for name, make in RAISED.items():
    again(name, make)


def uncaught(name, make):
    def build():
        def f(x):
            y = x * 2
            try:
                raise make()
            except* KeyError:
                y = y * 3
            return y

        return {"f": f, "args": lambda: (t([1.0]),)}

    build.__name__ = "rest_leaves_%s" % name
    case(graphs=None, captures=None, breaks=None, reasons=None)(build)


for name, make in RAISED.items():
    if name != "of_base":
        uncaught(name, make)


@kept_itself()
def except_star_with_else_and_finally(x, keep):
    y = x
    for error in (None, ValueError(1), ExceptionGroup("g", [ValueError(2), KeyError(3)])):
        try:
            y = y + 1
            if error is not None:
                raise error
        except* ValueError as group:
            keep.append(group)
            y = y * 2
        except* KeyError as group:
            keep.append(group)
            y = y * 3
        else:
            y = y + 10
        finally:
            y = y - 0.5
    return y


@kept_itself()
def except_star_within_another(x, keep):
    y = x
    try:
        try:
            try:
                raise noted()
            except* ValueError as group:
                keep.append(group)
                try:
                    raise ExceptionGroup("second", [group, OSError(7)])
                except* OSError:
                    y = y + 1
        except* KeyError as group:
            keep.append(group)
            raise TypeError("again") from None
    except ExceptionGroup as group:
        keep.append(group)
    return y * 2


@kept()
def except_star_in_an_inlined_function():
    def g(y, keep):
        try:
            raise flat()
        except* ValueError as group:
            keep.append(group)
            y = y + 1
        except* TypeError as group:
            keep.append(group)
            return_value = y * 2
            raise IndexError("left") from group
        return return_value

    def f(x, keep):
        y = x * 3
        try:
            y = g(y, keep)
        except* (IndexError, KeyError) as group:
            keep.append(group)
            y = y - 1
        return y

    return f


@kept_itself(breaks=1, captures=2, graphs=2, reasons=("builtin-with-output",))
def a_break_in_the_body(x, keep):
    y = x
    try:
        y = y + 1
        print("body")
        y = y * 2
        raise nested()
    except* ValueError as group:
        keep.append(group)
        y = y * 3
    except* (TypeError, KeyError, IndexError) as group:
        keep.append(group)
        y = y - 1
    return y


@kept_itself(breaks=1, captures=2, graphs=2, reasons=("builtin-with-output",))
def a_break_in_the_first_arm(x, keep):
    y = x
    try:
        try:
            y = y + 1
            raise nested()
        except* ValueError as group:
            y = y * 3
            print(sys.exc_info()[1] is group, group)
            keep.append((group, sys.exc_info()[1] is group))
            y = y + 2
        except* (TypeError, KeyError) as group:
            keep.append(group)
            y = y - 1
    except ExceptionGroup as rest:
        keep.append(rest)
    return y * 2


@kept_itself(breaks=2, captures=3, graphs=3, reasons=("builtin-with-output",))
def a_break_in_each_arm(x, keep):
    y = x
    try:
        try:
            y = y + 1
            raise nested()
        except* ValueError as group:
            y = y * 3
            print("first")
            keep.append(group)
        except* (TypeError, KeyError) as group:
            y = y - 1
            print("second")
            keep.append(group)
            raise
    except ExceptionGroup as rest:
        keep.append(rest)
    return y * 2


@kept(breaks=2, captures=3, graphs=3, reasons=("builtin-with-output",))
def a_break_between_the_arms():
    def classes(*several):
        print("asked", sys.exc_info()[1])
        return several

    def f(x, keep):
        y = x
        try:
            try:
                y = y + 1
                raise nested()
            except* classes(ValueError) as group:
                keep.append(group)
                y = y * 3
            except* classes(TypeError, KeyError) as group:
                keep.append(group)
                y = y - 1
        except ExceptionGroup as rest:
            keep.append(rest)
        return y * 2

    return f


@kept_itself(breaks=2, captures=3, graphs=3, reasons=("builtin-with-output",))
def a_break_in_a_handler_around(x, keep):
    y = x
    try:
        raise OSError("first")
    except OSError:
        y = y + 1
        print("before", sys.exc_info()[1])
        try:
            y = y * 2
            raise flat()
        except* ValueError as group:
            keep.append(group)
        except* Exception as group:
            keep.append(group)
            print("inside", sys.exc_info()[1])
            y = y - 1
        keep.append(sys.exc_info()[1])
    return y * 2


@kept_itself(breaks=3, captures=4, graphs=4, reasons=("builtin-with-output",))
def breaks_in_else_and_finally(x, keep):
    y = x
    for error in (None, flat()):
        try:
            y = y + 1
            if error is not None:
                raise error
        except* Exception as group:
            keep.append(group)
            y = y * 3
        else:
            print("else")
            y = y + 2
        finally:
            print("finally")
            y = y - 1
    return y


class Derives(ExceptionGroup):
    def derive(self, exceptions):
        print("derive", len(exceptions))
        return Derives(self.message, exceptions)


@kept_itself(graphs=None, captures=None, breaks=None, reasons=("builtin-with-output",))
def a_break_in_derive(x, keep):
    y = x + 1
    try:
        try:
            y = y * 2
            raise Derives("own", [ValueError(1), KeyError(2), Derives("in", [ValueError(3), IndexError(4)])])
        except* ValueError as group:
            y = y + 3
            keep.append(group)
    except Derives as rest:
        keep.append(rest)
        y = y - 1
    return y * 2


class Refuses(ExceptionGroup):
    def derive(self, exceptions):
        raise RuntimeError("no parts")


class DerivesNone(ExceptionGroup):
    def derive(self, exceptions):
        return None


class SplitsAll(ExceptionGroup):
    def split(self, classes):
        return None, self


class SplitsOther(ExceptionGroup):
    def split(self, classes):
        print("split", classes)
        return ExceptionGroup("left", [IndexError(1)]), ExceptionGroup("right", [IndexError(2)])


def own(group_class, **decisions):
    def maker():
        def f(x, keep):
            y = x + 1
            try:
                try:
                    y = y * 2
                    raise group_class("own", [ValueError(1), KeyError(2)])
                except* ValueError as group:
                    y = y + 3
                    keep.append(group)
                except* IndexError as group:
                    y = y + 5
                    keep.append(group)
            except BaseException as rest:
                keep.append(rest)
                y = y - 1
            return y * 2

        return f

    maker.__name__ = "own_way_of_%s" % group_class.__name__
    kept(**decisions)(maker)


own(Refuses)
own(DerivesNone)
own(SplitsAll)
own(SplitsOther, breaks=1, captures=2, graphs=2, reasons=("builtin-with-output",))


@kept_itself()
def groups_are_not_caught(x, keep):
    y = x + 1
    for what in (ExceptionGroup, BaseExceptionGroup, (ValueError, Mine), 3, (ValueError, 4), int):
        try:
            try:
                y = y * 2
                raise ValueError("in")
            except* what:
                y = y + 1
        except TypeError as error:
            keep.append(error)
    return y * 2


@kept_itself()
def groups_are_made(x, keep):
    y = x + 1
    kinds = []
    for maker, parts in (
        (ExceptionGroup, (ValueError(1),)),
        (BaseExceptionGroup, [ValueError(1)]),
        (BaseExceptionGroup, [KeyboardInterrupt(), ValueError(1)]),
        (Mine, [ValueError(1)]),
        (Underived, (KeyError(1), OSError(2))),
    ):
        group = maker("text", parts)
        kinds.append((type(group), group.message, group.exceptions, group.args, str(group), repr(group)))
        kinds.append(group.exceptions is parts)
        keep.append(group)
    return y * 2, kinds


def bad(name, make, **decisions):
    def maker():
        def f(x, keep):
            y = x + 1
            try:
                make()
            except (TypeError, ValueError) as error:
                keep.append(error)
                y = y * 2
            return y * 3

        return f

    maker.__name__ = "bad_group_%s" % name
    kept(**decisions)(maker)


WOULD = {"breaks": 1, "graphs": 2, "captures": 2, "reasons": ("opaque-call",)}
bad("of_nothing", lambda: ExceptionGroup("m", []))
bad("of_no_exception", lambda: ExceptionGroup("m", [ValueError(1), 2]))
bad("of_a_class", lambda: ExceptionGroup("m", [ValueError]))
bad("of_base", lambda: ExceptionGroup("m", [KeyboardInterrupt()]))
bad("of_base_in_mine", lambda: Underived("m", [KeyboardInterrupt()]))
bad("of_no_sequence", lambda: ExceptionGroup("m", ValueError(1)), **WOULD)
bad("without_text", lambda: ExceptionGroup(1, [ValueError(1)]), **WOULD)
bad("without_exceptions", lambda: ExceptionGroup("m"), **WOULD)
bad("split_by_a_number", lambda: flat().split(3))
bad("split_by_a_class", lambda: flat().split(int))
bad("split_by_numbers", lambda: flat().subgroup((ValueError, 3)))
bad("note_that_is_no_text", lambda: flat().add_note(3))


@kept_itself()
def parts_are_found(x, keep):
    y = x + 1
    group = noted()
    keep.append(group)
    keep.append(group.split(ValueError))
    keep.append(group.split((KeyError, TypeError)))
    keep.append(group.split(lambda e: isinstance(e, (IndexError, ValueError))))
    keep.append(group.subgroup(KeyError))
    keep.append(group.subgroup(OSError))
    keep.append(group.subgroup(lambda e: isinstance(e, ExceptionGroup) and e.message == "deep"))
    keep.append(group.split(ExceptionGroup))
    keep.append(group.derive([KeyError(1)]))
    keep.append(group.__notes__)
    return y * 2


@kept_itself()
def parts_of_what_was_raised(x, keep):
    y = x + 1
    try:
        try:
            raise OSError("before")
        except OSError as error:
            raise noted() from error
    except ExceptionGroup as group:
        group.add_note("late")
        left, right = group.split(ValueError)
        left.add_note("left")
        keep.append((group, left, right, left.__traceback__ is group.__traceback__))
        keep.append((left.__cause__ is group.__cause__, left.__context__ is right.__context__))
    return y * 2


@kept(breaks=1, captures=2, graphs=2, reasons=("builtin-with-output",))
def a_break_in_what_asks_for_parts():
    def asks(error):
        if isinstance(error, KeyError):
            print("asked")
            return [1]
        return ()

    def f(x, keep):
        y = x + 1
        keep.append(noted().split(asks))
        return y * 2

    return f


@kept_itself()
def notes_of_any_kind(x, keep):
    y = x + 1
    for notes in (["a"], ("a", 1), "text", 3, None, {"a": 1}):
        group = flat()
        group.__notes__ = notes
        keep.append(group.split(ValueError))
        try:
            group.add_note("one more")
        except TypeError as error:
            keep.append(error)
        keep.append(group)
    return y * 2


def really(make):
    exec("raise make()", {"make": make})


def from_before(name, make):
    def maker():
        def f(x, keep):
            y = x * 2
            try:
                try:
                    really(make)
                except* ValueError as group:
                    y = y + 1
                    keep.append(group)
                    keep.append((group.message, group.exceptions))
                except* KeyError as group:
                    y = y * 3
                    keep.append(group)
                    raise OSError("other")
            except BaseException as rest:
                keep.append(rest)
                y = y - 5
            return y * 2

        return f

    maker.__name__ = "raised_for_real_%s" % name
    kept(breaks=1, captures=2, graphs=2, reasons=("builtin",))(maker)


for name, make in RAISED.items():
    from_before(name, make)


@case()
def given_groups():
    def f(x, group):
        left, right = group.split(ValueError)
        try:
            raise group
        except* ValueError as e:
            y = x + len(e.exceptions)
        except* TypeError as e:
            y = y * len(e.exceptions)
        return y, left.exceptions[0] is group.exceptions[0], right.message, repr(left), str(right)

    return {"f": f, "args": lambda: (t([1.0]), ExceptionGroup("given", (ValueError(1), TypeError(2))))}


@kept_itself()
def except_star_in_a_loop(x, keep):
    y = x
    for number in range(4):
        try:
            parts = [ValueError(number)] + [KeyError(k) for k in range(number)]
            raise ExceptionGroup("loop", parts)
        except* ValueError:
            y = y + number
        except* KeyError as group:
            y = y * len(group.exceptions)
            keep.append(group)
    return y


@kept()
def except_star_in_a_generator():
    def numbers(keep):
        for number in range(3):
            try:
                yield number
                raise ExceptionGroup("generator", [ValueError(number), KeyError(number)])
            except* ValueError as group:
                keep.append(group)
            except* KeyError as group:
                keep.append(group)

    def f(x, keep):
        y = x
        for number in numbers(keep):
            y = y * 2 + number
        return y

    return f


@kept()
def except_star_in_a_with():
    class Manager:
        def __enter__(self):
            return self

        def __exit__(self, kind, error, traceback):
            self.seen = (kind, error, traceback is error.__traceback__)
            return isinstance(error, ExceptionGroup)

    def f(x, keep):
        y = x
        manager = Manager()
        with manager:
            try:
                raise flat()
            except* ValueError:
                y = y + 1
        keep.append(manager.seen)
        return y * 2

    return f


class Texts(Exception):
    def __repr__(self):
        print("repr")
        return "Texts!"


@case(breaks=1, captures=2, graphs=2, reasons=("builtin-with-output",))
def a_break_in_the_text_of_a_part():
    def f(x):
        y = x + 1
        group = ExceptionGroup("g", [Texts(1)])
        texts = [str(group)]
        y = y * 2
        texts.append(repr(group))
        return y * 2, texts

    return {"f": f, "args": lambda: (t([1.0]),)}
