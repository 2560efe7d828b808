"""Who is asked how many items there are, and when: by what takes all of them."""

from observe import case
from toy_framework import toy

t = toy.tensor


class Asked:
    """Writes down what it is asked."""

    def __init__(self, log, loud):
        self.log, self.loud = log, loud

    def note(self, what):
        self.log.append(what)
        if self.loud:
            print(what)

    def __iter__(self):
        self.note("iter")
        return iter([3, 1, 2])


class Long(Asked):
    def __len__(self):
        self.note("len")
        return 3


class Hinting(Asked):
    def __length_hint__(self):
        self.note("hint")
        return 3


class Both(Long, Hinting):
    pass


class Unsized(Hinting):
    def __len__(self):
        self.note("len")
        raise TypeError("no length")


class Unknown(Asked):
    def __length_hint__(self):
        self.note("hint")
        return NotImplemented


class Refusing(Asked):
    def __length_hint__(self):
        self.note("hint")
        raise TypeError("no hint")


class Failing(Asked):
    def __length_hint__(self):
        self.note("hint")
        raise KeyError("hint")


class Negative(Asked):
    def __length_hint__(self):
        self.note("hint")
        return -1


class Worded(Asked):
    def __length_hint__(self):
        self.note("hint")
        return "three"


class Iterator(Asked):
    """Its own iterator, which has a length as well."""

    def __init__(self, log, loud):
        super().__init__(log, loud)
        self.at = 0

    def __iter__(self):
        self.note("iter")
        return self

    def __next__(self):
        self.note("next")
        self.at += 1
        if self.at > 3:
            self.at = 0
            raise StopIteration
        return self.at

    def __len__(self):
        self.note("len")
        return 3


def starred(it):
    a, *b = it
    return a, b


def starred_last(it):
    *a, b = it
    return a, b


def starred_alone(it):
    (*a,) = it
    return a


def starred_too_many(it):
    a, b, c, *d, e = it
    return a, b, c, d, e


def extended(it):
    items = [0]
    items.extend(it)
    return items


def added(it):
    items = [0]
    items += it
    return items


def unpacked(it):
    a, b, c = it
    return a, b, c


BUILDERS = {
    "list": list,
    "tuple": tuple,
    "display": lambda it: [0, *it],
    "tuple display": lambda it: (0, *it),
    "call": lambda it: (lambda *args: args)(*it),
    "call with more": lambda it: (lambda *args: args)(0, *it),
    "sorted": sorted,
    "sorted by": lambda it: sorted(it, key=lambda n: -n),
    "extend": extended,
    "added": added,
    "starred": starred,
    "starred last": starred_last,
    "starred alone": starred_alone,
    "too many": starred_too_many,
    "unpacked": unpacked,
    "join": lambda it: ",".join(it),
    "sum": sum,
    "max": max,
    "any": any,
    "in": lambda it: 2 in it,
    "zip": lambda it: list(zip(it, it)),
    "map": lambda it: list(map(str, it)),
    "enumerate": lambda it: list(enumerate(it)),
    "fromkeys": lambda it: dict.fromkeys(it),
    "comprehension": lambda it: [n for n in it],
    "set": lambda it: len(set(it)),
    "set display": lambda it: len({0, *it}),
    "pairs": lambda it: dict((n, n) for n in it),
}
KINDS = (Asked, Long, Hinting, Both, Unsized, Unknown, Refusing, Failing, Negative, Worded, Iterator)


def register(name, builder):
    for loud in (False, True):

        def build(loud=loud):
            def f(x, log):
                for kind in KINDS:
                    log.append(kind.__name__)
                    try:
                        log.append(builder(kind(log, loud)))
                    except (TypeError, ValueError, KeyError) as error:
                        log.append((type(error).__name__, str(error)))
                return x + 1

            return {"f": f, "args": lambda: (t([1.0]), [])}

        build.__name__ = f"asked_by_{name.replace(' ', '_')}{'_and_a_break' if loud else ''}"
        case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


for _name, _builder in BUILDERS.items():
    register(_name, _builder)
