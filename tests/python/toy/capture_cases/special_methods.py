"""Special methods that break: operators, conversions, writes, comparisons of containers, truths, and what containers are made of.

Each is one more frame on the machine's stack: a break in it costs one more graph, or none, and never the whole instruction.
"""

import operator

from capture_cases.definitions import breaking, x1


def speak(value):
    print("speak", value)
    return value


class Quantity:
    """Answers everything, and says so."""

    def __init__(self, n):
        self.n = n

    def __add__(self, other):
        speak(("add", self.n))
        return Quantity(self.n + other.n) if isinstance(other, Quantity) else NotImplemented

    def __radd__(self, other):
        return speak(("radd", self.n, other))

    def __mul__(self, other):
        return speak(("mul", self.n, other))

    def __isub__(self, other):
        self.n -= speak(other)
        return self

    def __pow__(self, other):
        return speak(NotImplemented)

    def __divmod__(self, other):
        return speak(("divmod", other))

    def __neg__(self):
        return speak(-self.n)

    def __abs__(self):
        return speak("abs")

    def __round__(self, digits="none"):
        return speak(("round", digits))

    def __int__(self):
        return speak(self.n)

    def __float__(self):
        return speak(float(self.n))

    def __hash__(self):
        return speak(self.n)

    def __eq__(self, other):
        return speak(self.n) == getattr(other, "n", other)

    def __lt__(self, other):
        return speak(self.n) < getattr(other, "n", other)

    def __repr__(self):
        return speak(f"q{self.n}")

    def __format__(self, spec):
        return speak(f"{self.n}:{spec}")

    def __getitem__(self, key):
        return speak(key)

    def __setitem__(self, key, value):
        speak((key, value))

    def __delitem__(self, key):
        speak(("del", key))


class Special(Quantity):
    """Asked first on the right side, for what it says anew."""

    def __radd__(self, other):
        speak("special radd")
        return NotImplemented


@breaking(graphs=2, breaks=20)
def in_operators():
    def f(x):
        y = x + 1
        one, two, special = Quantity(1), Quantity(2), Special(3)
        seen = [(one + two).n, one + 5 if False else 5 + one, (one + special).n, one * 2, one * one, -one, abs(one)]
        seen += [round(one), round(one, 2), round(one, None), divmod(one, 2), one[4]]
        one -= 2
        seen += [operator.add(one, two).n, operator.neg(two), operator.getitem(one, 1), operator.eq(one, -1)]
        for way in (lambda: one + "a", lambda: one**2, lambda: one - 1):
            try:
                way()
            except TypeError as error:
                seen.append(str(error))
        return seen, one, y * 2

    return {"f": f, "args": x1}


@breaking(graphs=3, breaks=2)
def in_operators_on_tensors():
    class Scale:
        def __init__(self, tensor):
            self.tensor = tensor

        def __mul__(self, other):
            y = self.tensor * 2
            return y + other * speak(2)

        def __add__(self, other):
            speak("add")
            return NotImplemented if other is self else self.tensor + other

    def f(x):
        scale = Scale(x + 1)
        return scale * x + (scale + x) * 2

    return {"f": f, "args": x1}


@breaking(graphs=2, breaks=13)
def in_conversions():
    def f(x):
        y = x + 1
        one = Quantity(1)
        seen = [int(one), float(one), hash(one), str(one), repr(one), ascii(one), format(one, "a"), format(one)]
        return seen, f"{one} {one:b} {one!r} {one!s:>4} {one!a}", y * 2

    return {"f": f, "args": x1}


@breaking(graphs=3, breaks=12)
def in_writes():
    class Held:
        n = 1

        def __set__(self, holder, value):
            holder.given = speak(value)

    class Holder:
        held = Held()

        @property
        def value(self):
            return self.kept

        @value.setter
        def value(self, value):
            self.kept = speak(value)

        @value.deleter
        def value(self):
            speak("del")

    class Strict:
        def __setattr__(self, name, value):
            speak(name)
            super().__setattr__(name, value)
            object.__setattr__(self, name + name, value)

        def __delattr__(self, name):
            speak(("del", name))

    def f(x):
        y = x + 1
        one, holder, strict = Quantity(1), Holder(), Strict()
        one[1] = 2
        del one[1]
        holder.value = 3
        setattr(holder, "value", 4)
        del holder.value
        delattr(holder, "value")
        strict.a = x * 3
        setattr(strict, "b", y)
        del strict.a
        delattr(strict, "b")
        holder.held = 6
        return holder.value, holder.given, strict.a + strict.aa, strict.b, y * 2, speak(1)

    return {"f": f, "args": x1}


@breaking(graphs=2, breaks=None)
def in_comparisons_of_containers():
    def f(x):
        y = x + 1
        one, two, again = Quantity(1), Quantity(2), Quantity(1)
        seen = [[1, one] == [1, again], [1, one] != [1, two], [one] == [one], [one] == [two, 3], (one,) == (again, 2)]
        seen += [[3, (one, [two])] == [3, (again, [two])], {"a": one, "b": [two]} == {"b": [two], "a": again}]
        seen += [{"a": one} != {"a": two}, {"a": one} == {"b": one}, [one, 2] < [one, 3], (one, two) < (again, one)]
        seen += [one in [two, again], [again] in [[two], [one]], 1 in {"a": two, "b": one}.values()]
        seen += [[two, one].index(1), (two, one).index(again), [one, two, one].count(1), (one, 2).count(again)]
        items = [two, one, 3]
        items.remove(again)
        if [one] == [again] and (one,) < (two,):
            seen.append("both")
        for way in (
            lambda: items.index(4, 1),
            lambda: items.remove(4),
            lambda: (one,).index(4),
            lambda: [3].index(one, 0, 1),
            lambda: [one] <= [two],
        ):
            try:
                way()
            except (ValueError, TypeError) as error:
                seen.append(str(error))
        return seen, len(items), y * 2

    return {"f": f, "args": x1}


class Truth:
    def __init__(self, truth):
        self.truth = truth

    def __bool__(self):
        return speak(self.truth)


class Length:
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return speak(self.length)


@breaking(graphs=2, breaks=None, reasons=None)
def in_the_truth_of_and_and_or():
    def f(x):
        y = x + 1
        yes, no, long, short = Truth(True), Truth(False), Length(2), Length(0)
        seen = [yes and 1, no and 1, yes or 1, no or 1, long and 2, short and 2, long or 2, short or 2]
        seen += [no or short or yes, (yes and long) and 3, [v for v in (yes, no) if v or short]]
        if (yes and short) or not no:
            y = y * 2
        for way in (lambda: Truth(2) and 1, lambda: Length(-1) or 1, lambda: Length("a") and 1):
            try:
                way()
            except (TypeError, ValueError) as error:
                seen.append(str(error))
        return [getattr(v, "truth", getattr(v, "length", v)) for v in seen[:10]], seen[11:], y

    return {"f": f, "args": x1}


class Items:
    def __init__(self, *items):
        self.items = items

    def __iter__(self):
        speak("iter")
        return iter(self.items)

    def __reversed__(self):
        speak("reversed")
        return reversed(self.items)


class Table:
    def __init__(self, table):
        self.table = table

    def keys(self):
        return speak(list(self.table))

    def __getitem__(self, key):
        return speak(self.table[key])


@breaking(graphs=2, breaks=None, reasons=None)
def in_what_dicts_and_sets_are_made_of():
    def f(x):
        y = x + 1

        def give():
            for i in range(2):
                yield speak((i, i + 1))

        seen = [dict(Items((1, 2), (3, 4))), dict(Table({"a": 1})), dict(Table({"a": 1}), b=2), dict(give(), c=3)]
        seen += [dict.fromkeys(Items(1, 2)), dict.fromkeys(give(), 5), dict.fromkeys("ab"), {**Table({"a": 1}), "b": 2}]
        table = {"z": 0}
        table.update(give())
        table.update(Table({"a": 1}), e=4)
        table.update(Items(("d", 2)))
        seen += [table, sorted(set(give())), sorted(frozenset(give())), sorted({*give(), (7, 8)}), list(reversed(Items(1, 2)))]
        for way in (
            lambda: {**Items(1)},
            lambda: dict(Items(1)),
            lambda: set(Items(1, [], 2)),
            lambda: {*Items([1], 2)},
            lambda: dict.fromkeys(Items([])),
            lambda: dict(Table(3)),
        ):
            try:
                way()
            except TypeError as error:
                seen.append(str(error))
        return seen, y * 2

    return {"f": f, "args": x1}


@breaking(graphs=2, breaks=None, reasons=None)
def in_what_is_enumerated():
    class Given:
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            return self

        def __next__(self):
            self.n -= 1
            if self.n < 0:
                raise StopIteration
            return speak(self.n)

    def f(x):
        y = x + 1
        seen = [(i, v) for i, v in enumerate(Given(3), 5)]
        for i, v in enumerate(map(speak, "ab")):
            seen.append((i, v))
        numbered = enumerate(Given(4))
        seen += [next(numbered), next(numbered), list(numbered), next(numbered, "end"), dict(enumerate(Given(2)))]
        for i, (a, (j, b)) in enumerate(zip(map(speak, "cd"), enumerate(Given(3)))):
            seen.append((i, a, j, b, speak("body")))
        return seen, y * 2

    return {"f": f, "args": x1}
