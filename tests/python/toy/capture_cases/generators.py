"""Generators: made and used inside, half used, handed out, sent to, thrown into, delegating, with breaks around."""

import contextlib
import weakref

from capture_cases.protected import chain, log_case


@log_case()
def used_up():
    def numbers(n):
        for i in range(n):
            yield i * 2
        return "ignored"

    def f(x, log):
        for n in numbers(4):
            log.append(n)
            x = x + n
        return x

    return f


@log_case()
def generator_expressions():
    def f(x, log):
        total = sum(i * i for i in range(5))
        flags = any(i > 3 for i in range(5)), all(i > 3 for i in range(5))
        names = tuple(str(i) for i in range(3)), list(i for i in range(3) if i != 1)
        log.extend([total, flags, names, max(i % 4 for i in range(9)), "-".join(str(i) for i in range(3))])
        return x * total

    return f


@log_case()
def lazy_and_in_order():
    def source(log):
        log.append("start")
        yield 1
        log.append("middle")
        yield 2
        log.append("end")

    def f(x, log):
        it = source(log)
        log.append("made")
        log.append(next(it))
        log.append("between")
        log.append(next(it))
        log.append(next(it, "over"))
        log.append(next(it, "still over"))
        return x * 2

    return f


@log_case()
def send_and_return_value():
    def averager():
        total, count = 0, 0
        while True:
            value = yield total
            if value is None:
                return count
            total += value
            count += 1

    def f(x, log):
        gen = averager()
        log.append(next(gen))
        log.append(gen.send(10))
        log.append(gen.send(5))
        try:
            gen.send(None)
        except StopIteration as stop:
            log.append(stop.value)
        return x * 2

    return f


@log_case()
def yield_from():
    def inner(n):
        for i in range(n):
            got = yield i
            if got:
                yield got
        return n * 10

    def outer():
        a = yield from inner(2)
        yield from [a, a + 1]
        b = yield from inner(1)
        return b

    def f(x, log):
        gen = outer()
        log.append(list(gen))
        gen = outer()
        log.append((next(gen), gen.send("sent"), next(gen)))
        return x * 2

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def a_delegate_ends_with_who_delegates():
    def inner():
        yield 1
        yield 2

    def outer(it):
        yield from it

    def middle(it):
        yield from outer(it)

    def f(x, log):
        for make in (outer, middle):
            it = inner()
            gen = make(it)
            log.append(next(gen))
            gen.close()
            log.append(next(it, "closed"))
            rest = iter([1, 2, 3])
            gen = make(rest)
            log.append(next(gen))
            gen.close()
            log.append(list(rest))
        return x * 2

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def a_delegate_ends_with_the_death_of_who_delegates():
    def inner():
        yield 1
        yield 2

    def outer(it):
        yield from it

    def f(x, log):
        it = inner()
        gen = outer(it)
        log.append(next(gen))
        gen = None
        log.append(next(it, "dead"))
        return x * 2

    return f


@log_case()
def left_behind():
    def numbers():
        for i in range(5):
            yield i

    def outer():
        yield from numbers()

    def nested():
        yield from outer()

    def f(x, log):
        for make in (numbers, outer, nested):
            for n in make():
                if n == 2:
                    break
            log.append(n)
            gen = make()
            log.append((next(gen), next(gen)))
        return x * 2

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def throw_and_close():
    def patient(log):
        for _ in range(4):
            try:
                yield "item"
            except ValueError as error:
                log.append(str(error))
        yield "last"

    def f(x, log):
        gen = patient(log)
        log.append(next(gen))
        log.append(gen.throw(ValueError("thrown")))
        try:
            gen.throw(KeyError("not caught"))
        except KeyError as error:
            log.append(chain(error))
        log.append(next(gen, "closed"))
        other = patient(log)
        log.append(next(other))
        other.close()
        log.append(next(other, "closed"))
        return x * 2

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def half_used_and_handed_out():
    def numbers(log):
        for i in range(5):
            log.append(("going to", i))
            got = yield i
            log.append(("got", got))

    def f(x, log):
        gen = numbers(log)
        first = next(gen), next(gen)
        log.append(first)
        print("break")
        log.append(next(gen))
        log.append(gen.send("sent"))
        rest = list(gen)
        return x * 2, rest

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def loop_over_a_generator_with_breaks():
    def numbers(log):
        try:
            for i in range(4):
                yield i
        finally:
            log.append("cleaned up")

    def f(x, log):
        for n in numbers(log):
            x = x * 2
            print(n)
            x = x + n
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def a_generator_that_breaks():
    def numbers():
        for i in range(3):
            print("inside", i)
            yield i

    def f(x, log):
        for n in numbers():
            x = x + n
        log.append(list(numbers()))
        return x * 2

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def half_used_with_clean_up():
    def numbers(log):
        try:
            yield 1
            yield 2
        finally:
            log.append("finally")

    def f(x, log):
        gen = numbers(log)
        log.append(next(gen))
        del gen
        log.append("after")
        for n in numbers(log):
            log.append(n)
            break
        log.append("end")
        return x * 2

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def context_managers_of_contextlib():
    @contextlib.contextmanager
    def section(log, name):
        log.append(("enter", name))
        try:
            yield name.upper()
        except KeyError as error:
            log.append(("key", error.args))
        finally:
            log.append(("exit", name))

    def f(x, log):
        with section(log, "a") as name:
            x = x * 2
            log.append(name)
        with section(log, "b"):
            x = x + 1
            {}["k"]
        with section(log, "c") as name:
            print("inside", name)
            x = x * 3
        with contextlib.suppress(ValueError), contextlib.nullcontext(4) as four:
            x = x + four
            raise ValueError("v")
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def errors_of_generators():
    def bad():
        yield 1
        raise ValueError("inside")

    def stops():
        yield 1
        raise StopIteration("no")

    def f(x, log):
        for make in (bad, stops):
            try:
                for n in make():
                    log.append(n)
            except (ValueError, RuntimeError) as error:
                log.append(chain(error))
        return x * 2

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def closures_and_arguments():
    def make(scale):
        seen = []

        def gen(*args, **kwargs):
            for a in args:
                seen.append(a)
                yield a * scale + kwargs.get("plus", 0)

        return gen, seen

    def f(x, log):
        gen, seen = make(3)
        items = gen(1, 2, 3, plus=1)
        log.append(next(items))
        print("break")
        log.append(list(items))
        log.append(seen)
        return x * 2

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def iterator_classes():
    class Count:
        def __init__(self, n):
            self.n, self.asked = n, 0

        def __iter__(self):
            return self

        def __next__(self):
            self.asked += 1
            if self.asked > self.n:
                raise StopIteration
            return self.asked

    class Loud(Count):
        def __next__(self):
            print("next")
            return super().__next__()

    def f(x, log):
        for kind in (Count, Loud):
            count = kind(3)
            for n in count:
                x = x + n
                log.append(n)
            log.append(count.asked)
            log.append(list(kind(2)))
        return x

    return f


@log_case(graphs=None, captures=None, breaks=None, reasons=None)
def special_methods_that_break():
    class Loud:
        def __init__(self, n):
            print("init", n)
            self.n = n

        @property
        def value(self):
            print("value")
            return self.n

        def __getattr__(self, name):
            print("getattr", name)
            return name

        def __bool__(self):
            print("bool")
            return self.n > 1

        def __getitem__(self, key):
            print("item", key)
            return key * self.n

        def __len__(self):
            print("len")
            return self.n

        def __call__(self, y):
            print("call")
            return y * self.n

        def __iter__(self):
            print("iter")
            return iter([self.n, self.n])

    def f(x, log):
        y = x + 1
        for n in (1, 2):
            loud = Loud(n)
            y = y * loud.value
            log.append(loud.missing)
            if loud:
                log.append("true")
            log.append((not loud, len(loud), loud[3], list(loud)))
            y = loud(y) + 1
        return y

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def half_used_below_another_iterator():
    def source(log):
        try:
            yield 1
            yield 2
        finally:
            log.append("closed")

    def f(x, log):
        for _, n in enumerate(source(log)):
            break
        log.append("after enumerate")
        for n, _ in zip(source(log), [1]):
            pass
        log.append("after zip")
        for n in map(lambda n: n * 2, source(log)):
            break
        log.append("after map")
        return x * n

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def an_iterator_of_the_program_says_what_a_delegation_gives():
    class Counts:
        def __init__(self):
            self.n = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.n += 1
            if self.n < 3:
                return self.n
            raise StopIteration("counted")

    def delegating():
        return (yield from Counts())

    def f(x, log):
        generator = delegating()
        log.extend([next(generator), next(generator)])
        try:
            next(generator)
        except StopIteration as stop:
            log.append(stop.value)
        log.append(list(delegating()))
        return x + 1

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def one_that_holds_itself():
    def source(log):
        me = yield 1
        log.append("holds itself")
        other = [me]
        yield len(other)

    class Watched:
        pass

    def f(x, log):
        watched = Watched()
        weakref.finalize(watched, log.append, "gone")
        generator = source(log)
        log.append(next(generator))
        log.append(generator.send(generator))
        del generator
        log.append("dropped")
        del watched
        return x + 1

    return f


@log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def named_after_their_function():
    def source():
        yield 1

    def f(x, log):
        first = source()
        source.__name__, source.__qualname__ = "renamed", "very.renamed"
        second = source()
        log.append((first.__name__, second.__name__, second.__qualname__))
        source.__name__, source.__qualname__ = "source", "source"
        return x + next(second)

    return f
