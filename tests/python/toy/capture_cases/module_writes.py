"""Attributes of modules that the program writes."""

import sys
import types
import warnings

from observe import case, open_case
from toy_framework import toy

from capture_cases import another_module

t = toy.tensor


def x1():
    return (t([1.0, 2.0]), [])


@case()
def an_attribute_of_another_module():
    def f(x, log):
        another_module.written = x
        log.append(another_module.written is x)
        another_module.count = getattr(another_module, "count", 0) + 1
        log.append(another_module.count)
        return x * 2

    def args():
        another_module.count = 0
        return x1()

    return {"f": f, "args": args}


@case()
def a_global_of_its_functions():
    module = types.ModuleType("of_functions")
    module.__file__ = "of_functions.py"
    exec("scale = 2\ndef scaled(x):\n    return x * scale\ndef grow():\n    global scale\n    scale += 1", module.__dict__)

    def f(x, log):
        module.scale = 5
        y = module.scaled(x)
        module.grow()
        log.append(module.scale)
        return module.scaled(y)

    return {"f": f, "args": x1, "watch": lambda: module.__dict__["scale"]}


@open_case
def put_back_at_the_end():
    def f(x, log):
        before = another_module.__doc__
        another_module.__doc__ = "another"
        try:
            return x * len(another_module.__doc__)
        finally:
            another_module.__doc__ = before

    return {"f": f, "args": x1}


@open_case
def streams_and_builtins_are_left_to_python():
    def f(x, log):
        before = sys.stdout
        sys.stdout = before
        log.append(sys.stdout is before)
        return x * 2

    return {"f": f, "args": x1}


@open_case
def warnings_are_caught():
    def f(x, log):
        filters = warnings.filters
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.warn("unheard")
            y = x * 2
        log.append(warnings.filters is filters)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            warnings.warn("heard")
        log.append([str(one.message) for one in heard])
        return y

    return {"f": f, "args": x1}


@case()
def filters_around_what_is_no_operation():
    def f(x, log):
        y = x * 2
        filters = warnings.filters
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            log.append((warnings.filters is filters, warnings.filters[0][0]))
        log.append(warnings.filters is filters)
        return y

    return {"f": f, "args": x1}


@case(breaks=1, captures=2, reasons=("mutation",))
def operations_see_the_filters():
    def f(x, log):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            y = x * 2
            log.append(warnings.filters[0][0])
            y = y + 1
        return y

    return {"f": f, "args": x1}
