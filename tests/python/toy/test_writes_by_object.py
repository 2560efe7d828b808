"""`object.__setattr__` and its like write by no code of the program, whatever the class has or is given between calls."""

import pytest
from toy_framework import toy

t = toy.tensor


class Base:
    pass


def sets(o):
    object.__setattr__(o, "n", 1)


def sets_by_super(o):
    super(Own, o).__setattr__("n", 2)


def deletes(o):
    object.__setattr__(o, "m", 3)
    object.__delattr__(o, "m")
    object.__setattr__(o, "n", 4)


def writes_to_the_dict(o):
    vars(o)["n"] = 5


class Own(Base):
    pass


WRITES = [sets, sets_by_super, deletes, writes_to_the_dict]


def own_set(self, name, value):
    self.__dict__[name] = "set", value


def own_delete(self, name):
    self.__dict__["deleted"] = name


@pytest.mark.parametrize("on", [Own, Base], ids=["class", "base"])
@pytest.mark.parametrize("made_inside", [False, True])
@pytest.mark.parametrize("write", WRITES)
def test_the_class_is_given_methods_of_its_own(write, made_inside, on):
    def rounds(door):
        def f(x, o):
            o = Own() if made_inside else o
            write(o)
            return x * 2, o

        f = door(f)
        seen = []
        try:
            for call in range(6):
                if call == 2:
                    on.__setattr__ = own_set
                if call == 4:
                    on.__delattr__ = own_delete
                seen.append(vars(f(t([1.0]), Own())[1]).copy())
        finally:
            for name in ("__setattr__", "__delattr__"):
                if name in vars(on):
                    delattr(on, name)
        return seen

    expected = rounds(lambda f: f)
    toy.reset()
    assert rounds(toy.to_static) == expected
    toy.reset()
    captured = toy.to_static(lambda x: (write(Own()), x * 2)[1])
    captured(t([1.0]))
    assert toy.stats()["breaks"] == 0
