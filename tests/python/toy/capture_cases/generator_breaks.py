"""Breaks inside generators: at any depth, under handlers, with exceptions, and with who looks at the frames."""

import sys

from capture_cases.protected import Custom, Manager, chain, log_case
from toy_framework import toy


def callers():
    """The frames that called, innermost first, up to the case."""
    frame, seen = sys._getframe(1), []
    while frame is not None and "capture_cases" in frame.f_code.co_filename:
        seen.append((frame.f_code.co_name, frame.f_lineno))
        frame = frame.f_back
    return seen


toy.disable(callers)


def fail(what):
    raise what


toy.disable(fail)


class Peekable:
    """An iterator that nobody simulates."""

    def __init__(self, items):
        self.items = list(items)

    def __iter__(self):
        return self

    def __next__(self):
        print("next")
        if not self.items:
            raise StopIteration("over")
        return self.items.pop(0)


@log_case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)
def in_a_loop():
    def numbers(x):
        for i in range(3):
            x = x * 2
            print("inside", i)
            yield x + i

    def f(x, log):
        total = x
        for y in numbers(x):
            total = total + y
        return total * 3

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)
def several_yields_and_what_is_left_behind_them():
    def numbers(x, log):
        print("first")
        yield x + 1
        log.append("between")
        print("second")
        y = yield x + 2
        print("third", y)
        yield x + 3
        print("end")
        log.append("end")

    def f(x, log):
        for y in numbers(x, log):
            x = x * 2 + y
            log.append("body")
        else:
            log.append("else")
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)
def breaks_on_both_sides():
    def numbers(x):
        for i in range(3):
            print("inside", i)
            yield x + i
            x = x * 2

    def f(x, log):
        total = x
        for y in numbers(x):
            print("outside")
            total = total + y
        return total

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)
def two_deep():
    def inner(x):
        for i in range(2):
            print("inner", i)
            yield x * i
        return x + 5

    def outer(x):
        y = yield from inner(x)
        print("outer")
        yield y
        yield from inner(y)

    def f(x, log):
        total = x
        for y in outer(x):
            total = total + y
        return total

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)
def three_deep_by_loops():
    def source(n):
        for i in range(n):
            print("source", i)
            yield i

    def scaled(items, x):
        for i in items:
            print("scaled", i)
            yield x * i

    def summed(items, x):
        for y in items:
            x = x + y
            yield x

    def f(x, log):
        for y in summed(scaled(source(3), x), x):
            x = x + y
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)
def in_a_generator_expression():
    def loud(i):
        print("loud", i)
        return i + 1

    def f(x, log):
        for y in (x * loud(i) for i in range(3) if i != 1):
            x = x + y
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)
def under_handlers_of_the_generator():
    def numbers(x, log):
        with Manager(log):
            try:
                print("try")
                yield x + 1
                log.append({}["k"])
            except KeyError as error:
                print("except")
                log.append(chain(error))
                yield x + 2
                log.append(str(sys.exc_info()[1]))
                print("still", sys.exc_info()[0].__name__)
            finally:
                print("finally")
                log.append("finally")
            yield x + 3

    def f(x, log):
        for y in numbers(x, log):
            x = x + y
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)
def asked_by_hand():
    def numbers(x):
        print("one")
        y = yield x + 1
        print("two", y)
        yield x * y
        print("three")
        return "result"

    def f(x, log):
        gen = numbers(x)
        a = next(gen)
        b = gen.send(4)
        try:
            gen.__next__()
        except StopIteration as stop:
            log.append((stop.value, chain(stop)))
        log.append(next(gen, "over"))
        return a + b

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def asked_with_a_default():
    def numbers(x):
        print("one")
        yield x + 1

    def f(x, log):
        gen = numbers(x)
        x = next(gen, None) * 2
        log.append(next(gen, "over"))
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)
def a_temporary_generator():
    def numbers(x):
        print("one")
        yield x + 1

    def f(x, log):
        return next(numbers(x)) * 2

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)
def an_exception_behind_a_break_reaches_the_loop():
    def numbers(x):
        yield x + 1
        print("before")
        fail(ValueError("inside"))
        yield x

    def f(x, log):
        try:
            for y in numbers(x):
                x = x + y
        except ValueError as error:
            log.append(chain(error))
        return x * 2

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)
def an_exception_behind_a_break_leaves_everything():
    def numbers(x):
        yield x + 1
        print("before")
        raise Custom(3)

    def f(x, log):
        for y in numbers(x):
            log.append("item")
            x = x + y
        return x * 2

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)
def an_exception_of_the_break_is_handled_in_the_generator():
    def numbers(x, log):
        for i in range(3):
            try:
                fail(KeyError(i))
            except KeyError as error:
                log.append(chain(error))
                yield x + i

    def f(x, log):
        for y in numbers(x, log):
            x = x + y
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def stop_iteration_of_a_break():
    def numbers(x):
        yield x
        fail(StopIteration("no"))
        yield x

    def f(x, log):
        gen = numbers(x)
        try:
            for y in gen:
                x = x + y
        except RuntimeError as error:
            log.append((chain(error), error.__cause__ is error.__context__))
            log.append(next(gen, "over"))
        for y in numbers(x):
            x = x + y
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def stop_iteration_after_a_break():
    def numbers(x, log):
        yield x
        print("inside")
        try:
            next(iter(()))
        finally:
            log.append("finally")

    def outer(x, log):
        yield from numbers(x, log)

    def f(x, log):
        for make in (numbers, outer):
            try:
                for y in make(x, log):
                    x = x + y
            except RuntimeError as error:
                log.append(chain(error))
        for y in outer(x, log):
            x = x + y
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)
def who_looks_at_the_frames():
    def inner(x, log):
        log.append(callers())
        yield x + 1

    def helper(log):
        log.append(callers())

    def outer(x, log):
        yield from inner(x, log)
        helper(log)
        log.append(callers())
        yield x

    def f(x, log):
        for y in outer(x, log):
            x = x + y
        log.append(next(inner(x, log)).tolist())
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def a_delegate_that_nobody_simulates():
    def outer(x, items):
        for i in range(2):
            print("outer")
            got = yield from items
            yield x * 2
        return got

    def f(x, log):
        for make in (lambda: Peekable([1, 2]), lambda: [3, 4], lambda: iter([5]), lambda: map(abs, [6])):
            gen = outer(x, make())
            for y in gen:
                x = x + y
            log.append(next(gen, "over"))
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def left_in_the_middle():
    def numbers(x, log):
        try:
            for i in range(5):
                print("inside", i)
                yield x + i
        finally:
            log.append("closed")

    def f(x, log):
        for y in numbers(x, log):
            x = x + y
            if len(log) == 2:
                break
            log.append("body")
        log.append("after")
        gen = numbers(x, log)
        x = x + next(gen)
        log.append("asked")
        gen.close()
        log.append("closed by hand")
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def named_by_more_than_one():
    def numbers(x, log):
        print("inside")
        yield x + 1
        print("again")
        yield x + 2
        log.append("end")

    def f(x, log):
        gen = numbers(x, log)
        same = gen
        held = [gen]
        x = x + next(gen)
        log.append((same is gen, held[0] is gen))
        x = x * next(same)
        log.append(next(held[0], "over"))
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)
def named_by_two_variables():
    def numbers(x, log):
        print("inside")
        yield x + 1
        print("again")
        yield x + 2
        log.append("end")

    def f(x, log):
        gen = numbers(x, log)
        same = gen
        x = x + next(gen)
        log.append(same is gen)
        for y in same:
            x = x * y
        log.append(list(gen))
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def known_to_itself():
    def numbers(box):
        print("inside")
        yield 1
        box.append(box[0].gi_running)
        try:
            next(box[0])
        except ValueError as error:
            box.append(chain(error))
        print("again")
        yield 2

    def f(x, log):
        box = []
        gen = numbers(box)
        box.append(gen)
        for n in gen:
            x = x + n
        log.append(box[1:])
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def a_running_generator_is_asked():
    def f(x, log):
        def numbers():
            print("inside")
            yield 1
            try:
                next(gen)
            except ValueError as error:
                log.append(chain(error))
            print("again")
            yield 2

        gen = numbers()
        for n in gen:
            x = x + n
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)
def cells_and_arguments():
    def f(x, log):
        count = 0

        def numbers(*args, plus=0, **others):
            nonlocal count
            for a in args:
                count += a
                print("inside", others)
                yield x * a + plus

        for y in numbers(1, 2, plus=3, k=4):
            count += 10
            x = x + y
        log.append(count)
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)
def methods_with_super():
    class Base:
        def items(self, x):
            print("base")
            yield x + 1

    class Derived(Base):
        def items(self, x):
            print("derived")
            for y in super().items(x):
                print("between")
                yield y * 2
            yield from super().items(x)

        def __iter__(self):
            for i in range(2):
                print("iter", i)
                yield i

    def f(x, log):
        for y in Derived().items(x):
            x = x + y
        for i in Derived():
            x = x * (i + 1)
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def thrown_into():
    def numbers(log):
        while True:
            try:
                print("waiting")
                yield 1
            except KeyError as error:
                print("key")
                log.append(chain(error))
                yield 2
            finally:
                print("finally")

    def f(x, log):
        gen = numbers(log)
        x = x + next(gen)
        x = x + gen.throw(KeyError("k"))
        x = x + next(gen)
        try:
            gen.throw(ValueError("v"))
        except ValueError as error:
            log.append(chain(error))
        log.append(next(gen, "over"))
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def below_builtins():
    def numbers(x):
        for i in range(3):
            print("inside", i)
            yield i

    def f(x, log):
        log.append((list(numbers(x)), sum(numbers(x)), max(numbers(x)), 2 in numbers(x), dict(enumerate(numbers(x)))))
        a, b, c = numbers(x)
        log.append([*numbers(x), *zip(numbers(x), numbers(x))])
        return x * a + b + c

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def handled_outside_while_the_generator_runs():
    def numbers(log):
        log.append(str(sys.exc_info()[1]))
        print("inside", sys.exc_info()[1])
        try:
            raise KeyError("own")
        except KeyError as error:
            print("handled", sys.exc_info()[1])
            log.append(repr(error.__context__))
            yield 1
            print("back", sys.exc_info()[1])
        print("again", sys.exc_info()[1])
        yield 2

    def f(x, log):
        try:
            raise ValueError("outside")
        except ValueError:
            for n in numbers(log):
                print("body", sys.exc_info()[1])
                x = x + n
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def context_managers():
    import contextlib

    @contextlib.contextmanager
    def section(log, name):
        print("enter", name)
        try:
            yield name.upper()
        except KeyError as error:
            print("key", error)
            log.append(chain(error))
        finally:
            print("exit", name)

    def f(x, log):
        with section(log, "a") as name:
            log.append(name)
            x = x * 2
        with section(log, "b"):
            x = x + 1
            {}["k"]
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def a_comprehension_fails_under_a_handler():
    def fail(error):
        print("fail")
        raise error

    def f(x, log):
        i = 7
        for items in ([0, 1], [2, "a"]):
            try:
                log.append([{2: 3}[i] for i in items])
            except KeyError as error:
                log.append((i, chain(error)))
            try:
                log.append([fail(ValueError(i)) for i in items])
            except ValueError as error:
                log.append((i, chain(error)))
        return x * i

    return f
