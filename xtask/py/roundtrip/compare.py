"""Decodes and encodes every code object of the files that the command line names and compares what comes back.

Reports {"files": n} and then one file at a time:

    {"file": path, "verdicts": {"identical": n, "equivalent": n}, "slack": {"0": n, "1": n},
     "bad": [[kind, where, detail], ..]}
    {"file": path, "skipped": class of the error, "why": its text}

identical: every byte. equivalent: instructions with their operands and jump targets, lines and columns of each one, and
handlers are the same, but EXTENDED_ARG or table bytes differ. Any other kind is a difference or a failure.
"""

import dis
import importlib.util
import itertools
import marshal
import os
import sys
import sysconfig
import warnings

import link
import stack

warnings.simplefilter("ignore")
sys.setrecursionlimit(20000)

JUMPS = set(dis.hasjrel) | set(dis.hasjabs)


def instructions(code):
    """What `dis` says without EXTENDED_ARG and caches; as (name, operand) with jumps to indices; index by offset."""
    found, index, start = [], {}, None
    for instruction in dis.get_instructions(code):
        if start is None:
            start = instruction.offset
        if instruction.opname == "EXTENDED_ARG":
            continue
        index[start] = len(found)
        found.append(instruction)
        start = None
    index[len(code.co_code)] = len(found)
    keys = [
        (i.opname, "to", index.get(i.argval, ("inside", i.argval))) if i.opcode in JUMPS else (i.opname, i.arg)
        for i in found
    ]
    return found, keys, index


def positions(code, found):
    """Line, and from 3.11 on columns, of each instruction."""
    if link.VERSION >= (3, 11):
        every = list(code.co_positions())
        return [every[i.offset // 2] for i in found]
    if link.VERSION >= (3, 10):
        every = {offset: line for start, end, line in code.co_lines() for offset in range(start, end, 2)}
        return [every.get(i.offset) for i in found]
    starts, line, every = dict(dis.findlinestarts(code)), None, {}
    for offset in range(0, len(code.co_code), 2):
        line = every[offset] = starts.get(offset, line)
    return [every[i.offset] for i in found]


def handlers(code, index):
    if not link.EXCEPTION_TABLE:
        return None

    def at(offset):
        # The compiler may end an entry inside the caches of an instruction.
        while offset not in index and offset < len(code.co_code):
            offset += 2
        return index.get(offset)

    return [(at(e.start), at(e.end), at(e.target), e.depth, e.lasti) for e in dis._parse_exception_table(code)]


def first_difference(old, new):
    return next(
        "number %d: %r became %r" % (number, a, b)
        for number, (a, b) in enumerate(itertools.zip_longest(old, new))
        if a != b
    )


def judge(code, new):
    """The verdict, and what differs."""
    same_code = code.co_code == new.co_code
    same_lines = getattr(code, link.LINES) == getattr(new, link.LINES)
    if same_code and same_lines and (not link.EXCEPTION_TABLE or code.co_exceptiontable == new.co_exceptiontable):
        return "identical", ""
    old_found, old_keys, old_index = instructions(code)
    new_found, new_keys, new_index = instructions(new)
    if old_keys != new_keys:
        return "instructions", first_difference(old_keys, new_keys)
    old_positions, new_positions = positions(code, old_found), positions(new, new_found)
    if old_positions != new_positions:
        return "locations", first_difference(old_positions, new_positions)
    old_handlers, new_handlers = handlers(code, old_index), handlers(new, new_index)
    if old_handlers != new_handlers:
        return "handlers", first_difference(old_handlers, new_handlers)
    return "equivalent", ""


def load(path):
    """The code object of a source file, or of a .pyc of this interpreter."""
    with open(path, "rb") as file:
        data = file.read()
    if path.endswith(".pyc"):
        if data[:4] != importlib.util.MAGIC_NUMBER:
            raise ValueError("bytecode of another version of Python")
        return marshal.loads(data[16:])
    return compile(data, path, "exec", dont_inherit=True)


def under(folder, without=()):
    """Every .py under a folder, but in the folders of these names right in it."""
    for base, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__" and not (base == folder and name in without))
        for name in sorted(names):
            if name.endswith(".py"):
                yield os.path.join(base, name)


def sources(paths):
    """The files, those in the folders, or without any path those of the standard library."""
    if not paths:
        return under(sysconfig.get_paths()["stdlib"], ("site-packages", "dist-packages"))
    return (file for path in paths for file in ([path] if os.path.isfile(path) else under(path)))


def one(path):
    """The report of one file."""
    try:
        top = load(path)
    except Exception as error:
        return {"skipped": type(error).__name__, "why": link.plain(str(error))}
    codes = list(link.nested(top))
    verdicts, slack, bad = {}, {}, []
    for code, new in zip(codes, link.recode(codes)):

        def wrong(kind, detail):
            where = "%s:%d %s" % (path, code.co_firstlineno, getattr(code, "co_qualname", code.co_name))
            bad.append([kind, link.plain(where), link.plain(detail)[:300]])

        if "error" in new:
            wrong(new["error"], new["detail"])
            continue
        try:
            made = link.build(code, new)
        except Exception as error:
            wrong("refused by CodeType", repr(error))
            continue
        verdict, detail = judge(code, made)
        if verdict in ("identical", "equivalent"):
            verdicts[verdict] = verdicts.get(verdict, 0) + 1
        else:
            wrong(verdict, detail)
        deeper = made.co_stacksize - code.co_stacksize
        slack[deeper] = slack.get(deeper, 0) + 1
        least = stack.needed(made)
        if made.co_stacksize < least:
            wrong("stack too small", "%d, and it needs %d" % (made.co_stacksize, least))
        elif made.co_stacksize > max(1, code.co_stacksize):
            wrong("stack too large", "%d, and CPython claims %d" % (made.co_stacksize, code.co_stacksize))
    return {"verdicts": verdicts, "slack": slack, "bad": bad}


todo = list(sources(sys.argv[2:]))
link.report(files=len(todo))
for path in todo:
    link.report(file=link.plain(path), **one(path))
link.end()
