"""Classes made on bases of the program: in which order bases tell of them, what was read of a base, what is written to a class."""

import abc
import collections.abc
import gc

from observe import case, open_case
from toy_framework import toy

t = toy.tensor
simulated = case(captures=1, breaks=0, reasons=())


def x1():
    return (t([1.0, 2.0]),)


def base():
    class Base:
        factor = 2

        def go(self, y):
            return y * self.factor

    return Base


def told(*bases):
    return lambda: [[sub.__name__ for sub in base.__subclasses__()] for base in bases]


@case()
def order_in_which_bases_tell():
    Base = base()
    kept = []

    def f(x):
        found = {}
        kept.append(found)

        class A(Base):
            pass

        class B(Base):
            pass

        found["b"], found["a"] = B, A
        return B().go(x)

    return {"f": f, "args": x1, "watch": told(Base)}


@case(graphs=3, captures=3, breaks=0, reasons=())
def classes_in_a_loop_on_a_base():
    Base = base()
    kept = []

    def f(x):
        for k in range(4):
            Local = type(f"Local{k}", (Base,), {"factor": k})
            kept.append(Local)
            x = x + Local().go(x)
        return x

    return {"f": f, "args": x1, "watch": told(Base)}


@open_case
def class_made_before_an_exception():
    Base = base()
    kept = []

    def f(x):
        class Local(Base):
            pass

        kept.append(Local)
        y = Local().go(x)
        raise ValueError(y.shape)

    return {"f": f, "args": x1, "watch": told(Base)}


@open_case
def class_made_before_a_break():
    Base = base()

    def f(x):
        class Local(Base):
            pass

        print([sub.__name__ for sub in Base.__subclasses__()][-1])
        return Local().go(x)

    return {"f": f, "args": x1}


@case(graphs=3, captures=3, breaks=0, reasons=())
def base_that_changes_between_calls():
    Base = base()
    calls = []

    def f(x):
        class Local(Base):
            pass

        return Local().go(x)

    def watch():
        calls.append(1)
        if len(calls) == 1:
            Base.factor = 5
        elif len(calls) == 2:
            Base.go = lambda self, y: y - 1
        return ()

    return {"f": f, "args": x1, "watch": watch}


class Hooked:
    factor = 4

    def go(self, y):
        return y * self.factor


@case(graphs=2, captures=2, breaks=0, reasons=())
def base_that_begins_to_hear():
    if "__init_subclass__" in vars(Hooked):
        del Hooked.__init_subclass__
    heard = []

    def f(x):
        class Local(Hooked):
            pass

        return Local().go(x)

    def watch():
        if not heard:
            Hooked.__init_subclass__ = classmethod(lambda cls, **options: heard.append(cls.__name__))
            heard.append("begins")
        elif "Local" in heard and "__init_subclass__" in vars(Hooked):
            del Hooked.__init_subclass__
        return list(heard)

    return {"f": f, "args": x1, "watch": watch}


class Mixin:
    pass


class Plain:
    def go(self, y):
        return y + 1


@case(graphs=2, captures=2, breaks=0, reasons=())
def one_of_two_bases_that_changes():
    if "go" in vars(Mixin):
        del Mixin.go
    calls = []

    def f(x):
        class Local(Mixin, Plain):
            pass

        return Local().go(x), Local.__mro__[1:3] == (Mixin, Plain)

    def watch():
        calls.append(1)
        if len(calls) == 1:
            Mixin.go = lambda self, y: y * 7
        elif len(calls) == 2:
            del Mixin.go
        return ()

    return {"f": f, "args": x1, "watch": watch}


@simulated
def base_that_is_an_argument():
    bases = [base(), base(), Plain]

    def f(x, Base):
        class Local(Base):
            def twice(self, y):
                return super().go(self.go(y))

        return Local().twice(x), issubclass(Local, Base)

    return {"f": f, "args": lambda: (t([1.0, 2.0]), bases[0])}


@simulated
def abstract_class_of_the_frame():
    def f(x):
        class Shape(abc.ABC):
            @property
            @abc.abstractmethod
            def area(self): ...

            @abc.abstractmethod
            def go(self, y): ...

            def twice(self, y):
                return self.go(y) * 2

        class Square(Shape):
            area = 4

            def go(self, y):
                return y * self.area

        return Square().twice(x), isinstance(Square(), Shape), issubclass(Shape, abc.ABC), isinstance(3, Shape)

    return {"f": f, "args": x1}


@case()
def abstract_class_that_is_instantiated():
    def f(x):
        class Shape(metaclass=abc.ABCMeta):
            @abc.abstractmethod
            def go(self, y): ...

        try:
            Shape()
        except TypeError as error:
            return str(error), x + 1

    return {"f": f, "args": x1}


@case(graphs=3, captures=4, breaks=1, reasons=("opaque-call",))
def abstract_class_that_registers():
    def f(x):
        class Shape(abc.ABC):
            pass

        class Other:
            pass

        Shape.register(Other)
        return isinstance(Other(), Shape), x + 1

    return {"f": f, "args": x1}


@open_case
def hook_of_an_abstract_class():
    class Base(abc.ABC):
        pass

    def f(x):
        class Local(Base):
            @classmethod
            def __subclasshook__(cls, other):
                return hasattr(other, "odd")

        class Odd:
            odd = 1

        return isinstance(Odd(), Local), isinstance(Odd(), Base), x + 1

    return {"f": f, "args": x1}


@simulated
def mapping_of_a_statement():
    def f(x):
        class Table(collections.abc.MutableMapping):
            def __init__(self):
                self.held = {}

            def __getitem__(self, key):
                return self.held[key]

            def __setitem__(self, key, value):
                self.held[key] = value

            def __delitem__(self, key):
                del self.held[key]

            def __iter__(self):
                return iter(self.held)

            def __len__(self):
                return len(self.held)

        table = Table()
        table["a"] = x
        table.update(b=x * 2)
        return table.get("c", 3), table["b"] + table.pop("a"), "b" in table, len(table)

    return {"f": f, "args": x1}


class Failed(Exception):
    def __init__(self, message, code):
        super().__init__(message)
        self.code = code


@simulated
def exception_on_one_of_the_program():
    def f(x):
        class Worse(Failed):
            def told(self):
                return f"{self.args[0]}: {self.code}"

        try:
            raise Worse("bad", 3)
        except Failed as error:
            return error.told(), isinstance(error, Worse), x * error.code

    return {"f": f, "args": x1}


@case(captures=1, breaks=1, reasons=("would-raise",))
def exception_on_one_of_the_program_that_leaves():
    def f(x):
        class Worse(Failed):
            pass

        y = x + 1
        raise Worse("bad", y.shape[0])

    return {"f": f, "args": x1}


@simulated
def super_in_methods_of_the_class():
    class Base:
        @classmethod
        def of(cls, value):
            made = cls()
            made.value = value
            return made

        def go(self):
            return self.value * 2

    def f(x):
        class Local(Base):
            @classmethod
            def of(cls, value):
                return super().of(value + 1)

            def go(self):
                def inner():
                    return __class__ is Local, super(Local, self).go()

                return inner()

        return Local.of(x).go()

    return {"f": f, "args": x1}


@simulated
def names_given_to_type_that_change_later():
    Base = base()

    def f(x):
        names = {"factor": 3, "__module__": "elsewhere"}
        A = type("A", (Base,), names)
        names["factor"] = 4
        B = type("B", (A,), names)
        names.clear()
        return A().go(x), B().go(x), A.__module__, B.__module__, A.factor, B.factor

    return {"f": f, "args": x1}


@open_case
def counter_in_a_class_over_a_break():
    Base = base()

    def f(x):
        class Local(Base):
            made = 0

            def __init__(self):
                type(self).made += 1

        first = Local()
        print(Local.made)
        second = Local()
        return first.go(x) + second.made, Local.made, "made" in vars(Local), "made" in vars(second)

    return {"f": f, "args": x1}


@open_case
def methods_written_to_a_class():
    def f(x):
        class Base:
            def go(self, y):
                return y + 1

        class Local(Base):
            def go(self, y):
                return super().go(y) * 2

        before = Local().go(x)
        old = Base.go
        Base.go = lambda self, y: old(self, y) * 10
        after = Local().go(x)
        Local.go = Base.go
        Local.kept = staticmethod(lambda y: y - 1)
        local = Local()
        local.factor = 3
        Local.factor = 4
        return before, after, local.go(x), local.factor, Local.factor, getattr(Local, "lacking", 5), Local.kept(x)

    return {"f": f, "args": x1}


@open_case
def special_method_written_to_a_class():
    def f(x):
        class Local:
            pass

        Local.__call__ = lambda self, y: y + 5
        Local.__len__ = lambda self: 3
        return Local()(x), len(Local())

    return {"f": f, "args": x1}


@case(captures=1, breaks=0, reasons=())
def attribute_written_and_deleted():
    def f(x):
        class Base:
            a = 1

        class Local(Base):
            a = 2

        Local.a = 3
        before = Local.a
        del Local.a
        return before, Local.a, Local().a, x + 1

    return {"f": f, "args": x1}


@case(captures=2, breaks=1, reasons=("value-kind",))
def property_with_all_its_parts():
    def f(x):
        class Local:
            def __init__(self):
                self.log = []

            @property
            def value(self):
                "Told."
                return self.kept

            @value.setter
            def value(self, new):
                self.log.append("set")
                self.kept = new

            @value.deleter
            def value(self):
                self.log.append("deleted")
                del self.kept

        local = Local()
        local.value = x
        y = local.value + 1
        del local.value
        return y, local.log, hasattr(local, "value"), Local.value.__doc__, Local.value.fset is not None

    return {"f": f, "args": x1}


@case(captures=2, breaks=1, reasons=("builtin",))
def property_that_is_inherited_and_changed():
    class Base:
        @property
        def value(self):
            return 1

    def f(x):
        class Local(Base):
            @Base.value.getter
            def value(self):
                return 2

        return x * Local().value

    return {"f": f, "args": x1}


@case(captures=2, breaks=1, reasons=("opaque-call",))
def value_of_a_base_that_is_seen_to_live():
    class Thing:
        pass

    Base = base()

    def f(x):
        thing = Thing()

        class Local(Base):
            held = thing

            def go(self, y):
                return super().go(y), self.held

        gc.collect()
        return Local().go(x)[0], Local.held is thing

    return {"f": f, "args": x1}


@case(captures=1, breaks=0, reasons=())
def class_that_is_its_own_attribute():
    Base = base()

    def f(x):
        class Local(Base):
            parts = []

        Local.me = Local
        Local.parts.append(Local())
        return Local.me is Local, Local.parts[0].go(x), len(Local.parts)

    return {"f": f, "args": x1}


@simulated
def metaclass_that_is_named():
    def f(x):
        class Local(metaclass=type):
            k = 2

        return x * Local.k, type(Local) is type

    return {"f": f, "args": x1}


@open_case
def keywords_of_a_class_statement():
    class Base:
        def __init_subclass__(cls, /, scale, **rest):
            super().__init_subclass__(**rest)
            cls.scale = scale

    def f(x):
        class Local(Base, scale=3):
            pass

        try:

            class Other(Base, scale=1, odd=2):
                pass
        except TypeError as error:
            return x * Local.scale, str(error)

    return {"f": f, "args": x1}


@simulated
def bases_in_a_list():
    bases = [Mixin, Plain]

    def f(x):
        class Local(*bases):
            pass

        return Local().go(x), Local.__bases__ == tuple(bases)

    return {"f": f, "args": x1}


@open_case
def class_that_a_function_of_the_program_decorates():
    Base = base()
    log = []

    def noted(name):
        def decorate(cls):
            log.append((name, cls.__name__, len(Base.__subclasses__()) > 0))
            cls.noted = name
            return cls

        return decorate

    def f(x):
        @noted("first")
        @noted("second")
        class Local(Base):
            pass

        return Local().go(x), Local.noted

    return {"f": f, "args": x1, "watch": lambda: log}


@simulated
def classes_that_recursion_makes():
    def f(x):
        def make(base, level):
            if level == 0:
                return base

            class Sub(base):
                own = level

                def go(self, y):
                    return super().go(y) + self.own

            return make(Sub, level - 1)

        class Root:
            def go(self, y):
                return y

        Made = make(Root, 4)
        return Made().go(x), [c.__name__ for c in Made.__mro__]

    return {"f": f, "args": x1}


@open_case
def attributes_of_a_base_that_are_written():
    def f(x):
        class Base:
            k = 1

            def __getattr__(self, name):
                return name

        class Local(Base):
            def go(self, y):
                return y * self.k + super().k + Local.k

        first = Local().late
        Base.k = 5
        Base.late = 6
        second = Local().go(x)
        Local.k = 7
        return first, second, Local().go(x), Base.k, Local().late, hasattr(Local, "lacking")

    return {"f": f, "args": x1}


@open_case
def instances_of_builtin_types_with_methods():
    def f(x):
        class Number(int):
            def __add__(self, other):
                return Number(int(self) + other + 1)

        class Table(dict):
            def __getitem__(self, key):
                return super().__getitem__(key) + 1

        class Pair(tuple):
            @property
            def first(self):
                return self[0]

        table = Table(a=1)
        table["b"] = 5
        return x * (Number(3) + 4), table["a"], dict(table), Pair((x, 2)).first + 1, Pair((1, 2))

    return {"f": f, "args": x1}


@open_case
def metaclass_of_the_frame():
    def f(x):
        class Meta(type):
            def __getitem__(cls, key):
                return key

        class Local(metaclass=Meta):
            k = 4

        return x * Local[3], Local.k, type(Local) is Meta

    return {"f": f, "args": x1}
