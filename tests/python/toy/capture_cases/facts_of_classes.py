"""Facts that hardly ever change, and do here between calls: what an exception is of and what its class extends, the methods and the
constructor of a named tuple, the functions of a property or a static method, what imports, and what module `operator` has."""

import itertools

from observe import called_between, open_case
from toy_framework import toy

t = toy.tensor

IMPORTS = """
import builtins, collections, operator, types, typing
calls = itertools.count()
told = []
"""


def between(name, world, change, body, seen=()):
    """`change` is run before each call, which is number `n`."""
    source = f"import itertools\n{IMPORTS}\n{world}\n"
    build = called_between(name, source, body, change, "told", lambda made: tuple(repr(made[one]) for one in seen))
    open_case(build)


EXCEPTIONS = """
class First(Exception):
    value = 1
class Second(Exception):
    value = 2
class Made(First):
    pass
held = First("held")
holder = [Second("in a list")]
"""

HANDLED = {
    "read": "return x + held.value, type(held).__name__, isinstance(held, First), str(held), repr(held)",
    "raised": "try:\n    raise held\nexcept First:\n    return x + 1\nexcept Second:\n    return x + 2",
    "in_a_list": "try:\n    raise holder[0]\nexcept (First, KeyError) as error:\n    return x + error.value, 1\nexcept Second as error:\n    return x + error.value, 2",
    "made": "try:\n    raise Made('made')\nexcept Second:\n    return x + 2\nexcept First:\n    return x + 1",
    "in_a_callee": "def fails():\n    raise Made('made')\ntry:\n    fails()\nexcept Second:\n    return x + 2\nexcept First:\n    return x + 1",
}
for (_how, _body), (_what, _change) in itertools.product(
    HANDLED.items(),
    {
        "class": "held.__class__ = (First, Second)[n % 2]\nholder[0].__class__ = (First, Second)[n % 2]",
        "bases": "Made.__bases__ = ((First, Second)[n % 2],)",
    }.items(),
):
    between(f"exceptions_get_another_{_what}_and_are_{_how}", EXCEPTIONS, _change, _body)

TUPLES = """
Pair = collections.namedtuple("Pair", "a b", defaults=[2])
class Typed(typing.NamedTuple):
    a: int
    b: int = 2
class Extended(Pair):
    __slots__ = ()
"""
METHODS = {
    "len": ("lambda self: 7", "len(made)"),
    "bool": ("lambda self: False", "bool(made), (1 if made else 0)"),
    "iter": ("lambda self: iter([5, 6])", "list(made), sum(made), [*made]"),
    "getitem": ("lambda self, at: 'item'", "made[0], made[1]"),
    "contains": ("lambda self, what: False", "1 in made, 9 in made"),
    "eq": ("lambda self, other: 'equal'", "made == (1, 2)"),
    "add": ("lambda self, other: 'sum'", "made + (3,)"),
    "repr": ("lambda self: 'text'", "repr(made), str(made)"),
}
for (_name, (_method, _used)), _class in itertools.product(METHODS.items(), ("Pair", "Typed", "Extended")):
    _change = f"if n == 1:\n    {_class}.__{_name}__ = {_method}\nif n == 4:\n    del {_class}.__{_name}__"
    between(f"a_named_tuple_gets_{_name}_{_class.lower()}", TUPLES, _change, f"made = {_class}(1)\nreturn x * 2, {_used}")
for _class in ("Pair", "Typed", "Extended"):
    _change = f"if n == 1:\n    {_class}.__new__.__defaults__ = (9,)\nif n == 3:\n    {_class}.__new__.__defaults__ = None\nif n == 4:\n    {_class}.__new__.__defaults__ = (8, 9)"
    _body = f"try:\n    return x + 1, {_class}(1), {_class}(3, b=4)\nexcept TypeError as error:\n    return x, str(error)"
    between(f"a_named_tuple_gets_other_defaults_{_class.lower()}", TUPLES, _change, _body)

PARTS = """
class Meta(type):
    @property
    def of_meta(cls):
        return 1

class Has(metaclass=Meta):
    @property
    def read(self):
        return 1
    @read.setter
    def read(self, value):
        told.append(value)
    @staticmethod
    def alone():
        return 1
    @classmethod
    def of_class(cls):
        return 1

class Below(Has):
    def call(self):
        return super().read, super().alone(), super().of_class()

has, below = Has(), Below()
parts = {**vars(Meta), **vars(Has)}
"""
AGAIN = {
    "getter": "parts['read'].__init__(lambda self: 'other', parts['read'].fset)",
    "setter": "parts['read'].__init__(parts['read'].fget, lambda self, value: told.append(-value))",
    "no_setter": "parts['read'].__init__(parts['read'].fget)",
    "deleter": "parts['read'].__init__(parts['read'].fget, parts['read'].fset, lambda self: told.append('deleted'))",
    "static": "parts['alone'].__init__(lambda: 'other')",
    "of_class": "parts['of_class'].__init__(lambda cls: 'other')",
    "of_meta": "parts['of_meta'].__init__(lambda cls: 'other')",
}
USED = {
    "read": "return x + 1, has.read, below.read, Has.of_meta",
    "called": "return x + 1, has.alone(), Has.alone(), below.of_class(), Has.of_class()",
    "super": "return x + 1, below.call()",
    "written": "try:\n    has.read = 3\nexcept AttributeError as error:\n    return x, str(error)\nreturn x + 1",
    "deleted": "try:\n    del has.read\nexcept AttributeError as error:\n    return x, str(error)\nreturn x + 1",
}
for (_what, _change), (_how, _body) in itertools.product(AGAIN.items(), USED.items()):
    between(f"a_descriptor_is_made_again_{_what}_and_{_how}", PARTS, f"if n == 2:\n    {_change}", _body)

IMPORTER = """
real = builtins.__import__
fake = types.ModuleType("fake")
fake.sqrt = lambda value: "fake"
fake.path = "fake path"
def imports(name, *args):
    told.append(name)
    return fake
"""
for _how, _statement in {
    "plain": "import math\nfound = math.sqrt(4)",
    "from": "from math import sqrt\nfound = sqrt(4)",
    "dotted": "import os.path as path\nfound = str(path)[:6]",
}.items():
    between(
        f"what_imports_is_exchanged_{_how}",
        IMPORTER,
        "builtins.__import__ = imports if n in (2, 3) else real",
        f"try:\n    {_statement.replace(chr(10), chr(10) + '    ')}\nfinally:\n    builtins.__import__ = real\nreturn x + 1, found",
    )

OPERATORS = {
    "add": "n + 1, [n] + [2]", "sub": "n - 1", "mul": "n * 3", "mod": "n % 3", "lt": "n < 2", "eq": "n == 2", "neg": "-n", "getitem": "[1, 2, 3, 4, 5, 6, 7][n]",
    "contains": "n in (1, 2)", "index": "list(range(n))", "truediv": "n / 2", "floordiv": "n // 2", "pow": "n ** 2", "or_": "n | 8", "invert": "~n",
}
for _name, _used in OPERATORS.items():
    between(
        f"module_operator_has_another_{_name}",
        f"real = operator.{_name}",
        f"operator.{_name} = lambda *args: told.append('{_name}') or 'other'",
        f"try:\n    return x + 1, {_used}\nfinally:\n    operator.{_name} = real",
    )

CODECS = """
import codecs
answer = "0"
codecs.register_error("of this program", lambda error: (told.append("asked") or answer, error.end))
text, data = "\u00e9", bytes([255])
class Text(str):
    pass
class Data(bytes):
    pass
class Array(bytearray):
    pass
"""
for _name, _used in {
    "encode": "text.encode('ascii', 'of this program'), text.encode()",
    "decode": "data.decode('ascii', errors='of this program'), b'a'.decode('utf-8')",
    "bytes": "bytes(text, 'ascii', 'of this program'), bytes(text, 'UTF-8')",
    "str": "str(data, 'ascii', 'of this program'), str(b'a', 'latin-1')",
    "bytearray": "bytearray(text, 'ascii', 'of this program')",
    "decode_of_an_array": "bytearray(data).decode('ascii', 'of this program'), bytearray(b'a').decode()",
    "encode_of_a_subclass": "Text(text).encode('ascii', 'of this program'), Text('a').encode()",
    "decode_of_a_subclass": "Data(data).decode('ascii', 'of this program'), Data(b'a').decode('utf_8')",
    "decode_of_an_array_s_subclass": "Array(data).decode('ascii', 'of this program'), Array(b'a').decode('utf_8')",
    "a_subclass": "str(Text(data, 'ascii', 'of this program')), bytes(Data(text, 'ascii', 'of this program'))",
    "by_class_of_an_array": "bytearray.decode(bytearray(data), 'ascii', 'of this program')",
    "by_keywords": "bytes(encoding='ascii', errors='of this program', source=text), str(object=data, encoding='ascii', errors='of this program')",
    "by_class": "str.encode(text, 'ascii', 'of this program')",
}.items():
    between(f"an_error_handler_of_the_program_{_name}", CODECS, "globals()['answer'] = str(n)", f"return x + 1, {_used}")

CODEC = """
import codecs, os
answer = "0"
# Python keeps the first one of a name for good.
codec = "of_this_program_" + os.urandom(8).hex()
def encode(text, errors="strict"):
    told.append("encoded")
    return answer.encode(), len(text)
def decode(data, errors="strict"):
    told.append("decoded")
    return answer, len(data)
def search(name):
    return codecs.CodecInfo(encode, decode, name=name) if name == codec else None
codecs.register(search)
text, data = "a", b"a"
"""
for _name, _used in {
    "encode": "text.encode(codec)",
    "decode": "data.decode(codec)",
    "decode_of_an_array": "bytearray(data).decode(codec)",
    "bytes": "bytes(text, codec)",
    "str": "str(data, codec)",
    "bytearray": "bytearray(text, codec)",
    "by_class": "str.encode(text, codec), bytes.decode(data, codec)",
    "by_keywords": "bytes(text, encoding=codec), str(object=data, encoding=codec)",
}.items():
    between(f"a_codec_of_the_program_{_name}", CODEC, "globals()['answer'] = str(n)", f"return x + 1, {_used}")

ANEW = """
import codecs
old = codecs.backslashreplace_errors
text, data = "\u20ac", bytes([255])
"""
for _name, _used in {
    "decode": "data.decode('ascii', 'backslashreplace')",
    "encode": "text.encode('cp1252', 'backslashreplace'), '\u0100'.encode('cp1252', 'backslashreplace')",
    "encode_in_c": "text.encode('latin_1', 'backslashreplace')",
}.items():
    between(
        f"an_error_handler_of_python_is_registered_anew_{_name}",
        ANEW,
        "codecs.register_error('backslashreplace', (lambda error: (told.append('asked') or '0', error.end)) if n % 2 else old)",
        f"return x + 1, {_used}",
    )

SLOTS = """
class Slotted:
    __slots__ = ("one", "two")
    def __init__(self):
        self.one, self.two = 1, 5
class Below(Slotted):
    __slots__ = ()
    other = Slotted.one
Slotted.same = Slotted.one
given, below = Slotted(), Below()
own = Slotted.one
"""
for _name, _body in {
    "made": "made = Slotted()\nmade.same = 2\nreturn made.one, made.same, x + 1",
    "given": "given.same = n\nfirst = given.one\ngiven.one = 3\nreturn first, given.same, x + 1",
    "deleted": "made = Slotted()\ndel made.same\nreturn hasattr(made, 'one'), hasattr(made, 'same'), x + 1",
    "extended": "below.other = n\nreturn below.one, below.other, x + 1",
}.items():
    between(f"a_slot_has_two_names_{_name}", SLOTS, "", _body)
between("a_slot_takes_the_name_of_another", SLOTS, "Slotted.one = vars(Slotted)['two'] if n % 2 else own", "made = Slotted()\nmade.two = 2\nreturn made.one, made.two, x + 1")

WRITE_ONLY = """
class Meta(type):
    only = property(None, lambda cls, value: told.append(value))
    def __getattr__(cls, name):
        return "of the metaclass, " + name
class Kept(metaclass=Meta):
    only_written = property(None, lambda self, value: told.append(value))
    later = property(lambda self: "read")
    def __getattr__(self, name):
        return "of the hook, " + name
class Below(Kept):
    by_name = property(fset=lambda self, value: told.append(value))
class Bare:
    only_written = property(None, lambda self, value: told.append(value))
given, below, bare = Kept(), Below(), Bare()
def outcome(read):
    try:
        return read()
    except AttributeError as error:
        return str(error)
"""
for _name, _body in {
    "given": "given.only_written = n\nreturn given.only_written, x + 1",
    "made": "made = Kept()\nmade.only_written = n\nreturn made.only_written, x + 1",
    "below": "return below.only_written, below.by_name, x + 1",
    "with_a_default": "return getattr(given, 'only_written', 7), hasattr(given, 'only_written'), hasattr(bare, 'only_written'), x + 1",
    "of_a_class": "Kept.only = n\nreturn Kept.only, x + 1",
    "bare": "return outcome(lambda: bare.only_written), outcome(lambda: getattr(bare, 'only_written', 7)), x + 1",
    "later": "return given.later, x + 1",
}.items():
    between(
        f"a_property_without_a_getter_{_name}",
        WRITE_ONLY,
        "vars(Kept)['later'].__init__(None if n % 2 else lambda self: n)",
        _body,
    )
