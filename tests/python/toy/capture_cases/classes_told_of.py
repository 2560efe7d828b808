"""Classes made in functions whose making runs code of the program: bases that hear of their subclasses, metaclasses; and what is
written to such classes."""

import abc
import enum
import sys

from observe import case, open_case
from toy_framework import toy

t = toy.tensor
simulated = case(captures=1, breaks=0, reasons=())


def x1():
    return (t([1.0, 2.0]),)


def world():
    """Classes that tell what they are asked, in order."""
    heard = []

    class Base:
        def __init_subclass__(cls, q=1, **rest):
            super().__init_subclass__(**rest)
            heard.append((cls.__name__, q, hasattr(cls, "own")))
            cls.q = q

    class Meta(type):
        @classmethod
        def __prepare__(mcs, name, bases, **rest):
            heard.append(("prepare", name, rest))
            return {"prepared": len(bases)}

        def __new__(mcs, name, bases, names, **rest):
            heard.append(("new", name, sorted(k for k in names if k[:2] != "__")))
            cls = super().__new__(mcs, name, bases, names)
            cls.z = rest.get("z", 0)
            return cls

        def __init__(cls, name, bases, names, **rest):
            heard.append(("init", name, cls.z))
            super().__init__(name, bases, names)
            cls.ready = True

        def __call__(cls, *args):
            heard.append(("call", cls.__name__))
            made = super().__call__(*args)
            made.called = 1
            return made

        def twice(cls):
            return cls.z * 2

    return heard, Base, Meta


@simulated
def base_that_hears_with_keywords():
    heard, Base, _ = world()

    def f(x):
        class A(Base, q=2):
            own = 1

            def go(self, y):
                return y * self.q + self.own

        class B(A):
            pass

        return A().go(x), B().go(x), B.q, [c.__name__ for c in B.__mro__]

    return {"f": f, "args": x1, "watch": lambda: list(heard)}


@open_case
def hook_that_keeps_the_class():
    kept = {}

    class Base:
        def __init_subclass__(cls):
            kept[cls.__name__] = cls

    def f(x):
        class A(Base):
            def go(self, y):
                return y + 1

        return kept["A"]().go(x), kept["A"] is A

    def watch():
        made = kept.get("A")
        return made and (made.__name__, made.__qualname__, made.__module__, made.__mro__[1:] == (Base, object),
                         sorted(made.__dict__), made().go(3))

    return {"f": f, "args": x1, "watch": watch}


@simulated
def metaclass_with_all_methods():
    heard, _, Meta = world()

    def f(x):
        class A(metaclass=Meta, z=3):
            own = 1

            def go(self, y):
                return y * self.z + self.called + self.prepared

        class B(A, z=4):
            pass

        return A().go(x), B().go(x), A.ready, B.twice(), type(B) is Meta

    return {"f": f, "args": x1, "watch": lambda: list(heard)}


@simulated
def base_and_metaclass_at_once():
    heard, Base, Meta = world()

    def f(x):
        class A(Base, metaclass=Meta):
            own = x

            def go(self):
                return self.own * self.q

        return A().go(), A.q

    return {"f": f, "args": x1, "watch": lambda: list(heard)}


@simulated
def body_that_refers_to_its_class():
    heard, Base, Meta = world()

    def f(x):
        class A(Base, metaclass=Meta):
            def go(self, y):
                return y + 1

            def own(self):
                return __class__

        class B(A):
            def go(self, y):
                return super().go(y) * 2

        return B().go(x), B().own() is A

    return {"f": f, "args": x1, "watch": lambda: list(heard)}


@simulated
def type_is_called_on_a_base_that_hears():
    heard, Base, Meta = world()

    def f(x):
        A = type("A", (Base,), {"k": 2, "go": lambda self, y: y * self.k}, q=5)
        B = Meta("B", (), {"__module__": "m", "go": lambda self, y: y + 1}, z=6)
        return A().go(x), A.q, B().go(x), B.z, A.__module__

    return {"f": f, "args": x1, "watch": lambda: list(heard)}


@open_case
def hook_that_raises():
    heard = []

    class Base:
        def __init_subclass__(cls):
            heard.append(cls.__name__)
            raise ValueError("no " + cls.__name__)

    def f(x):
        try:
            class A(Base):
                pass
        except ValueError as error:
            return x + 1, str(error)

    return {"f": f, "args": x1, "watch": lambda: list(heard)}


@open_case
def hook_that_raises_uncaught():
    class Base:
        def __init_subclass__(cls, **rest):
            super().__init_subclass__(**rest)

    def f(x):
        y = x + 1

        class A(Base, unknown=1):
            pass

        return y

    return {"f": f, "args": x1}


@open_case
def metaclass_that_raises_in_the_middle():
    heard = []

    class Meta(type):
        def __new__(mcs, name, bases, names):
            cls = super().__new__(mcs, name, bases, names)
            heard.append(cls.k)
            raise KeyError(name)

    def f(x):
        try:
            class A(metaclass=Meta):
                k = 7
        except KeyError as error:
            return x * 2, error.args

    return {"f": f, "args": x1, "watch": lambda: list(heard)}


@open_case
def hook_that_breaks():
    heard = []

    class Base:
        def __init_subclass__(cls, q=0):
            heard.append(cls.__name__)
            print("told", cls.__name__)
            cls.q = q

    def f(x):
        y = x + 1

        class A(Base, q=3):
            def go(self, y):
                return y * self.q

        return A().go(y)

    return {"f": f, "args": x1, "watch": lambda: list(heard)}


@open_case
def metaclass_that_breaks():
    heard = []

    class Meta(type):
        @classmethod
        def __prepare__(mcs, name, bases):
            print("prepare")
            return {"p": 2}

        def __new__(mcs, name, bases, names):
            print("before", sorted(names))
            cls = super().__new__(mcs, name, bases, names)
            print("after", cls.__name__)
            return cls

        def __init__(cls, name, bases, names):
            heard.append(name)
            print("init")

    class Quick(type):
        def __new__(mcs, name, bases, names):
            print("before", sorted(names))
            cls = super().__new__(mcs, name, bases, names)
            print("after", cls.__name__)
            return cls

    def f(x):
        class A(metaclass=Meta):
            def go(self, y):
                return y * self.p

        class B(A):
            def go(self, y):
                return super().go(y) + 1

        class C(metaclass=Quick):
            def go(self, y):
                return y, __class__.__name__

        return B().go(x), C().go(x)

    return {"f": f, "args": x1, "watch": lambda: list(heard)}


@open_case
def metaclass_that_makes_something_else():
    class Meta(type):
        def __new__(mcs, name, bases, names):
            return name, sorted(k for k in names if k[:2] != "__")

    class Twice(type):
        def __new__(mcs, name, bases, names):
            type.__new__(mcs, name, bases, names)
            return super().__new__(mcs, name + "2", bases, names)

    def f(x):
        class A(metaclass=Meta):
            k = 1

        class B(metaclass=Twice):
            def go(self, y):
                return y + 1

        return A, B().go(x), B.__name__

    return {"f": f, "args": x1}


@open_case
def class_cell_that_is_lost():
    class Meta(type):
        def __new__(mcs, name, bases, names):
            names = {key: value for key, value in names.items() if key != "__classcell__"}
            return super().__new__(mcs, name, bases, names)

    def f(x):
        try:
            class A(metaclass=Meta):
                def own(self):
                    return __class__
        except RuntimeError as error:
            return x + 1, type(error).__name__

    return {"f": f, "args": x1}


@open_case
def abstract_base_that_hears():
    heard = []

    class Shape(abc.ABC):
        def __init_subclass__(cls, **rest):
            super().__init_subclass__(**rest)
            heard.append((cls.__name__, "__abstractmethods__" in cls.__dict__))
            cls.fill = lambda self: 1

        @abc.abstractmethod
        def area(self, y): ...

        @abc.abstractmethod
        def fill(self): ...

    def f(x):
        class Square(Shape):
            def area(self, y):
                return y * y

        class Open(Shape):
            pass

        return Square().area(x), Square().fill(), sorted(Open.__abstractmethods__), isinstance(Square(), Shape)

    return {"f": f, "args": x1, "watch": lambda: list(heard)}


@open_case
def metaclass_below_that_of_abstract_classes():
    heard = []

    class Meta(abc.ABCMeta):
        def __new__(mcs, name, bases, names):
            cls = super().__new__(mcs, name, bases, names)
            heard.append((name, sorted(cls.__abstractmethods__)))
            return cls

    def f(x):
        class Shape(metaclass=Meta):
            @abc.abstractmethod
            def area(self, y): ...

        class Square(Shape):
            def area(self, y):
                return y * y

        return Square().area(x), issubclass(Square, Shape)

    return {"f": f, "args": x1, "watch": lambda: list(heard)}


@open_case
def values_that_are_told_their_names():
    heard = []

    class Field:
        def __set_name__(self, owner, name):
            heard.append((owner.__name__, name))
            self.name = name

        def __get__(self, instance, owner):
            return self.name

    class Base:
        def __init_subclass__(cls):
            heard.append(cls.__name__)

    def f(x):
        class A(Base):
            first = Field()
            second = Field()

        return x + 1, A().first, A.second

    return {"f": f, "args": x1, "watch": lambda: list(heard)}


@open_case
def hook_that_is_replaced_between_calls():
    class Base:
        def __init_subclass__(cls):
            cls.q = 2

    count = [0]

    def f(x):
        class A(Base):
            pass

        return x * A.q

    def args():
        count[0] += 1
        if count[0] == 3:
            Base.__init_subclass__ = classmethod(lambda cls: setattr(cls, "q", 5))
        if count[0] == 5:
            del Base.__init_subclass__
            Base.q = 7
        return x1()

    return {"f": f, "args": args}


@simulated
def written_and_deleted():
    def f(x):
        class A:
            k = 1

            def go(self, y):
                return y * self.k

        A.k = 3
        setattr(A, "j", x)
        first = A().go(x), A().j
        del A.k
        A.k = 4
        delattr(A, "j")
        A.__doc__, A.__name__, A.__qualname__, A.__module__ = "text", "Other", "in.Other", "where"
        A.__len__ = lambda self: 3
        return first, A().go(x), hasattr(A, "j"), A.__doc__, A.__name__, A.__qualname__, A.__module__, len(A())

    return {"f": f, "args": x1}


@simulated
def tensors_as_attributes_that_change():
    def f(x):
        class A:
            held = x
            log = []

            def go(self):
                type(self).held = self.held * 2
                self.log.append(1)
                return self.held

        class B(A):
            pass

        first = B().go()
        A.held = x + 10
        second, third = A().go(), B().held
        del B.held
        return first, second, third, B().held, len(A.log)

    return {"f": f, "args": x1}


@simulated
def written_classes_that_live_on():
    def f(x):
        class A:
            k = 1

        A.k = x + 1
        A.extra = [1]
        del A.extra
        A.go = lambda self: self.k
        return A, A().go()

    return {"f": f, "args": x1}


@open_case
def written_before_a_break_told():
    def f(x):
        class A:
            k = 1
            j = 2

            def go(self, y):
                return y * self.k

        A.k = 3
        del A.j
        A.__len__ = lambda self: 4
        print("between")
        A.k += 1
        return A().go(x), hasattr(A, "j"), len(A()), sorted(k for k in vars(A) if k[:2] != "__")

    return {"f": f, "args": x1}


@open_case
def deleted_without_being_there():
    class Base:
        k = 1

    def f(x):
        class A(Base):
            pass

        try:
            del A.k
        except AttributeError as error:
            return x + 1, str(error)

    return {"f": f, "args": x1}


@open_case
def written_in_a_branch_that_raises():
    def f(x):
        class A:
            k = 1

            def __getattr__(self, name):
                type(self).k = 5
                raise AttributeError(name)

        a = A()
        return x * getattr(a, "missing", 2), a.k, [A.k for _ in range(2)]

    return {"f": f, "args": x1}


@open_case
def metaclass_with_a_setattr_of_its_own():
    heard = []

    class Meta(type):
        def __setattr__(cls, name, value):
            heard.append(name)
            super().__setattr__(name, value)

        def __delattr__(cls, name):
            heard.append("del " + name)
            super().__delattr__(name)

    def f(x):
        class A(metaclass=Meta):
            k = 1

        A.k = x
        A.j = 2
        del A.j
        return A.k * 2

    return {"f": f, "args": x1, "watch": lambda: list(heard)}


@open_case
def slots_and_methods_that_are_wrapped():
    heard, Base, Meta = world()

    def f(x):
        class A(Base, metaclass=Meta):
            __slots__ = ("a", "b", "called")

            def __new__(cls, value):
                made = super().__new__(cls)
                made.a = value
                return made

            def __init__(self, value):
                self.b = value * 2

            def __class_getitem__(cls, key):
                return cls.__name__, key

        a = A(x)
        return a.a + a.b, A[3]

    return {"f": f, "args": x1, "watch": lambda: list(heard)}


@open_case
def local_metaclass():
    def f(x):
        class Meta(type):
            def __new__(mcs, name, bases, names):
                names["added"] = 4
                return super().__new__(mcs, name, bases, names)

        class A(metaclass=Meta):
            pass

        return x * A.added, type(A) is Meta

    return {"f": f, "args": x1}


@open_case
def metaclass_whose_mro_is_its_own():
    class Meta(type):
        def mro(cls):
            return [cls, Extra, object]

    class Extra:
        k = 3

    def f(x):
        class A(metaclass=Meta):
            pass

        return x * A.k

    return {"f": f, "args": x1}


@open_case
def bases_of_two_metaclasses():
    class First(type):
        pass

    class Second(First):
        def __init__(cls, *rest):
            cls.by = "second"

    class Other(type):
        pass

    class A(metaclass=First):
        pass

    class B(metaclass=Second):
        pass

    class C(metaclass=Other):
        pass

    def f(x):
        class Both(A, B):
            pass

        try:
            class None_(A, C):
                pass
        except TypeError as error:
            return x + 1, Both.by, type(Both).__name__, str(error)[:30]

    return {"f": f, "args": x1}


decided_by_version = case(captures=2, breaks=1, reasons=("builtin",)) if sys.version_info >= (3, 11) else open_case


@decided_by_version
def local_enumeration_is_captured_once():
    def f(x):
        class K(enum.Enum):
            A = 1
            B = 2

        return x + K.A.value, K.B.name, K(1) is K.A, [k.value for k in K]

    return {"f": f, "args": x1}


@open_case
def local_enumeration():
    def f(x):
        class K(enum.Enum):
            A = 1
            B = 2
            C = 1

            def twice(self):
                return self.value * 2

        table = {K.A: x, K.B: x + 1}
        return (
            table[K.A] + K.B.value,
            K.A is K.C,
            K.B.name,
            K.B.twice(),
            K(2) is K.B,
            K["A"] is K.A,
            [k.name for k in K],
            K.A == K.B,
            isinstance(K.A, K),
            K.A in K,
            len(K),
            repr(K.A),
        )

    return {"f": f, "args": x1}


@open_case
def local_enumeration_whose_values_change():
    count = [0]

    def f(x, n):
        class K(enum.IntEnum):
            A = n
            B = n + 1

        return x * K.A, K.B.value, K.A < K.B, K.A + 1, max(K).name

    def args():
        count[0] += 1
        return t([1.0, 2.0]), count[0] // 2

    return {"f": f, "args": args}


@open_case
def local_flags():
    def f(x):
        class K(enum.Flag):
            A = enum.auto()
            B = enum.auto()

        both = K.A | K.B
        return x + both.value, bool(both & K.A), K.A in both, both is (K.B | K.A)

    return {"f": f, "args": x1}


@open_case
def local_enumerations_that_live_on():
    kept = []

    def f(x):
        class K(enum.Enum):
            A = 1
            B = [2]

        kept.append(K)
        K.B.value.append(len(kept))
        return x + K.A.value, K.B.value, K.A is kept[0].A, K is kept[-1], K.A == kept[0].A, hash(K.A) == hash(kept[0].A)

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def names_that_no_class_can_have():
    def f(x):
        A = type("A", (), {})
        said = []
        for name in ("x\0y", "\udcdc", b"a", 123, "B"):
            try:
                A.__name__ = name
            except (ValueError, TypeError) as error:
                said.append(type(error).__name__)
        return x * 2, said, A.__name__

    return {"f": f, "args": lambda: (t([1.0]),)}
