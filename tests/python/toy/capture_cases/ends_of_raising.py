"""Ends of raising: how a call ends that stands in a handler, a `finally`, a `with` or a loop, and what is left of it.

Each case puts one call in one place, with functions between; the call raises, raises again, swallows or returns. Compared are the chain of
contexts, the entries of tracebacks with the variables of frames that have ended, what `sys.exc_info()` says, and when values die.

Open: where two exceptions are of one frame, each may show a frame object of its own, and neither holds the frames of callers that it has not
passed (`f_back`), so that what those hold goes earlier. A `raise` by itself that finds what a plain caller handles leaves other entries.
"""

import sys
import weakref

from capture_cases.iterating import open_case
from toy_framework import toy

t = toy.tensor


class A(Exception):
    pass


class B(Exception):
    pass


class C(Exception):
    pass


class Loud:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return "Loud " + self.name

    def __del__(self):
        print("gone", self.name)


class Manager:
    def __init__(self, how):
        self.how = how

    def __enter__(self):
        return Loud("entered")

    def __exit__(self, kind, value, entries):
        print("exit", kind and kind.__name__, sys.exc_info()[0], entries is not None)
        if self.how == 2:
            raise B("exit")
        return self.how == 1

    def __repr__(self):
        return "Manager"


def handled():
    return getattr(sys.exc_info()[0], "__name__", None)


def text(value):
    return repr(value) if isinstance(value, (int, str, Loud, Manager)) else type(value).__name__


def running(code):
    frame, names = sys._getframe(1), set()
    while frame is not None:
        names.add(frame.f_code.co_name)
        frame = frame.f_back
    return code.co_name in names


@toy.disable
def show(error, depth=0):
    """The chain of contexts; of each the entries, and the variables of frames that have ended."""
    while error is not None and depth < 6:
        print(type(error).__name__, error.args, type(error.__cause__).__name__, error.__suppress_context__)
        entries = error.__traceback__
        while entries is not None:
            frame = entries.tb_frame
            if frame.f_globals is globals() and frame.f_code.co_name != "f":
                names = {} if running(frame.f_code) else frame.f_locals
                values = {name: text(value) for name, value in sorted(names.items()) if name not in ("x", "call") and not isinstance(value, type)}
                print("  ", frame.f_code.co_name, entries.tb_lineno, values)
            entries = entries.tb_next
        frame = names = entries = None
        error, depth = error.__context__, depth + 1


# How the call ends.


def raises(x):
    a = Loud("a")
    raise A("x")


def raises_from(x):
    a = Loud("a")
    raise A("x") from KeyError("cause")


def raises_from_none(x):
    raise A("x") from None


def raises_again(x):
    a = Loud("a")
    try:
        raise A("x")
    except A:
        n = Loud("n")
        raise


def raises_by_name(x):
    a = Loud("a")
    try:
        raise A("x")
    except A as error:
        n = Loud("n")
        raise error


def raises_what_is_handled(x):
    n = Loud("n")
    raise


def raises_what_is_told(x):
    n = Loud("n")
    raise sys.exc_info()[1] or A("none")


def raises_another(x):
    a = Loud("a")
    try:
        raise A("x")
    except A:
        n = Loud("n")
        print("between")
        m = Loud("m")
        raise B("y")


def raises_a_third(x):
    try:
        raise A("x")
    except A:
        try:
            raise B("y")
        except B:
            print(handled())
            n = Loud("n")
            raise C("z")


def is_between(x):
    try:
        raise A("x")
    except A:
        n = Loud("n")
        print("between")
        m = Loud("m")
        raise


def swallows(x):
    a = Loud("a")
    try:
        raise A("x")
    finally:
        n = Loud("n")
        print(handled())
        return handled()  # noqa: B012


def divides(x):
    n = Loud("n")
    return 1 // (len(x.shape) - 1)


def asks_for_nothing(x):
    n = Loud("n")
    return x.nothing


def with_a_manager(x):
    with Manager(0) as entered:
        n = Loud("n")
        raise A("x")


def with_one_that_swallows(x):
    with Manager(1) as entered:
        n = Loud("n")
        raise A("x")
    return handled()


def with_one_that_raises(x):
    with Manager(2) as entered:
        n = Loud("n")
        raise A("x")


def numbers():
    n = Loud("of the generator")
    try:
        yield 1
        yield 2
    finally:
        print("closed", handled())


def in_a_loop(x):
    for k in numbers():
        n = Loud("n")
        raise A(k)


def in_a_loop_and_a_manager(x):
    for k in numbers():
        with Manager(0) as entered:
            n = Loud("n")
            raise A(k)


def in_a_loop_by_an_operation(x):
    for k in numbers():
        with Manager(0) as entered:
            n = Loud("n")
            x.nothing  # noqa: B018


def returns(x):
    n = Loud("n")
    return handled()


ENDS = [
    raises,
    raises_from,
    raises_from_none,
    raises_again,
    raises_by_name,
    raises_what_is_handled,
    raises_what_is_told,
    raises_another,
    raises_a_third,
    is_between,
    swallows,
    divides,
    asks_for_nothing,
    with_a_manager,
    with_one_that_swallows,
    with_one_that_raises,
    in_a_loop,
    in_a_loop_and_a_manager,
    in_a_loop_by_an_operation,
    returns,
]

# What stands between.


def directly(call):
    return call


def through_a_frame(call):
    def through(x):
        m = Loud("between")
        return call(x)

    return through


def through_a_finally(call):
    def through(x):
        m = Loud("between")
        try:
            return call(x)
        finally:
            print("finally", handled())

    return through


BETWEEN = [directly, through_a_frame, through_a_finally]

# Where it stands.


def in_a_handler(call):
    def place(x):
        d = Loud("d")
        try:
            raise KeyError(1)
        except KeyError:
            return call(x)

    return place


def in_a_handler_behind_a_break(call):
    def place(x):
        d = Loud("d")
        try:
            raise KeyError(1)
        except KeyError as error:
            print("in the handler")
            return call(x)

    return place


def in_a_finally(call):
    def place(x):
        d = Loud("d")
        try:
            raise KeyError(1)
        finally:
            call(x)

    return place


def in_an_inner_handler(call):
    def place(x):
        d = Loud("d")
        try:
            raise KeyError(1)
        except KeyError:
            try:
                raise IndexError(2)
            except IndexError:
                return call(x)

    return place


def at_the_end_of_a_with(call):
    class Ends:
        def __enter__(self):
            pass

        def __exit__(self, *what):
            # It would be held by its own traceback.
            del what
            return call(t([1.0]))

    def place(x):
        d = Loud("d")
        with Ends():
            raise KeyError(1)

    return place


def behind_a_handler(call):
    def place(x):
        d = Loud("d")
        try:
            raise KeyError(1)
        except KeyError:
            pass
        return call(x)

    return place


PLACES = [in_a_handler, in_a_handler_behind_a_break, in_a_finally, in_an_inner_handler, at_the_end_of_a_with, behind_a_handler]


def register(end, between, place, plain=False):
    def build(translate):
        captured = place(translate(between(end))) if plain else translate(place(between(end)))

        def f(x):
            try:
                print("got", captured(x))
            except Exception as error:
                show(error)
                print("shown")
            print("behind")
            return x + 1

        return {"f": f, "args": lambda: (t([1.0]),)}

    build.__name__ = "%s_%s_%s%s" % (end.__name__, place.__name__, between.__name__, "_of_a_plain_caller" * plain)
    open_case(build)


# Each end in each place, and each of both with each that stands between.
for i, end in enumerate(ENDS):
    for k, place in enumerate(PLACES):
        two = end in (raises_another, raises_a_third, with_one_that_raises)
        if two and place is behind_a_handler:
            continue
        between = directly if two else BETWEEN[(i + k) % len(BETWEEN)]
        register(end, between, place)
        if place in (in_a_handler, in_a_finally) and end is not raises_what_is_handled:
            register(end, between, place, plain=True)


def deep(depth, at_end):
    """A recursion whose frames each hold a value that somebody refers to weakly; it ends by an exception."""

    def build():
        class Held:
            pass

        def f(x):
            kept = None

            def inner(left):
                nonlocal kept
                held = Held()
                kept = weakref.ref(held)
                if not left:
                    at_end()
                inner(left - 1)

            try:
                inner(depth)
            except Exception as error:
                print(type(error).__name__, kept() is not None)
            return x + 1.0, kept() is None

        return {"f": f, "args": lambda: (t([1.0]),)}

    build.__name__ = "deep_%d_%s" % (depth, at_end.__name__)
    open_case(build)


def ends_by_a_raise():
    raise A("deep")


def ends_behind_a_break():
    print("deep")
    raise A("deep")


def ends_by_the_limit():
    raise RecursionError("as the interpreter says it")


for how in (ends_by_a_raise, ends_behind_a_break, ends_by_the_limit):
    for depth in (0, 3, 20, 70, 200):
        deep(depth, how)
