"""Class methods of C that are read of a class which is made anew at each call: they belong to the class of that call."""

from collections import OrderedDict

from observe import case
from toy_framework import toy

t = toy.tensor


def of_class(read):
    """Three calls, each with a class of its own."""

    def build():
        def f(x, log):
            log.append(read())
            return x * 2

        return {"f": f, "args": lambda: (t([1.0]), [])}

    build.__name__ = read.__name__
    case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)
    return read


@of_class
def made_of_bytes():
    class Local(bytes):
        pass

    return type(Local.fromhex("1a")) is Local


@of_class
def made_of_numbers():
    class Whole(int):
        pass

    class Real(float):
        pass

    return type(Whole.from_bytes(b"a", "big")) is Whole, type(Real.fromhex("0x1p0")) is Real


@of_class
def made_of_keys():
    class Local(dict):
        pass

    class Ordered(OrderedDict):
        pass

    return type(Local.fromkeys([1])) is Local, type(Ordered.fromkeys([1])) is Ordered


@of_class
def asked_for_by_an_instance():
    class Local(dict):
        def another(self):
            return self.fromkeys([2])

        @classmethod
        def third(cls):
            return cls.fromkeys([3])

    made = Local()
    return [type(found) is Local for found in (made.fromkeys([1]), made.another(), Local.third())]


@of_class
def class_methods_kept_over_a_break():
    class Base(bytes):
        pass

    class Local(Base):
        pass

    first, second = Local.fromhex, Local.fromhex
    print("break")
    return type(first("1a")) is Local, first == second, first is second, first.__self__ is Local, first.__name__


@of_class
def what_every_class_has():
    class Local:
        pass

    return Local.__subclasshook__.__self__ is Local, Local.__init_subclass__.__self__ is Local
