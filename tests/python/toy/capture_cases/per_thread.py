"""What belongs to a thread or a context: `threading.local`, context variables, and weak references."""

import contextvars
import functools
import threading
import weakref

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


@case()
def read_from_a_local():
    local = threading.local()
    local.scale = 3.0

    def f(x):
        return x * local.scale + getattr(local, "none", 1.0), hasattr(local, "none"), hasattr(local, "scale")

    return {"f": f, "args": x1}


@case()
def written_to_a_local():
    local = threading.local()

    def f(x):
        local.scale = 2.0
        local.last = x * local.scale
        return local.last + 1.0, hasattr(local, "last")

    return {"f": f, "args": x1, "watch": lambda: [local.last, local.scale]}


@open_case
def counted_in_a_local():
    local = threading.local()
    local.calls = 0

    def f(x):
        local.calls += 1
        return x * local.calls

    return {"f": f, "args": x1, "watch": lambda: [local.calls]}


@open_case
def locals_in_threads(translate):
    local = threading.local()
    local.scale = 3.0

    def scaled(x):
        return x * getattr(local, "scale", 7.0)

    inner = translate(scaled)

    def f(x):
        results = [inner(x)]

        def run():
            results.append(inner(x))
            local.scale = 5.0
            results.append(inner(x))

        for _ in range(2):
            thread = threading.Thread(target=run)
            thread.start()
            thread.join()
        return [*results, inner(x)]

    return {"f": f, "args": x1}


@open_case
def locals_of_ones_own_class():
    class Local(threading.local):
        scale = 2.0

        def __init__(self):
            self.made = threading.current_thread() is threading.main_thread()

        @property
        def twice(self):
            return self.scale * 2

    local = Local()

    def f(x):
        local.scale = local.twice
        return x * local.scale, local.made

    return {"f": f, "args": x1, "watch": lambda: [local.scale]}


@open_case
def deleted_from_a_local():
    local = threading.local()

    def f(x):
        local.a = 1
        del local.a
        return x * 2.0, hasattr(local, "a"), sorted(local.__dict__)

    return {"f": f, "args": x1}


@case()
def a_context_variable():
    variable = contextvars.ContextVar("scale")
    variable.set(3.0)
    other = contextvars.ContextVar("other", default=2.0)

    def f(x):
        return x * variable.get() + other.get()

    return {"f": f, "args": x1}


@open_case
def a_context_variable_that_changes():
    variable, calls = contextvars.ContextVar("scale", default=2.0), [0]

    def f(x):
        y = x * variable.get()
        token = variable.set(4.0)
        y = y * variable.get()
        variable.reset(token)
        return y * variable.get(), variable.get(9.0)

    def args():
        calls[0] += 1
        if calls[0] == 2:
            variable.set(5.0)
        return x1()

    def watch():
        return [variable.get()]

    return {"f": f, "args": args, "watch": watch}


@open_case
def a_context_variable_without_a_value():
    variable = contextvars.ContextVar("none")

    def f(x):
        try:
            return x * variable.get()
        except LookupError:
            return x + 1.0, variable.get("default")

    return {"f": f, "args": x1}


@open_case
def contexts_that_are_entered(translate):
    variable = contextvars.ContextVar("scale", default=2.0)
    inner = translate(lambda x: x * variable.get())

    def f(x):
        context = contextvars.copy_context()
        context.run(variable.set, 7.0)
        return inner(x), context.run(inner, x), inner(x)

    return {"f": f, "args": x1}


class Plain:
    k = 3.0


@case()
def weak_references_to_classes():
    table = weakref.WeakKeyDictionary()
    table[Plain] = 2.0

    def f(x):
        reference = weakref.ref(Plain)
        return x * table[Plain], reference() is Plain, Plain in table, int in table, reference is weakref.ref(Plain)

    return {"f": f, "args": x1}


@case()
def dispatched_by_the_class():
    @functools.singledispatch
    def shown(value):
        return "other"

    @shown.register(int)
    def _(value):
        return "int"

    @shown.register(list)
    def _(value):
        return len(value)

    shown(3), shown([1]), shown("a")

    def f(x):
        return x * shown([1, 2]), shown(3), shown("a"), shown.dispatch(int)(4)

    return {"f": f, "args": x1}


@open_case
def dispatched_for_the_first_time():
    @functools.singledispatch
    def shown(value):
        return "other"

    calls = [0]

    def f(x):
        return x * 2.0, shown(3), shown([1])

    def args():
        calls[0] += 1
        if calls[0] == 3:
            shown.register(int, lambda value: "int")
        return x1()

    return {"f": f, "args": args}


@open_case
def referents_that_die():
    class A:
        def __init__(self, k):
            self.k = k

    held, ended = [A(3.0)], []
    reference = weakref.ref(held[0], lambda _: ended.append("gone"))
    table = weakref.WeakValueDictionary(a=held[0])
    calls = [0]

    def f(x):
        found, kept = reference(), table.get("a")
        if found is None:
            return x + 1.0, kept, list(table)
        return x * found.k + kept.k, found is kept, "a" in table

    def args():
        calls[0] += 1
        if calls[0] == 3:
            held.clear()
        return x1()

    return {"f": f, "args": args, "watch": lambda: ended}


@open_case
def weak_keys_that_die():
    class A:
        pass

    held, table, calls = [A(), A()], weakref.WeakKeyDictionary(), [0]
    for at, key in enumerate(held):
        table[key] = at
    del key

    def f(x):
        return x * len(table), [table.get(key) for key in held], [key in table for key in held]

    def args():
        calls[0] += 1
        if calls[0] == 3:
            held.pop()
        return x1()

    return {"f": f, "args": args}


@open_case
def weak_keys_with_methods_of_their_own():
    class Key:
        def __init__(self, n):
            self.n = n

        def __hash__(self):
            print("hash")
            return hash(self.n)

        def __eq__(self, other):
            print("eq")
            return self.n == other.n

    one, two = Key(1), Key(1)
    table = weakref.WeakKeyDictionary({one: 2.0})

    def f(x):
        return x * table[one] + table[two], two in table

    return {"f": f, "args": x1}


@open_case
def weak_references_of_this_call():
    class A:
        k = 2.0

    def f(x):
        a = A()
        reference = weakref.ref(a)
        alive = reference() is a
        del a
        return x * 2.0, alive, reference()

    return {"f": f, "args": x1}


@open_case
def a_stack_in_a_local():
    local = threading.local()

    def f(x):
        local.stack = getattr(local, "stack", [])
        local.stack.append(x)
        if len(local.stack) > 2:
            local.stack = []
        setattr(local, "last", x)
        return x * 2.0 + len(local.stack), getattr(local, "last") is x, local.__class__.__name__

    return {"f": f, "args": x1, "watch": lambda: [len(local.stack)]}


@open_case
def the_dict_of_a_local():
    local = threading.local()
    local.n = 2.0

    class Local(threading.local):
        pass

    own = Local()
    own.n = 3.0

    def f(x):
        try:
            found = local.__dict__["n"]
        except AttributeError as error:
            found = str(error)
        local.n = found + 1.0
        try:
            local.__dict__ = {}
            refused = None
        except AttributeError as error:
            refused = str(error)
        both = [hasattr(local, "__dict__"), hasattr(own, "__dict__"), getattr(local, "__dict__", None)]
        return x * found, both, vars(local), own.__dict__["n"], refused

    return {"f": f, "args": x1, "watch": lambda: [local.n]}


def contexts(use):
    """A function that counts its calls, in contexts of which some have no value."""

    def build(translate):
        variable = contextvars.ContextVar("variable")
        state = {"n": 0}

        def inner(x):
            state["n"] += 1
            return use(x, variable)

        inner = translate(inner)

        def f(x):
            context = contextvars.copy_context()
            context.run(variable.set, 3.0)
            results = []
            for at in (context, context, context, context, contextvars.Context(), context):
                try:
                    results.append(at.run(inner, x))
                except LookupError as error:
                    results.append(type(error))
            return results, state["n"]

        return {"f": f, "args": x1}

    build.__name__ = f"contexts_{use.__name__}"
    return open_case(build)


def dropped(x, variable):
    variable.get()
    return x * 2.0


def given_back(x, variable):
    return x * 2.0, variable.get()


def used(x, variable):
    return x * variable.get()


for use in (dropped, given_back, used):
    contexts(use)
