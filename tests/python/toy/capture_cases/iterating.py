"""Iteration over what changes meanwhile, backwards, and with breaks inside."""

import itertools

from doors import opaque
from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def with_dict():
    return t([1.0]), {"a": 1, "b": 2, "c": 3}


@case()
def values_are_read_when_their_turn_comes():
    def f(x, table):
        seen = []
        for key, value in table.items():
            seen.append((key, value))
            table["b"] = 50
            table["c"] = x
        for value in table.values():
            seen.append(value)
            table["c"] = 7
        return seen, x + 1

    return {"f": f, "args": with_dict}


@open_case
def values_after_a_break():
    def f(x, table):
        seen = []
        for key, value in table.items():
            print(key)
            seen.append((key, value))
            table["b"] = 50
            table["c"] = x
        return seen, x + 1

    return {"f": f, "args": with_dict}


@open_case
def items_of_a_list_after_a_break():
    def f(x, items):
        seen = []
        for item in items:
            print(item)
            seen.append(item)
            items[-1] = 50
            if len(items) < 5:
                items.append(x)
        return seen, x + 1

    return {"f": f, "args": lambda: (t([1.0]), [1, 2, 3])}


@open_case
def key_replaced_in_a_loop():
    def f(x, table):
        seen = []
        try:
            for key in table:
                seen.append(key)
                del table[key]
                table[key + "x"] = 3
                if len(seen) > 7:
                    break
        except RuntimeError as error:
            seen.append(str(error))
        return seen, table, x + 1

    return {"f": f, "args": with_dict}


@open_case
def key_taken_out_and_put_back():
    def f(x, table):
        seen = []
        for key in table:
            seen.append(key)
            table[key] = table.pop(key)
            if len(seen) > 7:
                break
        return seen, table, x + 1

    return {"f": f, "args": lambda: (t([1.0]), {"a": 1})}


@open_case
def dict_that_grows_in_a_loop():
    def f(x, table):
        y = x + 1
        for key in table:
            table[key + "x"] = 3
        return y

    return {"f": f, "args": with_dict}


@case()
def list_that_grows_in_a_loop():
    def f(x):
        items, seen = [1, 2, 3], []
        for item in items:
            seen.append(item)
            if item < 3:
                items.append(item + 10)
        for item in items:
            items.pop()
            seen.append(item)
        return seen, items, x + 1

    return {"f": f, "args": lambda: (t([1.0]),)}


@open_case
def many_kinds_with_breaks():
    def f(x, table):
        seen = []
        for key in table:
            print(key)
            seen.append(key)
        for letter in "abé":
            print(letter)
            seen.append(letter)
        for byte in b"ab":
            print(byte)
            seen.append(byte)
        for item in reversed([1, 2, 3]):
            print(item)
            seen.append(item)
        for item in reversed("ab"):
            print(item)
            seen.append(item)
        for key in reversed(table):
            print(key)
            seen.append(key)
        for value in reversed(table.values()):
            print(value)
            seen.append(value)
        for number in reversed(range(3)):
            print(number)
            seen.append(number)
        for pair in enumerate(table.items()):
            print(pair)
            seen.append(pair)
        for pair in zip("ab", table, table.values()):
            print(pair)
            seen.append(pair)
        return seen, x + 1

    return {"f": f, "args": with_dict}


@open_case
def break_in_one_round_only():
    def f(x, table, items):
        seen = []
        for number, (key, value) in enumerate(table.items()):
            if number == 1:
                print(key)
            seen.append((key, value))
        backwards = reversed(items)
        seen.append(next(backwards))
        print(seen)
        seen.extend(backwards)
        letters = iter("abc")
        next(letters)
        print(next(letters))
        return seen, list(letters), x + 1

    return {"f": f, "args": lambda: (t([1.0]), {"a": 1, "b": 2, "c": 3}, [1, 2, 3])}


@open_case
def reversed_objects():
    class Backwards:
        def __reversed__(self):
            return iter([3, 2, 1])

        def __len__(self):
            print("len")
            return 2

        def __getitem__(self, index):
            print("item", index)
            return index

    class Sequence:
        def __len__(self):
            print("len")
            return 2

        def __getitem__(self, index):
            print("item", index)
            return index

    def f(x):
        return list(reversed(Backwards())), list(reversed(Sequence())), x + 1

    return {"f": f, "args": lambda: (t([1.0]),)}


@case()
def reversed_values():
    def f(x):
        table = {1: 2, 3: 4}
        of_dicts = list(reversed(table)), list(reversed(table.items())), list(reversed(table.values()))
        return list(reversed("abc")), list(reversed(range(1, 9, 3))), of_dicts, [*reversed((1, 2))], x + 1

    return {"f": f, "args": lambda: (t([1.0]),)}


class Countdown:
    """An iterator of the program that notes who asks for it."""

    def __init__(self, n, log):
        self.n, self.log = n, log

    def __iter__(self):
        self.log.append("iter")
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n


def combined_case(build):
    """A combined iterator over one of the program survives a break without asking it for its iterator again."""

    def made():
        return {"f": build(), "args": lambda: (t([1.0]), [])}

    made.__name__ = build.__name__
    return open_case(made)


@combined_case
def zip_of_an_iterator_of_the_program():
    def f(x, log):
        for n, y in zip(Countdown(3, log), [x, x + 1, x + 2]):
            print(n)
            x = x + y
        return x

    return f


@combined_case
def enumerate_of_an_iterator_of_the_program():
    def f(x, log):
        for i, n in enumerate(Countdown(3, log)):
            print(i)
            x = x + n
        return x, enumerate(Countdown(2, log))

    return f


@combined_case
def map_of_an_iterator_of_the_program():
    def f(x, log):
        doubles = map(lambda n: n * 2, Countdown(3, log))
        first = next(doubles)
        print(first)
        return x * first, list(doubles)

    return f


def growing(make, grow):
    """A list that grows by what looks at it, changes it or raises meanwhile."""

    def f(x, items, limit):
        try:
            grow(items, make(items, limit))
            items.append("all")
        except ZeroDivisionError:
            items.append("raised")
        return x * len(items), items

    return {"f": f, "args": lambda: (t([1.0]), [0], 5)}


def raising_items(items, limit):
    return (n if n < 3 else 1 // 0 for n in range(limit))


def lengths(items, limit):
    for _ in range(limit):
        yield len(items)


def appending(items, limit):
    for n in range(limit):
        items.append("own")
        yield n


class RaisingIterator:
    def __init__(self, limit):
        self.limit = limit

    def __iter__(self):
        return self

    def __next__(self):
        self.limit -= 1
        if self.limit < 0:
            raise StopIteration
        return 1 // (self.limit - 2)


def extend(items, iterable):
    items.extend(iterable)


def add_in_place(items, iterable):
    items += iterable


@open_case
def extend_by_a_raising_generator():
    return growing(raising_items, extend)


@open_case
def add_in_place_by_a_raising_generator():
    return growing(raising_items, add_in_place)


@open_case
def extend_by_a_generator_that_looks():
    return growing(lengths, extend)


@open_case
def add_in_place_by_a_generator_that_looks():
    return growing(lengths, add_in_place)


@open_case
def extend_by_a_generator_that_appends():
    return growing(appending, extend)


@open_case
def add_in_place_by_a_generator_that_appends():
    return growing(appending, add_in_place)


@open_case
def extend_by_a_raising_iterator():
    return growing(lambda items, limit: RaisingIterator(limit), extend)


@open_case
def add_in_place_by_a_raising_iterator():
    return growing(lambda items, limit: RaisingIterator(limit), add_in_place)


@open_case
def extend_by_a_raising_map():
    return growing(lambda items, limit: map(lambda n: 6 // (n - 3), range(limit)), extend)


@open_case
def add_in_place_by_a_raising_map():
    return growing(lambda items, limit: map(lambda n: 6 // (n - 3), range(limit)), add_in_place)


class SaysOtherwise(list):
    def __getitem__(self, index):
        return "got"

    def __len__(self):
        return 1


class TupleSaysOtherwise(tuple):
    def __getitem__(self, index):
        return "got"

    def __len__(self):
        return 1


ITERABLES = {
    "list": lambda: [1, 2, 3],
    "tuple": lambda: (1, 2, 3),
    "text": lambda: "abc",
    "bytes": lambda: b"abc",
    "range": lambda: range(3),
    "dict": lambda: {1: 2, 3: 4},
    "items": lambda: {1: 2, 3: 4}.items(),
    "odd_list": lambda: SaysOtherwise([1, 2, 3]),
    "odd_tuple": lambda: TupleSaysOtherwise([1, 2, 3]),
    "enumerated": lambda: enumerate([1, 2, 3]),
    "zipped": lambda: zip([1, 2, 3], (4, 5)),
    "reversed": lambda: reversed([1, 2, 3]),
}


def ended(name, make):
    """An iterator that a break has made real: its items, its end, and what it finds behind that."""

    def build():
        def f(x, iterable):
            iterator = iter(iterable)
            print("real")
            y = x + 1
            first = next(iterator)
            items = [item for item in iterator]
            if isinstance(iterable, list):
                iterable.append(9)
            rest = list(iterator), next(iterator, "nothing")
            # Where it stands.
            state = iterator.__reduce__()[1:] if name not in ("enumerated", "zipped") else None
            return first, items, rest, repr(state), y

        return {"f": f, "args": lambda: (t([1.0]), make())}

    build.__name__ = f"end_of_{name}"
    open_case(build)


for iterable in ITERABLES.items():
    ended(*iterable)


def loop_over(name, make):
    def build():
        def f(x, iterable):
            seen = []
            for item in iterable:
                seen.append(item)
                print(item)
            for item in iter(iterable):
                seen.append(item)
            return seen, [item for item in iterable], next(iter(iterable), None), x + 1

        return {"f": f, "args": lambda: (t([1.0]), make())}

    build.__name__ = f"loop_with_breaks_over_{name}"
    open_case(build)


for iterable in ITERABLES.items():
    loop_over(*iterable)


@open_case
def what_is_zipped_loses_an_item_at_the_end():
    def f(x):
        longer, shorter = iter([1, 2, 3, 4]), iter([5, 6])
        zipped = zip(longer, shorter)
        print("real")
        y = x + 1
        first = [pair for pair in zipped]
        second = [pair for pair in zipped]
        return first, second, list(longer), y

    return {"f": f, "args": lambda: (t([1.0]),)}


@open_case
def what_combines_iterators_that_have_ended():
    def f(x, size):
        longest = itertools.zip_longest(iter(range(size)), iter([1]), [])
        chained = itertools.chain([1], iter([2]))
        seen = []
        for item in enumerate(longest):
            print(item)
            seen.append(item)
        for item in zip(chained, longest):
            print(item)
        return seen, list(longest), x + 1

    return {"f": f, "args": lambda: (t([1.0]), 3)}


@open_case
def an_iterator_is_found_by_its_name_each_time():
    def f(x):
        global standing
        seen = []
        for items in [1, 2, 3], "abc", (4, 5, 6), {7: 8, 9: 10}.items():
            for make in iter, enumerate, zip:
                standing = make(items)
                for _ in range(2):
                    print(next(standing))
                    seen.append(next(standing, None))
        return seen, x + 1

    return {"f": f, "args": lambda: (t([1.0]),)}


@open_case
def an_enumeration_counts_beyond_what_fits():
    def numbered(items, start):
        return [(number, item) for number, item in enumerate(items, start)]

    def some(count):
        for item in range(count):
            yield item

    def f(x):
        seen = []
        for start in -1, 2**63 - 3, 2**63 - 1, 2**63, 2**70, -(2**70), True:
            seen.append((numbered(some(4), start), numbered([1, 2, 3], start)))
            standing = enumerate(some(4), start)
            print(next(standing))
            seen.append((next(standing), standing.__reduce__()[1][1]))
        return seen, x + 1

    return {"f": f, "args": lambda: (t([1.0]),)}


def rows():
    return t([[1.0, 2.0], [-1.0, 3.0], [4.0, -8.0]])


def over_a_tensor(name, walk):
    def build():
        return {"f": walk, "args": lambda: (rows(),)}

    build.__name__ = "over_a_tensor_" + name
    # A break in each round: what is left of the rows is a real iterator.
    case(graphs=None, captures=None, breaks=None, reasons=None)(build)


def positive_rows(x):
    y = x * 2.0
    count = 0
    for row in y:
        opaque(row)
        count += 1
    return y + count


def halfway(x):
    found = iter(x + 1.0)
    first = next(found)
    opaque(None)
    second = next(found)
    return first + second, list(found), next(found, "end")


def side_by_side(x):
    out = []
    for at, (one, other) in enumerate(zip(x, x * 2.0)):
        opaque(None)
        out.append(one + other + at)
    return out


def left_early(x):
    for row in x:
        opaque(None)
        if len(x) > 2:
            break
    else:
        return None
    return row * 2.0


def of_no_rows(x):
    found = iter(x)
    list(found)
    opaque(None)
    return list(found), x * 2.0


for walk in (positive_rows, halfway, side_by_side, left_early, of_no_rows):
    over_a_tensor(walk.__name__, walk)
