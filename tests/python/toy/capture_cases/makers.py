"""How instances are made and lose attributes: metaclasses, `__new__`, abstract classes, context managers of contextlib, `del`."""

import abc
import contextlib

from capture_cases.definitions import breaking
from observe import case
from toy_framework import toy

t = toy.tensor


def speak(value):
    print("speak", value)
    return value


def with_log():
    return t([1.0, 2.0]), []


class Meta(type):
    def __call__(cls, *args, **kwargs):
        made = super().__call__(*args, **kwargs)
        made.meta = True
        return made


class Made(metaclass=Meta):
    def __new__(cls, k, **kwargs):
        self = super().__new__(cls)
        self.new = k
        return self

    def __init__(self, k, z=3):
        self.k = k + z


class Heir(Made):
    def __init__(self, k):
        super().__init__(k, z=7)


@case()
def a_metaclass_that_makes_and_a_new_that_makes():
    def f(x, log):
        one, two = Made(2, z=5), Heir(k=4)
        log.append((one.k, one.new, two.k, two.new, one.meta, type(two) is Heir))
        return x * one.k + two.new, one, two

    return {"f": f, "args": with_log}


@case()
def a_new_that_gives_something_else():
    class Either:
        def __new__(cls, k):
            return k if k > 2 else object.__new__(cls)

        def __init__(self, k):
            self.k = k

    class Other:
        def __new__(cls, *args):
            return Made(*args)

        def __init__(self, *args):
            raise AssertionError("of another class")

    def f(x, log):
        log.append((Either(1).k, Either(5), Other(1).k))
        return x * Either(1).k

    return {"f": f, "args": with_log}


@case()
def a_class_that_keeps_its_only_instance():
    class Single:
        one = None

        def __new__(cls):
            if cls.one is None:
                cls.one = super(Single, cls).__new__(cls)
            return cls.one

    Single()

    def f(x, log):
        log.append(Single() is Single())
        return x * 2

    return {"f": f, "args": with_log}


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...

    def twice(self):
        return self.area() * 2


class Square(Shape):
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side * self.side


@case()
def a_class_with_abstract_bases():
    def f(x, log):
        square = Square(x)
        log.append(isinstance(square, Square))
        return square.twice(), square

    return {"f": f, "args": with_log}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def an_abstract_class():
    def f(x, log):
        try:
            Shape()
        except TypeError as error:
            log.append(str(error))
        return x + 1

    return {"f": f, "args": with_log}


@case()
def an_init_that_returns_something():
    class Wrong:
        def __init__(self):
            return 5

    class WrongToo(metaclass=Meta):
        def __new__(cls):
            return object.__new__(cls)

        def __init__(self):
            return 5

    def f(x, log):
        for made in Wrong, WrongToo:
            try:
                made()
            except TypeError as error:
                log.append(str(error))
        return x + 1

    return {"f": f, "args": with_log}


@breaking(graphs=2, breaks=3)
def a_break_in_each_maker():
    class Loud(type):
        def __call__(cls, *args):
            speak("call")
            return super().__call__(*args)

    class Thing(metaclass=Loud):
        def __new__(cls, x):
            speak("new")
            made = super().__new__(cls)
            made.first = x + 1
            return made

        def __init__(self, x):
            self.second = x * 2
            speak("init")
            self.third = x * 3

    def f(x, log):
        thing = Thing(x)
        return thing.first + thing.second + thing.third, thing

    return {"f": f, "args": with_log}


@contextlib.contextmanager
def scope(name, log):
    log.append("in " + name)
    try:
        yield name
    finally:
        log.append("out " + name)


@case()
def managers_of_contextlib():
    def f(x, log):
        with scope("a", log) as a, contextlib.nullcontext(5) as n:
            x = x * n
            with scope("b" + a, log):
                x = x + 1
        with contextlib.suppress(KeyError):
            log.append("suppress")
            raise KeyError(4)
        return x * 2

    return {"f": f, "args": with_log}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def managers_of_contextlib_and_exceptions():
    def f(x, log):
        try:
            with scope("b", log):
                x = x * 2
                raise KeyError(3)
        except KeyError as error:
            log.append((repr(error), error.__context__))
        with contextlib.ExitStack() as stack:
            stack.enter_context(scope("c", log))
            stack.callback(log.append, "called back")
            x = x + 1
        return x

    return {"f": f, "args": with_log}


# ----- del of attributes


class Box:
    kept = "of the class"

    def __init__(self):
        self.one, self.two, self.kept = 1, 2, "of the instance"


@case()
def del_of_attributes_of_what_was_made():
    def f(x, log):
        box = Box()
        box.one = x
        y = box.one + box.two
        del box.one, box.kept
        log.append((box.kept, hasattr(box, "one"), getattr(box, "one", "none")))
        box.one = 5
        delattr(box, "two")
        return y, box

    return {"f": f, "args": with_log}


@case()
def del_of_attributes_of_an_argument():
    def f(x, log, box):
        box.late = 5
        y = x + box.two
        del box.late, box.one
        log.append((hasattr(box, "late"), hasattr(box, "one"), box.kept))
        del box.kept
        log.append(box.kept)
        box.one = 9
        return y

    return {"f": f, "args": lambda: (*with_log(), Box())}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def del_of_what_is_not_there():
    class Slotted:
        __slots__ = ("one",)

    def f(x, log, box, slotted):
        for thing, name in (box, "none"), (slotted, "one"), (slotted, "none"), (Box(), "none"):
            try:
                delattr(thing, name)
            except AttributeError as error:
                log.append(str(error))
        del box.one
        try:
            del box.one
        except AttributeError as error:
            log.append(str(error))
        return x + 1

    return {"f": f, "args": lambda: (*with_log(), Box(), Slotted())}


@case()
def del_through_a_method_of_the_program():
    class Told(Box):
        def __delattr__(self, name):
            self.told = name
            super().__delattr__(name)

    def f(x, log, box):
        del box.one
        log.append(box.told)
        return x + box.two, hasattr(box, "one")

    return {"f": f, "args": lambda: (*with_log(), Told())}


@breaking(graphs=2, breaks=1)
def del_before_a_break():
    def f(x, log, box):
        made = Box()
        y = x * 2
        del made.one, box.one
        log.append(sorted(speak(n) for n in [hasattr(box, "one")]))
        return y + 1, made

    return {"f": f, "args": lambda: (*with_log(), Box())}
