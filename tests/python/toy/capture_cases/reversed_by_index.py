"""`reversed` of an object that has a length and items by number, but no `__reversed__`: both are asked as often as by C, and no more."""

from observe import told_case

WORLD = """
told = []
class Items:
    def __init__(self, *items):
        self.items = list(items)
    def __len__(self):
        told.append('len')
        {in_len}
        return {length}
    def __getitem__(self, at):
        told.append(at)
        {in_item}
        return self.items[at]
{more}
given = Items(1, 2, 3)
"""
PLAIN = {"in_len": "pass", "length": "len(self.items)", "in_item": "pass", "more": ""}

CLASSES = {
    "plain": PLAIN,
    "with_a_break_in_its_length": {**PLAIN, "in_len": "opaque(0)"},
    "with_a_break_in_its_items": {**PLAIN, "in_item": "opaque(0)"},
    "that_says_it_is_longer": {**PLAIN, "length": "7"},
    "that_says_it_is_shorter": {**PLAIN, "length": "2"},
    "that_says_it_is_empty": {**PLAIN, "length": "0"},
    "of_a_negative_length": {**PLAIN, "length": "-1"},
    "of_a_length_that_is_no_number": {**PLAIN, "length": "'3'"},
    "of_a_length_that_raises": {**PLAIN, "in_len": "raise KeyError('len')"},
    "whose_items_stop": {**PLAIN, "in_item": "if at == 1: raise StopIteration"},
    "whose_items_raise": {**PLAIN, "in_item": "if at == 1: raise KeyError(at)"},
    "that_grows": {**PLAIN, "in_item": "self.items.insert(0, at)"},
    "that_shrinks": {**PLAIN, "in_item": "self.items.clear()"},
    "with_attributes": {**PLAIN, "more": "    def __getattr__(self, name):\n        raise AttributeError(name)"},
    "that_forbids_it": {**PLAIN, "more": "    __reversed__ = None"},
    "that_does_it_itself": {**PLAIN, "more": "    def __reversed__(self):\n        return iter('ab')"},
    "that_is_iterated_otherwise": {**PLAIN, "more": "    def __iter__(self):\n        return iter('ab')"},
}
USES = {
    "in_a_loop": "for item in reversed({it}):\n            x = x + item",
    "in_a_loop_with_breaks": "for item in reversed({it}):\n            x = x + item\n            opaque(item)",
    "as_a_list": "told.append(list(reversed({it})))",
    "half_used": "each = reversed({it})\n        told.append(next(each, 'over'))",
    "half_used_over_a_break": "each = reversed({it})\n        told.append(next(each, 'over'))\n        opaque(0)\n        told.append(next(each, 'over'))",
    "beside_others": "told.append([pair for pair in zip(reversed({it}), enumerate(reversed({it})))])",
    "to_its_end_and_further": "each = reversed({it})\n        told.append(list(each))\n        told.append(next(each, 'over'))",
    "unused": "each = reversed({it})",
}

for _class, _parts in CLASSES.items():
    for _how, _use in USES.items():
        for _which, _it in {"given": "given", "made": "Items(4, 5, 6)"}.items():
            told_case(
                f"an_object_{_class}_that_is_{_which}_reversed_{_how}",
                f"""
{WORLD.format(**_parts)}
def f(x):
    each = ()
    given.items[:] = [1, 2, 3]
    try:
        {_use.format(it=_it)}
    except (KeyError, RuntimeError, TypeError, ValueError) as error:
        told.append((type(error).__name__, str(error)))
    told.append(type(each).__name__)
    return x * 2, each
""",
            )
