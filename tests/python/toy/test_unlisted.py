"""Classes that a capture makes to look things up, or to ask the interpreter what it raises, are in no `__subclasses__()`."""

import gc
import subprocess
import sys

import pytest

from doors import DOORS
from toy_framework import toy

t = toy.tensor


def all_classes():
    found, work = [], [object]
    while work:
        for made in type.__subclasses__(work.pop()):
            if made is not type and made not in found:
                found.append(made)
                work.append(made)
    return found


def of_an_object(x):
    class Local:
        factor = 2

        def go(self):
            return x * self.factor

    return Local().go()


def of_an_exception(x):
    class Local(ValueError):
        pass

    try:
        raise Local(x)
    except Local as error:
        return error.args[0] + 1


def of_a_chain(x):
    class Base(LookupError):
        def go(self):
            return x * 2

    class Derived(Base):
        def go(self):
            return super().go() + 1

    class Both(Derived, ArithmeticError):
        pass

    return Both().go()


def with_slots(x):
    class Local:
        __slots__ = ("value",)

        @property
        def twice(self):
            return self.value * 2

    local = Local()
    local.value = x
    return local.twice


class Point:
    __slots__ = ("x",)


def that_refuses(x):
    words = []
    for act in (lambda: Point() + 1, lambda: setattr(Point(), "y", 1), lambda: Point(3), lambda: Point()[0], lambda: Point[0]):
        try:
            act()
        except TypeError as error:
            words.append(str(error))
        except AttributeError as error:
            words.append(str(error))
    return x + 1, words


OWN = {f"{f.__name__}.<locals>.{name}" for f in (of_an_object, of_an_exception, of_a_chain, with_slots) for name in "Local Base Derived Both".split()}
OWN.add("Point")
MAKERS = [of_an_object, of_an_exception, of_a_chain, with_slots, that_refuses]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("f", MAKERS)
def test_no_class_is_seen_that_eager_does_not_have(f, door):
    f(t([1.0]))
    gc.collect()
    gc.disable()
    try:
        captured = door(f)
        for call in range(3):
            kept = [all_classes()]
            f(t([1.0]))
            kept.append(all_classes())
            captured(t([1.0]))
            kept.append(all_classes())
            by_eager = [made for made in kept[1] if made not in kept[0]]
            new = [made for made in kept[2] if made not in kept[1]]
            # A class that nobody needs is not made at all.
            names, by_eager = ({made.__qualname__ for made in found} & OWN for found in (new, by_eager))
            assert names <= by_eager, call
            del by_eager, new
    finally:
        gc.enable()
    assert toy.stats()["captures"] > 0


def test_a_walk_inside_of_captured_code():
    def f(x):
        class Local(OSError):
            pass

        return x + 1, [made.__name__ for made in OSError.__subclasses__() if made.__name__ == "Local"]

    gc.collect()
    gc.disable()
    try:
        captured = toy.to_static(f)
        assert [captured(t([1.0]))[1] for _ in range(3)] == [["Local"] * count for count in (1, 2, 3)]
    finally:
        gc.enable()


PROGRAM = """
import gc
gc.disable()

def walk(base):
    return sorted(made.__qualname__ for made in type.__subclasses__(base) if made.__module__ == "__main__")

def make(base):
    class Local(base):
        def go(self):
            return 1
    return Local().go(), Local

kept = []
for _ in range(3):
    for base in (object, ValueError, KeyError):
        kept.append(make(base))
        print(kept[-1][0], walk(base), walk(Exception))
"""


def test_a_whole_program_sees_its_own_classes_alone(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    plain, captured = (
        subprocess.check_output([sys.executable, *options, str(path)]) for options in ([], ["-m", "sot"])
    )
    assert captured == plain
