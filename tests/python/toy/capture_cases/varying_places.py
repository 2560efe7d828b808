"""Containers that are asked by numbers that vary, lengths that vary, and lists so long that nobody looks into them."""

from observe import case, open_case
from toy_framework import toy

t = toy.tensor

RATES = [0.5 * k for k in range(20)]
STEPS = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0)
LONG = [float(k) for k in range(10_000)]
LISTS = [[k] for k in range(10_000)]
TABLE = {k: k for k in range(10_000)}
GROWS = []


class Plain:
    pass


HOLDER = Plain()


def of_numbers(numbers):
    """The arguments of calls: a tensor, and one of the numbers after the other."""

    def build():
        calls = iter(numbers)
        return lambda: (t([1.0, 2.0]), next(calls))

    return build


COUNTED = of_numbers(range(100))
MIXED = of_numbers([0, 1, 2.0, True, 5, -0.0, 7, 1e300, float("nan"), False])


def numbers_case(f, numbers, **expect):
    def build():
        return {"f": f, "args": numbers()}

    build.__name__ = f.__name__
    (case(**expect) if expect else open_case)(build)


def an_item_of_a_list(x, n):
    return x * RATES[n]


def an_item_of_a_tuple(x, n):
    return x * STEPS[n] + STEPS[-n]


def an_item_in_turn(x, n):
    return x * RATES[n % 3]


def items_until_there_is_none(x, n):
    try:
        return x * STEPS[n - 8]
    except IndexError as error:
        return x, str(error)


def a_sum_of_a_display(x, n):
    return x * sum([n, 2 * n]), sum((n, 1)), sum([n], 0.5)


def a_sum_of_many(x, n):
    return x * sum(k * n for k in range(4)), sum([n] * 5), sum({"a": n, "b": 2 * n}.values())


def the_greatest_of_a_display(x, n):
    return x * max([n, 3]), min((n, 3, n - 1)), max([n]), min([n, n])


def in_a_tuple(x, n):
    return x * (1 if n in (3, 7) else 2)


def in_a_set(x, n):
    return x * (1 if n in {3, 7} else 2)


def not_in_a_list(x, n):
    return x * (1 if n not in [3, 7, None, "a"] else 2)


def in_a_range(x, n):
    return x * (n in range(3, 7)), n in range(10, 0, -3), n in range(0, 10, 2)


def in_keys(x, n):
    return x * (n in {1: 2, 5: 4}), n in {True: 1}, n in [float("nan"), 2]


BY_NUMBER = {k: 0.5 * k for k in range(40)}
BY_NAME = {f"k{k}": 0.5 * k for k in range(40)}
FEW = {1: 2, 2: 3, "a": 4}


class Key:
    """It meets others in a table, and says so."""

    asked = []

    def __hash__(self):
        return 3

    def __eq__(self, other):
        Key.asked.append(repr(other))
        return False


ODD = {Key(): 1.0, 0: 0.0, 1: 2.0, 2: 2.5, 4: 4.0}


def an_item_of_a_dict(x, n):
    return x * BY_NUMBER[n]


def an_item_by_a_name(x, n):
    return x * BY_NAME[f"k{n}"] + BY_NAME["k%d" % n]


def an_item_of_a_small_dict(x, n):
    try:
        return x * FEW[n]
    except KeyError as error:
        return x, str(error)


def an_item_whose_key_meets_others(x, n):
    try:
        return x * ODD[n], len(Key.asked)
    except KeyError as error:
        return x, str(error), len(Key.asked)


def an_item_of_a_dict_that_is_written(x, n):
    a = BY_NUMBER[n]
    BY_NUMBER[3] = 1.5
    return x * a, BY_NUMBER[n], BY_NUMBER.get(n, 1.0), n in BY_NUMBER


EXPECT = {"graphs": 2, "captures": 2}
for f in (an_item_of_a_dict, an_item_by_a_name):
    numbers_case(f, COUNTED, **EXPECT)
for f in (an_item_of_a_small_dict, an_item_of_a_dict_that_is_written):
    numbers_case(f, COUNTED)
for f in (an_item_of_a_list, an_item_of_a_tuple, an_item_in_turn, a_sum_of_a_display, in_a_tuple, in_a_set):
    numbers_case(f, COUNTED, **EXPECT)
for f in (items_until_there_is_none, a_sum_of_many, the_greatest_of_a_display, not_in_a_list, in_a_range, in_keys):
    numbers_case(f, COUNTED)


def of_mixed_numbers(f):
    def mixed(x, n):
        return f(x, n)

    mixed.__name__ = f.__name__ + "_of_mixed_numbers"
    return mixed


for f in (a_sum_of_a_display, a_sum_of_many, the_greatest_of_a_display, in_a_tuple, in_a_set, not_in_a_list, in_keys):
    numbers_case(of_mixed_numbers(f), MIXED)


@open_case
def an_item_whose_key_meets_others_of_the_program():
    Key.asked.clear()
    return {"f": an_item_whose_key_meets_others, "args": COUNTED(), "watch": lambda: list(Key.asked)}


@open_case
def an_item_of_a_dict_of_two_names():
    calls = iter(range(100))

    def f(x):
        HOLDER.e[3] = 9.0
        return x * HOLDER.d[HOLDER.n % 5]

    def args():
        HOLDER.n = next(calls)
        HOLDER.d = {k: 0.5 for k in range(30)}
        HOLDER.e = HOLDER.d if HOLDER.n in (3, 4) else dict(HOLDER.d)
        return (t([1.0]),)

    return {"f": f, "args": args, "watch": lambda: [HOLDER.d, HOLDER.e]}


@open_case
def an_item_that_is_written():
    rates = list(RATES)

    def f(x, n):
        a = rates[n]
        rates[n] = a + n
        b = rates[n]
        rates.append(b)
        return x * a, b, len(rates), rates[-1], rates[n]

    return {"f": f, "args": COUNTED(), "watch": lambda: list(rates)}


@open_case
def an_item_of_two_names():
    calls = iter(range(100))

    def f(x, a, b, n):
        b[0] = 9.0
        return x * a[n % 3]

    def args():
        n = next(calls)
        a = [0.5] * 10
        return t([1.0]), a, a if n in (3, 4) else [0.5] * 10, n

    return {"f": f, "args": args}


@open_case
def an_item_of_another_kind():
    items = [1.0] * 10
    calls = iter(range(100))

    def f(x, n):
        return x * 2, items[n]

    def args():
        n = next(calls)
        items[n] = [1, "s", 3.0, None, True, 6][n % 6]
        return t([1.0]), n

    return {"f": f, "args": args}


def grown(f, **expect):
    def build():
        GROWS.clear()
        return {"f": f, "args": lambda: (t([1.0, 2.0]),), "watch": lambda: list(GROWS)}

    build.__name__ = f.__name__
    (case(**expect) if expect else open_case)(build)


def the_length_of_what_grows(x):
    GROWS.append(1)
    return x * len(GROWS)


def the_length_before_and_behind(x):
    before = len(GROWS)
    GROWS.append(before)
    return x * before, len(GROWS)


def the_truth_of_what_grows(x):
    first = not GROWS
    GROWS.append(1)
    return x * (2 if GROWS else 3), first


def the_length_of_what_is_cleared(x):
    GROWS.append(1)
    if len(GROWS) > 2:
        GROWS.clear()
    return x * len(GROWS)


def a_loop_over_what_grows(x):
    GROWS.append(1.0)
    for at in range(len(GROWS)):
        x = x + GROWS[at]
    return x


grown(the_length_of_what_grows, **EXPECT)
grown(the_length_before_and_behind, **EXPECT)
for f in (the_truth_of_what_grows, the_length_of_what_is_cleared, a_loop_over_what_grows):
    grown(f)


@open_case
def lengths_of_two_names():
    calls = iter(range(100))

    def f(x, a, b):
        b.append(1.0)
        return x * len(a), bool(a)

    def args():
        n = next(calls)
        a = [0.0] * n
        return t([1.0]), a, a if n in (3, 4) else [0.0] * n

    return {"f": f, "args": args}


@open_case
def lengths_of_two_attributes():
    calls = iter(range(100))

    def f(x):
        HOLDER.b.append(1.0)
        return x * len(HOLDER.a)

    def args():
        n = next(calls)
        HOLDER.a = [0.0] * n
        HOLDER.b = HOLDER.a if n in (3, 4) else [0.0] * n
        return (t([1.0]),)

    return {"f": f, "args": args, "watch": lambda: [HOLDER.a, HOLDER.b]}


# ----- long ones


def asked_of_a_long_list(x, n):
    return x * len(LONG) + LONG[3] + LONG[-1], LISTS[5] is LISTS[5], (2 if LONG else 3)


def an_item_of_a_long_list(x, n):
    return x * LONG[n]


def written_to_in_a_long_list(x, n):
    LISTS[5][0] += 1
    return x * LISTS[5][0]


def appended_to_a_long_list(x, n):
    LONG.append(1.0)
    LONG.pop()
    return x * len(LONG)


def gone_through_a_long_list(x, n):
    total = 0
    for value in LONG:
        total += value
    return x * total


def counted_through_a_long_list(x, n):
    total = 0
    for at, value in enumerate(LISTS):
        total += at
    for a, b in zip(LONG, LISTS):
        total += a
    return x * total


def gone_through_a_long_dict(x, n):
    total = sum(key for key in TABLE)
    for key, value in TABLE.items():
        total += value
    return x * total


def the_rest_of_a_long_list(x, n):
    first, *rest = LONG
    return x * len(rest), sum(LONG), LONG.index(5.0), 7.0 in LONG, LONG[2:5], list(LONG)[1]


@case()
def many_asked():
    return {"f": asked_of_a_long_list, "args": COUNTED()}


@case(**EXPECT)
def many_asked_by_number():
    return {"f": an_item_of_a_long_list, "args": COUNTED()}


def long_case(f):
    def build():
        LISTS[5][0] = 5
        return {"f": f, "args": COUNTED(), "watch": lambda: LISTS[5]}

    build.__name__ = f.__name__
    open_case(build)


for f in (written_to_in_a_long_list, appended_to_a_long_list, the_rest_of_a_long_list):
    long_case(f)


# Where all rounds would have to be simulated the frame runs as plain Python, not slower than that.
@case(graphs=0, captures=1, fallbacks=1, reasons=("budget",))
def rounds_of_a_long_list():
    return {"f": gone_through_a_long_list, "args": COUNTED()}


@case(graphs=0, captures=1, fallbacks=1, reasons=("budget",))
def counted_rounds_of_a_long_list():
    return {"f": counted_through_a_long_list, "args": COUNTED()}


@open_case
def rounds_of_a_long_dict():
    return {"f": gone_through_a_long_dict, "args": COUNTED()}


# ----- sums that are rounded once, items that are told apart by who they are


def a_sum_that_is_rounded(x, n):
    large = 10**16
    return x * 2, sum([1e16, n, -large]), sum([0.1, n, -1]), sum([n, -large], 1e16), sum([n, 1.0]), sum([1, n, 2])


numbers_case(a_sum_that_is_rounded, of_numbers([2.0, 1.0, 3.0, 1.0, 0.7, 0.5]))


@open_case
def an_item_that_is_not_itself():
    nan = float("nan")
    items, table = [1.0, nan], {nan: "a", 1.0: "b"}
    calls = iter([0, 1, 0, 1, 1, 1])

    def f(x, n):
        return x * 1, table.get(items[n], "none")

    def args():
        n = next(calls)
        if n == 1 and next(turns) == 2:
            items[1] = float("nan")
        return t([1.0]), n

    turns = iter(range(100))
    return {"f": f, "args": args}


@open_case
def items_that_are_one_object():
    first, second = ([10**20 + k for k in range(3)] for _ in range(2))
    calls = iter(range(100))

    def f(x, n, m):
        return x * 2, first[n] is second[m], first[n] == second[m]

    def args():
        n = next(calls)
        if n == 3:
            second[1] = first[1]
        return t([1.0]), n % 2, 1

    return {"f": f, "args": args}


@open_case
def an_item_of_an_item_of_an_item():
    following = [(k * 7 + 3) % 50 for k in range(50)]
    calls = iter(range(100))

    def f(x, n):
        for _ in range(300):
            n = following[n]
        return x * n

    return {"f": f, "args": lambda: (t([1.0]), next(calls))}


@open_case
def one_of_a_long_list():
    def f(x):
        return x * next(iter(LONG)), next(iter(TABLE.values())), all(LONG), [a for a, b in zip(LONG, (1, 2))]

    return {"f": f, "args": lambda: (t([1.0]),)}


@open_case
def a_long_list_that_is_cut():
    items = [1.0] * 5000
    calls = iter(range(100))

    def f(x):
        total = 0
        for value in items:
            total += value
        return x * total, items[1:3]

    def args():
        if next(calls) > 2:
            del items[3:]
        return (t([1.0]),)

    return {"f": f, "args": args}


class Series(list):
    def __len__(self):
        return 3


@case(graphs=1, captures=3, breaks=2, reasons=("value-kind",))
def a_long_list_of_a_class_of_its_own():
    series = Series(LONG)

    def f(x):
        return x * 2, 5.0 in series, series[3]

    return {"f": f, "args": lambda: (t([1.0, 2.0]),)}


# ----- what is a number at first, and then something else

TYPES_LATER = [1, 2, 3, "n", 4, None, 2.5, True, "N", [1]]

ASKED = {
    "of_texts": lambda value: value in ("n", "N"),
    "of_a_set_of_texts": lambda value: value in {"n", "N"},
    "of_texts_and_none": lambda value: value not in [None, "n"],
    "of_nothing": lambda value: value in (),
    "of_an_empty_dict": lambda value: value in {},
    "of_keys": lambda value: value in {"n": 1},
    "of_numbers": lambda value: value in (2, 4),
    "of_no_range": lambda value: value in range(0),
}


def member_whose_type_varies(name, ask, where):
    class Slotted:
        __slots__ = ("value",)

    class Holder:
        pass

    def build():
        values = iter(TYPES_LATER * 2)

        def f(x, held):
            value = held[0] if where == "item" else held.value if where != "argument" else held
            try:
                return x + 1, ask(value)
            except TypeError as error:
                return x + 1, str(error)

        def args():
            value = next(values)
            if where == "argument":
                return t([1.0]), value
            if where == "item":
                return t([1.0]), [value]
            held = Slotted() if where == "slot" else Holder()
            held.value = value
            return t([1.0]), held

        return {"f": f, "args": args}

    build.__name__ = f"a_member_{name}_of_another_type_later_in_an_{where}"
    open_case(build)


for name, ask in ASKED.items():
    for where in ("argument", "item", "slot", "attribute"):
        member_whose_type_varies(name, ask, where)
