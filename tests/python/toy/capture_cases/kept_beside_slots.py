"""What lies in a container of the module and in a variable over a break dies when the container lets go of it: no guard keeps what it
was told by."""

from observe import told_case

MADE = {
    "a_closure": "d = Dies()\n    v = lambda: d",
    "a_function_of_a_closure": "d = Dies()\n    v = (lambda inner: lambda: inner())(lambda: d)",
    "a_default": "v = lambda d=Dies(): d",
    "an_attribute": "v = lambda: 1\n    v.d = Dies()",
    "a_method": "v = Dies().method",
    "a_partial": "v = functools.partial(max, Dies())",
    "a_list": "v = [Dies()]",
    "a_list_of_a_variable": "d = Dies()\n    v = [d]",
    "a_dict": "v = {1: Dies()}",
    "a_set": "v = {Dies()}",
    "a_tuple": "v = (Dies(), 1)",
    "an_instance": "v = Holds()\n    v.d = Dies()",
    "an_iterator": "v = iter([Dies()])",
    "an_exception": "v = ValueError(Dies())",
}
USED = {"": "None", "_and_asked": "told.append(callable(v))", "_and_found": "told.append(kept[-1] is v)", "_and_told": "told.append(v is None)"}
LET_GO = {"popped": "kept.pop(0)", "deleted": "del kept[0]", "in_a_slice": "kept[:1] = []"}

for _name, _made in MADE.items():
    for _use, _used in USED.items():
        for _how, _let_go in LET_GO.items():
            told_case(
                f"beside_a_slot_{_name}_{_how}{_use}",
                f"""
import functools
told = []
kept = []
made = [0]
class Holds:
    pass
class Dies:
    def __init__(self):
        made[0] += 1
        self.number = made[0]
    def method(self):
        return self.number
    def __del__(self):
        told.append(('dies', self.number))
def f(x):
    del told[:]
    {_made}
    kept.append(v)
    opaque(0)
    {_used}
    if len(kept) > 2:
        {_let_go}
    told.append('end')
    return x * 2
""",
            )
