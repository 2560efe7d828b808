"""What a dict that exists holds under keys of all kinds ends where it is exchanged or deleted, and so does what values of kinds that hold
others hold: partials, slices, views, methods of C, functions with attributes."""

from observe import called_between, case, open_case

WORLD = """
import collections, enum, functools, itertools, operator, types, weakref
calls = itertools.count()
told = []
class Loud:
    alive = 0
    def __init__(self, name):
        self.name = name
        Loud.alive += 1
    def __del__(self):
        Loud.alive -= 1
        told.append(("gone", self.name))
class Color(enum.Enum):
    RED = 1
class Cls:
    def method(self):
        pass
def func():
    pass
held = Cls()
ref = weakref.ref(held)
class Sub(dict):
    pass
def run(*given):
    return len(given)
"""

KEYS = {
    "a_tuple": "(1, 'k')",
    "a_tuple_of_an_argument": "(n, 'k')",
    "a_function": "func",
    "a_class": "Cls",
    "a_member": "Color.RED",
    "a_builtin": "len",
    "a_module": "enum",
    "a_method": "held.method",
    "a_weak_reference": "ref",
    "an_instance": "held",
    "a_frozenset": "frozenset([1])",
    "a_number": "3",
    "a_text": "'text'",
}
DICTS = {"": "dict()", "_of_a_subclass": "Sub()", "_that_is_ordered": "collections.OrderedDict()", "_with_a_factory": "collections.defaultdict(int)"}
CHANGES = {
    "stored": "table[KEY] = None",
    "deleted": "del table[KEY]",
    "popped_last": "table.popitem()",
    "updated": "table.update({KEY: 1})",
    "popped": "table.pop(KEY)",
    "cleared": "table.clear()",
}


def register(name, change, body):
    open_case(called_between(name, WORLD, body, change, "table, pool, g", lambda made: ()))


for _kind, _key in KEYS.items():
    for _how, _change in CHANGES.items():
        for _which, _made in DICTS.items():
            if _which and _kind not in ("a_tuple", "a_member"):
                continue
            register(
                f"what_a_dict{_which}_has_under_{_kind}_is_{_how}",
                f"table = {_made}\ntable[{_key}] = Loud(n)",
                f"before = Loud.alive\n{_change.replace('KEY', _key)}\ntold.append(('between', Loud.alive - before))\nreturn x * 2, Loud.alive",
            )

HOLDERS = {
    "a_partial": "functools.partial(run, Loud(n))",
    "a_slice": "slice(Loud(n), 1)",
    "a_proxy": "types.MappingProxyType({1: Loud(n)})",
    "a_method_of_c": "[Loud(n)].append",
    "a_wrapper_of_a_method": "[Loud(n)].__len__",
    "a_getter": "operator.itemgetter(Loud(n))",
    "a_caller": "operator.methodcaller('f', Loud(n))",
    "values_of_a_dict": "{1: Loud(n)}.values()",
    "a_map": "map(run, [Loud(n)])",
    "a_method": "types.MethodType(run, Loud(n))",
    "a_list": "[Loud(n)]",
}
LEFT = {
    "popped": "taken = pool.pop()\n{}told.append('between')\ntaken = None\ntold.append(Loud.alive)",
    "unpacked": "taken, = pool\npool.clear()\n{}told.append('between')\ndel taken\ntold.append(Loud.alive)",
    "cleared": "{}pool.clear()\ntold.append(Loud.alive)",
    "stored": "{}pool[0] = 1\ntold.append(Loud.alive)",
}
for _kind, _made in HOLDERS.items():
    for _how, _body in LEFT.items():
        for _where, _break in {"": "", "_over_a_break": "opaque(0)\n"}.items():
            register(f"what_{_kind}_holds_ends_when_it_is_{_how}{_where}", f"pool = [{_made}]", _body.format(_break) + "\nreturn x + 1, Loud.alive")

for _what, _made in {
    "attributes": "def g():\n    return 1\ng.k = Loud(n)\npool = [g]",
    "annotations": "def g():\n    return 1\ng.__annotations__ = {'k': Loud(n)}\npool = [g]",
    "what_it_wraps": "def g():\n    return 1\npool = [functools.wraps(Loud(n))(g)]",
    "defaults": "def g(a=Loud(n)):\n    return 1\npool = [g]",
}.items():
    for _how, _body in LEFT.items():
        register(f"what_a_function_has_among_its_{_what}_ends_when_it_is_{_how}", f"{_made}\ndel g", _body.format("") + "\nreturn x + 1, Loud.alive")

ASKED = """
import itertools
calls = itertools.count()
told = []
class Each:
    def __init__(self, end):
        self.left, self.end = 2, end
    def __iter__(self):
        told.append("iterator")
        return self
    def __next__(self):
        if not self.left:
            raise StopIteration
        self.left -= 1
        return self.end
class Own(Each):
    def __iter__(self):
        told.append("own")
        return self
class Items:
    def __init__(self, end):
        self.end = end
    def __iter__(self):
        told.append("items")
        return Each(self.end)
"""
for _name, _call in {
    "join": "','.join(Items('a'))",
    "join_of_bytes": "b','.join(Items(b'a'))",
    "list": "list(Items(1))",
    "tuple": "tuple(Items(1))",
    "extend": "[].extend(Items(1))",
    "add_in_place": "[].__iadd__(Items(1))",
    "set": "set(Items(1))",
    "sorted": "sorted(Items(1))",
    "max": "max(Items(1))",
    "any": "any(Items(0))",
    "in": "1 in Items(1)",
    "dict_of_pairs": "dict([Items(1)])",
    "fromkeys": "dict.fromkeys(Items(1))",
    "zip": "list(zip(Items(1)))",
    "star": "[*Items(1)]",
    "star_of_a_call": "(lambda *a: a)(*Items(1))",
    "unpacking": "(lambda: [a for a, b in [Items(1)]])()",
    "unpacking_with_a_star": "(lambda: [b for a, *b in [Items(1)]])()",
    "comprehension": "[i for i in Items(1)]",
    "union": "set().union(Items(1))",
    "assigned_to_a_slice": "[1, 2].__setitem__(slice(0, 1), Items(1))",
}.items():
    for _what in ("Items", "Own"):
        _told = f"told.append({_call.replace('Items', _what)})\nreturn x + 1"
        open_case(called_between(f"iterators_of_{_what.lower()}_are_asked_for_iterators_by_{_name}", ASKED, _told, "", "told", lambda made: ()))

# A key that is new takes nothing out: no break is due to what lies under others.
for _kind in ("a_tuple", "a_function", "a_class", "a_member", "a_builtin", "a_module", "an_instance"):
    _key = KEYS[_kind]
    case(graphs=1, captures=1, breaks=0)(
        called_between(
            f"a_new_key_that_is_{_kind}_beside_values_that_tell_of_their_end",
            WORLD + "table = {'a': Loud(1), 'b': [Loud(2)]}\n",
            f"table[{_key}] = 1\ndel table[{_key}]\nreturn x * 2, len(table)",
            "",
            "n",
            lambda made: (),
        )
    )
