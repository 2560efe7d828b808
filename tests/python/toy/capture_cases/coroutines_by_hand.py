"""Coroutines that captured code makes and drives by hand: what they await, `async with`, `async for`, and breaks in their middle."""

import inspect
import sys
import types
import warnings

from capture_cases.protected import chain, log_case
from toy_framework import toy

# Where the simulation runs them.
SIMULATED = sys.version_info >= (3, 11)


def decided(**decisions):
    """Decisions of the versions that run coroutines as generators."""
    left_open = {"graphs": None, "captures": None, "breaks": None, "fallbacks": None, "reasons": None}
    return log_case(**(decisions if SIMULATED else left_open))


graph = decided()
left_open = log_case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)


def run(coroutine, *inputs):
    """Drive to the end: what it yields, and what it returns."""
    seen, waiting = [], list(inputs)
    value = None
    while True:
        try:
            if isinstance(value, Exception):
                seen.append(coroutine.throw(value))
            else:
                seen.append(coroutine.send(value))
        except StopIteration as stop:
            return seen, stop.value
        value = waiting.pop(0) if waiting else None


@types.coroutine
def pause(value):
    got = yield value
    return got


class Future:
    def __init__(self, name):
        self.name = name

    def __await__(self):
        got = yield self.name
        return got


async def doubled(x):
    return x * 2


async def summed(x, n, log):
    total = x
    for i in range(n):
        total = total + await doubled(x * i)
        log.append(await pause(i))
    return total


@graph
def one_that_returns_at_once():
    def f(x, log):
        try:
            doubled(x).send(None)
        except StopIteration as stop:
            return stop.value

    return f


@graph
def awaits_in_awaits():
    def f(x, log):
        return run(summed(x, 3, log), "a", "b", "c")

    return f


@graph
def awaitables_of_the_program():
    class Plain:
        def __await__(self):
            return iter([1, 2])

    class Own:
        def __init__(self):
            self.left = 2

        def __await__(self):
            return self

        def __next__(self):
            self.left -= 1
            if self.left < 0:
                raise StopIteration("ended")
            return self.left

    async def main(x, log):
        log.append(await Future("one"))
        log.append(await Plain())
        log.append(await Own())
        return x + 1

    def f(x, log):
        return run(main(x, log), 5)

    return f


@graph
def a_small_scheduler():
    class Loop:
        def __init__(self):
            self.ready, self.results = [], {}

        def spawn(self, name, coroutine):
            self.ready.append((name, coroutine))

        def run(self):
            turns = 0
            while self.ready:
                name, coroutine = self.ready.pop(0)
                turns += 1
                try:
                    coroutine.send(None)
                except StopIteration as stop:
                    self.results[name] = stop.value
                else:
                    self.ready.append((name, coroutine))
            return turns

    async def worker(x, n, log):
        for i in range(n):
            log.append((n, i))
            x = x * 2
            await pause(None)
        return x

    def f(x, log):
        loop = Loop()
        for n in (2, 1, 3):
            loop.spawn(n, worker(x + n, n, log))
        return loop.run(), loop.results

    return f


@graph
def thrown_into_what_it_awaits():
    async def step(x, log):
        try:
            return x * await Future("step")
        except ValueError as error:
            log.append((str(error), type(error.__context__).__name__))
            return x - 1
        finally:
            log.append("step ends")

    async def main(x, log):
        a = await step(x, log)
        try:
            b = await step(a, log)
        except KeyError as error:
            log.append(("main", type(error).__name__))
            b = a * 3
        return a, b

    def f(x, log):
        return run(main(x, log), ValueError("thrown"), KeyError("deeper"))

    return f


@left_open
def exceptions_with_their_lines():
    async def fails(x):
        await pause("before")
        raise LookupError(x.shape[0])

    async def middle(x):
        try:
            return await fails(x)
        except LookupError as error:
            raise RuntimeError("of it") from error

    async def main(x):
        await middle(x)

    def f(x, log):
        try:
            run(main(x * 2))
        except RuntimeError as error:
            log.append(chain(error))
        return x + 1

    return f


@left_open
def nobody_catches():
    async def main(x, log):
        log.append(await Future("a"))
        raise KeyError("main")

    def f(x, log):
        y = x * 2
        run(main(y, log))

    return f


@graph
def ends_that_are_closed():
    async def main(log):
        try:
            await Future("waits")
        except GeneratorExit:
            log.append("exit")
            raise
        finally:
            log.append("finally")

    async def awaits(log):
        try:
            await main(log)
        finally:
            log.append("outer")

    def f(x, log):
        new = main(log)
        new.close()
        for waits in (main(log), awaits(log)):
            log.append(waits.send(None))
            waits.close()
            waits.close()
        return x * 2

    return f


@left_open
def what_they_say():
    async def ignores():
        try:
            await pause(1)
        except GeneratorExit:
            await pause(2)

    async def stops():
        raise StopIteration("inside")

    async def awaits(what):
        return await what

    def asks(log, call, *args):
        try:
            log.append(call(*args))
        except (RuntimeError, TypeError, ValueError, StopIteration) as error:
            log.append((type(error).__name__, str(error), type(error.__cause__).__name__))

    def f(x, log):
        c = ignores()
        c.send(None)
        asks(log, c.close)
        asks(log, c.send, None)
        asks(log, c.send, None)
        asks(log, c.throw, ValueError("thrown"))
        asks(log, stops().send, None)
        ended = awaits(pause(0))
        ended.send(None)
        asks(log, ended.send, 5)
        for what in (ended, 5, [1], (i for i in ()), pause):
            asks(log, awaits(what).send, None)
        waiting = awaits(pause(1))
        waiting.send(None)
        other = awaits(waiting)
        asks(log, other.send, None)
        waiting.close()
        return x * 2

    return f


@left_open
def wrong_starts():
    async def main():
        return 1

    def asks(log, call, *args):
        try:
            log.append(call(*args))
        except (RuntimeError, TypeError, ValueError) as error:
            log.append((type(error).__name__, str(error)))

    def f(x, log):
        c = main()
        asks(log, c.send, 5)
        asks(log, iter, c)
        asks(log, next, c)
        asks(log, list, c)
        asks(log, lambda: 3 in c)
        asks(log, hasattr, c, "__next__")
        asks(log, next, c, None)
        asks(log, max, c)
        c.close()
        return x * 2

    return f


@left_open
def wrong_awaitables():
    class GivesCoroutine:
        def __await__(self):
            return doubled(1)

    class GivesNothing:
        def __await__(self):
            return None

    class Raises:
        def __await__(self):
            raise KeyError("await")

    async def awaits(what):
        return await what

    def f(x, log):
        for what in (GivesNothing(), Raises(), object()):
            try:
                awaits(what).send(None)
            except (TypeError, KeyError) as error:
                log.append((str(error), chain(error)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                awaits(GivesCoroutine()).send(None)
            except TypeError as error:
                log.append(str(error))
        return x * 2

    return f


@graph
def what_is_asked_of_their_class():
    def f(x, log):
        c = doubled(x)
        g = pause(1)
        log.append((type(c) is types.CoroutineType, isinstance(c, types.GeneratorType), inspect.iscoroutine(c)))
        log.append((type(g) is types.GeneratorType, inspect.iscoroutine(g)))
        log.append((c == c, c != g, bool(c), c is not None))
        c.close()
        return x * 2

    return f


class Manager:
    def __init__(self, log, silence=False):
        self.log, self.silence = log, silence

    async def __aenter__(self):
        self.log.append(await pause("enter"))
        return self

    async def __aexit__(self, kind, value, tb):
        self.log.append((await pause("exit"), kind and kind.__name__, str(value)))
        return self.silence


@graph
def async_with():
    async def main(x, log):
        async with Manager(log) as m:
            x = x * 2
            log.append(m.silence)
        async with Manager(log, True), Manager(log):
            raise ValueError("silenced")
        return x + 1

    def f(x, log):
        return run(main(x, log), *range(10))

    return f


@left_open
def async_with_that_raises():
    async def main(x, log, n):
        async with Manager(log):
            if n:
                raise KeyError(n)
            return x * 2

    def f(x, log):
        log.append(run(main(x, log, 0)))
        try:
            run(main(x, log, 1))
        except KeyError as error:
            log.append(chain(error))
        return x + 1

    return f


class Count:
    def __init__(self, n, log):
        self.n, self.log = n, log

    def __aiter__(self):
        return self

    async def __anext__(self):
        if self.n == 0:
            raise StopAsyncIteration
        self.n -= 1
        self.log.append(await pause(("count", self.n)))
        return self.n


@graph
def async_for():
    async def main(x, log):
        async for i in Count(3, log):
            if i == 1:
                continue
            x = x + i
        else:
            log.append("else")
        async for i in Count(3, log):
            log.append(i)
            break
        return x

    def f(x, log):
        return run(main(x, log), *range(10))

    return f


@graph
def async_comprehensions():
    async def main(x, log):
        table = {i: x * i async for i in Count(2, log)}
        return [await doubled(i) async for i in Count(3, log) if i], table

    def f(x, log):
        return run(main(x, log), *range(10))

    return f


@left_open
def async_for_that_raises():
    class Fails:
        def __aiter__(self):
            return self

        async def __anext__(self):
            raise KeyError("next")

    class Plain:
        def __init__(self):
            self.left = 2

        def __aiter__(self):
            return self

        def __anext__(self):
            if not self.left:
                raise StopAsyncIteration
            self.left -= 1
            return Future(self.left)

    class NoIterator:
        def __aiter__(self):
            return 5

    class NoAwaitable(Plain):
        def __anext__(self):
            return 5

    async def main(log, items):
        async for item in items:
            log.append(item)

    def f(x, log):
        for items in (Fails(), Plain(), NoIterator(), NoAwaitable(), [1]):
            try:
                log.append(run(main(log, items), 3, 4))
            except (KeyError, TypeError) as error:
                log.append(chain(error))
        return x * 2

    return f


@decided(graphs=3, captures=3, breaks=2, reasons=("builtin-with-output",))
def a_break_in_the_middle():
    async def step(x, n):
        y = x * n
        print("step", n)
        return y + await Future(n)

    async def main(x, log):
        for n in (1, 2):
            x = x + await step(x, n)
        return x

    def f(x, log):
        return run(main(x, log), 10, 20)

    return f


@left_open
def breaks_while_others_wait():
    async def worker(x, n, log):
        for i in range(n):
            x = x * 2
            log.append(await pause((n, i)))
        return x

    def f(x, log):
        a, b = worker(x, 2, log), worker(x, 3, log)
        print("new")
        a.send(None)
        print("one waits")
        b.send(None)
        print("both wait")
        seen = run(b, 1, 2, 3)
        print("one has ended")
        return seen, run(a, 4, 5)

    return f


@left_open
def coroutines_handed_out():
    async def main(x, log):
        log.append(await Future("handed"))
        return x + 1

    def f(x, log):
        ended = doubled(x)
        try:
            ended.send(None)
        except StopIteration as stop:
            x = stop.value
        waits, new = main(x, log), main(x * 2, log)
        waits.send(None)
        return waits, new, ended

    def driven(x, log):
        waits, new, ended = f(x, log)
        names = [(c.__name__, c.__qualname__, inspect.getcoroutinestate(c)) for c in (waits, new, ended)]
        log.append(names)
        try:
            ended.send(None)
        except RuntimeError as error:
            log.append(str(error))
        return run(waits, 5), run(new)

    toy.disable(driven)

    def g(x, log):
        return x * 2, driven(x, log)

    return g


@left_open
def held_over_a_break_and_closed():
    async def main(x, log):
        try:
            log.append(await pause(1))
        finally:
            log.append("cleaned")
        return x

    def f(x, log):
        c = main(x, log)
        c.send(None)
        print("waits")
        c.close()
        d = main(x, log)
        d.send(None)
        del d
        log.append("behind")
        return x * 2

    return f


@left_open
def never_awaited():
    async def main(x):
        return x

    def f(x, log):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            main(x)
            log.append(len(heard))
            c = main(x)
            print("waits")
            c = None
            log.append(len(heard))
            c = [main(x)]
            c.clear()
        log.append([str(warning.message) for warning in heard])
        log.append([warning.lineno for warning in heard])
        return x * 2, c

    return f


@left_open
def never_awaited_in_a_coroutine():
    async def loses(x, n):
        lost = doubled(x)
        if n == 1:
            return lost
        if n == 2:
            doubled(x)
            return x
        if n == 3:
            raise KeyError(n)
        return await lost

    def f(x, log):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            for n in range(4):
                try:
                    log.append(run(loses(x, n))[1] is None)
                except KeyError as error:
                    log.append(chain(error))
        log.append([(str(warning.message), warning.lineno) for warning in heard])
        return x * 2

    return f


@graph
def methods_and_closures():
    class Model:
        def __init__(self, scale):
            self.scale = scale

        async def __call__(self, x):
            return await self.layer(x) + self.scale

        async def layer(self, x):
            async def inner(y, *more, k=2):
                nonlocal x
                x = x + 1
                return y * self.scale * k

            return await inner(x) + x

    def f(x, log):
        seen, value = run(Model(3)(x))
        log.append(seen)
        return value

    return f


@graph
def in_handlers():
    async def helps(x, log):
        log.append(await pause(type(sys.exc_info()[1]).__name__))
        return x * 3

    async def main(x, log):
        try:
            raise ValueError("handled")
        except ValueError:
            x = await helps(x, log)
            log.append(type(sys.exc_info()[1]).__name__)
        finally:
            log.append(await pause("finally"))
        return x

    def f(x, log):
        return run(main(x, log), 1, 2)

    return f


@left_open
def delegated_to_by_generators():
    def delegates(to):
        return (yield from to)

    @types.coroutine
    def may(to):
        return (yield from to)

    def f(x, log):
        c = doubled(x)
        try:
            next(delegates(c))
        except TypeError as error:
            log.append(str(error))
        c.close()
        return run(may(doubled(x)), 1)

    return f


def _delegated_from_before(name, breaks_at):
    """A coroutine that there was before the frame, or before a break, is delegated to by a generator that may."""

    def build():
        @types.coroutine
        def may(to):
            return (yield from to)

        @types.coroutine
        def may_later(to):
            yield "first"
            return (yield from to)

        def f(x, log):
            c = doubled(x)
            if breaks_at == "made":
                print("made", end="")
            if breaks_at == "begun":
                log.append(c.send(None))
                print("begun", end="")
            delegating = may_later if breaks_at == "delegated" else may
            log.append(type(c).__name__)
            it = delegating(c)
            if breaks_at == "delegated":
                log.append(next(it))
                print("delegated", end="")
            try:
                log.append(run(it, 1))
            except RuntimeError as error:
                log.append(str(error))
            c.close()

            @types.coroutine
            def local():
                return (yield from d)

            d = doubled(x)
            return run(local(), 2)

        return f

    build.__name__ = name
    left_open(build)


for _at in ("nowhere", "made", "begun", "delegated"):
    _delegated_from_before(f"delegated_to_a_coroutine_from_before_{_at}", _at)
