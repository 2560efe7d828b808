"""What depends on the locale of the process is asked at each call: patterns with `re.LOCALE`, numbers that are written as `n`."""

import locale
import os
import re
import shutil
import subprocess
import sys

import pytest

from doors import DOORS
from toy_framework import toy

t = toy.tensor
LETTER = re.compile(rb"\w", re.LOCALE)
NUMBER, FLOAT, SPEC = 1234567, 1234.5, "n"

PROGRAMS = [
    lambda text, n: (LETTER.findall(text), bool(LETTER.match(text[1:]))),
    lambda text, n: (LETTER.sub(b"x", text), LETTER.subn(b"-", text), LETTER.split(text), LETTER.search(text[1:2])),
    lambda text, n: bool(re.match(rb"(?Li)\xe4", b"\xc4")),
    lambda text, n: (format(NUMBER, "n"), format(FLOAT, "10n"), format(n, SPEC)),
    lambda text, n: (f"{NUMBER:n} {FLOAT:.3n} {n:{SPEC}}"),
    lambda text, n: ("{:n}".format(NUMBER), "{0:{1}}".format(n, SPEC), "{a:n}".format_map({"a": n})),
    lambda text, n: (n.__format__("n"), FLOAT.__format__(SPEC)),
]

CHILD = """
import locale, sys
sys.path[:0] = sys.argv[1].split(":")
import test_locale
test_locale.compare()
"""


def outcomes(door):
    """What the programs say in two locales, in turns."""
    found = []
    captured = [door(lambda x, text, n, program=program: (x + 1, program(text, n))) for program in PROGRAMS]
    for name in ("C", "de_DE", "C", "de_DE"):
        locale.setlocale(locale.LC_ALL, name)
        for run in captured:
            found += [repr(run(t([1.0]), b"a\xe4b", 7654321)[1]) for _ in range(2)]
    locale.setlocale(locale.LC_ALL, "C")
    return found


def compare():
    wanted = outcomes(lambda f: f)
    assert len(set(wanted)) > len(PROGRAMS), "the locales differ"
    for door in DOORS:
        assert outcomes(door) == wanted, door
    stats = toy.stats()
    assert stats["captures"] > 0 and "internal-error" not in stats["reasons"]


@pytest.mark.skipif(shutil.which("localedef") is None, reason="locales cannot be made here")
def test_a_locale_that_changes(tmp_path):
    made = subprocess.call(
        ["localedef", "-i", "de_DE", "-f", "ISO-8859-1", str(tmp_path / "de_DE")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    if made != 0 and not (tmp_path / "de_DE").exists():
        pytest.skip("this locale cannot be made here")
    environment = dict(os.environ, LOCPATH=str(tmp_path), PYTHONPATH=os.pathsep.join(sys.path))
    subprocess.run([sys.executable, "-c", CHILD, os.path.dirname(__file__)], env=environment, check=True)


def test_patterns_and_texts_without_the_locale_are_one_capture():
    letter = re.compile(rb"\w")

    def f(x, n):
        return x + 1, letter.findall(b"a b"), f"{n:>10}", "{:d} {}".format(n, "main"), f"{'main'}"

    captured = toy.to_static(f)
    for _ in range(3):
        assert captured(t([1.0]), 5)[1:] == f(t([1.0]), 5)[1:]
    stats = toy.stats()
    assert (stats["captures"], stats["breaks"], stats["hits"]) == (1, 0, 2)
