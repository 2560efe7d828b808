"""Text and numbers of classes that extend those of C: what C answers of the content, what it says of the class, and which object it gives."""

import collections
import enum
import sys

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


class Whole(int):
    def part(self, n):
        return super().__divmod__(n)


class Text(str):
    pass


class Fraction(float):
    pass


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Access(enum.IntFlag):
    READ = 1
    WRITE = 2


WHOLE = Whole(2)
TEXT = Text("ab")
TABLE = {"ab": 3, 2: 4}


def tried(way, *args):
    try:
        return way(*args)
    except Exception as error:
        return type(error).__name__, str(error), error.args


def kind(value):
    if isinstance(value, (tuple, list)):
        return [kind(one) for one in value]
    return type(value).__name__


def made(function):
    """A case that gives what a function of a new number, a new text and a new fraction comes to, and of what types the parts are."""

    def build():
        def f(x):
            whole, text, fraction = Whole(5), Text("ab"), Fraction(1.5)
            found = function(whole, text, fraction)
            return x + 1, found, kind(found), [found is one for one in (whole, text, fraction)]

        return {"f": f, "args": lambda: (t([1.0]),)}

    build.__name__ = "extended_" + function.__name__
    case()(build)
    return function


def asked(function):
    """The same, of what may break."""

    def build():
        def f(x):
            whole, text, fraction = Whole(5), Text("ab"), Fraction(1.5)
            found = function(whole, text, fraction)
            return x + 1, found, kind(found), [found is one for one in (whole, text, fraction)]

        return {"f": f, "args": lambda: (t([1.0]),)}

    build.__name__ = "extended_" + function.__name__
    open_case(build)
    return function


@made
def divided(whole, text, fraction):
    return whole.part(9)


@made
def own_arguments(whole, text, fraction):
    return whole.__getnewargs__(), text.__getnewargs__(), Text("").__getnewargs__()


@made
def answers_that_are_cached(whole, text, fraction):
    return whole.__abs__(), whole.__int__(), whole.conjugate(), whole.__rsub__(10), text.__getitem__(0)


@asked
def split_by_what_is_longer(whole, text, fraction):
    short = Text("")
    return short.split("x")[0] is short, text.split("abc")[0] is text, text.partition("x")[0] is text


@asked
def refused_formats(whole, text, fraction):
    found = []
    for value in (whole, text, fraction):
        for way in (
            lambda: f"{value:zz}",
            lambda: format(value, "q"),
            lambda: value.__format__("q"),
            lambda: "{:q}".format(value),
        ):
            found.append(tried(way)[:2])
    return found


@asked
def own_iterators(whole, text, fraction):
    return type(iter(text)).__name__, type(text.__iter__()).__name__, list(text)


@asked
def wrong_numbers_of_arguments(whole, text, fraction):
    one = (1,)
    return [
        tried(way)
        for way in (lambda: whole.bit_length(1), lambda: whole.bit_length(*one), lambda: text.upper(1), lambda: text.upper(*one))
    ]


@made
def as_operands(whole, text, fraction):
    return [0] * whole, (1,) * whole, min(whole, 7), max(whole, 7), divmod(whole, 3), divmod(11, whole), pow(2, whole)


@made
def least_is_the_object(whole, text, fraction):
    return min(whole, 7)


@made
def sorted_ones(whole, text, fraction):
    return sorted([Whole(3), 1, Whole(2)]), min([Whole(3), 4])


@made
def texts_looked_into(whole, text, fraction):
    return text[0], text[-1:], "b" in text, "z" in text, len(text), text + "c", hash(text) == hash("ab")


@made
def as_keys(whole, text, fraction):
    return TABLE[text], TABLE.get(Whole(2)), Whole(7) in TABLE, {"ab": 1}[text]


def before(function, expect=case()):
    """A case of what existed before the frame."""

    def build():
        return {"f": lambda x: (x + 1, function()), "args": lambda: (t([1.0]),)}

    build.__name__ = "extended_before_" + function.__name__
    expect(build)
    return function


def before_of_members(function):
    """The same of members of enumerations, whose texts code of the library wrote up to 3.10."""
    return before(function, case() if sys.version_info >= (3, 11) else open_case)


@before
def operands():
    found = WHOLE + 1, min(WHOLE, 3), [0] * WHOLE, "ab" * WHOLE, divmod(WHOLE, 2), divmod(7, WHOLE), WHOLE**2, pow(WHOLE, 3)
    return found, kind(found), min(WHOLE, 3) is WHOLE


@before
def keys():
    return TABLE[TEXT], TABLE[WHOLE], TEXT in TABLE, TABLE.get(TEXT), hash(TEXT) == hash("ab")


@before
def parts():
    return TEXT[0], TEXT[1:], "b" in TEXT, "z" in TEXT, TEXT.upper(), TEXT.__len__(), TEXT[:] is TEXT


@before_of_members
def members():
    return f"{Level.LOW}", str(Level.HIGH), f"{Level.HIGH:>3}", [0] * Level.HIGH, min(Level), Level.LOW + 1


@before_of_members
def flags():
    return f"{Access.READ}", Access.READ | Access.WRITE, {1: "one"}[Access.READ]


class Unequal(int):
    def __eq__(self, other):
        return False

    def __hash__(self):
        return int.__hash__(self)


class Reversed(int):
    def __lt__(self, other):
        return int(self) > int(other)

    def __index__(self):
        return 3


@open_case
def extended_values_with_methods_of_their_own():
    unequal, reverse = Unequal(2), Reversed(2)

    def f(x):
        return x + 1, min(reverse, 3), sorted([reverse, 1, 4]), tried(lambda: {2: 1}[unequal])[0], [0] * reverse

    return {"f": f, "args": lambda: (t([1.0]),)}


@open_case
def class_of_extended_values_changes():
    text = Text("ab")

    def f(x):
        return x + 1, text[0], "b" in text, TABLE.get(text)

    def args():
        Text.__getitem__ = lambda self, at: "own"
        Text.__contains__ = lambda self, item: None
        return (t([1.0]),)

    def watch():
        for name in ("__getitem__", "__contains__"):
            if name in vars(Text):
                delattr(Text, name)
        return ()

    return {"f": f, "args": args, "watch": watch}


class Reflected(str):
    def __rmod__(self, other):
        return "own"


@open_case
def extended_text_formats_from_the_right():
    before = Reflected("ab")

    def f(x, given):
        return x + 1, "%s" % before, "%s" % given, "%s" % Reflected("cd"), "%s" % TEXT, "%s" % (before,)

    return {"f": f, "args": lambda: (t([1.0]), Reflected("ef"))}


@open_case
def extended_text_is_written_as_ascii():
    class Written(str):
        __repr__ = str.__str__

    value = Written("\u00e9")

    def f(x):
        return x + 1, ascii(value), repr(value), f"{value!a}", ascii(Written("\u00e9"))

    return {"f": f, "args": lambda: (t([1.0]),)}


# -- ordered dicts, which give a key that is missing for the value of the exception


def keys_that_are_missing(how):
    def build():
        def f(x):
            found = []
            for key in (None, (1, 2), (), "q", ("one",), 3):
                try:
                    how(collections.OrderedDict(a=1), key)
                except KeyError as error:
                    found.append((error.args, str(error)))
            return x + 1, found

        return {"f": f, "args": lambda: (t([1.0]),)}

    build.__name__ = "ordered_key_missing_" + how.__name__
    case()(build)
    return how


@keys_that_are_missing
def popped(table, key):
    table.pop(key)


@keys_that_are_missing
def moved(table, key):
    table.move_to_end(key)


@keys_that_are_missing
def deleted(table, key):
    del table[key]


@keys_that_are_missing
def read(table, key):
    table[key]


@open_case
def ordered_key_missing_that_is_hashed_by_code():
    class Key:
        def __hash__(self):
            return 7

        def __eq__(self, other):
            return self is other

    def f(x):
        found = []
        for key in (Key(), (Key(), 2), KeyError("q")):
            for how in (popped, moved):
                try:
                    how(collections.OrderedDict(a=1), key)
                except KeyError as error:
                    found.append((len(error.args), error is key))
        return x + 1, found

    return {"f": f, "args": lambda: (t([1.0]),)}


@open_case
def deque_that_is_full_asks_for_the_index_first():
    def f(x):
        full = collections.deque([1, 2], maxlen=2)
        return x + 1, tried(lambda: full.insert("a", 0)), tried(lambda: full.insert(0, 0))

    return {"f": f, "args": lambda: (t([1.0]),)}


@open_case
def nans_of_own_classes_hash_by_identity():
    class Number(float):
        pass

    class Named(float):
        def __hash__(self):
            return 7

    def f(x):
        number = Number("nan")
        same = hash(number) == object.__hash__(number), number.__hash__() == float.__hash__(number)
        return x + 1, same, hash((number, 1)) == hash((number, 1)), hash(Named("nan")), hash(Number(2.0)), number != number

    return {"f": f, "args": lambda: (t([1.0]),)}
