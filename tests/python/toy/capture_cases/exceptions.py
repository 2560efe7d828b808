"""Exceptions: who raises, at which line, and what has happened by then. `try`, `with`, `finally`."""

import contextlib
import sys

from capture_cases.protected import log_case
from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


@case(breaks=1, reasons=("api-rejected",))
def wrong_shapes():
    def f(x, y):
        a = x * 2
        b = x.reshape([2, 1])
        return a + toy.matmul(b, y)

    return {"f": f, "args": lambda: (t([1.0, 2.0]), t([1.0]))}


@case()
def the_graph_raises_when_it_runs():
    def f(x, seen):
        seen.append(1)
        y = x - 5
        z = toy.log(y)
        return z * 2

    return {"f": f, "args": lambda: (t([1.0]), [])}


@case(graphs=None, captures=None)
def the_graph_raises_in_a_call():
    def inner(x):
        y = x - 5
        return toy.log(y)

    def f(x):
        a = x + 1
        return inner(a) * 2

    return {"f": f, "args": x1}


@case(captures=2, breaks=1, reasons=("builtin-with-output",))
def the_graph_raises_after_a_break():
    def f(x, seen):
        seen.append("before")
        print("once")
        seen.append("between")
        return toy.log(x - 5)

    return {"f": f, "args": lambda: (t([1.0]), [])}


@case(captures=None, breaks=None, reasons=None)
def raise_statement():
    def f(x, n):
        y = x * 2
        if n > 2:
            raise ValueError(f"n is {n}")
        return y

    return {"f": f, "args": lambda: (t([1.0]), 3)}


@case(breaks=1, reasons=("would-raise",))
def mutation_before_a_raise():
    def f(x, items):
        items.append(x * 2)
        items.append(items[5])
        return items

    return {"f": f, "args": lambda: (t([1.0]), [])}


@case(captures=None, breaks=None, reasons=None)
def raise_two_calls_deep():
    def leaf(x, n):
        print("leaf")
        return {"a": x}[n]

    def middle(x):
        y = x * 2

        return leaf(y, "b")

    def f(x):
        return middle(x + 1)

    return {"f": f, "args": x1}


@case(breaks=1, reasons=("would-raise",))
def type_error_of_a_call():
    def inner(a, b):
        return a + b

    def f(x):
        y = x * 2
        return inner(y)

    return {"f": f, "args": x1}


@case(breaks=1, reasons=("would-raise",))
def attribute_error():
    def f(x):
        y = x * 2
        return y.no_such_thing

    return {"f": f, "args": x1}


@case(breaks=1, reasons=("would-raise",))
def division_by_zero():
    def f(x, n):
        y = x * 2

        return y + 1 // n

    return {"f": f, "args": lambda: (t([1.0]), 0)}


@case()
def try_without_exception():
    def f(x):
        try:
            y = x * 2
        except ValueError:
            y = x
        else:
            y = y + 1
        finally:
            x = x - 1
        return x + y

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def try_with_exception():
    def f(x, table):
        try:
            y = x * table["missing"]
        except KeyError as error:
            y = x + len(error.args)
        return y * 2

    return {"f": f, "args": lambda: (t([1.0]), {})}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def break_in_try():
    def f(x):
        try:
            y = x * 2
            print("in try")
            y = y + 1
        except ValueError:
            y = x
        finally:
            print("finally")
        return y * 3

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def exception_after_a_break_in_try():
    def f(x):
        try:
            print("in try")
            y = toy.log(x - 5)
        except ValueError as error:
            print(error)
            y = x
        return y * 3

    return {"f": f, "args": x1}


@case()
def return_in_finally():
    def f(x):
        for i in range(3):
            try:
                if i == 1:
                    return x * i
            finally:
                x = x + 10
        return x

    return {"f": f, "args": x1}


class Manager:
    def __init__(self, log, swallow=False):
        self.log, self.swallow = log, swallow

    def __enter__(self):
        self.log.append("enter")
        return 5

    def __exit__(self, kind, value, trace):
        self.log.append(kind.__name__ if kind else None)
        return self.swallow


@case(graphs=None, captures=None, breaks=None, reasons=None)
def with_statement():
    def f(x, log):
        with Manager(log) as n:
            x = x * n
        return x + 1

    return {"f": f, "args": lambda: (t([1.0]), [])}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def break_in_with():
    def f(x, log):
        with Manager(log) as n:
            x = x * n
            print("inside")
            x = x + 1
        return x + 1

    return {"f": f, "args": lambda: (t([1.0]), [])}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def raise_in_with():
    def f(x, log):
        with Manager(log):
            y = x * 2
            y = toy.log(y - 50)
        return y

    return {"f": f, "args": lambda: (t([1.0]), [])}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def swallowed_in_with():
    def f(x, log):
        with Manager(log, swallow=True):
            x = x * 2
            log.append(log[100])
        return x + 1

    return {"f": f, "args": lambda: (t([1.0]), [])}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def contextmanager_generator():
    @contextlib.contextmanager
    def noted(log):
        log.append("in")
        yield 3
        log.append("out")

    def f(x, log):
        with noted(log) as n:
            x = x * n
        return x

    return {"f": f, "args": lambda: (t([1.0]), [])}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def raise_from():
    def f(x, table):
        y = x * 2
        try:
            table["missing"]
        except KeyError as error:
            raise RuntimeError("no entry") from error
        return y

    return {"f": f, "args": lambda: (t([1.0]), {})}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def exception_in_a_callee_is_caught():
    def risky(x, n):
        if n > 1:
            raise LookupError(n)
        return x * n

    def f(x):
        total = x
        for n in range(4):
            try:
                total = total + risky(x, n)
            except LookupError:
                total = total - 1
        return total

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def nested_finally_with_breaks():
    def f(x):
        try:
            try:
                print("inner")
                x = x * 2
            finally:
                print("inner finally")
                x = x + 1
        finally:
            print("outer finally")
        return x

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def state_of_a_caught_exception():
    import sys

    def f(x):
        try:
            raise KeyError("k")
        except KeyError:
            print("handling")
            y = x * 2
            kind = sys.exc_info()[0]
        return y, kind, sys.exc_info()[0]

    return {"f": f, "args": x1}


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def a_traceback_is_that_of_its_moment():
    class Keeps:
        def __exit__(self, kind, value, tb):
            self.kept = tb

        def __enter__(self):
            return self

    def entries(tb):
        found = []
        while tb is not None:
            found.append((tb.tb_frame.f_code.co_name, tb.tb_lineno))
            tb = tb.tb_next
        return found

    toy.disable(entries)

    def raises(error, keeps):
        with keeps:
            raise error or KeyError("new")

    def f(x, log):
        unraised = ValueError("never raised")
        log.append(unraised.__traceback__ is None)
        for error in (None, ValueError("from before")):
            inner, outer = Keeps(), Keeps()
            try:
                with outer:
                    raises(error, inner)
            except (KeyError, ValueError) as caught:
                last = caught.__traceback__
                held = [inner.kept, outer.kept, last]
            log.append([entries(tb) for tb in held])
            log.append((held[0] is None, held[0] is held[1], held[1] is last, last.tb_next is held[0]))
        return x * 2

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def a_manager_keeps_the_traceback_of_an_exception_that_was_given():
    class Keeps:
        def __enter__(self):
            return self

        def __exit__(self, *args):
            self.args = args

    def f(x, log):
        for keeps in (Keeps(), Keeps()):
            error = log[0] if log and isinstance(log[0], KeyError) else KeyError("made")
            try:
                with keeps:
                    raise error
            except KeyError:
                pass
            kind, value, tb = keeps.args
            log.append((kind, value is error, tb is None))
        return x + 1

    return f


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def an_unbound_variable_of_a_closure():
    def seen(error):
        return type(error).__name__, str(error), getattr(error, "name", None)

    def f(x):
        def run(before):
            def inner():
                return a

            log = []
            before()
            try:
                log.append(a)
            except NameError as error:
                log.append(seen(error))
            before()
            try:
                log.append(inner())
            except NameError as error:
                log.append(seen(error))
            try:
                del a
            except NameError as error:
                log.append(seen(error))
            a = 1
            del a
            before()
            try:
                a += 1
            except NameError as error:
                log.append(seen(error))
            a = 2
            return log

        def uncaught():
            def inner():
                return a

            print("uncaught")
            inner = a
            a = inner

        y = x + 1
        try:
            tried = uncaught()
        except NameError as error:
            tried = seen(error)
        return run(lambda: None), run(lambda: print("before")), tried, y * 2

    return {"f": f, "args": lambda: (t([1.0]),)}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def a_handler_of_what_is_no_class():
    def f(x, what):
        y = x * 2
        try:
            raise ValueError("inside")
        except what:
            y = y + 1
        return y

    return {"f": f, "args": lambda: (t([1.0]), 42)}


def contexts_set_by_hand(name, run):
    """Whoever is raised is taken out of the contexts of what is handled then."""

    def build():
        def f(x):
            a, b, c = ValueError("a"), KeyError("b"), TypeError("c")
            a.__context__ = b
            b.__context__ = c
            seen = run(a, b, c)
            return seen, [repr(one.__context__) for one in (a, b, c)], x + 1

        return {"f": f, "args": lambda: (t([1.0]),)}

    build.__name__ = "contexts_set_by_hand_" + name
    case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


def raised_in_its_handler(a, b, c):
    try:
        try:
            raise a
        except ValueError:
            raise b
    except KeyError as error:
        return repr(error)


def raised_under_finally(a, b, c):
    try:
        try:
            raise a
        finally:
            raise b
    except KeyError as error:
        return repr(error)


def the_last_of_the_chain(a, b, c):
    try:
        raise a
    except ValueError:
        try:
            raise c
        except TypeError as error:
            return repr(error)


def the_context_itself(a, b, c):
    try:
        raise a
    except ValueError as error:
        try:
            raise error.__context__
        except KeyError as again:
            return repr(again.__context__)


for run in (raised_in_its_handler, raised_under_finally, the_last_of_the_chain, the_context_itself):
    contexts_set_by_hand(run.__name__, run)


def contexts_that_go_round(depth):
    """What is handled at a break is handled behind it, with the contexts that it had, in a ring or not."""

    def build():
        def f(x):
            first, second, third = ValueError("a"), KeyError("b"), TypeError("c")
            chain = [first, second, third][:depth]

            def contexts():
                return [[chain.index(e.__context__) if e.__context__ in chain else None] for e in chain]

            seen = []
            try:
                raise first
            except ValueError:
                try:
                    if depth == 1:
                        raise first
                    raise second
                except (KeyError, ValueError) as at:
                    try:
                        if depth < 3:
                            raise at
                        raise third
                    except Exception as at:
                        first.__context__ = chain[-1] if depth > 1 else None
                        seen.append(contexts())
                        print("break", sys.exc_info()[1] is at)
                        seen.append(contexts())
                        try:
                            raise at
                        except Exception as again:
                            seen.append((again is at, contexts()))
                            print("break")
                        seen.append((sys.exc_info()[1] is at, contexts()))
            return x + len(seen), seen, sys.exc_info()

        return {"f": f, "args": lambda: (t([1.0]),)}

    build.__name__ = f"contexts_that_go_round_{depth}"
    open_case(build)


# Up to 3.8 CPython looks for the end of a ring without end.
for depth in (1, 2, 3) if sys.version_info >= (3, 9) else (1,):
    contexts_that_go_round(depth)
