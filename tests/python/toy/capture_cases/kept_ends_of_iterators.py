"""StopIteration that an iterator keeps and raises at its end: who takes it for an answer leaves it no traceback up to 3.11, and those who
handle it do."""

from observe import case
from toy_framework import toy

t = toy.tensor
pause = toy.disable(lambda *args: None)


def x1():
    return (t([1.0]),)


class Keeps:
    def __init__(self):
        self.kept = StopIteration()
        self.given = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.given += 1
        if self.given < 3:
            return self.given
        raise self.kept


class Passes(Keeps):
    """By another frame."""

    def __next__(self):
        self.given += 1
        if self.given < 3:
            return self.given
        return self.end()

    def end(self):
        raise self.kept


class Handles(Keeps):
    """Handled on the way, and raised again."""

    def __next__(self):
        try:
            return super().__next__()
        except StopIteration:
            self.handled = True
            raise


class Finally(Keeps):
    def __next__(self):
        try:
            return super().__next__()
        finally:
            self.done = True


class Breaks(Keeps):
    def __next__(self):
        self.given += 1
        if self.given < 3:
            return self.given
        pause()
        raise self.kept


def entries(error):
    found, at = [], error.__traceback__
    while at is not None:
        found.append((at.tb_frame.f_code.co_name, at.tb_lineno))
        at = at.tb_next
    return found


def unpacked(it):
    first, *rest = it
    return first, rest


def delegated(it):
    yield from it


def asked(it):
    found = []
    while True:
        try:
            found.append(next(it))
        except StopIteration:
            return found


def by_default(it):
    found = []
    while True:
        found.append(next(it, None))
        if found[-1] is None:
            return found


def looped(it):
    found = []
    for item in it:
        found.append(item)
    return found


def grown(it):
    found = []
    found.extend(it)
    found += it
    return found


USES = {
    "displayed": lambda it: [*it],
    "called_with": lambda it: max(*it),
    "listed": list,
    "comprehended": lambda it: [item for item in it],
    "summed": sum,
    "sorted": sorted,
    "member": lambda it: 5 in it,
    "zipped": lambda it: list(zip(it, [1, 2, 3])),
    "mapped": lambda it: list(map(str, it)),
    "numbered": lambda it: list(enumerate(it)),
    "unpacked": unpacked,
    "delegated": lambda it: list(delegated(it)),
    "asked": asked,
    "by_default": by_default,
    "looped": looped,
    "grown": grown,
}


def ended(kind, name, within):
    use = USES[name]

    def build():
        kept = []

        def inside(x):
            it = kind()
            return x + 1, use(it), entries(it.kept), it.kept.__context__

        def outside(x):
            it = kind()
            kept.append(it.kept)
            return x + 1, use(it)

        return {
            "f": inside if within else outside,
            "args": x1,
            "watch": lambda: [entries(error) for error in kept],
        }

    build.__name__ = "kept_end_of_%s_%s_%s" % (kind.__name__, name, "told_inside" if within else "told_outside")
    build.__module__ = __name__
    case(graphs=1 if within else None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


for kind in (Keeps, Passes, Handles, Finally, Breaks):
    for each in USES:
        ended(kind, each, True)
        ended(kind, each, False)
