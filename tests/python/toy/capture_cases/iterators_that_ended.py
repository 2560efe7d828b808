"""Iterators that have come to their end say so when they are given back, and stay there when what they went through grows."""

from observe import told_case

ITERATORS = {
    "a_list": ("[1, 2]", "it.clear()"),
    "an_empty_list": ("[]", "it.append(1)"),
    "a_list_that_grows": ("[1]", "it.append(2)"),
    "a_tuple": ("(1, 2)", "None"),
    "a_text": ("'ab'", "None"),
    "bytes": ("b'ab'", "None"),
    "a_bytearray": ("bytearray(b'ab')", "it.append(1)"),
    "a_dict": ("{1: 2}", "None"),
    "a_range": ("range(3, 8, 2)", "None"),
    "a_range_that_falls": ("range(5, 0, -1)", "None"),
    "a_range_of_nothing": ("range(3, 3)", "None"),
}
ENDS = {
    "by_a_loop": "for item in each:\n        x = x + 1",
    "by_list": "told.append(list(each))",
    "by_next": "while next(each, None) is not None:\n        x = x + 1",
    "not_yet": "told.append(next(each, None))",
}

for _name, (_items, _change) in ITERATORS.items():
    for _how, _end in ENDS.items():
        for _where, _break in {"": "None", "_over_a_break": "opaque(0)"}.items():
            told_case(
                f"an_iterator_over_{_name}_that_ended_{_how}{_where}",
                f"""
told = []
def f(x):
    it = {_items}
    each = iter(it)
    {_end}
    {_break}
    {_change}
    x = x * 2
    told.append(x)
    opaque(1)
    told.append((each.__reduce__(), next(each, 'over')))
    return x, each
""",
            )
