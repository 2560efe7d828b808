"""Dicts from before the frame that are asked for single keys and given single values, while others come and go: what else is in
them is no fact, and a look at the whole finds what was stored."""

import itertools

from observe import called_between, case, open_case

WORLD = """
calls = iter(range(1000))
told = []

class Loud:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        told.append(self.name)

class Like:
    def __init__(self, key):
        self.key = key
    def __hash__(self):
        return hash(self.key)
    def __eq__(self, other):
        told.append(("compared", self.key))
        return self.key == other

class Own(dict):
    def __getitem__(self, key):
        told.append(("read", key))
        return dict.__getitem__(self, key)
    def __setitem__(self, key, value):
        told.append(("written", key))
        dict.__setitem__(self, key, value)
    def __missing__(self, key):
        return 3.0

def touch(x):
    return x

touch = toy.disable(touch)
kept = {"rate": 0.5, "count": 0, "state": toy.tensor([1.0, 2.0])}
memo = {}
"""


def seen(world):
    held = [world["kept"], world["memo"]]
    keys = [[str(getattr(key, "key", key)) for key in each] for each in held]
    return keys, [[type(value).__name__ for value in each.values()] for each in held]


def build_of(name, body, between):
    return called_between(name, WORLD, body, between, "kept, memo", seen)


# What is asked of a dict of settings to which an unrelated key is added before each call, and captures of three calls.
READS = {
    "item": ("return x * kept['rate']", 1),
    "get": ("return x * kept.get('rate', 2.0) * kept.get('none', 3.0)", 1),
    "get_none": ("return x + 1 if kept.get('none') is None else x * 2", 1),
    "is_in": ("return x * 2 if 'rate' in kept and 'none' not in kept else x", 1),
    "a_tensor": ("return x + kept['state']", 1),
    "two": ("return x * kept['rate'] + kept['state'] + kept['count']", 1),
    "missing": ("try:\n    kept['none']\nexcept KeyError as error:\n    return x * 2, error.args", 1),
    "number": ("kept['count'] += 1\nreturn x * 2", 2),
    "number_that_is_used": ("kept['count'] += 1\nreturn x * kept['count']", 2),
    "tensor": ("kept['state'] = kept['state'] * 0.9 + x\nreturn kept['state'] * 2", 1),
    "tensor_behind_a_break": ("kept['state'] = x * 2\ntouch(x)\nreturn kept['state'] + 1", None),
    "new": ("kept['new'] = x * 2\nreturn kept['new'] + 1", 2),
    "new_and_gone": ("kept['new'] = x * 2\ny = kept.pop('new')\nreturn y + 1, 'new' in kept", 1),
    "by_default": ("return x * kept.setdefault('other', 3.0)", 2),
    "deleted": ("kept['new'] = 1\ndel kept['new']\nreturn x * 2", 1),
}
for name, (body, captures) in READS.items():
    register = open_case if captures is None else case(captures=captures, graphs=captures)
    register(build_of(f"keys_come_{name}", body, "kept[f'other{n}'] = n"))

# By a key that is another one at each call: the third call is a hit.
BY_NUMBERS = {
    "stored": "memo[n] = x * 2\nreturn x * 3",
    "stored_twice": "memo[n] = x * 2\nmemo[n + 100] = x\nreturn x * 3",
    "stored_and_read": "memo[n] = x * 2\nreturn memo[n] + 1",
    "stored_number": "memo[n] = n * 0.5\nreturn x * memo[n]",
    "stored_by_text": "memo[f'step {n}'] = x * 2\nreturn x * 3",
    "stored_list": "memo[n] = [x, n]\nreturn x * 3",
    "asked": "return x * memo.get(n, 2.0)",
    "asked_whether": "return x * 3 if n in memo else x * 2",
    "default_is_set": "return x * memo.setdefault(n, 2.0)",
    "read_before": "memo[n] = x * 2\nreturn x * 3 if n - 1 in memo else x * 4",
}
BY_NUMBERS.update(
    {
        "stored_and_counted": "memo[n] = x\nreturn x * len(memo)",
        "asked_whether_any": "memo[n] = x\nreturn x * 3 if memo else x",
        "counted_with_two": "memo[n] = 1\nmemo[n + 100] = 2\nreturn x * len(memo)",
        "memo_of_lists": "if n not in memo:\n    memo[n] = [n, n + 1.0]\nreturn x * sum(memo[n])",
    }
)
for name, body in BY_NUMBERS.items():
    register = open_case if name == "read_before" else case(captures=2, graphs=2)
    register(build_of(f"numbers_as_keys_{name}", body, "pass"))

# Dicts of C of other classes.
for kind in ("OrderedDict()", "defaultdict(int)", "defaultdict(list)", "Counter()"):
    for name, body in {
        "read": "return x * 2, memo.get('k'), 'k' in memo, memo.get('none'), 'none' in memo",
        "stored": "memo['k'] = n\nmemo['new'] = 2\nreturn x * 2, memo['k'], memo['new'], len(memo)",
        "missing": "try:\n    y = memo['none']\nexcept KeyError as error:\n    y = error.args\nreturn x * 2, y, list(memo)",
        "deleted": "memo['k'] = 1\ndel memo['k']\ntry:\n    del memo['none']\nexcept KeyError as error:\n    return x * 2, error.args, list(memo)",
        "popped": "memo['k'] = 1\nreturn x * 2, memo.pop('k'), memo.pop('none', 5), memo.setdefault('k', 7), list(memo.items())",
        "by_number": "memo[n] = n\nreturn x * 2, memo[n], n in memo, n + 1 in memo, list(memo)",
        "counted": "memo['n'] = memo['n'] + 1 if 'n' in memo else 0\nreturn x * memo['n']",
    }.items():
        made = kind.replace("(", "_").replace(")", "")
        register = build_of(f"{made}_is_{name}", body, f"if n == 0:\n    import collections\n    memo = collections.{kind}\nmemo[f'other{{n}}'] = n")
        open_case(register)

# What stands in the place of a value that is stored, deleted or read, from the third call on.
OTHERS = {
    "same": "pass",
    "a_text": "memo['k'] = memo[2] = 'text'",
    "a_list": "memo['k'] = memo[2] = [1]",
    "a_tensor": "memo['k'] = memo[2] = toy.tensor([3.0, 4.0])",
    "none": "memo['k'] = memo[2] = None",
    "whose_end_is_told": "memo['k'] = memo[2] = Loud(n)",
    "held_by_a_list": "memo['k'] = memo[2] = [Loud(n)]",
    "a_key_like_it": "memo.clear(); memo[Like('k')] = 7.0; memo[Like(n)] = 8.0; memo[Like('q')] = 9.0",
    "nothing": "memo.pop('k', None); memo.pop(2, None)",
    "another_dict": "memo = {'k': 5.0}",
    "a_class_of_its_own": "memo = Own(k=5.0)",
    "emptied": "memo.clear(); memo['k'] = 5.0",
}
ASKED = {
    "read": "return x * 2, memo['k'], told.append('then')",
    "got": "y = memo.get('k', 4.0)\ntold.append('then')\nreturn x * 2, y",
    "stored": "memo['k'] = n\ntold.append('then')\nreturn x * 2",
    "stored_tensor": "memo['k'] = x * 2\ntold.append('then')\nreturn memo['k'] + 1",
    "stored_by_number": "memo[n] = n\ntold.append('then')\nreturn x * 2",
    "got_by_number": "y = memo.get(n, 4.0)\ntold.append('then')\nreturn x * 2, y",
    "asked_by_number": "y = n in memo\ntold.append('then')\nreturn x * 2, y",
    "deleted": "del memo['k']\ntold.append('then')\nreturn x * 2",
    "popped": "y = memo.pop('k', None)\ntold.append('then')\nreturn x * 2, y",
    "default_is_set": "y = memo.setdefault('k', 4.0)\ntold.append('then')\nreturn x * 2, y",
    "stored_and_seen": "memo['k'] = n\nmemo[n] = 2\nreturn x * 2, list(memo.items()), len(memo)",
}
for (other, between), (how, body) in itertools.product(OTHERS.items(), ASKED.items()):
    before = f"if n < 2: memo['k'] = 5.0\nif n == 2: {between}" if other != "another_dict" else f"if n < 2: memo['k'] = 5.0\nelse: {between}"
    open_case(build_of(f"place_of_{other}_is_{how}", body, before))

# The whole is looked at when some of it was stored.
LOOKS = {
    "length": "len(memo)",
    "truth": "bool(memo)",
    "keys": "list(memo)",
    "items": "[(k, v) for k, v in memo.items()]",
    "values": "list(memo.values())",
    "copy": "memo.copy()",
    "unpacked": "{**memo}",
    "compared": "memo == {'k': 1, 'a': 2}",
    "text": "repr(memo)",
    "last": "memo.popitem()",
    "merged": "dict(memo, z=1)",
    "identity": "(memo is globals()['memo'], memo.get('a'))",
    "by_name": "(memo.__getitem__('a'), memo.__contains__('k'), dict.get(memo, 'a'), dict.__len__(memo))",
    "reversed": "list(reversed(list(memo)))",
    "sum": "sum(v for v in memo.values() if isinstance(v, int))",
}
STORES = {
    "one": "memo['a'] = n",
    "two": "memo['a'] = n\nmemo['b'] = 2",
    "twice": "memo['a'] = n\nmemo['a'] = n + 1",
    "and_deleted": "memo['a'] = n\nmemo['k'] = 2\ndel memo['k']\nmemo['k'] = 3",
    "equal_keys": "memo[1] = n\nmemo[True] = 2\nmemo[1.0] = 3\nmemo['a'] = 1",
    "numbers": "memo[n] = n\nmemo[n + 1] = 2\nmemo['a'] = 1",
    "behind_a_break": "memo['a'] = n\ntouch(x)\nmemo['b'] = n",
    "updated": "memo['a'] = n\nmemo.update(b=3)\nmemo['c'] = 1",
    "cleared": "memo['b'] = n\nmemo.clear()\nmemo['a'] = 2",
    "in_a_callee": "def put(d, v): d['a'] = v\nput(memo, n)\nput(memo, n + 1)",
    "beside_a_view": "view = memo.keys()\nmemo['a'] = n\ntold.append(list(view))",
    "beside_an_iterator": "it = iter(memo)\nmemo['a'] = n\ntry:\n    told.append(next(it))\nexcept RuntimeError as error:\n    told.append(str(error))",
    "that_raise": "try:\n    memo['a'] = n\n    memo['none']\nexcept KeyError as error:\n    told.append(error.args)",
}
for (look, text), (stores, body) in itertools.product(LOOKS.items(), STORES.items()):
    open_case(build_of(f"looked_at_for_{look}_when_{stores}_stored", f"{body}\nreturn x * 2, {text}", "memo.pop('a', None); memo['k'] = n % 2"))

# One key of several types, asked for by one and stored by another: they are one key for a dict. NaNs are found by who they are.
NUMBERS = {
    "int": "n % 3",
    "float": "float(n % 3)",
    "bool": "n % 2 == 1",
    "negative_zero": "-0.0 if n % 2 else 0",
    "large": "2**62 * n",
    "large_float": "2.0**62 * n",
    "constant": "1",
    "constant_float": "1.0",
    "true": "True",
    "nan": "nan",
    "other_nan": "nan if n % 2 else other_nan",
    "in_a_tuple": "(n % 3, 'a')",
    "nan_in_a_tuple": "(nan if n % 2 else other_nan, 1)",
    "text": "str(n % 2)",
}
NANS = "if n == 0:\n    global nan, other_nan\n    nan, other_nan = float('nan'), float('nan')\n"
for (one, stored), (other, asked) in itertools.product(NUMBERS.items(), repeat=2):
    body = f"memo[{stored}] = n\ny = memo.get({asked}), ({asked}) in memo\nmemo.pop({asked}, None)\nreturn x * 2, y, len(memo)"
    open_case(build_of(f"stored_by_{one}_and_asked_by_{other}", body, f"{NANS}memo.clear()"))
for one, key in NUMBERS.items():
    body = f"return x * 2, memo.get({key}), ({key}) in memo"
    open_case(build_of(f"asked_by_{one}", body, f"{NANS}memo.clear()\nmemo[1] = 5\nmemo[nan] = 6\nmemo[(nan, 1)] = 7\nmemo['1'] = 8"))

# A local holds what its place loses, until it is bound anew: a number at the first calls, what tells its end at later ones.
LOSES = {
    "item": ("memo['k']", "memo['k'] = 1", "memo['k'] = {new}"),
    "item_deleted": ("memo['k']", "del memo['k']", "memo['k'] = {new}"),
    "item_cleared": ("memo['k']", "memo.clear()", "memo['k'] = {new}"),
    "item_updated": ("memo['k']", "memo.update(k=1)", "memo['k'] = {new}"),
    "item_popped": ("memo.pop('k')", "pass", "memo['k'] = {new}"),
    "list_item": ("stack[-1]", "stack[-1] = 1", "stack = [{new}]"),
    "list_deleted": ("stack[0]", "del stack[0]", "stack = [{new}]"),
    "list_popped": ("stack.pop()", "pass", "stack = [{new}]"),
    "list_slice": ("stack[0]", "stack[:] = []", "stack = [{new}]"),
    "list_cleared": ("stack[0]", "stack.clear()", "stack = [{new}]"),
    "attribute": ("own.a", "own.a = 1", "own.a = {new}"),
    "attribute_deleted": ("own.a", "del own.a", "own.a = {new}"),
    "global": ("stack", "globals_of()['stack'] = 1", "stack = {new}"),
    "global_name": ("stack", "bind(1)", "stack = {new}"),
}
# What others lose may be of a type whose end is told, and no guard says so yet.
KEPT_TYPE = {"item", "item_deleted", "item_popped"}
WORLD += """
class Plain:
    pass

own = Plain()
stack = []

def globals_of():
    return globals()

def bind(value):
    global stack
    stack = value
"""
for (place, (read, lost, new)), behind in itertools.product(LOSES.items(), ("", "touch(x)\n")):
    body = f"v = {read}\n{lost}\n{behind}told.append('a')\nv = None\ntold.append('b')\nreturn x * 2"
    before = f"global own, stack\n{new.format(new='5 if n < 3 else Loud(n)')}"
    held = "behind_a_break" if behind else "at_once"
    if place in KEPT_TYPE and not behind:
        open_case(build_of(f"local_holds_what_{place}_lost_{held}", body, before))
    unread = f"{'' if 'popped' in place else lost}\n{behind}told.append('a')\nreturn x * 2"
    if "popped" not in place:
        open_case(build_of(f"nobody_read_what_{place}_lost_{held}", unread, before))
