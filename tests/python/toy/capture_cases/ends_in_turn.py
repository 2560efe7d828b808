"""In which order the parts of an iterator go, and who is held by a traceback that outlives its exception."""

from observe import told_case
from capture_cases.worlds import GONE

WORLD = f"""
import sys
import weakref
told = []
{GONE}
def raising(*args):
    raise KeyError
def first(*args):
    return args[0].name
"""

MAPS = {
    "dropped": "each = map(first, {lists})\n    told.append(next(each))\n    del each",
    "never_asked": "each = map(first, {lists})\n    each = None",
    "left_by_a_loop": "for item in map(first, {lists}):\n        break",
    "raising_in_a_list": "try:\n        list(map(raising, {lists}))\n    except KeyError:\n        told.append('caught')",
    "raising_in_a_sum": "try:\n        sum(map(raising, {lists}))\n    except KeyError:\n        told.append('caught')",
    "raising_in_a_loop": "try:\n        for item in map(raising, {lists}):\n            pass\n    except KeyError:\n        told.append('caught')",
    "raising_and_kept": "each = map(raising, {lists})\n    try:\n        next(each)\n    except KeyError:\n        told.append('caught')",
    "gone_through": "told.append(list(map(first, {lists})))",
}
LISTS = {
    "one_list": "[Loud(1), Loud(2)]",
    "two_lists": "[Loud(1), Loud(2)], [Loud(3), Loud(4)]",
    "three_lists": "[Loud(1), Loud(2)], (Loud(3), Loud(4)), [Loud(5)]",
}

for _how, _body in MAPS.items():
    for _which, _lists in LISTS.items():
        told_case(
            f"a_map_over_{_which}_{_how}",
            f"""{WORLD}
def f(x):
    {_body.format(lists=_lists)}
    told.append('end')
    return x * 2
""",
        )

KEPT = {
    "of_the_exception": "e.__traceback__",
    "of_who_is_handled": "sys.exc_info()[2]",
}
WHERE = {
    "here": "try:\n        raise KeyError(v)\n    except KeyError as e:\n        kept = [{what}]\n        v = None",
    "of_a_call": "try:\n        inner(v)\n    except KeyError as e:\n        kept = [{what}.tb_next]\n        v = None",
}

for _which, _what in KEPT.items():
    for _where, _body in WHERE.items():
        for _then, _rest in {"": "None", "_over_a_break": "opaque(0)"}.items():
            told_case(
                f"a_traceback_{_which}_that_is_kept_{_where}{_then}",
                f"""{WORLD}
def inner(v):
    raise KeyError(v)
def f(x):
    seen = weakref.WeakSet()
    v = Loud(1)
    seen.add(v)
    {_body.format(what=_what)}
    {_rest}
    told.append(len(seen))
    x = x * (len(seen) + 2)
    kept.clear()
    told.append(len(seen))
    return x
""",
            )
