"""The line that a finalizer finds in the frame that let go of the value: that of the statement, before and behind breaks. Of an
inlined function it is that of the call, which `ARCHITECTURE.md` says, and which is not asked for here."""

from observe import told_case

WORLD = """
import sys
told = []
class Loud:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        frame = sys._getframe(1)
        told.append((self.name, frame.f_code.co_name, frame.f_lineno) if frame.f_globals is globals() else (self.name, "outside"))
class Box:
    pass
box = Box()
def f(x):
"""

BODIES = {
    "of_a_local_that_is_bound_again": "a = Loud(1)\ny = x + 1\na = None\nz = y * 2\nreturn z",
    "of_locals_that_are_deleted": "a, b = Loud(1), Loud(2)\ny = x + 1\ndel b\nz = y * 2\ndel a\nreturn z + 1",
    "of_items_of_a_list": "l = [Loud(1), Loud(2), Loud(3)]\ny = x + 1\nl.pop()\nl[0] = None\ny = y + 1\nl.clear()\nreturn y * 2",
    "of_items_of_a_dict": "d = {'a': Loud(1), 'b': Loud(2)}\nx = x + 1\nd['a'] = 0\nx = x * 2\nd.pop('b')\nreturn x",
    "of_items_of_a_set": "s = {Loud(1)}\nx = x + 1\ns.clear()\nx = x * 2\nreturn x",
    "of_an_attribute_of_another_s": "box.a = Loud(1)\nx = x + 1\nbox.a = 2\nbox.b = Loud(3)\nx = x + 1\ndel box.b\nreturn x",
    "of_an_item_of_an_instance": "made = Box()\nmade.a = Loud(1)\nmade.b = Loud(2)\nx = x + 1\nmade.a = None\nx = x + 1\nmade = None\nreturn x",
    "of_what_stands_on_the_stack": "y = x + len([Loud(1)])\nz = (\n    y + 1,\n    Loud(2),\n)[0]\nreturn z",
    "of_what_is_handled": "try:\n    a = Loud(1)\n    x = x + 1\n    raise ValueError(a)\nexcept ValueError:\n    x = x * 2\n    a = None\nx = x + 1\nreturn x",
    "of_what_a_loop_binds": "for i in range(3):\n    a = Loud(i)\n    x = x + 1\na = 2\nreturn x",
    "of_what_lives_to_the_end": "a = Loud(1)\nb = Loud(2)\nx = x + 1\nc = Loud(3)\nb = 1\nreturn x",
    "of_what_a_global_was": "global held\nheld = Loud(1)\nx = x + 1\nheld = None\nx = x * 2\nreturn x",
    "of_what_a_function_gives": "make = lambda: Loud(1)\nx = x + 1\nmake()\nx = x * 2\nmake()\nreturn x",
    "of_an_iterator": "each = iter([Loud(1), Loud(2)])\nx = x + 1\nnext(each)\nx = x + 1\neach = None\nreturn x",
}


def register(name, lines):
    told_case(name, WORLD + "".join(f"    {line}\n" for line in lines))


for _name, _body in BODIES.items():
    _lines = _body.split("\n")
    register(f"the_line_{_name}", _lines)
    # Only between statements of the body itself.
    _places = [at for at in range(1, len(_lines)) if not _lines[at].startswith((" ", ")", "except", "global")) and not _lines[at - 1].endswith((":", "("))]
    for _at in _places:
        register(f"the_line_{_name}_over_a_break_at_{_at}", [*_lines[:_at], "opaque(0)", *_lines[_at:]])
