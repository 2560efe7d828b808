"""The connection of `cargo xtask roundtrip` with an interpreter, and code objects as JSON.

One JSON value a line, on a local socket whose port is the first argument. This side asks and the other answers:

    {"recode": [code, ..]}                what each becomes when it is decoded and encoded: a list, in order
    {"compare": [[code, bytes, bytes]]}   what both byte strings of each code object decode to: a list of words

A line {"report": ..} is told and not answered, but for the last one, {"report": {"end": ..}}.
"""

import json
import socket
import sys
import types

VERSION = sys.version_info[:2]
EXCEPTION_TABLE = VERSION >= (3, 11)
LINES = "co_linetable" if VERSION >= (3, 10) else "co_lnotab"
NUMBERS = ("argcount", "posonlyargcount", "kwonlyargcount", "stacksize", "flags", "firstlineno")
NAMES = ("names", "varnames", "cellvars", "freevars")

connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
# Else a question waits until the report before it is acknowledged, 40 ms each.
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
stream = connection.makefile("rwb")

# Bound now: the modules of these functions are replaced while the tests run, and a test may patch them.
encode_json, decode_json = json.JSONEncoder().encode, json.JSONDecoder().decode


def plain(text):
    """Names may hold surrogates, which JSON cannot carry as UTF-8. They are for messages only."""
    return text.encode("utf-8", "replace").decode()


def nested(code):
    """A code object and those in its constants, parents first."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from nested(constant)


def as_json(code):
    """Everything of a code object but its constants."""
    found = {name: getattr(code, "co_" + name) for name in NUMBERS}
    for name in NAMES:
        found[name] = [plain(text) for text in getattr(code, "co_" + name)]
    found["filename"], found["name"] = plain(code.co_filename), plain(code.co_name)
    found["qualname"] = plain(code.co_qualname) if EXCEPTION_TABLE else ""
    found["code"], found["linetable"] = code.co_code.hex(), getattr(code, LINES).hex()
    found["exceptiontable"] = code.co_exceptiontable.hex() if EXCEPTION_TABLE else ""
    return found


def tell(message):
    stream.write(encode_json(message).encode() + b"\n")
    stream.flush()


def ask(message):
    tell(message)
    answer = stream.readline()
    if not answer:
        raise SystemExit("the other side of the connection is gone")
    return decode_json(answer.decode())


def recode(codes):
    return ask({"recode": [as_json(code) for code in codes]})


def report(**what):
    tell({"report": what})


def end(**what):
    ask({"report": {"end": what}})


def build(code, new, consts=None):
    """The code object that an answer of `recode` describes. CPython's own constructor judges it."""
    changed = {
        "co_code": bytes.fromhex(new["code"]),
        LINES: bytes.fromhex(new["linetable"]),
        "co_stacksize": new["stacksize"],
    }
    if EXCEPTION_TABLE:
        changed["co_exceptiontable"] = bytes.fromhex(new["exceptiontable"])
    if consts is not None:
        changed["co_consts"] = consts
    return code.replace(**changed)
