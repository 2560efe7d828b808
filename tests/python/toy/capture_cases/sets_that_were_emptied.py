"""Sets from before that are empty, and have had members since their table was made: which those were matters to the order of others."""

from observe import called_between, open_case

WORLD = """
import itertools
import reprlib
calls = itertools.count(3)
told = []
pool = set()
other = set()
class Written(list):
    @reprlib.recursive_repr()
    def __repr__(self):
        return 'Written(' + ', '.join(map(repr, self)) + ')'
given = Written([1, 2])
"""

# What the set has had between the calls.
BETWEEN = {
    "one": "pool.add(n * 3)\npool.discard(n * 3)",
    "some": "for item in range(n):\n    pool.add(item * 5)\nfor item in range(n):\n    pool.discard(item * 5)",
    "texts": "pool.add(str(n))\npool.discard(str(n))",
    "nothing": "pool = set()",
    "by_clear": "pool.update(range(n))\npool.clear()",
    "by_pop": "pool.add(n)\npool.pop()",
}
BODIES = {
    "asked": "told.append((5 in pool, len(pool), bool(pool)))",
    "asked_for_what_it_gets": "pool.add(5)\ntold.append((5 in pool, 6 in pool, len(pool)))\npool.discard(5)",
    "filled_and_emptied": "pool.add(n)\npool.add(n + 8)\npool.clear()",
    "filled_and_gone_through": "for item in (24, 3, 11, 19, 8, 16):\n    pool.add(item)\ntold.append(list(pool))\npool.clear()",
    "filled_and_kept": "pool.update((24, 3, 11, 19, 8, 16))",
    "filled_and_popped": "pool.update((24, 3, 11))\ntold.append((pool.pop(), pool.pop(), pool.pop()))",
    "filled_with_one_and_popped": "pool.add(24)\ntold.append(pool.pop())",
    "gone_through": "told.append([item for item in pool])",
    "copied": "made = pool.copy()\nmade.update((24, 3, 11))\ntold.append(list(made))",
    "united": "told.append(list(pool | {24, 3, 11}))",
    "united_the_other_way": "told.append(list({24, 3, 11} | pool))",
    "updated_in_place": "other.clear()\nother.update((24, 3))\nother.update(pool)\ntold.append(list(other))",
    "compared": "told.append((pool == set(), pool == {1}, pool <= {1}, pool.isdisjoint({1})))",
    "given_back": "told.append(pool is other)\nreturn x, pool",
    "frozen": "told.append(frozenset(pool))",
    "filled_over_a_break": "pool.update((24, 3))\nopaque(0)\npool.update((11, 19))\ntold.append(list(pool))\npool.clear()",
    "written": "told.append(repr(pool))",
    "of_a_recursive_text": "given.append(given)\ntold.append(repr(given))\ngiven.pop()",
    "of_a_new_recursive_text": "made = Written([1])\nmade.append(made)\ntold.append(repr(made))",
}

for _which, _between in BETWEEN.items():
    for _how, _body in BODIES.items():
        open_case(
            called_between(
                f"a_set_that_has_had_{_which}_is_{_how}", WORLD, _body + "\nreturn x * 2, pool", _between, "pool", lambda made: ()
            )
        )
