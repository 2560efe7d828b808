"""The stack size that CPython's compiler would give a code object, from its bytes and `dis.stack_effect` alone.

The same walk as `stackdepth()` of CPython's compiler: every instruction that can be reached, with the most that any
path has there; a handler of an exception table is entered with the depth of its entry, the offset if it is asked for,
and the exception. Nothing here knows what sot-opcodes thinks of an instruction.
"""

import bisect
import dis
import functools
import opcode
import sys

VERSION = sys.version_info[:2]
UNIT = 2 if VERSION >= (3, 10) else 1
ENDS = {
    dis.opmap[name]
    for name in (
        "JUMP_ABSOLUTE",
        "JUMP_BACKWARD",
        "JUMP_BACKWARD_NO_INTERRUPT",
        "JUMP_FORWARD",
        "RAISE_VARARGS",
        "RERAISE",
        "RETURN_CONST",
        "RETURN_VALUE",
    )
    if name in dis.opmap
}
ABSOLUTE, RELATIVE = set(dis.hasjabs), set(dis.hasjrel)
BACKWARD = {number for name, number in dis.opmap.items() if "BACKWARD" in name}

# A table by number, in 3.13 by name, before 3.11 none.
_caches = getattr(opcode, "_inline_cache_entries", {})
if isinstance(_caches, dict):
    _caches = {dis.opmap[name]: count for name, count in _caches.items() if name in dis.opmap}
CACHES = [_caches[number] if VERSION < (3, 13) and _caches else _caches.get(number, 0) for number in range(256)]

GENERATORS = 0x20 | 0x80 | 0x200


@functools.lru_cache(maxsize=None)
def effect(number, operand, jump):
    return dis.stack_effect(number, operand if number >= dis.HAVE_ARGUMENT else None, jump=jump)


def instructions(code):
    """Each instruction by the offset where it, with its EXTENDED_ARGs, begins: opcode, operand, the offset behind."""
    raw, found = code.co_code, {}
    at = start = operand = 0
    while at < len(raw):
        number, operand = raw[at], operand | raw[at + 1]
        at += 2
        if number == dis.EXTENDED_ARG:
            operand <<= 8
            continue
        at += 2 * CACHES[number]
        found[start] = number, operand, at
        start, operand = at, 0
    return found


def target(number, operand, behind):
    if number in ABSOLUTE:
        return operand * UNIT
    return behind - operand * UNIT if number in BACKWARD else behind + operand * UNIT


def needed(code):
    units = instructions(code)
    entries = sorted(dis._parse_exception_table(code)) if VERSION >= (3, 11) else []
    starts = [entry.start for entry in entries]
    # 3.10 and 3.11 start a generator with the value that is sent into it; later RETURN_GENERATOR counts it.
    first = 1 if VERSION in ((3, 10), (3, 11)) and code.co_flags & GENERATORS else 0
    seen, most, todo = {}, first, [(0, first)]
    # A loop that grows the stack would grow it for ever; whatever is above this is wrong anyway.
    limit = code.co_stacksize + len(code.co_code)
    while todo and most <= limit:
        at, depth = todo.pop()
        while seen.get(at, -1) < depth:
            seen[at] = depth
            most = max(most, depth)
            number, operand, behind = units[at]
            index = bisect.bisect_right(starts, at) - 1
            if index >= 0 and at < entries[index].end:
                entry = entries[index]
                todo.append((entry.target, entry.depth + entry.lasti + 1))
            if number in ABSOLUTE or number in RELATIVE:
                there = depth + effect(number, operand, True)
                # What a finally block of 3.8 was called with is given back by END_FINALLY, counted as an exception.
                todo.append((target(number, operand, behind), max(there, 0)))
            if number in ENDS:
                break
            at, depth = behind, max(depth + effect(number, operand, False), 0)
    return most
