"""Attributes of classes that raise AttributeError while they are read: a `__getattr__` of the metaclass answers."""

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0]),)


class Silent:
    """A descriptor that has a value for instances alone."""

    def __init__(self, error=AttributeError):
        self.error = error

    def __get__(self, instance, owner=None):
        if instance is None:
            raise self.error("for instances")
        return "of an instance"


class Meta(type):
    of_meta = Silent()
    computed = property(lambda cls: cls.nothing_of_that_name)

    def __get_nothing(cls):
        raise AttributeError("a property")

    refused = property(__get_nothing)

    def __getattr__(cls, name):
        if name == "missing":
            raise AttributeError(name + " of " + cls.__name__)
        return name + "!"


class Member(metaclass=Meta):
    value = Silent()
    wrong = Silent(KeyError)
    missing = Silent()


class Below(Member):
    of_below = Silent()


@case()
def descriptors_of_a_class():
    def f(x):
        return x + 1, Member.value, Below.value, Below.of_below, Member().value, Below().of_below

    return {"f": f, "args": x1}


@case()
def asked_for_by_builtins():
    def f(x):
        cls = Below
        return (
            x + 1,
            getattr(cls, "value"),
            getattr(cls, "value", 3),
            hasattr(cls, "value"),
            hasattr(cls, "missing"),
            getattr(cls, "missing", "default"),
        )

    return {"f": f, "args": x1}


@case()
def descriptors_of_a_metaclass():
    def f(x):
        return x + 1, Member.of_meta, Member.computed, Below.refused, Member.nothing_at_all

    return {"f": f, "args": x1}


@open_case
def what_else_they_raise():
    def f(x, log):
        for read in (lambda: Member.wrong, lambda: Below.missing, lambda: Member.missing):
            try:
                log.append(read())
            except (KeyError, AttributeError) as error:
                log.append((type(error).__name__, str(error)))
        return x + 1

    return {"f": f, "args": lambda: (t([1.0]), [])}


@open_case
def a_metaclass_without_a_hook():
    class Plain:
        value = Silent()

    def f(x, log):
        try:
            return Plain.value
        except AttributeError as error:
            log.append(str(error))
        return x + 1

    return {"f": f, "args": lambda: (t([1.0]), [])}


@open_case
def coroutines_that_are_delegated_to():
    async def coroutine():
        return 10

    class Iterable:
        def __iter__(self):
            return iter((1, 2))

    def delegate(to):
        yield from to

    def f(x, log):
        waiting = coroutine()
        for to in ((1, 2), Iterable(), delegate([3]), waiting, 5):
            try:
                log.append(list(delegate(to)))
            except TypeError as error:
                log.append(str(error))
        waiting.close()
        return x + 1

    return {"f": f, "args": lambda: (t([1.0]), [])}


@open_case
def sums_of_generators():
    def numbers(values):
        for value in values:
            yield value

    values = (
        ((1, 2, True), 0),
        ((1.5, 2), 0),
        ((1, 2.5, 1e100, -1e100, 3), 0),
        ((), 0),
        ((), 2.5),
        ((0.1,) * 10, 0.0),
        ((0.1,) * 10, 1),
        ((1, 1j, 2), 0),
        ((1, 2**70, 3), 5),
        ((True,), True),
        ((), True),
        ((1, (2,)), 0),
        (((2,), 1), 1.5),
    )

    def f(x, log):
        for items, start in values:
            try:
                log.append(sum(numbers(items), start))
            except TypeError as error:
                log.append(str(error))
        return x + sum(numbers((1, x, 2.5))), sum(numbers((1.5, x, 2))), sum(numbers((x, 1)))

    return {"f": f, "args": lambda: (t([1.0]), [])}


@open_case
def class_methods_of_c_twice():
    def f(x):
        first, second = int.from_bytes, int.from_bytes
        return x + 1, first is second, first == second, first(b"\1", "big"), dict.fromkeys("ab", 1)

    return {"f": f, "args": x1}


@open_case
def hooks_of_instances_and_class_methods_of_properties():
    """From 3.9 to 3.12 a class method binds the property that it wraps; the hook of the instance answers where that fails."""

    class Hooked:
        @classmethod
        @property
        def fails(cls):
            raise AttributeError("fails")

        @classmethod
        @property
        def answers(cls):
            return cls.__name__

        def __getattr__(self, name):
            return "hook " + name

    def f(x):
        one = Hooked()
        read = one.fails, one.answers, one.missing, getattr(one, "fails", "default")
        return x + 1, [part if isinstance(part, str) else type(part).__name__ for part in read]

    return {"f": f, "args": x1}
