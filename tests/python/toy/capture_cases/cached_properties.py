"""`functools.cached_property`: its own frame, its parts that the program changes, and a function of it that breaks."""

import functools
import sys
import traceback
import warnings

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


class Model:
    def __init__(self, k):
        self.k = k

    @functools.cached_property
    def table(self):
        return self.k * 2

    @functools.cached_property
    def caller(self):
        return sys._getframe(1).f_code.co_name

    @functools.cached_property
    def warned(self):
        warnings.warn("for the caller", DeprecationWarning, stacklevel=2)
        return self.k * 3

    @functools.cached_property
    def printed(self):
        print("made")
        return self.k * 4

    @functools.cached_property
    def failing(self):
        raise ValueError("none")


@case(graphs=0, breaks=0)
def the_frame_that_calls_the_function_of_a_cached_property():
    def f(x):
        return Model(x).caller

    return {"f": f, "args": x1}


@open_case
def what_the_function_of_a_cached_property_warns_its_caller_of():
    def f(x):
        return Model(x).warned * 2

    return {"f": f, "args": x1}


@open_case
def the_traceback_of_a_cached_property_that_fails():
    def f(x):
        try:
            return Model(x).failing
        except ValueError as error:
            return x * 2, [frame.name for frame in traceback.extract_tb(error.__traceback__)]

    return {"f": f, "args": x1}


@case(graphs=1, captures=2, breaks=1, reasons=("builtin-with-output",))
def a_cached_property_that_breaks():
    def f(x):
        model = Model(x)
        return model.printed + model.printed, vars(model)

    return {"f": f, "args": x1}


@case(graphs=1, captures=2, breaks=1, reasons=("builtin-with-output",))
def a_cached_property_of_a_given_instance_that_breaks():
    def f(x, model):
        return x * model.printed + model.printed, vars(model)

    return {"f": f, "args": lambda: (t([1.0]), Model(2))}


def changed_at_the_third_call(change):
    """A class of its own, which `change` is done to before the third call."""

    class Own:
        def __init__(self, k):
            self.k = k

        @functools.cached_property
        def table(self):
            return self.k * 2

        @functools.cached_property
        def other(self):
            return self.k * 5

    calls = []

    def args():
        calls.append(1)
        if len(calls) == 3:
            change(Own)
        return (t([1.0, 2.0]),)

    def f(x):
        own = Own(x)
        return own.table, own.table, vars(own)

    return {"f": f, "args": args}


@open_case
def a_cached_property_that_is_given_another_function():
    def change(own):
        vars(own)["table"].func = lambda self: self.k * 7

    return changed_at_the_third_call(change)


@open_case
def a_cached_property_that_is_given_another_name():
    def change(own):
        vars(own)["table"].attrname = "renamed"

    return changed_at_the_third_call(change)


@open_case
def a_cached_property_whose_name_is_forgotten():
    def change(own):
        vars(own)["table"].attrname = None

    return changed_at_the_third_call(change)


@open_case
def a_cached_property_of_another_class_of_its_own():
    class Doubled(functools.cached_property):
        def __get__(self, instance, owner=None):
            return super().__get__(instance, owner) * 2

    def change(own):
        vars(own)["table"].__class__ = Doubled

    return changed_at_the_third_call(change)


@open_case
def a_way_to_read_cached_properties_that_is_replaced():
    read = functools.cached_property.__get__
    calls = []

    def args():
        calls.append(1)
        functools.cached_property.__get__ = read
        return (t([1.0, 2.0]), Model(2), len(calls) > 2)

    def f(x, model, changed):
        def other(self, instance, owner=None):
            return self.func(instance) + 1

        if changed:
            functools.cached_property.__get__ = other
        try:
            return x * model.table, vars(model)
        finally:
            functools.cached_property.__get__ = read

    return {"f": f, "args": args}


@open_case
def a_way_to_read_cached_properties_that_somebody_replaces_for_a_while():
    read = functools.cached_property.__get__
    calls = []

    def args():
        calls.append(1)
        replaced = len(calls) in (3, 4)
        functools.cached_property.__get__ = (lambda self, instance, owner=None: 11) if replaced else read
        return (t([1.0, 2.0]), Model(2))

    def f(x, model):
        return x * model.table, vars(model)

    return {"f": f, "args": args, "watch": lambda: setattr(functools.cached_property, "__get__", read)}


# The dict is found as itself behind the break, and its instance, too.
@case(graphs=1, captures=2, breaks=1, reasons=("builtin-with-output",))
def a_dict_of_attributes_that_is_kept_over_a_break():
    class Plain:
        pass

    def f(x):
        plain = Plain()
        plain.k = 3
        names = plain.__dict__
        print("between")
        names["made"] = x * plain.k
        return plain.made, vars(plain)

    return {"f": f, "args": x1}


@open_case
def a_dict_of_attributes_that_is_written_under_both_names_behind_a_break():
    class Plain:
        pass

    def f(x, plain):
        names = plain.__dict__
        print("between")
        k = plain.k
        names["k"] = x * k
        plain.k = plain.k + 1
        names["more"] = plain.k
        del plain.other
        names["other"] = 1
        plain.last = names["k"]
        return list(names), names.pop("last"), hasattr(plain, "last"), len(names)

    def args():
        plain = Plain()
        plain.k, plain.other = 3, 4
        return (t([1.0]), plain)

    return {"f": f, "args": args}


@open_case
def a_dict_of_attributes_behind_a_break_that_is_anothers():
    class Plain:
        pass

    def f(x, plain, names):
        k = plain.k
        print("between")
        names["k"] = x * k * plain.k
        return plain.k

    calls = []

    def args():
        calls.append(1)
        plain, other = Plain(), Plain()
        plain.k = other.k = 3
        return (t([1.0]), plain, vars(plain if len(calls) % 3 else other))

    return {"f": f, "args": args}
