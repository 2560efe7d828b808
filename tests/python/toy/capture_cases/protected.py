"""try, with and finally: exceptions that are caught, changed, raised again and silenced, with breaks anywhere among them."""

import sys
import traceback

from observe import case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


def chain(error):
    """An exception as a reader of its traceback sees it: types, messages, lines, causes and contexts."""
    seen = []
    while error is not None and len(seen) < 10:
        lines = [(f.name, f.lineno) for f in traceback.extract_tb(error.__traceback__) if "capture_cases" in f.filename]
        kind = "cause" if error.__cause__ else "suppressed" if error.__suppress_context__ else "context"
        seen.append((type(error).__name__, str(error), lines, kind))
        error = error.__cause__ or error.__context__
    return seen


toy.disable(chain)


class Manager:
    def __init__(self, log, silence=False, fail=None):
        self.log, self.silence, self.fail = log, silence, fail

    def __enter__(self):
        self.log.append("enter")
        if self.fail == "enter":
            raise RuntimeError("enter")
        return self

    def __exit__(self, kind, value, tb):
        self.log.append(("exit", kind.__name__ if kind else None, str(value)))
        if self.fail == "exit":
            raise RuntimeError("exit")
        return self.silence


class Custom(Exception):
    def __init__(self, code, text="custom"):
        super().__init__(text, code)
        self.code = code

    def __str__(self):
        return f"{self.args[0]}:{self.code}"


def log_case(*options, **expect):
    """A case of a function of a tensor and a log that the caller sees."""

    def register(build):
        def made():
            return {"f": build(), "args": lambda: (t([1.0, 2.0]), [])}

        made.__name__ = build.__name__
        case(*options, **expect)(made)
        return build

    return register


@log_case()
def key_error_is_caught():
    def f(x, log):
        table = {"a": 1}
        try:
            log.append(table["b"])
        except KeyError as error:
            log.append(error.args)
        return x * 2

    return f


@log_case()
def else_and_finally():
    def f(x, log):
        for key in ("a", "b"):
            try:
                value = {"a": 1}[key]
            except KeyError:
                log.append("except")
            else:
                log.append(value)
            finally:
                log.append("finally")
        return x * 2

    return f


@log_case()
def first_of_several_handlers_that_matches():
    def f(x, log):
        for error in (ValueError("v"), KeyError("k"), IndexError("i"), Custom(3)):
            try:
                raise error
            except (KeyError, IndexError):
                log.append("lookup")
            except ValueError:
                log.append("value")
            except Exception as e:
                log.append(e.code)
        return x + 1

    return f


@log_case()
def return_in_finally_wins():
    def g(x, log):
        try:
            log.append("try")
            return x
        finally:
            log.append("finally")
            return x * 3

    def f(x, log):
        return g(x, log) + 1

    return f


@log_case()
def return_in_finally_silences():
    def g(x):
        try:
            raise ValueError("gone")
        finally:
            return x * 3

    def f(x, log):
        return g(x)

    return f


@log_case()
def break_and_continue_in_finally():
    def f(x, log):
        for i in range(4):
            try:
                if i == 1:
                    continue
                if i == 3:
                    break
                log.append(i)
            finally:
                log.append("f")
        return x * 2

    return f


@log_case()
def three_calls_deep():
    def leaf(key):
        return {"a": 1}[key]

    def middle(key):
        return leaf(key) + 1

    def f(x, log):
        try:
            y = x * middle("b")
        except KeyError:
            y = x * 5
        return y

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def traceback_and_context():
    def leaf():
        raise ValueError("inner")

    def f(x, log):
        try:
            try:
                leaf()
            except ValueError:
                {}["k"]
        except KeyError as error:
            log.append(chain(error))
        return x * 2

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def cause():
    def f(x, log):
        y = x * 2
        try:
            try:
                [][1]
            except IndexError as error:
                raise Custom(4) from error
        except Custom as error:
            log.append(chain(error))
        try:
            raise Custom(5) from None
        except Custom as error:
            log.append(chain(error))
        return y

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def raise_again():
    def f(x, log):
        y = x * 2
        try:
            try:
                raise ValueError("once")
            except ValueError:
                log.append("seen")
                raise
        except ValueError as error:
            log.append(chain(error))
        return y

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def leaves_after_finally():
    def g(x, log):
        try:
            log.append(x * 2)
            raise Custom(7)
        finally:
            log.append("finally")

    def f(x, log):
        y = x + 1
        return g(y, log)

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def leaves_from_a_handler():
    def f(x, log):
        try:
            log.append({}["a"])
        except KeyError:
            log.append(x * 2)
            raise ValueError("other")

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def the_name_is_unbound_after_the_handler():
    def f(x, log):
        try:
            raise ValueError("v")
        except ValueError as error:
            log.append(str(error))
        try:
            log.append(error)
        except UnboundLocalError as unbound:
            log.append(type(unbound).__name__)
        return x * 2

    return f


@log_case(captures=2, breaks=1, graphs=2, reasons=("builtin-with-output",))
def print_in_try():
    def f(x, log):
        try:
            y = x * 2
            print("in try")
            y = y + 1
        except ValueError:
            y = x
        return y

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def print_in_except():
    def f(x, log):
        try:
            y = x * {}["a"]
        except KeyError as error:
            y = x + 1
            print("except", error, sys.exc_info()[0])
            y = y * 2
            log.append(sys.exc_info()[1] is error)
        log.append(sys.exc_info()[1])
        return y

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def print_in_finally():
    def f(x, log):
        for fail in (False, True):
            try:
                try:
                    y = x * 2
                    if fail:
                        raise Custom(1)
                finally:
                    print("finally")
                    log.append(y + 1)
            except Custom as error:
                print("custom", error)
        return y

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def an_opaque_call_raises_in_try():
    def f(x, log):
        y = x * 2
        try:
            int("no number")
            toy.show(y)
            log.append(1)
        except ValueError as error:
            log.append(str(error))
            y = y + 1
        return y * 2

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def a_break_raises_and_is_caught_two_frames_out():
    def leaf(x, d):
        y = x * 2
        print(d["missing"] if d else "no")
        return y

    def middle(x, d):
        return leaf(x, d) + 1

    def f(x, log):
        class Missing(dict):
            def __missing__(self, key):
                raise LookupError(key)

        d = Missing(a=1)
        try:
            y = middle(x, d)
        except LookupError as error:
            log.append(chain(error))
            y = x * 7
        return y

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def raise_without_value_after_a_break():
    def f(x, log):
        try:
            try:
                raise ValueError("first")
            except ValueError:
                y = x * 2
                print("between")
                log.append(y)
                raise
        except ValueError as error:
            print(chain(error))
        return x + 1

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def context_after_a_break():
    def f(x, log):
        try:
            try:
                raise ValueError("first")
            except ValueError:
                y = x * 2
                print("between")
                raise KeyError("second")
        except KeyError as error:
            log.append(chain(error))
        return y + 1

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def nested_handlers_with_breaks():
    def f(x, log):
        try:
            raise ValueError("one")
        except ValueError:
            try:
                print("two")
                raise KeyError("two")
            except KeyError as error:
                print(chain(error), sys.exc_info()[0])
                y = x * 2
            print(sys.exc_info()[0])
            y = y + 1
        print(sys.exc_info()[0])
        return y

    return f


@log_case()
def with_own_manager():
    def f(x, log):
        with Manager(log) as manager:
            y = x * 2
            manager.log.append("body")
        return y + 1

    return f


@log_case()
def with_silences():
    def f(x, log):
        with Manager(log, silence=True):
            raise Custom(3)
        return x * 2

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def with_passes_on():
    def f(x, log):
        with Manager(log):
            log.append(x * 2)
            raise Custom(3)

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def with_fails():
    def f(x, log):
        for fail in ("enter", "exit"):
            try:
                with Manager(log, fail=fail):
                    log.append(x * 2)
                    if fail == "exit":
                        {}["k"]
            except RuntimeError as error:
                log.append(chain(error))
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def return_break_and_continue_in_with():
    def g(x, log):
        for i in range(5):
            with Manager(log):
                if i == 0:
                    continue
                if i == 2:
                    break
                log.append(i)
        with Manager(log):
            return x * 2

    def f(x, log):
        return g(x, log) + 1

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def breaks_in_with():
    def f(x, log):
        with Manager(log) as a, Manager(log, silence=True):
            y = x * 2
            print("one")
            y = y + 1
            print("two", a is not None)
            raise Custom(9)
        print("three")
        return y

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def breaks_in_enter_and_exit():
    class Loud(Manager):
        def __enter__(self):
            print("enter")
            return super().__enter__()

        def __exit__(self, *exc):
            print("exit", exc[0])
            super().__exit__(*exc)
            print("exited")
            return True

    def f(x, log):
        y = x * 2
        with Loud(log):
            y = y + 1
            {}["key"]
        return y * 2

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def loop_of_tries_with_breaks():
    def f(x, log):
        y = x
        for i in range(6):
            try:
                if i % 3 == 1:
                    raise ValueError(i)
                print(i)
                if i % 3 == 2:
                    int("x")
                y = y + 1
            except ValueError as error:
                log.append((type(error).__name__, i))
                y = y * 2
            finally:
                y = y - 1
        return y

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def exception_group_of_handlers_in_callee():
    def risky(n):
        if n == 0:
            raise ValueError("zero")
        if n == 1:
            return {}[n]
        return n

    def safe(n, log):
        try:
            return risky(n)
        except ValueError:
            log.append("value")
            return 10
        except LookupError:
            log.append("lookup")
            raise Custom(n)

    def f(x, log):
        y = x
        for n in range(3):
            try:
                y = y * safe(n, log)
            except Custom as error:
                log.append(error.code)
        return y

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def raising_classes():
    def f(x, log):
        for kind in (ValueError, Custom):
            try:
                if kind is Custom:
                    raise kind(1)
                raise kind
            except Exception as error:
                log.append((type(error).__name__, error.args))
        try:
            raise Custom
        except TypeError as error:
            log.append(type(error).__name__)
        return x * 2

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def exceptions_that_survive():
    def f(x, log):
        kept = []
        try:
            raise Custom(8)
        except Custom as error:
            kept.append(error)
        try:
            {}["a"]
        except KeyError as error:
            kept.append(error)
        log.append([chain(e) for e in kept])
        log.append(kept[0].code)
        return x * 2, type(kept[1])

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def assertion_and_attribute_errors():
    def f(x, log):
        try:
            assert not log, "not empty"
            assert log, "empty"
        except AssertionError as error:
            log.append(error.args)
        try:
            log.missing
        except AttributeError:
            log.append("attribute")
        try:
            None + 1
        except TypeError as error:
            log.append(str(error))
        try:
            undefined_name  # noqa: F821
        except NameError:
            log.append("name")
        try:
            1 // 0
        except ZeroDivisionError as error:
            log.append(str(error))
        try:
            a, b = (1, 2, 3)
        except ValueError:
            log.append("unpack")
        return x * 2

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def what_errors_say_beside_their_message():
    class Empty:
        pass

    def f(x, log):
        empty = Empty()
        kept = []
        try:
            empty.missing
        except AttributeError as error:
            log.append((getattr(error, "name", None), getattr(error, "obj", empty) is empty))
            kept.append(error)
        try:
            no_such_name  # noqa: F821
        except NameError as error:
            log.append(getattr(error, "name", None))
            kept.append(error)
        print("between")
        log.append([(str(e), getattr(e, "name", None)) for e in kept])
        return x * 2

    return f


class Picky:
    abc = 1


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def what_a_lookup_says_it_looked_for():
    def about(error, owner):
        # Since 3.10.
        return str(error), getattr(error, "name", None), getattr(error, "obj", None) is owner

    def f(x, log):
        picky = Picky()
        for look in (lambda: picky.abd, lambda: Picky.abd, lambda: None.abd, lambda: no_such_name):  # noqa: F821
            try:
                look()
            except (AttributeError, NameError) as error:
                log.append(about(error, picky))
        try:
            raise AttributeError("plain")
        except AttributeError as error:
            log.append(about(error, None))
        try:
            picky.once
        except AttributeError as error:
            print("kept")
            log.append(about(error, picky))
        return x * 2

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def iter_gives_no_iterator():
    class Wrong:
        def __init__(self, loud):
            self.loud = loud

        def __iter__(self):
            if self.loud:
                print("iter")
            return 5

    def f(x, log):
        for loud in (False, True):
            try:
                for _ in Wrong(loud):
                    log.append("never")
            except TypeError as error:
                log.append(str(error))
            try:
                log.append(list(Wrong(loud)))
            except TypeError as error:
                log.append(str(error))
        return x * 2

    return f


@case(graphs=None, captures=None, breaks=None, reasons=None)
def an_exception_that_is_kept_and_replaced():
    kept = {"error": ValueError("first")}

    def f(x, kind):
        try:
            raise kept["error"]
        except LookupError as error:
            result = ("lookup", error)
        except ValueError as error:
            result = ("value", error)
        kept["error"] = kind(f"after {len(kept)}")
        return x * 2, result[0], str(result[1])

    kinds = [KeyError, ValueError, ValueError, IndexError]
    return {"f": f, "args": lambda: (t([1.0]), kinds[0]), "watch": lambda: (kept, kinds.append(kinds.pop(0)))}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def an_exception_whose_traceback_was_cleared():
    kept = ValueError("kept")

    def leaf():
        raise kept

    def f(x, log):
        try:
            leaf()
        except ValueError as error:
            log.append(chain(error))
        kept.__traceback__ = None
        return x * 2

    return {"f": f, "args": lambda: (t([1.0]), [])}


if sys.version_info >= (3, 11):
    STARS = """
def f(x, log):
    try:
        try:
            raise ExceptionGroup("all", [ValueError(1), KeyError(2), OSError(3)])
        except* ValueError:
            log.append(str(sys.exc_info()[1]))
            print("break")
            try:
                raise Custom(4)
            except Custom as custom:
                log.append(chain(custom))
            raise
        except* KeyError:
            [].pop()
    except ExceptionGroup as group:
        log.append([chain(e) for e in (group, *group.exceptions)])
    return x * 2
"""

    @log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
    def what_a_part_of_a_group_is_handled_as():
        names = dict(globals())
        exec(compile(STARS, __file__, "exec"), names)
        return names["f"]
