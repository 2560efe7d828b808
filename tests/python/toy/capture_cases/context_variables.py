"""Context variables that are set, and set back, by captured code."""

import contextlib
import contextvars

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


def variable_of(default):
    return contextvars.ContextVar("scale", default=default) if default else contextvars.ContextVar("scale")


def told(variable):
    # What the context has, and not the default.
    return [variable.get("none"), variable in contextvars.copy_context()]


def set_and_back(variable, x):
    token = variable.set(3.0)
    try:
        return x * variable.get()
    finally:
        variable.reset(token)


def nested(variable, x):
    outer = variable.set(3.0)
    inner = variable.set(variable.get() + 1)
    seen = [variable.get()]
    variable.reset(inner)
    seen.append(variable.get())
    variable.reset(outer)
    return x * seen[0], seen


def out_of_turn(variable, x):
    first = variable.set(3.0)
    second = variable.set(4.0)
    variable.reset(first)
    seen = [variable.get("none")]
    variable.reset(second)
    seen.append(variable.get("none"))
    return x * 2.0, seen


def in_a_block(variable, x):
    @contextlib.contextmanager
    def scaled(by):
        token = variable.set(by)
        try:
            yield
        finally:
            variable.reset(token)

    with scaled(2.0):
        y = x * variable.get()
        with scaled(5.0):
            y = y * variable.get()
        return y * variable.get()


class Scaled:
    def __init__(self, variable, by):
        self.variable, self.by = variable, by

    def __enter__(self):
        self.token = self.variable.set(self.by)

    def __exit__(self, *raised):
        self.variable.reset(self.token)


def in_a_block_of_a_class(variable, x):
    with Scaled(variable, 2.0):
        return x * variable.get()


def left_by_an_error(variable, x):
    y = x * 2.0
    try:
        with Scaled(variable, 7.0):
            y = y * variable.get()
            raise KeyError("inside")
    except KeyError as error:
        return y, error.args


def only_set(variable, x):
    variable.set(4.0)
    return x * variable.get()


def counted(variable, x):
    variable.set(variable.get() + 1 if variable in contextvars.copy_context() else 1)
    return x * variable.get()


def set_over_a_break(variable, x):
    token = variable.set(3.0)
    toy.show(0)
    y = x * variable.get()
    variable.reset(token)
    return y


def a_break_behind(variable, x):
    token = variable.set(3.0)
    y = x * variable.get()
    variable.reset(token)
    toy.show(0)
    return y, variable.get("none")


def used_twice(variable, x):
    token = variable.set(3.0)
    variable.reset(token)
    try:
        variable.reset(token)
    except RuntimeError as error:
        return x * 2.0, type(error).__name__
    return x


def of_another(variable, x):
    other = contextvars.ContextVar("other")
    token = variable.set(3.0)
    try:
        other.reset(token)
    except ValueError as error:
        return x * 2.0, type(error).__name__
    finally:
        variable.reset(token)


def asked(variable, x):
    token = variable.set(3.0)
    seen = token.var is variable, token.old_value is contextvars.Token.MISSING, isinstance(token, contextvars.Token)
    try:
        iter(token)
    except TypeError:
        seen += ("no iterator",)
    try:
        next(token)
    except TypeError:
        seen += ("not asked",)
    variable.reset(token)
    return x * 2.0, seen


def returned(variable, x):
    return x * 2.0, type(variable.set(3.0)).__name__, bool(variable.set(4.0))


def failing(variable, x):
    token = variable.set(3.0)
    y = x + t([1.0, 2.0, 3.0])
    variable.reset(token)
    return y


USES = [
    set_and_back,
    nested,
    out_of_turn,
    in_a_block,
    in_a_block_of_a_class,
    left_by_an_error,
    only_set,
    counted,
    set_over_a_break,
    a_break_behind,
    used_twice,
    of_another,
    asked,
    returned,
    failing,
]
CAPTURED = {set_and_back, nested, in_a_block, in_a_block_of_a_class, left_by_an_error}


def varied(use, default):
    def build():
        variable = variable_of(default)

        def f(x):
            return use(variable, x)

        return {"f": f, "args": x1, "watch": lambda: told(variable)}

    kind = "with_a_default" if default else "without"
    build.__name__ = f"context_variable_{use.__name__}_{kind}"
    build.__module__ = __name__
    (case() if use in CAPTURED and default else open_case)(build)


for use in USES:
    for default in (None, 2.0):
        varied(use, default)


@case()
def a_context_variable_that_is_set_before():
    variable = contextvars.ContextVar("scale")
    variable.set(9.0)

    def f(x):
        before = variable.get()
        token = variable.set(before + 1.0)
        y = x * variable.get()
        variable.reset(token)
        return y, variable.get()

    return {"f": f, "args": x1, "watch": lambda: told(variable)}


@open_case
def a_value_that_is_seen_to_die():
    log = []

    class Noisy:
        def __del__(self):
            log.append("gone")

    variable = contextvars.ContextVar("held")

    def f(x):
        token = variable.set(Noisy())
        log.append("set")
        variable.reset(token)
        log.append("back")
        variable.set(Noisy())
        log.append("again")
        return x * 2.0, list(log)

    return {"f": f, "args": x1, "watch": lambda: [list(log)]}
