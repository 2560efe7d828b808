"""What captured calls come to where a hash or a comparison of keys prints: mostly, each print is a break.

By case and by what prints: the breaks, the graphs where they are not one, and reasons beside the print.
"""

import sys

TABLE = """
read_of_keys | hash: 4/2 | eq: 4/2 | hash eq: 8/2
read_of_tuples | hash: 4/2 | eq: 2/2 | hash eq: 6/2
read_of_names | hash: 4/2 | eq: 2/2 | hash eq: 6/2
asked_for_of_keys | hash: 7 | eq: 5 | hash eq: 12
asked_for_of_tuples | hash: 7 | eq: 2 | hash eq: 9
asked_for_of_names | hash: 7 | eq: 2 | hash eq: 9
stored_of_keys | hash: 6 | eq: 6 | hash eq: 12
stored_of_tuples | hash: 6 | eq: 2 | hash eq: 8
stored_of_names | hash: 6 | eq: 2 | hash eq: 8
taken_out_of_keys | hash: 9 | eq: 3 | hash eq: 12
taken_out_of_tuples | hash: 9 | eq: 2 | hash eq: 11
taken_out_of_names | hash: 9 | eq: 2 | hash eq: 11
set_by_default_of_keys | hash: 4 | eq: 4 | hash eq: 8
set_by_default_of_tuples | hash: 4 | eq: 2 | hash eq: 6
set_by_default_of_names | hash: 4 | eq: 2 | hash eq: 6
missing_of_keys | hash: 2 | eq: 1 | hash eq: 3
missing_of_tuples | hash: 2 | eq: 0 silent | hash eq: 2
missing_of_names | hash: 2 | eq: 0 silent | hash eq: 2
in_a_loop_of_keys | hash: 20/6 | eq: 20/5 | hash eq: 39/6
in_a_loop_of_tuples | hash: 20/6 | eq: 8/3 | hash eq: 28/6
in_a_loop_of_names | hash: 20/6 | eq: 8/3 | hash eq: 28/6
comprehended_of_keys | hash: 4 | eq: 2 | hash eq: 6
comprehended_of_tuples | hash: 4 | eq: 1 | hash eq: 5
comprehended_of_names | hash: 4 | eq: 1 | hash eq: 5
two_calls_deep_of_keys | hash: 4/3 | eq: 2/2 | hash eq: 6/3
two_calls_deep_of_tuples | hash: 4/3 | eq: 2/2 | hash eq: 6/3
two_calls_deep_of_names | hash: 4/3 | eq: 2/2 | hash eq: 6/3
in_a_generator_of_keys | hash: 6/3 | eq: 6/3 | hash eq: 12/3
in_a_generator_of_tuples | hash: 6/3 | eq: 4/3 | hash eq: 10/3
in_a_generator_of_names | hash: 6/3 | eq: 4/3 | hash eq: 10/3
merged_of_keys | hash: 7 | eq: 6 | hash eq: 13
merged_of_tuples | hash: 7 | eq: 2 | hash eq: 9
merged_of_names | hash: 7 | eq: 2 | hash eq: 9
from_pairs_of_keys | hash: 10 | eq: 7 | hash eq: 17
from_pairs_of_tuples | hash: 10 | eq: 4 | hash eq: 14
from_pairs_of_names | hash: 10 | eq: 4 | hash eq: 14
compared_of_keys | hash: 7 | eq: 4 | hash eq: 11
compared_of_tuples | hash: 7 | eq: 3 | hash eq: 10
compared_of_names | hash: 7 | eq: 3 | hash eq: 10
made_up_for_of_keys | hash: 6 | eq: 3 | hash eq: 9
made_up_for_of_tuples | hash: 6 | eq: 1 | hash eq: 7
made_up_for_of_names | hash: 6 | eq: 1 | hash eq: 7
extended_of_keys | hash: 13 mutation | eq: 10 mutation | hash eq: 20 mutation
extended_of_tuples | hash: 13 mutation | eq: 5 mutation | hash eq: 17 mutation
extended_of_names | hash: 13 mutation | eq: 5 mutation | hash eq: 17 mutation
counted_of_keys | hash: 12 mutation | eq: 10 mutation | hash eq: 18 mutation
counted_of_tuples | hash: 12 mutation | eq: 7 mutation | hash eq: 16 mutation
counted_of_names | hash: 12 mutation | eq: 7 mutation | hash eq: 16 mutation
asked_by_name_of_keys | hash: 5 | eq: 5 | hash eq: 10
asked_by_name_of_tuples | hash: 5 | eq: 2 | hash eq: 7
asked_by_name_of_names | hash: 5 | eq: 2 | hash eq: 7
united_of_keys | hash: 5 | eq: 3 | hash eq: 8
united_of_tuples | hash: 5 | eq: 2 | hash eq: 7
united_of_names | hash: 5 | eq: 2 | hash eq: 7
given_and_read | hash: 3 | eq: 2
given_and_written | hash: 4 | eq: 4
given_and_taken_out | hash: 3 | eq: 2
given_and_popped | hash: 0 silent | eq: 0 silent
given_under_two_names | hash: 3 | eq: 1
"""


def read(text):
    counts, *reasons = text.split()
    breaks, _, graphs = counts.partition("/")
    if reasons == ["silent"]:
        stated = ()
    else:
        stated = tuple(sorted(["builtin-with-output", *reasons]))
    decisions = {"breaks": int(breaks), "captures": int(breaks) + 1, "graphs": int(graphs or 1), "reasons": stated}
    if "mutation" in reasons and sys.version_info[:2] == (3, 10):
        # An update of what was there before takes more steps.
        decisions.update(breaks=None, captures=None)
    return decisions


DECISIONS = {}
for line in TABLE.strip().splitlines():
    name, *parts = line.split(" | ")
    for part in parts:
        loud, _, text = part.partition(": ")
        DECISIONS[name, loud] = read(text)
