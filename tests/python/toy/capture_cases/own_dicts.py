"""The `__dict__` of instances, written to: validated fields, lazy properties, state that is copied and put back."""

import sys

from doors import opaque
from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


class Field:
    """A descriptor that keeps its value in the dict of the instance, under its own name."""

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        return instance.__dict__[self.name]

    def __set__(self, instance, value):
        if isinstance(value, (int, float)) and value < 0:
            raise ValueError("%s must not be negative: %s" % (self.name, value))
        instance.__dict__[self.name] = value

    def __delete__(self, instance):
        del instance.__dict__[self.name]


class WithDefault(Field):
    def __get__(self, instance, owner=None):
        return self if instance is None else instance.__dict__.get(self.name, 7.0)


class ByVars(Field):
    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        if self.name in vars(instance):
            return vars(instance)[self.name]
        return vars(instance).setdefault(self.name, 3.0)

    def __set__(self, instance, value):
        vars(instance)[self.name] = value


class Lazy:
    """No data descriptor: once there is a value in the dict, nobody asks this."""

    def __init__(self, function):
        self.function, self.name = function, function.__name__

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        value = instance.__dict__[self.name] = self.function(instance)
        return value


class Fields:
    a = Field()
    b = WithDefault()
    c = ByVars()

    def __init__(self, a):
        self.a = a

    @Lazy
    def double(self):
        return self.a * 2.0


class OfSlots:
    __slots__ = ("a", "__dict__")


class Noting:
    """What is set goes to the dict."""

    def __setattr__(self, name, value):
        self.__dict__[name] = value

    def __delattr__(self, name):
        del self.__dict__[name]

    def __getattr__(self, name):
        if name == "w":
            self.__dict__["w"] = 2.0
            return self.__dict__["w"]
        raise AttributeError(name)


@case()
def fields_of_one_made_here():
    def f(x):
        made = Fields(2.0)
        made.b = made.b + 1.0
        y = x * made.a + made.b + made.c
        made.c = x
        return y * made.double + made.double, made, vars(made) is made.__dict__, list(vars(made))

    return {"f": f, "args": x1}


@case()
def fields_deleted_of_one_made_here():
    def f(x):
        made = Fields(2.0)
        made.b = x
        del made.b
        y = x * made.b
        try:
            del made.b
        except KeyError as error:
            return y, error.args, made.__dict__

    return {"f": f, "args": x1}


@case()
def a_field_that_refuses():
    kept = Fields(2.0)

    def f(x):
        try:
            kept.a = -1.0
        except ValueError as error:
            return x * kept.a, str(error)

    return {"f": f, "args": x1, "watch": lambda: vars(kept)}


@case()
def fields_set_of_one_from_before():
    kept = Fields(2.0)

    def f(x):
        kept.a = 3.0
        kept.b = 4.0
        return x * kept.a + kept.b

    return {"f": f, "args": x1, "watch": lambda: vars(kept)}


@case()
def fields_set_of_an_argument():
    kept = Fields(2.0)

    def f(x, given):
        given.a = x * 2.0
        given.c = given.a
        return x * given.a + given.b, given.a is given.c

    return {"f": f, "args": lambda: x1() + (kept,), "watch": lambda: vars(kept)}


# What is there is read, and is another number each time: its second capture reads it by its path.
@case(graphs=2, captures=2)
def a_field_that_counts():
    kept = Fields(2.0)

    def f(x):
        kept.a = kept.a + 1.0
        return x * kept.a

    return {"f": f, "args": x1, "watch": lambda: vars(kept)}


# The first call finds nothing, the second one what that has left.
@case(graphs=2, captures=2)
def lazy_of_one_from_before():
    kept = Fields(2.0)

    def f(x):
        return x * kept.double + kept.double + kept.c, "c" in vars(kept)

    return {"f": f, "args": x1, "watch": lambda: vars(kept)}


@case(graphs=2, captures=2)
def a_lazy_tensor():
    kept = Fields(t([3.0, 4.0]))

    def f(x):
        return x * kept.double, kept.double is kept.__dict__["double"]

    return {"f": f, "args": x1, "watch": lambda: vars(kept)}


@case()
def set_and_deleted_of_one_from_before():
    kept = Fields(2.0)

    def f(x):
        kept.b = 1.0
        y = x * kept.b
        del kept.b
        try:
            del kept.b
        except KeyError as error:
            return y + kept.b, error.args, list(kept.__dict__)

    return {"f": f, "args": x1, "watch": lambda: vars(kept)}


@case()
def attributes_and_items():
    kept = Fields(2.0)

    def f(x):
        kept.p = 3.0
        kept.__dict__["q"] = 4.0
        kept.p = 5.0
        kept.__dict__.update(r=x, s=6.0)
        kept.__dict__.update({"p": 7.0})
        return x * kept.p + kept.q + kept.r, kept.__dict__.get("s"), kept.__dict__.get("t"), "q" in kept.__dict__

    return {"f": f, "args": x1, "watch": lambda: vars(kept)}


@case(graphs=2, captures=2)
def a_dict_that_is_kept():
    kept = Fields(2.0)

    def f(x):
        names = kept.__dict__
        kept.a = 4.0
        names["p"] = 1.0
        kept.p = 2.0
        first = list(names.items())
        kept.p = 5.0
        del kept.p
        kept.r = x
        return x * names["a"], names is vars(kept), first, len(names), [name for name in names]

    return {"f": f, "args": x1, "watch": lambda: list(vars(kept))}


@case()
def taken_out():
    kept = Fields(2.0)

    def f(x):
        kept.p = 3.0
        value = kept.__dict__.pop("p")
        try:
            kept.p
        except AttributeError as error:
            return x * value, kept.__dict__.pop("nothing", None), "p" in kept.__dict__, str(error)

    return {"f": f, "args": x1, "watch": lambda: vars(kept)}


@open_case
def taken_out_of_the_dict_of_the_first_instance():
    """Up to 3.10, a deleted attribute ends the sharing of keys among the instances of a class, and what is taken out of a dict does not."""

    def f(x):
        class Owner:
            pass

        first = Owner()
        first.a = 1
        names = opaque(len(first.__dict__)), first.__dict__.pop("a")
        later = Owner()
        later.a = 2
        return x * 2, names, sys.getsizeof(later.__dict__)

    return {"f": f, "args": x1}


@case()
def put_back():
    kept = Fields(2.0)

    def f(x):
        old = dict(kept.__dict__)
        kept.a = 5.0
        kept.p = x
        y = x * kept.a
        kept.__dict__.clear()
        cleared = hasattr(kept, "a") if False else len(kept.__dict__)
        kept.__dict__.update(old)
        return y, cleared, hasattr(kept, "p"), kept.a

    return {"f": f, "args": x1, "watch": lambda: vars(kept)}


@case()
def state_of_another():
    kept = Fields(2.0)

    def f(x):
        made = Fields.__new__(Fields)
        made.__dict__.update(kept.__dict__)
        made.__dict__["a"] = x
        return x * made.a, made, kept.a

    return {"f": f, "args": x1, "watch": lambda: vars(kept)}


@case()
def slots_beside():
    kept = OfSlots()
    kept.a = 1.0

    def f(x):
        kept.__dict__["a"] = 2.0
        kept.__dict__["b"] = 3.0
        kept.a = 4.0
        made = OfSlots()
        made.__dict__["a"] = x
        made.a = 2.0
        return x * kept.a + kept.b + made.a, kept.__dict__["a"], made.__dict__["a"] is x, made

    return {"f": f, "args": x1, "watch": lambda: (kept.a, vars(kept))}


@case(graphs=2, captures=2)
def a_class_that_sets_its_own_way():
    kept = Noting()

    def f(x):
        made = Noting()
        made.z = x
        kept.k = 3.0
        kept.l = 1.0
        del kept.l
        return x * kept.w + made.w + made.z + kept.k, vars(made)

    return {"f": f, "args": x1, "watch": lambda: vars(kept)}


@case(graphs=2, captures=2)
def many_instances():
    kept = [Fields(float(number)) for number in range(3)]

    def f(x):
        for one in kept:
            one.a = one.a + 1.0
            x = x * one.a
        return x

    return {"f": f, "args": x1, "watch": lambda: [vars(one) for one in kept]}


# The dict has two owners, which only the frame as it was can tell.
@case(graphs=None, captures=None, breaks=None, reasons=None)
def a_dict_of_two():
    first, second = Fields(2.0), Fields(3.0)
    second.__dict__ = first.__dict__

    def f(x):
        first.a = 5.0
        y = x * second.a
        second.__dict__["a"] = 6.0
        return y * first.a

    return {"f": f, "args": x1, "watch": lambda: (vars(first), vars(second))}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def a_dict_that_is_given_as_well():
    kept = Fields(2.0)

    def f(x, names):
        names["a"] = 3.0
        y = x * kept.a
        kept.__dict__["a"] = 4.0
        return y * names["a"], kept.a

    return {"f": f, "args": lambda: x1() + (vars(kept),), "watch": lambda: vars(kept)}


# At the third call the dict that is read is the one that is written.
@case(graphs=None, captures=None, breaks=None, reasons=None)
def a_dict_that_comes_to_be_the_same():
    kept, calls = Fields(2.0), [0]

    def f(x, names):
        kept.a = 3.0
        return x * names["a"], len(names)

    def args():
        calls[0] += 1
        return x1() + ({"a": 1.0} if calls[0] < 3 else vars(kept),)

    return {"f": f, "args": args, "watch": lambda: vars(kept)}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def a_class_that_gets_another_way_to_set():
    class Owner:
        pass

    kept, calls, told = Owner(), [0], []

    def f(x):
        kept.__dict__["a"] = 3.0
        made = Owner()
        made.__dict__["b"] = x
        return x * kept.a, made

    def args():
        calls[0] += 1
        if calls[0] == 3:
            Owner.__setattr__ = lambda self, name, value: told.append(name)
        if calls[0] == 4:
            Owner.a = property(lambda self: 8.0)
        return x1()

    return {"f": f, "args": args, "watch": lambda: (vars(kept), told)}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def a_key_that_is_no_name():
    kept = Fields(2.0)

    def f(x):
        kept.__dict__[3] = 1.0
        return x * kept.__dict__[3]

    return {"f": f, "args": x1, "watch": lambda: vars(kept)}


class Telling:
    def __init__(self, name, told):
        self.name, self.told = name, told

    def __del__(self):
        self.told.append(self.name)


@open_case
def values_that_tell_of_their_end():
    told, kept = [], Fields(2.0)

    def f(x):
        kept.b = Telling("b", told)
        kept.__dict__["p"] = Telling("p", told)
        told.append("set")
        kept.b = 1.0
        told.append("b is gone")
        del kept.__dict__["p"]
        told.append("p is gone")
        return x * kept.b

    return {"f": f, "args": x1, "watch": lambda: (list(told), sorted(vars(kept)))}


@open_case
def values_replaced_that_tell_of_their_end():
    told, kept, calls = [], Fields(2.0), [0]

    def f(x):
        told.append("begin")
        kept.b = x
        told.append("b")
        kept.__dict__["p"] = x
        told.append("p")
        return x * kept.b

    def args():
        calls[0] += 1
        kept.b, kept.p = Telling("b%d" % calls[0], told), Telling("p%d" % calls[0], told)
        return x1()

    return {"f": f, "args": args, "watch": lambda: list(told)}


@open_case
def a_break_between():
    kept = Fields(2.0)

    def f(x):
        kept.a = 3.0
        kept.__dict__["p"] = 1.0
        names = kept.__dict__
        print(kept.a, names["p"], list(names))
        kept.b = 5.0
        names["q"] = x
        return x * kept.a + kept.b, names["q"] is kept.q

    return {"f": f, "args": x1, "watch": lambda: vars(kept)}


@open_case
def an_exception_behind_a_write():
    kept = Fields(2.0)

    def f(x):
        kept.a = 3.0
        kept.__dict__["p"] = 1.0
        return x * kept.__dict__["nothing"]

    return {"f": f, "args": x1, "watch": lambda: vars(kept)}
