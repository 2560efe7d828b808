"""Dicts of a class of the program that exist when C works upon them: a factory that is exchanged, a copy that asks for keys."""

from observe import called_between, open_case

WORLD = """
import collections, itertools
calls = itertools.count()
told = []
class Early(collections.defaultdict):
    def __init__(self, *given):
        opaque(0)
        super().__init__(*given)
class Late(collections.defaultdict):
    def __init__(self, *given):
        super().__init__(*given)
class Without(collections.defaultdict):
    def __init__(self, *given):
        super().__init__()
class Keys(dict):
    def keys(self):
        told.append("keys")
        return ["a"]
    def __getitem__(self, key):
        told.append(key)
        return 5
class Iterated(Keys):
    def __iter__(self):
        told.append("iter")
        return iter(["a"])
class Left(Keys):
    __iter__ = dict.__iter__
keys, iterated, left = Keys(a=1, b=2), Iterated(a=1, b=2), Left(a=1, b=2)
late = Late(int)
exact = collections.defaultdict(int)
"""


def register(name, body):
    open_case(called_between(name, WORLD, body, "", "told", lambda made: (made["late"].default_factory, list(made["late"]))))


for _name, _body in {
    "behind_a_break": "made = Early(list)\nmade['k'].append(n)\nreturn made, made.default_factory, x + 1",
    "behind_a_break_without_one": "made = Early()\nreturn made, made.default_factory, x + 1",
    "behind_a_break_with_items": "made = Early(list, {1: 2}, a=n)\nopaque(1)\nmade['k'].append(n)\nreturn made, x + 1",
    "of_an_argument": "y = x + 1\nlate.__init__(list)\nmissing = late[n]\nlate.clear()\nreturn missing, y",
    "of_an_argument_by_turns": "late.__init__(list if n % 2 else int)\nmissing = late[n]\nlate.clear()\nreturn missing, x + 1",
    "of_an_argument_with_none": "y = x + 1\nlate.__init__()\nreturn late.default_factory, y",
    "of_an_argument_with_items": "late.__init__(list, {n: 1})\nlate[n + 1].append(n)\nreturn dict(late), x + 1",
    "of_an_argument_with_what_is_no_factory": "try:\n    late.__init__(5)\nexcept TypeError as error:\n    told.append(str(error))\nreturn late.default_factory, x + 1",
    "of_an_exact_one": "exact.__init__(list)\nmade = exact[n]\nexact.clear()\nreturn made, exact.default_factory, x + 1",
    "by_new": "made = Late.__new__(Late)\nopaque(1)\nmade.__init__(list)\nreturn made[n], made.default_factory, x + 1",
    "of_what_is_made_here": "made = Late(list)\nmade.__init__(int)\nreturn made[n], made.default_factory, x + 1",
    "of_what_is_made_here_with_none": "made = Late(list)\nmade.__init__()\nreturn made.default_factory, Without(list).default_factory, x + 1",
}.items():
    register(f"the_factory_of_a_dict_is_exchanged_{_name}", _body)

for _name, _copy in {
    "copy": "{}.copy()",
    "the_copy_of_dict": "dict.copy({})",
    "a_dict": "dict({})",
    "stars": "{{**{}}}",
    "an_update": "collections.OrderedDict({})",
}.items():
    for _which in ("keys", "iterated", "left"):
        register(f"a_dict_of_{_which}_is_copied_by_{_name}", f"made = {_copy.format(_which)}\nreturn made, type(made), x + 1")
    for _class in ("Keys", "Iterated", "Left"):
        register(
            f"a_dict_of_{_class}_that_is_made_is_copied_by_{_name}",
            f"it = {_class}(a=1, b=n)\nmade = {_copy.format('it')}\nreturn made, x + 1",
        )
