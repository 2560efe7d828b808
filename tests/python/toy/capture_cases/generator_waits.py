"""Generators that wait to be asked while a break runs: they stay frames, become objects, and end where eager's do."""

import sys

from capture_cases.protected import chain, log_case
from toy_framework import toy


def fail(what):
    raise what


toy.disable(fail)


def take(generator, n=1):
    return [next(generator, "over") for _ in range(n)]


toy.disable(take)


@log_case(graphs=4, captures=4, breaks=3, reasons=("builtin-with-output",))
def the_body_breaks():
    def numbers(x):
        for i in range(3):
            yield x + i
            x = x * 2

    def f(x, log):
        total = x
        for y in numbers(x):
            print("body")
            total = total + y
        return total

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=("builtin-with-output",))
def not_started_yet():
    def numbers(x, log, *args, k=3):
        log.append("start")
        for a in args:
            yield x + a * k

    def f(x, log):
        gen = numbers(x, log, 1, 2, k=4)
        print("made")
        for y in gen:
            print("body")
            x = x + y
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=("builtin-with-output",))
def one_reads_another():
    def source(log):
        for i in range(3):
            log.append(i)
            yield i

    def scaled(items, x):
        scale = 2
        for i in items:
            yield x * i * scale
            scale = scale + 1

    def f(x, log):
        for y in scaled(source(log), x):
            print("body")
            x = x + y
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=("builtin-with-output",))
def two_in_turn():
    def numbers(x, step):
        while True:
            got = yield x
            x = x + (step if got is None else got)

    def f(x, log):
        a, b = numbers(x, 1), numbers(x, 2)
        for i in range(2):
            y = next(a)
            print("between", i)
            y = y * next(b)
            print("after", i)
            log.append(y.shape)
            if i:
                y = y + a.send(10)
        return y

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def cells_are_shared():
    def f(x, log):
        count = 0

        def numbers():
            nonlocal count
            for i in range(2):
                count += 1
                yield x * count
                log.append(count)

        for y in numbers():
            print("body", count)
            count += 10
            log.append(y.shape)
        return x * count

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def handed_out_later():
    def numbers(x, log):
        try:
            for i in range(5):
                log.append(("going to", i))
                got = yield x * i
                log.append(got)
        finally:
            log.append("finally")

    def f(x, log):
        gen = numbers(x, log)
        x = x + next(gen)
        print("first")
        x = x + gen.send("sent")
        print("second")
        log.append(len(take(gen, 2)))
        print("third")
        return x, gen

    return lambda x, log: (lambda y, gen: (y, len(list(gen))))(*f(x, log))


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def handed_out_by_captured_code():
    def numbers(x, log):
        try:
            for i in range(5):
                yield x * i
                log.append(i)
        finally:
            log.append("finally")

    def f(x, log):
        gen = numbers(x, log)
        x = x + next(gen)
        print("first")
        x = x + next(gen)
        held = [gen, gen]
        print("second")
        log.append((held[0] is held[1], held[0] is gen))
        log.append(len(list(held[1])))
        log.append(next(gen, "over"))
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def clean_up_runs_where_it_does():
    def numbers(x, log):
        try:
            for i in range(5):
                yield x + i
        finally:
            log.append("closed")
            print("closed")

    def left(x, log):
        for y in numbers(x, log):
            print("body")
            break
        log.append("left")
        return y

    def returned(x, log):
        for y in numbers(x, log):
            print("body")
            return y

    def deleted(x, log):
        gen = numbers(x, log)
        y = next(gen)
        print("asked")
        del gen
        log.append("deleted")
        return y

    def replaced(x, log):
        gen = numbers(x, log)
        y = next(gen)
        print("asked")
        gen = None
        log.append("replaced")
        return y

    def kept(x, log):
        gen = numbers(x, log)
        y = next(gen)
        print("asked")
        log.append("kept")
        print("still")
        return y

    def used_up(x, log):
        for y in numbers(x, log):
            print("body")
        log.append("used up")
        return y

    def closed(x, log):
        gen = numbers(x, log)
        y = next(gen)
        print("asked")
        gen.close()
        log.append(next(gen, "over"))
        return y

    def f(x, log):
        for inner in (left, returned, deleted, replaced, kept, used_up, closed):
            log.append(inner.__name__)
            x = inner(x, log)
            print("next")
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def an_exception_ends_the_loop():
    def numbers(x, log):
        try:
            for i in range(5):
                yield x + i
        finally:
            log.append("closed")

    def inner(x, log):
        for y in numbers(x, log):
            print("body")
            fail(ValueError("body"))

    def f(x, log):
        try:
            inner(x, log)
        except ValueError as error:
            log.append(chain(error))
            del error
        log.append("after")
        try:
            for y in numbers(x, log):
                fail(KeyError("here"))
        except KeyError as error:
            log.append(chain(error))
        log.append("end")
        return x * 2

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def an_exception_is_caught_in_the_loop():
    def numbers(x):
        for i in range(3):
            yield x + i

    def f(x, log):
        for y in numbers(x):
            try:
                fail(ValueError("body"))
            except ValueError as error:
                print("caught", error)
                x = x + y
            finally:
                print("finally")
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def it_waits_in_a_handler_of_its_own():
    def numbers(x, log):
        try:
            raise KeyError("own")
        except KeyError as error:
            log.append(str(sys.exc_info()[1]))
            yield x + 1
            log.append(str(sys.exc_info()[1]))
            log.append(error.args)
            yield x + 2
        log.append(str(sys.exc_info()[1]))
        yield x + 3

    def f(x, log):
        try:
            raise ValueError("outside")
        except ValueError:
            for y in numbers(x, log):
                print("body", sys.exc_info()[1])
                x = x + y
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def it_waits_in_with_and_try():
    import contextlib

    def numbers(x, log):
        with contextlib.suppress(KeyError):
            for i in range(3):
                try:
                    yield x + i
                except ValueError as error:
                    log.append(str(error))
                    yield x
                finally:
                    log.append(i)

    def f(x, log):
        gen = numbers(x, log)
        x = x + next(gen)
        print("first")
        x = x + gen.throw(ValueError("thrown"))
        print("second")
        for y in gen:
            print("body")
            x = x + y
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def it_delegates_while_it_waits():
    def inner(x):
        for i in range(3):
            got = yield x + i
            if got:
                x = x * got
        return "result"

    def outer(x, log):
        log.append((yield from inner(x)))
        yield from [x, x]

    def f(x, log):
        gen = outer(x, log)
        x = x + next(gen)
        print("first")
        x = x + gen.send(3)
        print("second")
        for y in gen:
            print("body")
            x = x + y
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def below_zip_and_enumerate():
    def numbers(x, log):
        for i in range(3):
            yield x + i
            log.append(i)

    def f(x, log):
        for i, y in enumerate(numbers(x, log)):
            print("body", i)
            x = x + y * i
        for a, b in zip(numbers(x, log), numbers(x, log)):
            print("both")
            x = x + a * b
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def methods_and_defaults():
    class Source:
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            for i in range(self.n):
                yield i
                self.n = self.n - 0

        def scaled(self, x):
            base = super().__repr__
            for i in self:
                yield x * i
            yield x if base else None

    def f(x, log):
        source = Source(2)
        for y in source.scaled(x):
            print("body")
            x = x + y
            log.append(source.n)
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def known_to_its_own_body():
    def f(x, log):
        def numbers():
            yield x + 1
            log.append(gen.gi_running)
            yield x + 2

        gen = numbers()
        for y in gen:
            print("body")
            log.append(y.shape)
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def they_hold_each_other():
    def numbers(x):
        other = yield x
        print("inside")
        yield x + next(other) if other is not None else x

    def f(x, log):
        a, b = numbers(x), numbers(x * 2)
        x = next(a) + next(b)
        print("first")
        x = x + a.send(b)
        print("second")
        x = x + next(b)
        print("third")
        log.append((next(a, "over"), next(b, "over")))
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def a_recursive_generator():
    def walk(tree, x):
        if isinstance(tree, tuple):
            for part in tree:
                yield from walk(part, x)
        else:
            print("leaf", tree)
            yield x * tree

    def f(x, log):
        for y in walk((1, (2, 3), (4,)), x):
            print("body")
            x = x + y
        return x

    return f


def close(generator):
    generator.close()
    return next(generator, "closed")


def throw(generator, error):
    try:
        return generator.throw(error)
    except StopIteration as stop:
        return ("over", stop.value)
    except Exception as other:
        return chain(other)


def rest(generator):
    return list(generator)


def receiver(generator):
    return type(generator.gi_yieldfrom).__name__


for function in (close, throw, rest, receiver):
    toy.disable(function)


@log_case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)
def an_object_that_delegates():
    def inner(log, stop):
        for i in range(4):
            try:
                got = yield i
                log.append(("got", got))
            except ValueError as error:
                log.append(("inner", chain(error)))
                if stop:
                    return "stopped"
                yield "caught"
            finally:
                log.append("finally")
        return "end"

    def outer(log, stop):
        try:
            log.append((yield from inner(log, stop)))
        except KeyError as error:
            log.append(("outer", chain(error)))
            yield "key"
        finally:
            log.append("outer finally")
        return (yield from [10, 11])

    def nested(log, stop):
        log.append((yield from outer(log, stop)))

    def f(x, log):
        for make in (outer, nested):
            for stop in (False, True):
                for what in (close, rest, receiver):
                    gen = make(log, stop)
                    log.append((next(gen), next(gen)))
                    log.append(what(gen))
                    del gen
                for error in (ValueError("v"), KeyError("k"), TypeError("t")):
                    gen = make(log, stop)
                    log.append((next(gen), gen.send("sent")))
                    log.append(throw(gen, error))
                    log.append(throw(gen, ValueError("again")))
                    log.append(next(gen, "over"))
                    log.append(close(gen))
        gen = nested(log, False)
        log.append(next(gen))
        log.append(take(gen, 8))
        return x * 2

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)
def an_object_that_delegates_to_objects():
    def outer(items, log):
        try:
            got = yield from items
            log.append(got)
        finally:
            log.append("finally")
        yield "last"

    def f(x, log):
        for items in ([1, 2, 3], (4, 5), range(3), "ab", {"k": 1}):
            for what in (rest, close, receiver):
                gen = outer(items, log)
                log.append(next(gen))
                log.append(what(gen))
                del gen
            gen = outer(items, log)
            log.append(next(gen, None))
            log.append(throw(gen, KeyError("k")))
        return x * 2

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def what_is_delegated_to_is_closed():
    class Source:
        def __init__(self, log):
            self.log = log

        def __iter__(self):
            return self

        def __next__(self):
            return 1

        def close(self):
            self.log.append("closed")

    def outer(items):
        yield from items

    def f(x, log):
        gen = outer(Source(log))
        x = x + next(gen)
        gen.close()
        log.append("after close")
        for n in outer(Source(log)):
            x = x + n
            break
        log.append("after the loop")
        gen = outer(Source(log))
        x = x + next(gen)
        gen = None
        log.append("end")
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def its_frame_is_looked_at():
    table = {"a": 1}

    def numbers(n, held):
        v = n + 1
        w = v * 2
        name = "text"  # noqa: F841
        yield w
        yield n

    def f(x, log):
        gen = numbers(3, table)
        log.append(next(gen))
        log.append(sorted(gen.gi_frame.f_locals))
        log.append(gen.gi_frame.f_locals["w"])
        log.append(gen.gi_frame.f_locals["held"] is table)
        return x + next(gen)

    return f
