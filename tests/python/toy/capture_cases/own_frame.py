"""What is looked for in a frame of its own: cells of inlined comprehensions, `super()`, the methods of `with`, names of generators."""

from capture_cases.iterating import open_case
from toy_framework import toy

t = toy.tensor


@open_case
def comprehensions_over_the_name_of_a_cell():
    def f(x, items):
        print("real")
        later = lambda: base  # noqa: E731
        base = 5
        pairs = [(base, len(items)) for base in items]
        made = [(lambda: base)() for base in items]
        for base in items:
            print(base, any(item == base for item in items))
        nested = [[(lambda: base + other)() for other in items] for base in items]
        return pairs, made, nested, later(), base, {base: base for base in items}, later(), x + 1

    return {"f": f, "args": lambda: (t([1.0]), [1, 2, 3])}


@open_case
def super_by_another_name():
    class Told:
        def __init__(self, *args):
            self.args = args

        msg = "told"

    class Base:
        msg = "base"

    class Other(Base):
        def none(self):
            return super().msg

        def two(self):
            return super(Other, self).msg

        def gone(self):
            nonlocal __class__  # noqa: F824
            held = __class__
            try:
                del __class__
                return super().msg
            except RuntimeError as error:
                return str(error)
            finally:
                __class__ = held

    def f(x):
        global super
        seen = [Other().none(), Other().two(), Other().gone()]
        super = Told
        try:
            seen += [Other().none(), Other().two()]
        finally:
            del super
        return seen, Other().none(), x + 1

    return {"f": f, "args": lambda: (t([1.0]),)}


@open_case
def a_with_asks_the_class_for_its_methods():
    class Without:
        pass

    class Exits:
        def __exit__(self, *args):
            print("exit")

    class Guarded:
        def __getattribute__(self, name):
            print("asked for", name)
            return object.__getattribute__(self, name)

        def __enter__(self):
            print("enter")
            return 1

        def __exit__(self, *args):
            print("exit", args[0])
            return True

    def f(x):
        seen = []
        for make in Without, Exits, Guarded:
            try:
                with make() as entered:
                    seen.append(entered)
                    raise KeyError("inside")
            except (AttributeError, TypeError) as error:
                seen.append((type(error).__name__, str(error)))
        return seen, x + 1

    return {"f": f, "args": lambda: (t([1.0]),)}


@open_case
def generators_are_called_what_their_functions_are():
    class Numbers:
        def some(self):
            yield 1
            yield 2

    def names(generator):
        return generator.__name__, generator.__qualname__

    def f(x):
        def inner():
            yield 3

        fresh, started, ended = Numbers().some(), Numbers().some(), inner()
        next(started), list(ended)
        expression = (each for each in range(3))
        print(names(fresh), names(started), names(ended), names(expression))
        seen = [names(each) for each in (fresh, started, ended, expression, inner())]
        inner.__name__, inner.__qualname__ = "other", "quite.other"
        return seen, names(inner()), list(fresh), list(started), list(expression), x + 1

    return {"f": f, "args": lambda: (t([1.0]),)}


@open_case
def empty_cells_in_a_frame_that_runs_as_it_is():
    """A cell of its own is spoken of as a local, another's as a free variable."""

    def told(error):
        return type(error).__name__, str(error), getattr(error, "name", None)

    def reads(empty):
        held = 1
        later = lambda: held  # noqa: E731
        if empty:
            del held
        names = sorted(locals())
        try:
            return names, held, later()
        except NameError as error:
            return names, told(error)

    def deletes(empty):
        held = 1
        later = lambda: held  # noqa: E731
        if empty:
            del held
        locals()
        try:
            for _ in range(2):
                print(later())
                del held
        except NameError as error:
            return told(error)

    def never_set(empty):
        if not empty:
            held = 1

        def inner():
            locals()
            try:
                return held
            except NameError as error:
                return told(error)

        locals()
        try:
            return held, inner()
        except UnboundLocalError as error:
            return told(error), inner()

    def argument(empty, held=2):
        later = lambda: held  # noqa: E731
        if empty:
            del held
        locals()
        try:
            held += 1
        except NameError as error:
            return told(error)
        return held, later()

    def yields(empty):
        held = 1
        later = lambda: held  # noqa: E731
        yield later()
        if empty:
            del held
        locals()
        yield 2
        yield held

    def f(x):
        seen = []
        for empty in (True, False):
            for function in (reads, deletes, never_set, argument):
                seen.append(function(empty))
            try:
                for item in yields(empty):
                    seen.append(item)
            except NameError as error:
                seen.append(told(error))
        return seen, x + 1

    return {"f": f, "args": lambda: (t([1.0]),)}
