"""Async generators that captured code drives by hand or in coroutines that it drives: steps, ends, breaks in their middle."""

import sys

from capture_cases.coroutines_by_hand import Count, Future, doubled, graph, left_open, pause, run
from capture_cases.protected import chain


async def numbers(x, n, log):
    try:
        for i in range(n):
            got = yield x * i
            if got is not None:
                log.append(got)
    finally:
        log.append("numbers end")


def step(awaitable):
    """One step of an async generator that awaits nothing."""
    try:
        awaitable.send(None)
    except StopIteration as stop:
        return stop.value
    except StopAsyncIteration:
        return "end"


@graph
def async_generators():
    async def main(x, log):
        async for y in numbers(x, 3, log):
            x = x + y
        return x, [y async for y in numbers(x, 2, log)]

    def f(x, log):
        return run(main(x, log))

    return f


@graph
def steps_of_async_generators():
    def f(x, log):
        items = numbers(x, 2, log)
        seen = [step(items.__anext__()), step(items.asend("sent")), step(items.asend("last"))]
        return seen, step(items.__anext__()), items.__aiter__() is items

    return f


@graph
def async_generators_that_await():
    async def waits(x, n, log):
        for i in range(n):
            log.append(await Future(("at", i)))
            y = await doubled(x + i)
            got = yield y
            log.append(("got", got))
            await pause("behind")

    async def through(x, n, log):
        async for y in waits(x, n, log):
            yield y + 1

    async def main(x, log):
        items = waits(x, 2, log)
        first = await items.__anext__()
        second = await items.asend("sent")
        async for y in items:
            log.append("never")
        async for y in through(x, 2, log):
            x = x + y
        return first, second, x

    def f(x, log):
        return run(main(x, log), *range(20))

    return f


@graph
def async_generator_expressions():
    async def main(x, log):
        items = (x * i async for i in Count(3, log) if i != 1)
        return [y async for y in items]

    def f(x, log):
        return run(main(x, log), *range(20))

    return f


@left_open
def async_generators_left_behind():
    async def main(x, log):
        async for y in numbers(x, 3, log):
            log.append("left")
            break
        log.append("behind")
        items = numbers(x, 3, log)
        log.append(type(items).__name__)
        await items.__anext__()
        print("waits")
        x = x + await items.__anext__()
        await items.aclose()
        try:
            await items.__anext__()
        except StopAsyncIteration:
            log.append("closed")
        items = numbers(x, 3, log)
        await items.__anext__()
        try:
            await items.athrow(KeyError("thrown"))
        except KeyError as error:
            log.append(chain(error))
        return x

    def f(x, log):
        return run(main(x, log))

    return f


@left_open
def async_generators_with_breaks():
    async def speaks(x, n):
        for i in range(n):
            print("item", i)
            yield x + i
            await pause(("behind", i))

    async def main(x):
        total = x
        async for y in speaks(x * 2, 3):
            total = total + y
            print("body")
        return total

    def f(x, log):
        return run(main(x), *range(9))

    return f


@left_open
def what_async_generators_say():
    async def stops():
        yield 1
        raise StopIteration("inside")

    async def ends():
        yield 1
        raise StopAsyncIteration("inside")

    async def fails(x):
        yield x
        raise KeyError("fails")

    async def waits():
        await pause(1)
        yield 2

    def asks(log, call, *args):
        try:
            log.append(call(*args))
        except (RuntimeError, TypeError, KeyError, ValueError, StopIteration, StopAsyncIteration) as error:
            log.append((str(error), type(error.__cause__).__name__, chain(error)))

    def f(x, log):
        for make in (stops, ends):
            items = make()
            for _ in range(3):
                asks(log, items.__anext__().send, None)
        items = fails(5)
        for _ in range(3):
            asks(log, items.__anext__().send, None)
        asks(log, fails(5).asend("new").send, None)
        items = waits()
        first, second = items.__anext__(), items.__anext__()
        asks(log, first.send, None)
        asks(log, second.send, None)
        asks(log, first.send, None)
        asks(log, first.send, None)
        asks(log, iter, items)
        asks(log, next, items)
        return x * 2

    return f


@left_open
def thrown_into_steps():
    async def waits(x, log):
        try:
            log.append(await Future("waits"))
        except ValueError as error:
            log.append(str(error))
        finally:
            log.append("finally")
        yield x

    async def main(x, log):
        async for y in waits(x, log):
            x = x + y
        return x

    def f(x, log):
        seen = run(main(x, log), ValueError("thrown"), 5)
        c = main(x, log)
        c.send(None)
        c.close()
        return seen

    return f


@left_open
def somebody_hears_of_async_generators():
    def f(x, log):
        before = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(lambda items: log.append("begun"), lambda items: log.append("dies"))
        seen = step(numbers(x, 1, log).__anext__())
        sys.set_asyncgen_hooks(*before)
        return seen, step(numbers(x, 2, log).__anext__())

    return f


@graph
def async_generators_that_are_closed():
    async def waits(x, log):
        try:
            yield x
            yield x + 1
        except ValueError as error:
            log.append(str(error))
            yield x + 2
        finally:
            log.append(await pause("ends"))

    async def main(x, log):
        items = waits(x, log)
        await items.__anext__()
        x = x + await items.athrow(ValueError("thrown"))
        await items.aclose()
        await items.aclose()
        await waits(x, log).aclose()
        return x

    def f(x, log):
        return run(main(x, log), 1, 2, 3)

    return f


@left_open
def async_generators_that_do_not_end():
    async def ignores(x):
        while True:
            try:
                yield x
            except GeneratorExit:
                pass

    def f(x, log):
        items = ignores(x)
        log.append(step(items.__anext__()))
        try:
            items.aclose().send(None)
        except RuntimeError as error:
            log.append(chain(error))
        try:
            items.athrow(KeyError("thrown")).send(None)
        except (KeyError, StopAsyncIteration) as error:
            log.append(chain(error))
        return x * 2

    return f
