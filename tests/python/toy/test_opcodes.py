"""Each opcode of each version is simulated by a program of `opcode_programs.py`, or there is a reason why it never is.

What is simulated the executor notes itself, so that an instruction at which a capture breaks or gives up does not count. The
page `docs/opcodes.md` is made of the same table: `SOT_RENEW_DOCS=1 python -m pytest tests/python/toy/test_opcodes.py` writes it.
"""

import dis
import functools
import os
import pathlib
import sys
import textwrap
import types

import pytest
from opcode_programs import NEVER, NEVER_KINDS, NEVER_ON, OPCODES, PROGRAMS, VERSIONS
from toy_framework import toy

MINOR = sys.version_info[1]
SETS, KINDS = toy.instruction_sets()
PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "opcodes.md"


def first_of(name):
    program = PROGRAMS[name]
    return program[0] if isinstance(program, tuple) else 8


def source_of(name):
    program = PROGRAMS[name]
    return textwrap.dedent(program[1] if isinstance(program, tuple) else program)


def runs_on(minors, minor):
    first, _, last = VERSIONS.get(minors, "8-13").partition("-")
    return int(first) <= minor <= int(last)


def codes_in(code):
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield const
            yield from codes_in(const)


def picture(value):
    if isinstance(value, toy.Tensor):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(picture, value)]
    return repr(value)


@functools.lru_cache(None)
def ran(name):
    """(opcodes, kinds) that were simulated, and (opcodes, kinds) that the program's code has."""
    top = compile(source_of(name), "<%s>" % name, "exec")
    seen = []
    for translate in (lambda f: f, toy.to_static):
        world = {"toy": toy, "__name__": "opcode_programs"}
        exec(top, world)
        f = translate(world["f"])
        got = []
        noted = toy.simulated_by(lambda: got.extend(picture(f(toy.tensor([1.0]))) for _ in range(3)))
        seen.append((got, noted))
    (plain, _), (captured, noted) = seen
    assert captured == plain
    stats = toy.stats()
    assert stats["captures"] and not stats["reasons"].get("internal-error"), stats
    opcodes, kinds, in_code, decoded = set(), set(), set(), set()
    for code in codes_in(top):
        here = {(offset, kind) for other, offset, kind in noted if other == code}
        instructions = toy.decoded(code)
        starts, offsets, at = {offset for offset, _ in instructions}, {offset for offset, _ in here}, None
        for instruction in dis.get_instructions(code):
            # What has no instruction of its own belongs to the one before.
            at = instruction.offset if instruction.offset in starts else at
            in_code.add(instruction.opname)
            own = instruction.offset in starts or instruction.opname not in NEVER
            if at in offsets and own:
                opcodes.add(instruction.opname)
        kinds |= {kind for _, kind in here}
        decoded |= {kind for _, kind in instructions}
    return opcodes, kinds, in_code, decoded


@pytest.mark.parametrize("opcode", SETS[MINOR])
def test_an_opcode_is_simulated_or_there_is_a_reason(opcode):
    assert (opcode in OPCODES) != (opcode in NEVER), "one of both tells what becomes of it"
    if opcode in OPCODES and (opcode, MINOR) not in NEVER_ON:
        names = [name for name in OPCODES[opcode] if first_of(name) <= MINOR]
        assert any(opcode in ran(name)[0] for name in names), "no program of %s runs it captured" % (OPCODES[opcode],)


@pytest.mark.parametrize("opcode", sorted(set(SETS[MINOR]) & set(NEVER)))
def test_nothing_is_simulated_that_never_is(opcode):
    assert [name for name in PROGRAMS if first_of(name) <= MINOR and opcode in ran(name)[0]] == []


def test_each_kind_of_instruction_is_simulated_or_there_is_a_reason():
    """What the decoder makes of the opcodes: kinds that have no opcode of their name are told apart, too."""
    simulated, decoded = set(), set()
    for name in PROGRAMS:
        if first_of(name) <= MINOR:
            simulated |= ran(name)[1]
            decoded |= ran(name)[3]
    of_opcodes = {opcode.replace("_", "").lower() for opcode in NEVER}
    never = {kind for kind in KINDS if kind in NEVER_KINDS or kind.lower() in of_opcodes}
    wanted = {kind for kind in KINDS if kind not in never and (kind.upper(), MINOR) not in NEVER_ON and runs_on(kind, MINOR)}
    assert sorted(wanted - simulated) == []
    assert sorted(simulated - wanted) == [], "other versions have it, or there is a reason why it never is"
    assert sorted(decoded - wanted - never) == []


def test_the_table_names_what_there_is():
    opcodes = {opcode for names in SETS.values() for opcode in names}
    assert sorted(opcodes - set(OPCODES) - set(NEVER)) == []
    assert sorted((set(OPCODES) | set(NEVER)) - opcodes) == []
    assert sorted({name for names in OPCODES.values() for name in names} - set(PROGRAMS)) == []
    assert sorted((set(NEVER_KINDS) | set(VERSIONS)) - set(KINDS)) == []


def versions_with(opcode):
    minors = [minor for minor, names in sorted(SETS.items()) if opcode in names]
    return "3.%d" % minors[0] if len(minors) == 1 else "3.%d to 3.%d" % (minors[0], minors[-1])


def test_the_page_is_the_table():
    opcodes = sorted({opcode for names in SETS.values() for opcode in names})
    lines = ["# What becomes of each opcode", ""]
    lines += ["Made of `tests/python/toy/opcode_programs.py`; `SOT_RENEW_DOCS=1` and the test of it write it anew.", ""]
    lines += ["Specialised and instrumented forms are read as the opcode that they are made of.", ""]
    lines += ["| opcode | versions | simulated in | or why never |", "|---|---|---|---|"]
    for opcode in opcodes:
        names = ", ".join(OPCODES.get(opcode, ()))
        here = sorted((minor, why) for (other, minor), why in NEVER_ON.items() if other == opcode)
        why = "; ".join([NEVER[opcode]] if opcode in NEVER else ["3.%d: %s" % one for one in here])
        lines.append("| `%s` | %s | %s | %s |" % (opcode, versions_with(opcode), names, why))
    text = "\n".join(lines) + "\n"
    if os.environ.get("SOT_RENEW_DOCS"):
        PAGE.write_text(text)
    assert PAGE.read_text() == text
