"""Objects of C that a function makes and works with: streams in memory, hashes, what json reads and writes."""

import copy
import hashlib
import io
import json
import pickle
import sys

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


@case()
def a_stream_of_text():
    def f(x):
        out = io.StringIO()
        written = out.write("a"), out.write("bc\nd")
        print("shape", x.shape, 3, sep="-", file=out)
        with io.StringIO("one\ntwo\n") as lines:
            first, rest, at = lines.readline(), lines.read(), lines.tell()
        return x * 2.0, out.getvalue(), written, first, rest, at, lines.closed, type(out), isinstance(out, io.TextIOBase)

    return {"f": f, "args": x1}


@case()
def a_stream_of_bytes():
    def f(x):
        out = io.BytesIO(b"abc")
        first = out.read(2)
        end = out.seek(0, io.SEEK_END)
        out.write(b"zz")
        cut = out.truncate(4)
        return x * 2.0, first, end, cut, out.getvalue(), out.tell(), out.closed, out.seekable()

    return {"f": f, "args": x1}


@open_case
def streams_that_live_on():
    kept = []

    def f(x):
        out, back = io.StringIO("old"), io.BytesIO()
        out.seek(0, 2)
        out.write("new")
        back.write(b"abcd")
        back.seek(1)
        kept.append(out)
        return x * 2.0, {"out": out, "again": out}, back

    def both(x):
        y, streams, back = f(x)
        again = copy.copy(back) if sys.version_info >= (3, 11) else back
        texts = streams["out"].getvalue(), streams["out"].tell(), back.read(), again.getvalue()
        return y, texts, streams["out"] is streams["again"], streams["out"] is kept[-1]

    return {"f": both, "args": x1, "watch": lambda: [out.getvalue() for out in kept]}


@open_case
def streams_around_a_break():
    def f(x):
        out = io.StringIO()
        out.write("before")
        print("break", out.tell())
        out.write("behind")
        return x * 2.0, out.getvalue()

    return {"f": f, "args": x1}


@open_case
def streams_in_loops():
    def f(x, n):
        out = io.StringIO()
        for i in range(n):
            out.write(str(i))
            if i % 100 == 99:
                out.write("\n")
        return x * 2.0, out.getvalue(), out.tell()

    return {"f": f, "args": lambda: (*x1(), 700)}


@open_case
def streams_that_refuse():
    def f(x):
        said = []
        out = io.StringIO()
        out.write("kept")
        for call in (lambda: out.write(3), lambda: out.seek(-1), lambda: out.read("a"), out.close):
            try:
                said.append(call())
            except (TypeError, ValueError) as error:
                said.append(str(error))
        try:
            out.getvalue()
        except ValueError as error:
            said.append(str(error))
        try:
            out.missing
        except AttributeError as error:
            said.append(str(error))
        return x + 1.0, said, out.closed

    return {"f": f, "args": x1}


@open_case
def streams_of_ones_own_class():
    class Loud(io.StringIO):
        def write(self, text):
            print("write", text)
            return super().write(text.upper())

    def f(x):
        out = Loud()
        out.write("a")
        print("b", file=out)
        return x * 2.0, out.getvalue()

    return {"f": f, "args": x1}


@open_case
def streams_that_are_asked_for_more():
    def f(x):
        out = io.StringIO("a\nb\n")
        out.name = "named"
        lines = [line for line in out]
        return x * 2.0, lines, out.name, list(io.StringIO("c\nd")), io.BytesIO(b"ef").getbuffer().tobytes()

    return {"f": f, "args": x1}


@open_case
def tensors_in_streams():
    def f(x):
        out = io.StringIO()
        out.write("before ")
        print(x * 2.0, file=out)
        return x + 1.0, out.getvalue()

    return {"f": f, "args": x1}


@case()
def hashes():
    def f(x):
        h = hashlib.sha256(b"abc")
        h.update(b"d")
        other = h.copy()
        other.update(b"e")
        return x * 2.0, h.hexdigest(), other.digest(), h.digest_size, h.name, hashlib.md5(b"abc").hexdigest()

    return {"f": f, "args": x1}


@open_case
def hashes_that_live_on():
    def f(x):
        h = hashlib.sha256(b"abc")
        h.update(b"d")
        return x * 2.0, h, h.copy()

    def both(x):
        y, h, other = f(x)
        h.update(b"e")
        return y, h.hexdigest(), other.hexdigest(), h is other

    return {"f": both, "args": x1}


@open_case
def hashes_that_refuse():
    def f(x):
        said = []
        for call in (lambda: hashlib.md5("text"), lambda: hashlib.new("none"), lambda: hashlib.sha1(b"").update(3)):
            try:
                said.append(call())
            except (TypeError, ValueError) as error:
                said.append(type(error).__name__)
        return x + 1.0, said

    return {"f": f, "args": x1}


@case()
def what_json_writes():
    def f(x):
        text = json.dumps({"b": [1, 2.5, None, True], "a": "\u00e4\n", "c": {"d": ()}}, sort_keys=True)
        small = json.dumps([1, {"k": 2}], separators=(",", ":"))
        return x * 2.0, text, small, json.dumps("plain"), json.dumps(3), json.dumps({1: None, 2.5: False})

    return {"f": f, "args": x1}


@case()
def what_json_reads():
    def f(x):
        values = json.loads('{"a": [1, 2.5, null, true, "text"], "b": {"c": -3e2}}')
        values["a"].append(json.loads("[]"))
        return x * values["a"][0], values, json.loads("3"), json.loads(b'"bytes"')

    return {"f": f, "args": x1}


@open_case
def json_that_is_refused():
    class Plain:
        pass

    def f(x):
        said, loop = [], []
        loop.append(loop)
        for call in (
            lambda: json.dumps(Plain()),
            lambda: json.dumps({(1, 2): 3}),
            lambda: json.dumps(float("nan"), allow_nan=False),
            lambda: json.dumps(loop),
            lambda: json.loads("{"),
            lambda: json.loads("[1,]"),
            lambda: json.loads(""),
            lambda: json.loads("1 2"),
        ):
            try:
                said.append(call())
            except (TypeError, ValueError) as error:
                said.append((type(error).__name__, str(error), getattr(error, "pos", None)))
        return x + 1.0, said

    return {"f": f, "args": x1}


def encoder_cases():
    class Asked:
        def __bool__(self):
            print("asked")
            raise ZeroDivisionError("asked")

    class Text(str):
        pass

    good = [None, str, json.encoder.encode_basestring, None, ": ", ", ", False, False, True]
    odd = {
        "markers": (0, [(), 3, {}, {1: 2}]),
        "colons": (4, [b": ", None, 3, Text(":")]),
        "commas": (5, [b", ", None, 3, Text(",")]),
        "sorted": (6, [Asked(), 1, None, "", [], 2.5]),
        "skipped": (7, [Asked(), [0], ()]),
        "not_numbers": (8, [Asked(), 0, {}]),
    }

    def register(name, at, value):
        given = good[:at] + [value] + good[at + 1 :]

        def build():
            def f(x):
                try:
                    said = json.encoder.c_make_encoder(*given)({"b": 1, "a": [2]}, 0)
                except (TypeError, ZeroDivisionError) as error:
                    said = type(error).__name__, str(error)
                return x * 2.0, said

            def unused(x):
                try:
                    json.encoder.c_make_encoder(*given)
                except (TypeError, ZeroDivisionError) as error:
                    return x + 1.0, type(error).__name__, str(error)
                return x - 1.0, None, None

            return {"f": lambda x: (f(x), unused(x)), "args": x1}

        build.__name__ = name
        open_case(build)

    for what, (at, values) in odd.items():
        for i, value in enumerate(values):
            register("encoders_with_odd_%s_%d" % (what, i), at, value)


encoder_cases()


@open_case
def json_by_ones_own_rules():
    class Encoder(json.JSONEncoder):
        def default(self, value):
            print("default", value)
            return sorted(value)

    class Own(dict):
        pass

    def f(x):
        texts = [
            json.dumps({"a": {2, 1}}, cls=Encoder),
            json.dumps([{3}], default=list),
            json.dumps(Own(a=1)),
            json.dumps([1, [2]], indent=2),
            json.dumps({"a": float("inf")}),
        ]
        values = [
            json.loads('{"a": 1}', object_hook=lambda d: ("hook", d)),
            json.loads('{"a": 1}', object_pairs_hook=tuple),
            json.loads("[1.5, NaN, -Infinity]", parse_float=str),
            json.loads("[NaN]", parse_constant=str),
        ]
        return x * 2.0, texts, repr(values)

    return {"f": f, "args": x1}


@open_case
def json_with_parts_replaced():
    def f(x):
        return x * 2.0, json.dumps({"a": [1, "b"]}), json.loads("[1]")

    def args():
        calls[0] += 1
        decoder = json.JSONDecoder(parse_int=str) if calls[0] == 2 else own[0]
        json._default_decoder = decoder
        json.encoder.c_make_encoder = None if calls[0] == 3 else own[1]
        return x1()

    calls, own = [0], (json._default_decoder, json.encoder.c_make_encoder)

    def watch():
        json._default_decoder, json.encoder.c_make_encoder = own
        return []

    return {"f": f, "args": args, "watch": watch}


@open_case
def pickled():
    def f(x):
        back = pickle.loads(pickle.dumps([1, {"a": (2, None)}]))
        return x * back[0], back

    return {"f": f, "args": x1}


@case()
def names_that_are_one():
    def f(x):
        name = "".join(["la", "yer"])
        return x * 2.0, sys.intern(name) is sys.intern("layer"), sys.intern(name)

    return {"f": f, "args": x1}


@case()
def globals_of_functions():
    def g():
        return None

    def f(x):
        return x * 2.0, g.__globals__ is f.__globals__, g.__globals__["__name__"], "nothing" in g.__globals__

    return {"f": f, "args": x1}


@case()
def streams_that_are_handed_on():
    def written(out, text):
        out.write(text)
        return out

    def f(x):
        out = io.StringIO()
        written(written(out, "a"), "b").seek(0)
        write = out.write
        write("Z")

        def log(text, out=out):
            out.write(text)
            print(text, end=";", file=out)

        log("c")
        return x * 2.0, out.getvalue(), write.__self__ is out, [out.write(str(i)) for i in range(3)]

    return {"f": f, "args": x1}


@case()
def a_stream_that_is_closed_by_an_exception():
    def f(x):
        out = io.StringIO()
        try:
            with out:
                out.write("a")
                raise KeyError("k")
        except KeyError:
            pass
        try:
            out.write("b")
        except ValueError as error:
            return x * 2.0, str(error), out.closed

    return {"f": f, "args": x1}


@case()
def json_by_way_of_a_stream():
    def f(x):
        out = io.StringIO()
        out.write(json.dumps({"a": [1, 2]}))
        out.seek(0)
        return x * 2.0, json.load(out), out.getvalue()

    return {"f": f, "args": x1}
