"""What builtins make of odd answers of the program: lengths that lie, iterators that are none, ends that carry a value."""

import functools

from observe import case
from toy_framework import toy

t = toy.tensor


def speak(value):
    print("speak", value)
    return value


def tried(function):
    try:
        return function()
    except Exception as error:
        context = type(error.__context__).__name__
        return type(error).__name__, str(error), getattr(error, "value", None), context


def odd_case(name, ways):
    """All ways, one after another, in one function that computes before and after."""

    def world():
        def f(x):
            y = x + 1
            seen = [tried(way) for way in ways]
            return repr(seen), y * 2

        return {"f": f, "args": lambda: (t([1.0]),)}

    world.__name__ = name
    case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(world)


# ----- lengths


class Int(int):
    pass


class Index:
    def __index__(self):
        return 3


def lengths_of(value):
    class Quiet:
        def __len__(self):
            return value

    class Aloud:
        def __len__(self):
            return speak(value)

    for kind in (Quiet, Aloud):
        thing = kind()
        yield lambda thing=thing: (len(thing), type(len(thing)))
        yield lambda thing=thing: bool(thing)
        yield lambda thing=thing: not thing
        yield lambda thing=thing: 1 if thing else 2
        yield lambda thing=thing: thing and 1
        yield lambda thing=thing: any([thing])


for _name, _value in {
    "true": True,
    "zero": 0,
    "a_subclass": Int(3),
    "an_empty_subclass": Int(0),
    "an_index": Index(),
    "negative": -1,
    "huge": 2**70,
    "hugely_negative": -(2**70),
    "most": 2**63 - 1,
    "text": "a",
    "a_fraction": 1.5,
    "none": None,
}.items():
    odd_case(f"a_length_is_{_name}", list(lengths_of(_value)))


# ----- sequences whose methods lie


class Longer(list):
    def __len__(self):
        return 10


class Shorter(list):
    def __len__(self):
        return 1


class Negative(list):
    def __len__(self):
        return -1


class Failing(list):
    def __len__(self):
        raise ValueError("len")


class Iterated(list):
    def __iter__(self):
        return iter([7, 8])


class Indexed(list):
    def __getitem__(self, index):
        return 5


class LongerTuple(tuple):
    def __len__(self):
        return 10


def uses_of(make):
    def unpack(items):
        a, b, c = items
        return a, b, c

    def unpack_rest(items):
        a, *b = items
        return a, b

    def extend(items):
        held = [0]
        held.extend(items)
        held += items
        return held

    def sort(items):
        items.sort()
        return list(iter(items))

    uses = [sorted, reversed, list, tuple, len, bool, max, sum, any, all, iter, enumerate, set, dict.fromkeys]
    uses += [lambda items: items[0], lambda items: items[-1], lambda items: items[7], lambda items: items[1:]]
    uses += [lambda items: items[:], lambda items: items[5:], lambda items: items[-2:], lambda items: items[-20:100]]
    uses += [unpack, unpack_rest, extend, lambda items: not items, lambda items: 3 in items, lambda items: items * 2]
    uses += [lambda items: items == [3, 1, 2], lambda items: [v for v in items], lambda items: [*items]]
    uses += [lambda items: (lambda *a: a)(*items), zip, lambda items: list(map(str, items)), lambda items: next(iter(items))]
    uses += [lambda items: items.index(2), lambda items: items.count(1), lambda items: ",".join(map(str, items))]
    if make is not LongerTuple:
        uses += [sort, lambda items: items.copy(), lambda items: items + items[:0]]
    given = make([3, 1, 2])
    lazy = (reversed, iter, enumerate, zip)
    for use in uses:
        finish = list if use in lazy else lambda value: value
        yield lambda use=use, finish=finish: finish(use(make([3, 1, 2])))
        if use is not sort:
            yield lambda use=use, finish=finish: finish(use(given))


for _kind in (Longer, Shorter, Negative, Failing, Iterated, Indexed, LongerTuple):
    odd_case(f"uses_of_{_kind.__name__}", list(uses_of(_kind)))


# ----- what is no iterator


class Gives:
    def __init__(self, given):
        self.given = given

    def __iter__(self):
        return self.given


class GivesAloud(Gives):
    def __iter__(self):
        return speak(self.given)


class Nothing:
    pass


class NotIterable:
    __iter__ = None


class Refuses:
    def __iter__(self):
        raise ValueError("iter")


class RefusesByType:
    def __iter__(self):
        speak("iter")
        raise TypeError("own")


def iterations_of(make):
    def unpack():
        a, b = make()

    def unpack_rest():
        a, *b = make()

    def extend():
        [].extend(make())

    def add():
        items = []
        items += make()

    uses = [iter, list, tuple, set, dict, sorted, sum, max, any, all, ",".join, enumerate, zip, dict.fromkeys]
    yield from (lambda use=use: repr(use(make())).split(" at ")[0] for use in uses)
    yield from (unpack, unpack_rest, extend, add, lambda: 1 in make(), lambda: 1 not in make())
    yield from (lambda: [v for v in make()], lambda: [*make()], lambda: {*make()}, lambda: {**make()})
    yield from (lambda: (lambda *a: a)(*make()), lambda: list(map(str, make())), lambda: list(filter(None, make())))


for _name, _make in {
    "a_number": lambda: Gives(3),
    "a_list": lambda: Gives([1]),
    "a_number_aloud": lambda: GivesAloud(3),
    "nothing": Nothing,
    "none": NotIterable,
    "an_error": Refuses,
    "a_type_error": RefusesByType,
}.items():
    odd_case(f"an_iterator_is_{_name}", list(iterations_of(_make)))


# ----- what the end of an iterator says


class Ends:
    def __init__(self, n, *args):
        self.n, self.args = n, args

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration(*self.args)
        self.n -= 1
        return self.n + 1


class EndsAloud(Ends):
    def __next__(self):
        return speak(super().__next__())


def ends(n, value):
    yield from range(1, n + 1)
    return value


def stop(value):
    raise StopIteration("function")


def ends_of(make):
    def three(iterator):
        return [tried(lambda: next(iterator)) for _ in range(3)]

    def delegated():
        log = []

        def both():
            for combine in (make, lambda: map(str, make()), lambda: zip(make()), lambda: enumerate(make())):
                log.append((yield from combine()))
            log.append((yield from filter(None, make())))

        return list(both()), log

    yield lambda: three(make())
    yield lambda: three(map(lambda v: v, make()))
    yield lambda: three(map(stop, make()))
    yield lambda: three(zip(make()))
    yield lambda: three(zip([1, 2, 3], make()))
    yield lambda: three(filter(lambda v: True, make()))
    yield lambda: three(filter(None, make()))
    yield lambda: three(filter(stop, make()))
    yield lambda: three(enumerate(make()))
    yield lambda: three(enumerate(map(str, zip(make()))))
    yield delegated


for _name, _make in {
    "a_value": lambda: Ends(2, "value"),
    "two_values": lambda: Ends(1, "value", 2),
    "nothing": lambda: Ends(2),
    "a_value_aloud": lambda: EndsAloud(2, "value"),
    "what_a_generator_returns": lambda: ends(2, "value"),
}.items():
    odd_case(f"the_end_says_{_name}", list(ends_of(_make)))


# ----- a list that is changed while it is sorted


class Item:
    def __init__(self, value, change=None):
        self.value, self.change = value, change

    def __lt__(self, other):
        if self.change is not None:
            self.change()
        return self.value < other.value

    def __repr__(self):
        return f"Item({self.value})"


def sorts():
    def by_key(change):
        def run():
            items = [3, 1, 2]
            return tried(lambda: items.sort(key=lambda v: change(items) or v)), items

        return run

    def by_comparison(change, key):
        def run():
            items = []
            made = [Item(v, lambda: change(items)) for v in (3, 1, 2)]
            items += range(3) if key else made
            return tried(lambda: items.sort(key=(lambda v: made[v]) if key else None)), items

        return run

    def by_cmp(change):
        def run():
            items = [3, 1, 2]
            return tried(lambda: items.sort(key=functools.cmp_to_key(lambda a, b: change(items) or a - b))), items

        return run

    changes = [
        lambda items: None,
        lambda items: items.append(9),
        lambda items: items.append(speak(9)),
        lambda items: (items.append(9), items.pop()) and None,
        lambda items: items.pop(),
        lambda items: items.clear(),
        lambda items: speak(list(items)) and None,
        lambda items: 1 // 0,
        lambda items: items.append(9) or 1 // 0,
    ]
    for change in changes:
        yield by_key(change)
        yield by_comparison(change, False)
        yield by_comparison(change, True)
        yield by_cmp(change)


odd_case("a_list_is_changed_while_it_is_sorted", list(sorts()))


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def a_list_that_shrinks_while_an_item_is_removed():
    class Clears:
        def __init__(self, items):
            self.items = items

        def __eq__(self, other):
            self.items.clear()
            return True

    def f(x):
        items = [1]
        items.append(Clears(items))
        items.remove(7)
        return x * 2, len(items)

    return {"f": f, "args": lambda: (t([1.0]),)}


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def comparing_lists_changes_them():
    def f(x, orders):
        lists = [[], []]

        class Clears:
            def __init__(self, which):
                self.which = which

            def __eq__(self, other):
                lists[self.which].clear()
                return NotImplemented

            def __lt__(self, other):
                return "asked"

        class Fills(Clears):
            def __eq__(self, other):
                lists[self.which][:] = [0, 1, 2]
                return False

        seen = []
        for kind in Clears, Fills:
            for left, right in [(0, 1), (1, 0), (0, 0), (1, 1)]:
                for order in orders:
                    lists[:] = [kind(left)], [kind(right)]
                    try:
                        seen.append((order(*lists), [len(each) for each in lists]))
                    except TypeError as error:
                        seen.append(str(error))
        return seen, x + 1

    return {"f": f, "args": lambda: (t([1.0]), (lambda a, b: a == b, lambda a, b: a != b, lambda a, b: a < b))}


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def handlers_for_what_is_no_exception_class():
    def f(x):
        seen = []
        for classes in 42, int, (ValueError, 42), (KeyError, (ValueError, int)), (ValueError, KeyError), ():
            try:
                try:
                    raise ValueError(x.shape)
                except classes:
                    seen.append("caught")
            except (TypeError, ValueError) as error:
                seen.append((repr(error), repr(error.__context__)))
        return x + 1, seen

    return {"f": f, "args": lambda: (t([1.0, 2.0]),)}


class Declining(int):
    def __add__(self, other):
        return NotImplemented

    def __matmul__(self, other):
        return NotImplemented


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def values_of_c_without_the_reflected_operator():
    others = ("", b"", None, ..., 1.5, (1,), [1], {1: 2}, {1}, range(3))

    def f(x):
        told = []
        for other in others:
            for way in (lambda: Declining(2) + other, lambda: other + Declining(2), lambda: Declining(2) @ other):
                try:
                    told.append(way())
                except TypeError as error:
                    told.append(str(error))
        number = Declining(3)
        try:
            number += ""
        except TypeError as error:
            told.append(str(error))
        return told, number, x + 1

    return {"f": f, "args": lambda: (t([1.0]),)}
