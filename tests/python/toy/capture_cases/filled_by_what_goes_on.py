"""A local that nobody reads again holds what is put into its value behind a break, to the end of the frame or until it is bound again."""

from observe import told_case

WORLD = """
told = []
class Loud:
    def __init__(self, name=0):
        self.name = name
    def __del__(self):
        told.append(("gone", self.name))
class Box:
    pass
def fill(into):
    into.append(Loud())
def fill_in_a_loop(into):
    for name in range(2):
        into.append(Loud(name))
def loud():
    opaque(0)
    return Loud(1)
def pairs():
    yield 1, Loud(1)
    opaque(0)
    yield 2, Loud(2)
"""

BODIES = {
    "a_method_on_the_stack": "l = []\nl.append(Loud())",
    "a_method_on_the_stack_of_another_name": "l = []\nm = l\nl.append(Loud())\ndel l",
    "a_method_of_a_dict": "d = {}\nd.update({1: Loud()})",
    "a_generator": "d = {}\nd.update(pairs())",
    "a_generator_into_a_list": "l = []\nl.extend(value for key, value in pairs())",
    "an_inlined_function": "l = []\nfill(l)",
    "an_inlined_function_in_a_loop": "l = []\nfill_in_a_loop(l)",
    "a_setter": "b = Box()\nsetattr(b, 'v', Loud())",
    "a_store_into_an_attribute": "b = Box()\nb.v = loud()",
    "a_store_into_an_item": "d = {}\nd['k'] = loud()",
    "an_item_of_an_item": "d = {'inner': []}\nd['inner'].append(loud())",
    "a_deque": "import collections\nq = collections.deque()\nq.append(loud())",
    "what_is_bound_again": "l = []\nl.append(loud())\nl = None",
    "a_comprehension": "l = []\n[l.append(Loud(name)) for name in range(2)]",
}
ENDS = {"": "told.append('made')\nreturn x + 1", "_that_raises": "told.append('made')\nraise KeyError(1)", "_beside_more": "other = Loud('other')\ntold.append('made')\nreturn x + 1"}

STARTS = {"": [], "_behind_a_finalizer": ["first = Loud('first')", "first = None"]}

for _name, _body in BODIES.items():
    for _start, _before in STARTS.items():
        for _end, _rest in ENDS.items():
            _lines = [*_before, *f"{_body}\n{_rest}".split("\n")]
            _source = WORLD + "def f(x):\n" + "".join(f"    {line}\n" for line in _lines)
            told_case(f"a_dead_local_filled_by_{_name}{_start}{_end}", _source, alone=True)

# An exception that is handled leads to the frame that handles it.
HANDLED = {
    "bound_again": "for n in range(2):\n    l = []\n    l.append(Loud(n))\ntold.append('last')",
    "let_go": "l = []\nl.append(loud())\nl = None\ntold.append('last')",
    "of_a_dict": "d = {}\nd['k'] = loud()\nd = None\ntold.append('last')",
    "of_an_object": "b = Box()\nb.v = loud()\nb = None\ntold.append('last')",
    "made_before": "l.append(loud())\nl = None\ntold.append('last')",
    "made_before_by_another_name": "m = l\nl = None\nm.append(loud())\nm = None\ntold.append('last')",
}
WAYS = {
    "in_a_handler": "try:\n    raise KeyError('u')\nexcept KeyError as error:\n{}",
    "in_a_handler_that_raises_again": "try:\n    try:\n        raise KeyError('u')\n    except KeyError:\n        {}\n        raise\nexcept KeyError:\n    told.append('caught')",
    "in_a_finally": "try:\n    try:\n        raise KeyError('u')\n    finally:\n        {}\nexcept KeyError:\n    told.append('caught')",
}

for _name, _body in HANDLED.items():
    for _way, _around in WAYS.items():
        _place = next(line for line in _around.split("\n") if "{}" in line)
        _indent = " " * (len(_place) - len(_place.lstrip())) if _place != "{}" else "    "
        _inside = "\n".join(_indent + line for line in _body.split("\n"))
        _lines = ["l = []", *_around.replace(_place, _inside).split("\n"), "told.append('end')", "return x + 1"]
        told_case(f"filled_{_way}_{_name}", WORLD + "def f(x):\n" + "".join(f"    {line}\n" for line in _lines), alone=True)

# The frame that handled an exception has an object, which nobody has any more.
BEHIND = {
    "a_manager": "with Manager():\n    pass",
    "an_object": "b = Box()\nb.v = loud()\ntold.append('made')\nb.v = None",
    "an_item": "l = []\nl.append(loud())\ntold.append('made')\nl.pop()",
}
MANAGER = """
class Manager:
    def __init__(self):
        self.held = Loud('held')
    def __enter__(self):
        told.append('in')
        return self.held
    def __exit__(self, *of):
        told.append('out')
        self.held = None
"""

for _name, _body in BEHIND.items():
    _before = ["try:", "    None.missing = 1", "except AttributeError as error:", "    told.append('caught')"]
    _lines = [*_before, *_body.split("\n"), "told.append('end')", "return x + 1"]
    told_case(f"behind_a_handler_{_name}", WORLD + MANAGER + "def f(x):\n" + "".join(f"    {line}\n" for line in _lines), alone=True)
