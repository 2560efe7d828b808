"""What the programs of `wide_programs` find in their module: objects of each kind, most of which note what is done with them."""

HEADER = '''
import abc
import bisect
import collections
import contextlib
import copy
import dataclasses
import datetime
import decimal
import enum
import fractions
import heapq
import inspect
import io
import itertools
import json
import logging
import math
import pickle
import random
import re
import string
import sys
import typing
import types
import warnings
import weakref

class Color(enum.Enum):
    RED = 1
    GREEN = 2
    BLUE = 3
    @property
    def warm(self):
        return self is Color.RED

class Bits(enum.IntFlag):
    A = 1
    B = 2
    C = 4

Point = collections.namedtuple("Point", "a b", defaults=[7])

class Pair(typing.NamedTuple):
    left: object
    right: object = None
    def total(self):
        return self.left + (self.right or 0)

@dataclasses.dataclass
class Data:
    a: object = 1
    b: list = dataclasses.field(default_factory=list)
    def __post_init__(self):
        LOG.append("post")

@dataclasses.dataclass(frozen=True, order=True)
class Cold:
    a: int
    b: int = 2

class Slotted:
    __slots__ = ("a", "b")
    def __init__(self, a):
        self.a = a

class Field:
    """A data descriptor."""
    def __set_name__(self, owner, name):
        self.name = "_" + name
    def __get__(self, it, owner=None):
        if it is None:
            return self
        LOG.append(("field", self.name))
        return it.__dict__.get(self.name, 3)
    def __set__(self, it, value):
        LOG.append(("set", self.name))
        it.__dict__[self.name] = value
    def __delete__(self, it):
        LOG.append(("delete", self.name))
        it.__dict__.pop(self.name, None)

class Hint:
    """A descriptor that an instance hides."""
    def __get__(self, it, owner=None):
        LOG.append("hint")
        return 4

class Described:
    one = Field()
    two = Hint()
    def __init__(self, v=0):
        self.v = v
    @classmethod
    def made(cls, v):
        LOG.append(cls.__name__)
        return cls(v)
    @staticmethod
    def stat(v):
        return v + 1
    @property
    def half(self):
        if self.v > 8:
            raise AttributeError("half")
        return self.v // 2
    @half.setter
    def half(self, value):
        self.v = value * 2
    @half.deleter
    def half(self):
        self.v = 0
    @functools.cached_property
    def cached(self):
        LOG.append("computed")
        return self.v + 5

class Watched:
    def __getattribute__(self, name):
        LOG.append(("read", name))
        return super().__getattribute__(name)
    def __setattr__(self, name, value):
        LOG.append(("write", name))
        object.__setattr__(self, name, value)
    def __delattr__(self, name):
        LOG.append(("unset", name))
        object.__delattr__(self, name)

class Meta(type):
    made = 0
    def __new__(mcls, name, bases, names, **kw):
        Meta.made += 1
        LOG.append(("class", name, sorted(kw)))
        return super().__new__(mcls, name, bases, names)
    def __init__(cls, name, bases, names, **kw):
        super().__init__(name, bases, names)
    def __call__(cls, *args, **kw):
        LOG.append(("call", cls.__name__))
        return super().__call__(*args, **kw)
    def __instancecheck__(cls, it):
        LOG.append("instancecheck")
        return type.__instancecheck__(cls, it) or isinstance(it, int)
    def __len__(cls):
        return 4
    def __getattr__(cls, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return name.upper()

class Made(metaclass=Meta):
    level = 2
    def __init__(self, v=1):
        self.v = v

class Base:
    known = []
    def __init_subclass__(cls, tag=None, **kw):
        super().__init_subclass__(**kw)
        Base.known.append((cls.__name__, tag))
    def __class_getitem__(cls, item):
        return (cls.__name__, item)
    def who(self):
        return "base"

class Left(Base):
    def who(self):
        return "left " + super().who()

class Right(Base, tag="r"):
    def who(self):
        return "right " + super().who()

class Both(Left, Right):
    def who(self):
        return "both " + super().who()

class Stack(list):
    def append(self, item):
        LOG.append("push")
        super().append(item)

class Loud(list):
    def __getitem__(self, key):
        LOG.append("item")
        return super().__getitem__(key)
    def __iter__(self):
        LOG.append("round")
        return super().__iter__()
    def __len__(self):
        LOG.append("length")
        return super().__len__()

class Half(int):
    def __add__(self, other):
        LOG.append("half add")
        return Half(int(self) + int(other))

class Text(str):
    def __format__(self, spec):
        return "<%s|%s>" % (str(self), spec)

class Three(tuple):
    def __new__(cls, *items):
        return super().__new__(cls, items)
    @property
    def last(self):
        return self[-1]

class Missing(dict):
    def __missing__(self, key):
        LOG.append(("no", key))
        self[key] = len(self)
        return self[key]

class Err(Exception):
    def __init__(self, a, b=2):
        super().__init__(a)
        self.a, self.b = a, b
    def __str__(self):
        return "err %s %s" % (self.a, self.b)

class Dies:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        LOG.append(("dies", self.name))

@functools.total_ordering
class Rank:
    __match_args__ = ("v", "w")
    def __init__(self, v, w=0):
        self.v, self.w = v, w
    def __eq__(self, other):
        LOG.append("rank eq")
        if not isinstance(other, Rank):
            return NotImplemented
        return self.v == other.v
    def __lt__(self, other):
        LOG.append("rank lt")
        if not isinstance(other, Rank):
            return NotImplemented
        return self.v < other.v
    def __hash__(self):
        return hash(self.v)
    def __rsub__(self, other):
        return Rank(other - self.v)
    def __imul__(self, other):
        self.v *= other
        return self
    def __matmul__(self, other):
        return (self.v, other)
    def __neg__(self):
        return Rank(-self.v)
    def __repr__(self):
        return "Rank(%r)" % (self.v,)
    def __format__(self, spec):
        return "%s:%s" % (self.v, spec)
    def __reversed__(self):
        return iter((self.v, 1))
    def __len__(self):
        if self.v < 0:
            raise ValueError("negative")
        return self.v

@contextlib.contextmanager
def managed(name, swallow=()):
    LOG.append(("in", name))
    try:
        yield name
    except swallow:
        LOG.append(("swallowed", name))
    finally:
        LOG.append(("out", name))

def counted(k=1, *, note="n"):
    def wrap(func):
        @functools.wraps(func)
        def inner(*args, **kwargs):
            inner.count += k
            LOG.append((note, func.__name__))
            return func(*args, **kwargs)
        inner.count = 0
        return inner
    return wrap

@counted(2)
def twice(a):
    return a * 2

@functools.lru_cache(maxsize=None)
def remembered(a):
    LOG.append(("fresh", a))
    return a + 1

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def even(n):
    return True if n <= 0 else odd(n - 1)

def odd(n):
    return False if n <= 0 else even(n - 1)

def nested(n, found=None):
    found = [] if found is None else found
    if n > 0:
        found.append(n)
        nested(n - 1, found)
        LOG.append(("back", n))
    return found

def signature(a, b=1, /, c=2, *rest, d, e=5, **more):
    return [a, b, c, rest, d, e, sorted(more.items())]

def remembering(a, seen=[]):
    seen.append(a)
    return len(seen)

def echo(first):
    got = first
    while True:
        try:
            got = yield got
            LOG.append(("echo", got))
        except ValueError as error:
            LOG.append(("thrown", error.args))
            got = -1
        except GeneratorExit:
            LOG.append("exit")
            raise

def cells():
    value, log = 0, []
    def get():
        return value
    def put(new):
        nonlocal value
        value = new
        log.append(new)
        return log
    return get, put

get_cell, put_cell = cells()

def from_cause(n):
    try:
        risky(n)
    except ValueError as error:
        raise Err(n, b=3) from error
    return n

def in_context(n):
    try:
        risky(n)
    except ValueError:
        return [][n]
    finally:
        LOG.append("context")
    return n

def warned(n):
    warnings.warn("w%d" % n)
    return n

def warned_above(n):
    warnings.warn("a%d" % n, DeprecationWarning, stacklevel=2)
    return n

def last_word(n):
    for k in range(3):
        try:
            risky(n + k)
        except Oops:
            return "oops"
        finally:
            if k == 1:
                break
    return k

def swallow_all(n):
    try:
        risky(n)
        return "fine"
    finally:
        if n % 2 == 0:
            return "finally"

def note(error, text):
    if hasattr(error, "add_note"):
        error.add_note(text)
    return error

class Odd:
    """Answers as `how` says: what is wrong, raises or stands for something else."""
    def __init__(self, how):
        self.how = how
    def __eq__(self, other):
        LOG.append("odd eq")
        return {0: NotImplemented, 1: [], 2: 5, 3: True}.get(self.how, False)
    __hash__ = object.__hash__
    def __bool__(self):
        LOG.append("odd bool")
        if self.how == 4:
            raise Oops("bool")
        return self.how == 2
    def __len__(self):
        LOG.append("odd len")
        return {0: 0, 1: -1, 2: 3, 3: "no"}.get(self.how, 1)
    def __iter__(self):
        LOG.append("odd iter")
        return {0: iter([1, 2]), 1: 5, 2: Steps(2), 3: echo(1)}.get(self.how, iter(()))
    def __contains__(self, item):
        LOG.append("odd contains")
        return {0: [], 1: [1], 2: True}.get(self.how)
    def __getitem__(self, key):
        LOG.append(("odd get", str(key)))
        if self.how == 0:
            raise IndexError(key)
        return key
    def __index__(self):
        return {0: 0, 1: True, 2: 2, 3: "x"}.get(self.how, 1)
    def __str__(self):
        return {0: "odd", 1: 5}.get(self.how, "o")
    __repr__ = __str__
    def __format__(self, spec):
        return {0: spec, 1: 5}.get(self.how, "f")
    def __add__(self, other):
        LOG.append("odd add")
        return NotImplemented if self.how % 2 else self
    def __radd__(self, other):
        LOG.append("odd radd")
        return NotImplemented if self.how == 1 else other
    def __iadd__(self, other):
        LOG.append("odd iadd")
        return 7 if self.how == 2 else self
    def __enter__(self):
        LOG.append("odd enter")
        if self.how == 3:
            raise Oops("enter")
        return self
    def __exit__(self, *what):
        LOG.append(("odd exit", what[0]))
        if self.how == 1:
            raise Err("exit")
        return Odd(self.how)
    def __call__(self, *a, **k):
        if self.how == 0:
            raise TypeError("not now")
        return self.how

class Other:
    def __new__(cls, a):
        LOG.append("new")
        return super().__new__(cls) if a % 2 else a
    def __init__(self, a):
        LOG.append("init")
        self.a = a

class Abstract(abc.ABC):
    @abc.abstractmethod
    def do(self):
        return 1

class Concrete(Abstract):
    def do(self):
        LOG.append("do")
        return super().do() + 1

class Prepared(type):
    @classmethod
    def __prepare__(mcls, name, bases, **kw):
        return collections.OrderedDict(first=1)

class Entries:
    def __mro_entries__(self, bases):
        LOG.append("entries")
        return (Base,)

class Noisy:
    """Says when it is made, copied, and when it goes."""
    made = 0
    def __init__(self, name="", *held):
        Noisy.made += 1
        self.name, self.held = name, held
    def __del__(self):
        LOG.append(("gone", self.name))
        Noisy.made -= 1
    def __add__(self, other):
        return Noisy("%s+" % self.name)
    def __mul__(self, other):
        return other * 2
    def __enter__(self):
        return Noisy(self.name + " in")
    def __exit__(self, *what):
        return False
    def __iter__(self):
        for k in range(2):
            yield Noisy("%s %d" % (self.name, k))
    def get(self):
        return self.held
    def me(self):
        return self

class Speaks:
    """Its end has effects on what others read."""
    def __init__(self, v):
        self.v = v
    def __del__(self):
        global COUNT
        COUNT += self.v
        SHARED.append(self.v)
        print("end", self.v)

class Chained:
    """Like a request that is built in steps."""
    def __init__(self):
        self.steps = []
    def add(self, a):
        self.steps.append(a)
        return self
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *a: self.add((name, a))

@functools.singledispatch
def described(a):
    return "any"

@described.register(int)
def _(a):
    return "int %d" % a

@described.register(list)
def _(a):
    return "list %d" % len(a)

def raised_in(func, *args):
    try:
        return func(*args)
    except Exception as error:
        LOG.append((type(error).__name__, str(error)))
        return None

def again(n):
    try:
        risky(n)
    except Exception:
        LOG.append(sys.exc_info()[0])
        try:
            risky(n + 3)
        except Exception as inner:
            LOG.append(inner.__context__ is sys.exc_info()[1].__context__)
        raise

def holding(a):
    kept = Noisy("kept", a)
    try:
        return risky(a) and kept.get()
    except ValueError:
        return kept

def lines():
    frame = sys._getframe(1)
    return frame.f_code.co_name, frame.f_lineno

def ticking(n):
    with Within("tick"):
        for k in range(n):
            try:
                yield Noisy("tick %d" % k)
            except Oops:
                yield -1
    return n

WAITING = ticking(30)
ENDLESS = itertools.cycle([1, 2, 3])
HEAP = [1, 3, 2]
CHAINMAP = collections.ChainMap({"p": 1}, {"q": 2})
USERDICT = collections.UserDict(a=1)
BOUND = RESULT = None
ODD = Odd(2)
STREAM = io.StringIO()
RANDOM = random.Random(3)
EXTRA = {}
PAIRS = {1: "a", 2: "b"}
MEMBERS = {1, 2, 5}
DESC = Described(4)
WATCH = Watched()
MADE = Made(2)
STACK = Stack([1])
LOUD = Loud([2, 1])
TEXT = Text("txt")
DATA = Data(2)
RANK = Rank(2)
MISSING = Missing()
QUEUE = collections.deque([1, 2, 3], maxlen=5)
ORDERED = collections.OrderedDict(a=1, b=2)
GROUPS = collections.defaultdict(list)
TALLY = collections.Counter("abca")
BYTES = bytearray(b"abc")
RING = [1]
RING.append(RING)
LIVING = weakref.WeakValueDictionary()
WEAK = []
HOOKS = {"plus": lambda a: a + 1, "minus": lambda a: a - 1}
SPACE = types.SimpleNamespace(a=1)
'''
