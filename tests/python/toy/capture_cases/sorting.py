"""Sorts that compare by the program's `__lt__`: which pairs are asked, in which order, and what is left when one of them fails."""

from capture_cases.protected import log_case
from observe import case
from toy_framework import toy

t = toy.tensor


class Item:
    def __init__(self, n, log, loud=False):
        self.n, self.log, self.loud = n, log, loud

    def __lt__(self, other):
        self.log.append((self.n, other.n))
        if self.loud:
            print("less", self.n, other.n)
        return self.n < other.n


class Equal(Item):
    def __eq__(self, other):
        self.log.append(("eq", self.n, other.n))
        return self.n == other.n


class Reflected(Item):
    def __lt__(self, other):
        self.log.append(("lt", self.n, other.n))
        return NotImplemented

    def __gt__(self, other):
        self.log.append(("gt", self.n, other.n))
        return self.n > other.n


class Truth:
    def __init__(self, value, log):
        self.value, self.log = value, log

    def __bool__(self):
        self.log.append(("bool", self.value))
        return self.value


class Judged(Item):
    def __lt__(self, other):
        return Truth(self.n < other.n, self.log)


class Nothing:
    pass


NUMBERS = [5, 2, 9, 2, 7, 1, 1, 8, 3]
LONG = [(n * 37) % 41 for n in range(70)]


def numbers_of(items):
    return [item.n if isinstance(item, Item) else [getattr(i, "n", i) for i in item] for item in items]


def sorting(name, make, numbers=NUMBERS, **expect):
    for reverse in (False, True):

        def build(make=make, reverse=reverse):
            def f(x, log):
                items = make(log, numbers)
                log.append(numbers_of(sorted(items, reverse=reverse)))
                items.sort(reverse=reverse)
                log.append(numbers_of(items))
                return x + 1

            return f

        build.__name__ = f"sorted_{name}{'_reversed' if reverse else ''}"
        log_case(**expect)(build)


sorting("items", lambda log, numbers: [Item(n, log) for n in numbers])
sorting("items_of_a_run", lambda log, numbers: [Item(n, log) for n in sorted(numbers)])
sorting("two_classes", lambda log, numbers: [(Item, Equal)[n % 2](n, log) for n in numbers])
sorting("who_answers_on_the_right", lambda log, numbers: [Reflected(n, log) for n in numbers])
sorting("whose_answers_are_asked_for_their_truth", lambda log, numbers: [Judged(n, log) for n in numbers])
sorting("tuples", lambda log, numbers: [(Equal(n, log), i) for i, n in enumerate(numbers)])
sorting("tuples_by_the_second", lambda log, numbers: [(i % 3, Equal(n, log)) for i, n in enumerate(numbers)])
sorting("tuples_of_several_lengths", lambda log, numbers: [(Equal(n, log), 1)[: 1 + i % 2] for i, n in enumerate(numbers)])
sorting("tuples_who_answer_on_the_right", lambda log, numbers: [(Reflected(n, log), i) for i, n in enumerate(numbers)])
sorting("many", lambda log, numbers: [Item(n, log) for n in numbers[:50]], LONG, breaks=None, captures=None, graphs=None, reasons=None)
sorting("very_many", lambda log, numbers: [Item(n, log) for n in numbers * 2], LONG, breaks=None, captures=None, graphs=None, reasons=None)
sorting(
    "items_that_break",
    lambda log, numbers: [Item(n, log, loud=n == 9) for n in numbers[:5]],
    graphs=1,
    captures=None,
    breaks=None,
    reasons=("builtin-with-output",),
)


@log_case()
def sorted_by_keys_that_compare():
    def f(x, log):
        pairs = [(n, x + n) for n in (3, 1, 2)]
        best = sorted(pairs, key=lambda pair: Item(pair[0], log))
        pairs.sort(key=lambda pair: Item(pair[0], log), reverse=True)
        smallest, greatest = min(pairs, key=lambda p: Reflected(p[0], log)), max(Item(n, log) for n in (1, 2))
        return best, pairs, smallest, greatest.n, sorted(Item(n, log) for n in (2, 1))[0].n

    return f


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def a_sort_that_fails_leaves_some_order():
    def f(x):
        log, seen = [], []
        for loud in (False, True):
            for at in range(1, 12):

                class Failing(Item):
                    def __lt__(self, other):
                        if len(log) == at:
                            raise KeyError((self.n, other.n))
                        return super().__lt__(other)

                del log[:]
                items = [Failing(n, log, loud) for n in (5, 2, 4, 1)]
                try:
                    items.sort(reverse=at % 2 == 0)
                except KeyError as error:
                    seen.append(str(error))
                seen.append((at, numbers_of(items)))
        return seen, x + 1

    return {"f": f, "args": lambda: (t([1.0]),)}


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def the_list_is_empty_while_it_is_sorted():
    def f(x):
        seen = []
        for loud in (False, True):
            for change in (False, True):
                items = []

                class Changing(Item):
                    def __lt__(self, other):
                        seen.append(len(items))
                        if change:
                            items.append(self)
                        return super().__lt__(other)

                items.extend(Changing(n, seen, loud) for n in (3, 1, 2))
                try:
                    items.sort()
                except ValueError as error:
                    seen.append(str(error))
                seen.append(numbers_of(items))
        return seen, x + 1

    return {"f": f, "args": lambda: (t([1.0]),)}


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def what_cannot_be_compared():
    def f(x, log):
        for items in ([Nothing(), Nothing()], [Item(1, log), 2], [2, Item(1, log)], [(Nothing(), 1), (Nothing(), 2)]):
            for way in (sorted, min, max, lambda items: items.sort()):
                try:
                    way(items)
                except (TypeError, AttributeError) as error:
                    log.append(str(error))
        return x + 1

    return {"f": f, "args": lambda: (t([1.0]), [])}


@log_case()
def instances_that_nothing_compares_are_themselves():
    def f(x, log):
        one, two = Nothing(), Nothing()
        log.append((one == two, one == one, one != two, one == 3, 3 != one, one in [two, one], [one] == [one]))
        log.append(([one] == [two], (1, one) != (1, two), [two, one].index(one), [one, one, two].count(one)))
        log.append({"a": one} == {"a": one})
        return x + 1

    return f


def _many_sorted(name, use):
    """A sort of many items is left to Python, which asks their keys itself."""

    def build():
        def f(x):
            return x * 2.0, use()

        return {"f": f, "args": lambda: (t([1.0, 2.0]),)}

    build.__name__ = build.__qualname__ = name
    case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


def _sorted_in_place():
    items = list(range(30000))
    items.sort(key=lambda item: -item)
    return items[:3]


_many_sorted("many_items_sorted", lambda: sorted(range(30000), key=lambda item: -item)[:3])
_many_sorted("many_items_sorted_in_place", _sorted_in_place)
