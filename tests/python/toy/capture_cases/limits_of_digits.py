"""Ints and their digits under a limit that the program sets between calls (`sys.set_int_max_str_digits`)."""

from observe import called_between, open_case

WORLD = """
import itertools, sys
calls = itertools.count()
told = []
LARGE, SMALL = 10 ** 700, 10 ** 100
DIGITS = "7" * 701
before = getattr(sys, "get_int_max_str_digits", int)()
def limit(n):
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits((4300, 640, 0)[n % 3])
def restored():
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(before)
def outcome(call):
    try:
        return len(str(call()))
    except ValueError as error:
        return str(error)
"""

for _name, _call in {
    "str": "len(str(LARGE))",
    "repr": "len(repr(LARGE))",
    "an_f_string": "len(f'{LARGE}')",
    "an_f_string_with_a_format": "len(f'{LARGE:>800}')",
    "percent": "len('%d' % LARGE)",
    "percent_with_several": "len('%s %d' % ('a', LARGE))",
    "format": "len('{}'.format(LARGE)) + len(format(LARGE, 'd'))",
    "int": "int(DIGITS) % 1000",
    "int_of_bytes": "int(DIGITS.encode()) % 1000",
    "repr_of_a_list": "len(repr([LARGE]))",
    "str_of_a_tuple": "len(str((1, LARGE)))",
    "hex": "len(hex(LARGE))",
    "int_of_base_16": "int(DIGITS, 16) % 1000",
    "small_ones": "len(str(SMALL)) + int(DIGITS[:600]) % 1000",
    "a_number_that_varies": "len(str(10 ** 690 + n))",
}.items():
    open_case(
        called_between(
            f"a_limit_of_digits_for_{_name}",
            WORLD,
            f"told.append(outcome(lambda: {_call}))\nreturn x + 1",
            "limit(n)",
            "told",
            lambda made: (made["restored"](),),
        )
    )
