"""Special methods that are static or class methods: the one is given no receiver, the other the class."""

from observe import called_between, open_case

WORLD = """
import itertools
calls = itertools.count()
told = []
class Meta(type):
    @classmethod
    def __instancecheck__(cls, value):
        told.append(("instance", cls.__name__, type(value).__name__))
        return type(value) is int
    @staticmethod
    def __subclasscheck__(value):
        told.append(("subclass", value.__name__))
        return value is int
class Asked(metaclass=Meta):
    pass
def method(kind, name, body):
    def plain(*args):
        told.append((kind, name, [getattr(one, "__name__", type(one).__name__) for one in args]))
        return body(*args)
    return {"static": staticmethod, "class": classmethod}[kind](plain)
def made(kind):
    space = {name: method(kind, name, body) for name, body in BODIES.items()}
    return type(kind.title(), (), space)
BODIES = {
    "__len__": lambda *a: 3,
    "__bool__": lambda *a: False,
    "__call__": lambda *a: len(a),
    "__getitem__": lambda *a: a[-1],
    "__setitem__": lambda *a: None,
    "__delitem__": lambda *a: None,
    "__contains__": lambda *a: True,
    "__iter__": lambda *a: iter([1, 2]),
    "__add__": lambda *a: 5,
    "__radd__": lambda *a: 6,
    "__iadd__": lambda *a: 7,
    "__eq__": lambda *a: True,
    "__lt__": lambda *a: False,
    "__hash__": lambda *a: 9,
    "__neg__": lambda *a: -1,
    "__abs__": lambda *a: 4,
    "__index__": lambda *a: 1,
    "__int__": lambda *a: 8,
    "__str__": lambda *a: "text",
    "__repr__": lambda *a: "repr",
    "__format__": lambda *a: "formatted",
    "__enter__": lambda *a: "entered",
    "__exit__": lambda *a: True,
    "__getattr__": lambda *a: ("missing", a[-1]),
    "__reversed__": lambda *a: iter([2, 1]),
    "__next__": lambda *a: 11,
}
Static, Class = made("static"), made("class")
del Static.__hash__, Class.__hash__
"""

CALLS = {
    "len": "len(it)",
    "bool": "bool(it), (1 if it else 2), not it",
    "call": "it(1), it()",
    "item": "it[4]",
    "set_item": "it.__setitem__(1, 2)",
    "in": "3 in it",
    "iter": "[i for i in it], list(it)",
    "add": "it + 1, 1 + it",
    "eq": "it == 1, it != 1",
    "lt": "it < 1, it > 1",
    "neg": "-it, abs(it)",
    "index": "[5, 6][it], int(it)",
    "str": "str(it), repr(it)",
    "format": "f'{it} {it!r} {it:x}'",
    "getattr": "it.nothing, getattr(it, 'none', 1)",
    "reversed": "list(reversed(it))",
    "next": "next(it)",
}


def register(name, body):
    open_case(called_between(name, WORLD, body, "", "told", lambda made: ()))


for _kind in ("Static", "Class"):
    for _name, _call in CALLS.items():
        for _where, _it in {"made_here": f"it = {_kind}()", "from_before": f"it = table['{_kind}']"}.items():
            _guarded = f"{_it}\ntry:\n    told.append(({_call},))\nexcept (TypeError, RecursionError) as error:\n    told.append(str(error))\nreturn x + 1"
            build = called_between(
                f"a_{_kind.lower()}_method_for_{_name}_of_what_was_{_where}",
                WORLD + "table = {'Static': Static(), 'Class': Class()}\n",
                _guarded,
                "",
                "told",
                lambda made: (),
            )
            open_case(build)
    register(
        f"a_{_kind.lower()}_method_for_with",
        f"try:\n    with {_kind}() as inside:\n        told.append(inside)\n        raise KeyError(n)\nexcept (TypeError, KeyError) as error:\n    told.append(type(error).__name__)\nreturn x + 1",
    )
    register(f"a_{_kind.lower()}_method_for_iadd", f"it = {_kind}()\ntry:\n    it += 1\nexcept TypeError as error:\n    told.append(str(error))\ntold.append(it)\nreturn x + 1")

for _name, _body in {
    "a_class_method_for_isinstance": "return isinstance(n, Asked), isinstance('text', Asked), isinstance(n, (str, Asked)), x + 1",
    "a_static_method_for_issubclass": "return issubclass(int, Asked), issubclass(str, Asked), issubclass(str, (int, Asked)), x + 1",
    "a_class_method_for_isinstance_that_breaks": "found = [isinstance(value, Asked) for value in (n, 'text', x)]\nopaque(found)\nreturn isinstance(n, Asked), x + 1",
}.items():
    register(_name, _body)
