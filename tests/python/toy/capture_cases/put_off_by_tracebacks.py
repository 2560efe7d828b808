"""What waits to clean up, in a variable of a frame that a kept traceback leads to: it does so when that traceback goes, and not when the
function ends."""

from observe import told_case

MADE = {
    "a_generator": ("waits()", "next(it)"),
    "a_generator_that_delegates": ("passes_on(waits())", "next(it)"),
    "a_coroutine": ("awaits()", "it.send(None)"),
    "nothing_yet": ("waits()", "None"),
}
SOURCE = """
told = []
kept = []
class Stays:
    def __await__(self):
        yield 1
def waits():
    try:
        yield 1
        yield 2
    finally:
        told.append('cleaned up')
def passes_on(inner):
    yield from inner
async def awaits():
    try:
        await Stays()
    finally:
        told.append('cleaned up')
def f(x):
    kept.clear()
    told.clear()
    {first}
    it = {made}
    {begun}
    {second}
    try:
        raise ValueError(len(told))
    except ValueError as error:
        kept.append(error)
    {third}
    x = x * 2
    {change}
    told.append(x)
    return x, told, kept[0].__traceback__.tb_lineno
"""
CHANGES = {"": "told.append(1)", "_and_goes_on": "told.append(next(it, 0))", "_that_is_forgotten": "it = None"}
BREAKS = {
    "": ("None", "None", "None"),
    "_over_a_break": ("None", "None", "opaque(0)"),
    "_behind_one_break": ("None", "opaque(0)", "None"),
    "_between_breaks": ("None", "opaque(0)", "opaque(1)"),
    "_after_breaks": ("opaque(0)", "None", "opaque(1)"),
}

for _name, (_made, _begun) in MADE.items():
    for _how, _change in CHANGES.items():
        if _name == "a_coroutine" and "next" in _change:
            continue
        for _where, (_first, _second, _third) in BREAKS.items():
            told_case(
                f"put_off_{_name}{_how}{_where}",
                SOURCE.format(made=_made, begun=_begun, change=_change, first=_first, second=_second, third=_third),
            )
