"""Iterators of `itertools` that are there before the call, as a counter that numbers what a program makes: asked for the next item by
whoever has them, over breaks, behind errors, and to their end."""

import functools
import itertools

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


class Holds:
    pass


MADE = {
    "count": itertools.count,
    "count_by_two": lambda: itertools.count(5, 2),
    "count_of_floats": lambda: itertools.count(0.5, 0.1),
    "count_of_long": lambda: itertools.count(2**63 - 3),
    "repeat": lambda: itertools.repeat("a", 4),
    "cycle": lambda: itertools.cycle([1, 2, 3]),
    "cycle_of_text": lambda: itertools.cycle("ab"),
    "cycle_of_nothing": lambda: itertools.cycle([]),
    "chain": lambda: itertools.chain([1, 2], (3,), range(3), iter("ab")),
    "chain_of_lists": lambda: itertools.chain.from_iterable([[1, 2], [], [3, 4, 5, 6]]),
    "islice": lambda: itertools.islice([1, 2, 3, 4, 5, 6, 7, 8, 9], 1, 8, 2),
    "islice_of_count": lambda: itertools.islice(itertools.count(), 2, None, 3),
    "zip_with_count": lambda: zip(itertools.count(), "abcde"),
    "map_of_count": lambda: map(lambda number: number + 1, itertools.count()),
    "enumerate": lambda: enumerate(itertools.count(3)),
    "accumulate": lambda: itertools.accumulate([1, 2, 3, 4, 5]),
}


def asked(it):
    return next(it)


def asked_twice(it):
    return next(it, "end"), next(it, "end")


def asked_by_hand(it):
    return it.__next__()


def looped(it):
    seen = []
    for item in it:
        seen.append(item)
        if len(seen) == 2:
            break
    return seen


def cut(it):
    return list(itertools.islice(it, 2)), type(it).__name__, iter(it) is it


def caught(it):
    try:
        return next(it)
    except StopIteration as error:
        return "ended", error.value


def kept(name, use, how):
    def build():
        it, holds = MADE[name](), Holds()
        holds.it = it
        if how == "given":
            return {"f": lambda x, it: (x * 2.0, use(it)), "args": lambda: (*x1(), it)}
        if how == "attribute":
            return {"f": lambda x: (x * 2.0, use(holds.it)), "args": x1}

        def f(x):
            first = use(it)
            toy.show(0)
            return x * 2.0, first, use(it)

        return {"f": f, "args": x1}

    build.__name__ = f"kept_{name}_{use.__name__}_{how}"
    build.__module__ = __name__
    open_case(build)


for name in MADE:
    for use in (asked, asked_twice, asked_by_hand, looped, cut, caught):
        for how in ("given", "attribute", "over_a_break"):
            kept(name, use, how)


@case(captures=2, graphs=2)
def numbered_by_a_counter():
    ids = itertools.count(1)

    def f(x):
        number = next(ids)
        return x * number, number % 2 == number & 1, f"n{number}", number + next(ids)

    return {"f": f, "args": x1, "watch": lambda: [repr(ids)]}


@case()
def numbered_when_made():
    class Numbered:
        ids = itertools.count()

        def __init__(self):
            self.id = next(self.ids)

    def f(x):
        return x * 2.0, Numbered().id, Numbered().id

    return {"f": f, "args": x1, "watch": lambda: [repr(Numbered.ids)]}


@case()
def numbered_by_its_next():
    ids = itertools.count()
    new = ids.__next__

    def f(x):
        return x * 2.0, new(), new()

    return {"f": f, "args": x1, "watch": lambda: [repr(ids)]}


@case()
def numbered_by_an_argument():
    ids = itertools.count()

    def f(x, new=ids.__next__):
        return x * 2.0, new()

    return {"f": f, "args": x1, "watch": lambda: [repr(ids)]}


@case()
def numbered_by_a_partial():
    ids = itertools.count()
    new = functools.partial(next, ids)

    def f(x):
        return x * 2.0, new()

    return {"f": f, "args": x1, "watch": lambda: [repr(ids)]}


@case()
def a_schedule():
    rates = itertools.cycle([t([1.0, 1.0]), t([2.0, 2.0])])

    def f(x):
        return x * next(rates) + next(rates)

    return {"f": f, "args": x1}


@open_case
def steps_in_turn():
    steps = itertools.cycle([lambda x: x + 1.0, lambda x: x * 3.0])

    def f(x):
        return next(steps)(x)

    return {"f": f, "args": x1}


@open_case
def raises_behind_a_counter():
    ids = itertools.count()

    def f(x):
        number, y = next(ids), x * 2.0
        if number >= 0:
            raise ValueError("refused", number)
        return y

    return {"f": f, "args": x1, "watch": lambda: [repr(ids)]}


@open_case
def fails_between_numbers():
    ids = itertools.count()

    def f(x):
        first = next(ids)
        y = x + t([1.0, 2.0, 3.0])
        return y, first, next(ids)

    return {"f": f, "args": x1, "watch": lambda: [repr(ids)]}


@open_case
def one_counter_under_two_names():
    one, other, calls = itertools.count(), itertools.count(100), [0]

    def f(x, a, b):
        return x * 2.0, next(a), next(b)

    def args():
        calls[0] += 1
        return (*x1(), one, other if calls[0] % 2 else one)

    return {"f": f, "args": args, "watch": lambda: [repr(one), repr(other)]}


@open_case
def advanced_under_another():
    inner = iter(range(50))
    chained = itertools.chain(inner, [99])

    def f(x):
        return x * 2.0, next(chained), next(inner), next(chained)

    return {"f": f, "args": x1}


@open_case
def advanced_before_its_turn():
    inner = iter(range(50))
    chained = itertools.chain([-1, -2], inner)

    def f(x):
        return x * 2.0, next(inner), next(chained)

    return {"f": f, "args": x1}


@open_case
def advanced_by_who_is_given_it():
    inner, another, calls = iter(range(50)), iter(range(100, 150)), [0]
    rounds = itertools.cycle(inner)

    def f(x, it):
        return x * 2.0, next(rounds), next(it)

    def args():
        calls[0] += 1
        return (*x1(), another if calls[0] % 2 else inner)

    return {"f": f, "args": args}


@open_case
def over_a_list_that_is_written():
    items = [1]
    rounds = itertools.cycle(items)

    def f(x):
        first = next(rounds)
        items.append(first + 1)
        return x * 2.0, first, next(rounds)

    return {"f": f, "args": x1, "watch": lambda: [list(items)]}


@open_case
def over_what_is_seen_to_die():
    log = []

    class Noisy:
        def __init__(self, name):
            self.name = name

        def __del__(self):
            log.append(self.name)

    chained = itertools.chain([Noisy("a")], [Noisy("b"), Noisy("c")], [Noisy("d")])

    def f(x):
        item = next(chained, None)
        log.append("then")
        name = item.name if item is not None else None
        del item
        log.append("dropped")
        return x * 2.0, name, list(log)

    return {"f": f, "args": x1, "watch": lambda: [list(log)]}


@open_case
def over_a_generator_of_the_program():
    log = []

    def numbers():
        for number in range(9):
            log.append(number)
            yield number

    chained = itertools.chain(numbers(), [1])

    def f(x):
        return x * 2.0, next(chained), list(log)

    return {"f": f, "args": x1, "watch": lambda: [list(log)]}


@open_case
def a_counter_of_the_program():
    class Backwards(itertools.count):
        def __next__(self):
            return -super().__next__()

    ids = Backwards()

    def f(x):
        return x * 2.0, next(ids)

    return {"f": f, "args": x1, "watch": lambda: [repr(ids)]}


@open_case
def replaced_by_another():
    holds = Holds()
    holds.ids = itertools.count()

    def f(x):
        first = next(holds.ids)
        holds.ids = itertools.count(10)
        return x * 2.0, first, next(holds.ids)

    return {"f": f, "args": x1, "watch": lambda: [repr(holds.ids)]}


@open_case
def a_loop_up_to_a_number():
    ids = itertools.count()

    def f(x):
        for number in ids:
            if number % 4 == 3:
                break
        return x * number

    return {"f": f, "args": x1, "watch": lambda: [repr(ids)]}


def arms_of_lists():
    return itertools.chain([1, 2, 3], [1, 2, 3])


def arms_of_two():
    items = [1, 2, 3]
    return itertools.chain(items, iter(items))


def arms_that_are_one():
    one = iter([1, 2, 3])
    return itertools.chain(one, one)


def arms_that_ask_one():
    one = iter([1, 2, 3, 4, 5])
    return itertools.chain(itertools.islice(one, 2), itertools.islice(one, 1, None))


def arms_that_ask_one_in_turn():
    one = iter([1, 2, 3, 4])
    return itertools.chain(zip(one, one), one)


def numbered_arms():
    return zip(itertools.count(), itertools.chain([1, 2, 3], [1, 2, 3]))


def numbered_by_an_arm():
    numbers = itertools.count()
    some = itertools.islice(numbers, 3)
    return zip(numbers, itertools.chain(some, some))


def numbered_by_the_last_arm():
    numbers = itertools.count()
    return zip(numbers, itertools.chain(range(2), itertools.islice(numbers, 3)))


ARMS = {
    "numbered_then_one": (numbered_arms, numbered_by_an_arm),
    "numbered_then_last": (numbered_arms, numbered_by_the_last_arm),
    "lists_then_one": (arms_of_lists, arms_that_are_one),
    "two_then_one": (arms_of_two, arms_that_are_one),
    "one_then_two": (arms_that_are_one, arms_of_two),
    "slices_then_zip": (arms_that_ask_one, arms_that_ask_one_in_turn),
    "lists_then_slices": (arms_of_lists, arms_that_ask_one),
}


def with_arms(name, use):
    def build():
        calls = itertools.count()

        def args():
            call = next(calls)
            return (*x1(), ARMS[name][call % 2]())

        return {"f": lambda x, it: (x * 2.0, use(it)), "args": args}

    build.__name__ = f"arms_{name}_{use.__name__}"
    build.__module__ = __name__
    open_case(build)


def walked(it):
    seen = []
    for item in it:
        seen.append(item)
    return seen


for name in ARMS:
    for use in (walked, list, asked_twice):
        with_arms(name, use)


# An arm is asked for an iterator when its turn comes, and the list below an iterator may change.
CHANGED = {
    "chain": lambda items: itertools.chain(items, [1, 2]),
    "chain_last": lambda items: itertools.chain([1], items),
    "chain_of_lists": lambda items: itertools.chain.from_iterable([items, [1]]),
    "islice": lambda items: itertools.islice(items, 1, None),
    "cycle": itertools.cycle,
    "zip": lambda items: zip(itertools.count(), items),
    "zip_of_chain": lambda items: zip(itertools.count(), itertools.chain(items, "ab")),
}


def changed(name, how):
    def build():
        def f(x, items, it):
            if how == "between":
                first = next(it)
                items.insert(0, 77)
                second = next(it, None)
                toy.show(0)
                return x * 2.0, first, second, next(it, None)
            seen = []
            for item in it:
                seen.append(item)
                if len(items) < 5:
                    items.append(10)
                if len(seen) == 9:
                    break
            return x * 2.0, seen

        def args():
            items = [9, 8]
            return (*x1(), items, CHANGED[name](items))

        return {"f": f, "args": args}

    build.__name__ = f"changed_below_{name}_{how}"
    build.__module__ = __name__
    open_case(build)


for name in CHANGED:
    for how in ("between", "looped"):
        changed(name, how)


def nested_many_times(made):
    """What is nested deeper than it is looked through costs no more than it is deep."""

    def build():
        def f(x, it):
            first = next(it)
            return x * 2.0, repr(first).count("("), list(it) == []

        def args():
            it = iter(made())
            for _ in range(60):
                it = zip(it)
            return (*x1(), it)

        return {"f": f, "args": args}

    build.__name__ = "nested_many_times_" + made.__name__
    build.__module__ = __name__
    open_case(build)


def one_number():
    return [1]


def islice_of_one():
    return itertools.islice([1, 2], 1)


for made in (one_number, islice_of_one):
    nested_many_times(made)
