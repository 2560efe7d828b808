"""Programs that run each opcode, and the reasons why some are never simulated: the table of `test_opcodes.py`.

A program defines `f`, which is called with a tensor. A pair of a minor version and a source is of that version on; a third one
ends it.
"""

PROGRAMS = {
    "operators": """
        def f(x):
            a, b = 7, 3
            out = [a + b, a & b, a // b, a << b, a * b, a % b, a | b, a ** b, a >> b, a - b, a / b, a ^ b]
            c = a
            c += b; c -= 1; c *= b; c //= 2; c %= 11; c <<= 3; c |= 5; c &= 29; c ^= 2; c >>= 1; c **= 2; c /= 2
            out += [c, +a, -a, ~a, not a, a is b, a is not b, a in out, a not in out, a < b, a <= b, a == b, a != b]
            matrix = toy.zeros([1, 1])
            y = matrix @ matrix
            y @= matrix
            return [x + out[0], y, out]
    """,
    "in-place matrices": """
        class Matrix:
            def __imatmul__(self, other):
                return other
        MATRIX = Matrix()
        def f(x):
            y = MATRIX
            y @= x + 1
            return y
    """,
    "names": """
        GLOBAL = 1
        def f(x):
            global GLOBAL
            GLOBAL = GLOBAL + 1
            y = x + GLOBAL
            del x
            z = y
            return [z, y, GLOBAL]
    """,
    "deleted": """
        def f(x):
            y = 1
            z = x + y
            if x.shape[0] < 100:
                del y
            if z.shape[0] < 100:
                later = 2
            return z + later
    """,
    "cells": """
        def f(x):
            kept = 1
            gone = 2
            def inner(more=1, *, named: int = 2) -> int:
                nonlocal kept
                kept = kept + more + named
                return kept
            def forget():
                nonlocal gone
                del gone
            forget()
            return [x * inner(), inner(2), kept]
    """,
    "attributes": """
        class Box:
            value = 1
            def grown(self, by):
                self.value = self.value + by
                return self
        BOX = Box()
        def f(x):
            box = BOX.grown(2)
            box.extra = 3
            del box.extra
            return [x + box.value, len([1].copy())]
    """,
    "super": """
        class Base:
            factor = 3
            def scaled(self, x):
                return x * 2
        class Derived(Base):
            def scaled(self, x):
                return super().scaled(x) + super(Derived, self).scaled(x) * super().factor * super(Derived, self).factor
        DERIVED = Derived()
        def f(x):
            return DERIVED.scaled(x)
    """,
    "items": """
        def f(x):
            items = [1, 2, 3, 4, 5]
            low, high, step = 1, 4, 2
            items[0] = items[low]
            items[low:high] = items[0:2]
            del items[0]
            middle = items[low:high]
            table = {"a": 1, "b": low}
            table["c"] = 2
            return [x + items[0], items, middle, items[low:high:step], table]
    """,
    "displays": """
        def f(x):
            a, b, c = 1, 2, 3
            items = [a, b, c]
            table = {"a": a, b: c}
            keyed = {"p": a, "q": b, "r": c}
            return [x + a, (a, b), items, {a, b}, table, keyed, slice(a, b), x.shape, {1, 2, 3, a}, [1, 2, 3, 4]]
    """,
    "unpacked displays": """
        def f(x):
            a, b = [1, 2], {3}
            table = {"a": 1}
            return [x + 1, [*a, *b], (*a, *b), {*a, *b}, {**table, "b": 2}, {**table, **table}, [1, 2, 3, *a]]
    """,
    "comprehensions": """
        def f(x):
            items = [i + 1 for i in range(3)]
            members = {i for i in items}
            table = {i: i + 1 for i in items}
            return [x + items[0], items, members, table, [[j for j in range(i)] for i in items]]
    """,
    "a comprehension with a cell": """
        def f(x):
            made = [(lambda: i) for i in range(3)]
            return x + made[0]()
    """,
    "unpacking": """
        def f(x):
            a, b = b, a = [1, 2]
            first, *rest, last = [1, 2, 3, 4]
            p, q, r = a, b, first
            p, q, r = r, p, q
            (i, j), k = (p, q), r
            s, t, u, v = v0, v1, v2, v3 = 1, 2, 3, 4
            return [x + a, b, first, rest, last, i, j, k, s, t, u, v]
    """,
    "longer patterns": (10, """
        def f(x):
            match [1, 2, 3, 4, 5]:
                case [a, b, c, d, 5]:
                    return [x + a, b, c, d]
    """),
    "keys of a pattern": (10, """
        def f(x):
            match {"a": 1, "b": 2, "c": 3}:
                case {"a": p, "b": q, **rest}:
                    return [x + p, q, rest]
    """),
    "nothing": """
        def f(x):
            if True:
                pass
            while 1:
                y = x + 1
                break
            for i in range(2):
                pass
            return y
    """,
    "swapped": """
        def f(x):
            a = {"k": 1}
            a["k"] += 2
            b = c = 5
            b, c = c, b
            d = 1 < b < 9
            e = 1 < b and b < 3
            return [x + a["k"], b, c, d, e]
    """,
    "texts": """
        def f(x):
            a, b = 3, "text"
            return [x + a, f"{a} {b!r} {b!s} {b!a} {a:>5} {a}", f"{b!r:>9}"]
    """,
    "jumps": """
        def f(x):
            total = 0
            for i in range(4):
                if i == 1:
                    continue
                if not i:
                    total = total + 1
                total = total + i
            while total < 9:
                total = total + 3
            nothing = None
            if nothing is None:
                total = total + 1
            if total is not None:
                total = total + 1
            kept = nothing or total and 7
            return [x + total, kept, total and nothing, total or 1]
    """,
    "jumps to and fro": """
        def f(x):
            total = 0
            nothing = None
            one = 1
            while True:
                total = total + 1
                if total > 3:
                    break
                while nothing is not None:
                    nothing = None
                while one is None:
                    one = 1
                if not one:
                    continue
            while not total > 7:
                total = total + 1
            while nothing is None:
                nothing = total
            last = 3
            while last is not None:
                last = None if total > 1 else 1
            item = 2
            while item:
                item = item - 1
            while not item:
                item = item + 1
            for i in range(2):
                if i:
                    total = total + 1
                if total is None:
                    total = total + 1
                if nothing is not None:
                    total = total + 1
            return x + total
    """,
    "calls": """
        def g(a, b=2, *rest, c=3, **more):
            return a + b + c + len(rest) + len(more)
        def f(x):
            args, table = (1, 2), {"c": 4}
            total = g(1) + g(1, b=3) + g(*args) + g(*args, **table) + g(*args, *args, d=1, **table)
            total = total + g(**{"a": 1}, **table) + g(1, *args, c=5)
            return x.sum() + total
    """,
    "asserted": """
        def f(x):
            seen = []
            try:
                assert len(seen) > 3, "short"
            except AssertionError as error:
                seen.append(str(error))
            return [x + 1, seen]
    """,
    "exceptions": """
        def f(x):
            seen = []
            for kind in (KeyError, ValueError):
                try:
                    try:
                        raise kind(3)
                    except KeyError as error:
                        seen.append(error.args)
                    finally:
                        seen.append("finally")
                except (TypeError, ValueError) as error:
                    try:
                        raise IndexError from error
                    except IndexError as other:
                        seen.append(other.__cause__ is error)
            try:
                try:
                    raise KeyError
                except KeyError:
                    raise
            except KeyError:
                seen.append("again")
            return [x + len(seen), seen]
    """,
    "finally": """
        def f(x):
            seen = []
            def found(table, key):
                try:
                    return table[key]
                except KeyError as error:
                    return error.args
            seen.append(found({}, "k"))
            def leave(how):
                for i in range(3):
                    try:
                        if how == 0:
                            return i
                        if how == 1:
                            continue
                        if how == 2:
                            break
                    finally:
                        seen.append((how, i))
                return -1
            def silenced():
                for i in range(3):
                    try:
                        raise KeyError
                    finally:
                        break
                try:
                    return 1
                finally:
                    return 2
            got = [leave(0), leave(1), leave(2), leave(3), silenced()]
            return [x + len(seen), seen, got]
    """,
    "with": """
        class Manager:
            def __enter__(self):
                return 5
            def __exit__(self, kind, error, traceback):
                return kind is KeyError
        def f(x):
            manager = Manager()
            seen = []
            with manager as value:
                seen.append(value)
            with manager:
                raise KeyError
            try:
                with manager:
                    raise ValueError
            except ValueError:
                seen.append("out")
            for i in range(2):
                with manager:
                    continue
            return [x + len(seen), seen]
    """,
    "generators": """
        def inner(n):
            got = yield n
            yield got
            return 9
        def outer(n):
            result = yield from inner(n)
            yield result
            yield from [5, 6]
        def f(x):
            made = outer(3)
            items = [next(made), made.send(4)] + list(made)
            return [x + len(items), items, sum(i for i in items)]
    """,
    "a generator that raises": """
        def numbers():
            try:
                yield 1
            finally:
                pass
            raise ValueError
        def f(x):
            seen = []
            try:
                for i in numbers():
                    seen.append(i)
            except ValueError:
                seen.append("raised")
            return [x + len(seen), seen]
    """,
    "imports": """
        def f(x):
            import math
            from os.path import join, basename
            import os.path as path
            return [x + math.floor(2.5), join is path.join, basename is path.basename]
    """,
    "a class": """
        def f(x):
            y = x + 1
            class Made:
                pass
            return [y, Made.__name__]
    """,
    "names of a class": """
        def f(x):
            base = 2
            class Made:
                scale: float = base
                twice = scale * base
            return [x * Made.twice]
    """,
    "a deleted global": """
        def f(x):
            global MADE
            MADE = 1
            y = x + MADE
            del MADE
            return y
    """,
    "matching": (10, """
        class Point:
            __match_args__ = ("a", "b")
            def __init__(self, a, b):
                self.a, self.b = a, b
        def kind(subject):
            match subject:
                case [1, second]:
                    return second
                case [first, *rest]:
                    return rest
                case {"k": value, **rest}:
                    return [value, rest]
                case {"p": value}:
                    return value
                case Point(1, b=b):
                    return b
                case Point(a):
                    return a
                case _:
                    return None
        def f(x):
            subjects = [[1, 2], [2, 3, 4], {"k": 1, "j": 2}, {"p": 3}, {}, Point(1, 2), Point(2, 3), 5]
            got = [kind(subject) for subject in subjects]
            return [x + len(got), got]
    """),
    "groups": (11, """
        def f(x):
            seen = []
            try:
                raise ExceptionGroup("both", [KeyError(1), ValueError(2)])
            except* KeyError as group:
                seen.append(len(group.exceptions))
            except* ValueError as group:
                seen.append(len(group.exceptions))
            return [x + len(seen), seen]
    """),
    "coroutines": (11, """
        class Manager:
            async def __aenter__(self):
                return 5
            async def __aexit__(self, kind, error, traceback):
                return kind is KeyError
        class Items:
            def __init__(self, left):
                self.left = left
            def __aiter__(self):
                return self
            async def __anext__(self):
                if self.left == 0:
                    raise StopAsyncIteration
                self.left -= 1
                return self.left
        async def twice(items):
            async for item in items:
                yield 2 * item
        async def total(x):
            async with Manager() as value:
                x = x + value
                raise KeyError
            async for item in twice(Items(2)):
                x = x + item
            return x
        def f(x):
            try:
                total(x).send(None)
            except StopIteration as stop:
                return [stop.value]
    """),
}

OF_A_NAMESPACE = "it speaks of the names of a module or of parameters of types, which live in a dict that others see"
OF_A_COROUTINE = "it belongs to a coroutine, which is run by somebody else's loop"
OF_THE_INTERPRETER = "only the interpreter itself has it, in no code object"

# Why an opcode is never simulated, on the versions that have it.
NEVER = {
    "CACHE": "it is room behind an instruction for what the interpreter learns",
    "EXTENDED_ARG": "it is a part of the operand of the instruction behind it",
    "RESERVED": OF_THE_INTERPRETER,
    "INTERPRETER_EXIT": OF_THE_INTERPRETER,
    "ENTER_EXECUTOR": OF_THE_INTERPRETER,
    "EXIT_INIT_CHECK": OF_THE_INTERPRETER,
    "INSTRUMENTED_INSTRUCTION": OF_THE_INTERPRETER,
    "INSTRUMENTED_LINE": OF_THE_INTERPRETER,
    "PRINT_EXPR": "only the interactive interpreter has it",
    "END_FOR": "the end of a loop goes behind it, in the interpreter too",
    "RETURN_GENERATOR": "the call makes the generator, whose frame begins behind it",
    "SETUP_ASYNC_WITH": OF_A_COROUTINE,
    "CLEANUP_THROW": "it is where `throw` comes to a `yield from` that waits: the frame was entered from outside",
    "DELETE_NAME": OF_A_NAMESPACE,
    "LOAD_FROM_DICT_OR_GLOBALS": OF_A_NAMESPACE,
    "IMPORT_STAR": OF_A_NAMESPACE,
}

# The same of some versions only.
NEVER_ON = {("NOP", 8): "no compiler of this version leaves one", ("NOP", 9): "no compiler of this version leaves one"}

# Those of coroutines, where the version runs them in its own way.
OF_COROUTINES = ("GET_AWAITABLE", "GET_AITER", "GET_ANEXT", "BEFORE_ASYNC_WITH", "END_ASYNC_FOR")
for minor in (8, 9, 10):
    for opcode in OF_COROUTINES:
        NEVER_ON[opcode, minor] = NEVER_ON[opcode.replace("_", ""), minor] = "coroutines run as plain Python"

# The same of normalised instructions that no opcode of that name decodes to.
NEVER_KINDS = {
    "Intrinsic1": "a generator that raises is unwound past it, and the others make parameters of types: the capture breaks",
    "Intrinsic2": "it makes parameters of types: the capture breaks at it",
    "EndAsyncForTriple": OF_A_COROUTINE,
}

# The programs in which an opcode is simulated: on each version that has it in one of them at least.
OPCODES = {
    "ASYNC_GEN_WRAP": ("coroutines",),
    "BEFORE_ASYNC_WITH": ("coroutines",),
    "BEFORE_WITH": ("with",),
    "BEGIN_FINALLY": ("finally",),
    "BINARY_ADD": ("operators",),
    "BINARY_AND": ("operators",),
    "BINARY_FLOOR_DIVIDE": ("operators",),
    "BINARY_LSHIFT": ("operators",),
    "BINARY_MATRIX_MULTIPLY": ("operators",),
    "BINARY_MODULO": ("operators",),
    "BINARY_MULTIPLY": ("operators",),
    "BINARY_OP": ("operators",),
    "BINARY_OR": ("operators",),
    "BINARY_POWER": ("operators",),
    "BINARY_RSHIFT": ("operators",),
    "BINARY_SLICE": ("items",),
    "BINARY_SUBSCR": ("operators",),
    "BINARY_SUBTRACT": ("operators",),
    "BINARY_TRUE_DIVIDE": ("operators",),
    "BINARY_XOR": ("operators",),
    "BUILD_CONST_KEY_MAP": ("cells",),
    "BUILD_LIST": ("operators",),
    "BUILD_LIST_UNPACK": ("unpacked displays",),
    "BUILD_MAP": ("displays",),
    "BUILD_MAP_UNPACK": ("unpacked displays",),
    "BUILD_MAP_UNPACK_WITH_CALL": ("calls",),
    "BUILD_SET": ("displays",),
    "BUILD_SET_UNPACK": ("unpacked displays",),
    "BUILD_SLICE": ("items",),
    "BUILD_STRING": ("texts",),
    "BUILD_TUPLE": ("cells",),
    "BUILD_TUPLE_UNPACK": ("unpacked displays",),
    "BUILD_TUPLE_UNPACK_WITH_CALL": ("calls",),
    "CALL": ("calls",),
    "CALL_FINALLY": ("finally",),
    "CALL_FUNCTION": ("calls",),
    "CALL_FUNCTION_EX": ("calls",),
    "CALL_FUNCTION_KW": ("calls",),
    "CALL_INTRINSIC_1": ("calls",),
    "CALL_INTRINSIC_2": ("groups",),
    "CALL_KW": ("calls",),
    "CALL_METHOD": ("calls",),
    "CHECK_EG_MATCH": ("groups",),
    "CHECK_EXC_MATCH": ("exceptions",),
    "COMPARE_OP": ("operators",),
    "CONTAINS_OP": ("operators",),
    "CONVERT_VALUE": ("texts",),
    "COPY": ("unpacking",),
    "COPY_DICT_WITHOUT_KEYS": ("keys of a pattern",),
    "COPY_FREE_VARS": ("cells",),
    "DELETE_ATTR": ("attributes",),
    "DELETE_DEREF": ("cells",),
    "DELETE_FAST": ("deleted",),
    "DELETE_GLOBAL": ("a deleted global",),
    "DELETE_SUBSCR": ("items",),
    "DICT_MERGE": ("calls",),
    "DICT_UPDATE": ("unpacked displays",),
    "DUP_TOP": ("unpacking",),
    "DUP_TOP_TWO": ("swapped",),
    "END_ASYNC_FOR": ("coroutines",),
    "END_FINALLY": ("finally",),
    "END_SEND": ("generators",),
    "FORMAT_SIMPLE": ("texts",),
    "FORMAT_VALUE": ("texts",),
    "FORMAT_WITH_SPEC": ("texts",),
    "FOR_ITER": ("comprehensions",),
    "GEN_START": ("generators",),
    "GET_AITER": ("coroutines",),
    "GET_ANEXT": ("coroutines",),
    "GET_AWAITABLE": ("coroutines",),
    "GET_ITER": ("comprehensions",),
    "GET_LEN": ("longer patterns",),
    "GET_YIELD_FROM_ITER": ("generators",),
    "IMPORT_FROM": ("imports",),
    "IMPORT_NAME": ("imports",),
    "INPLACE_ADD": ("operators",),
    "INPLACE_AND": ("operators",),
    "INPLACE_FLOOR_DIVIDE": ("operators",),
    "INPLACE_LSHIFT": ("operators",),
    "INPLACE_MATRIX_MULTIPLY": ("in-place matrices",),
    "INPLACE_MODULO": ("operators",),
    "INPLACE_MULTIPLY": ("operators",),
    "INPLACE_OR": ("operators",),
    "INPLACE_POWER": ("operators",),
    "INPLACE_RSHIFT": ("operators",),
    "INPLACE_SUBTRACT": ("operators",),
    "INPLACE_TRUE_DIVIDE": ("operators",),
    "INPLACE_XOR": ("operators",),
    "IS_OP": ("operators",),
    "JUMP_ABSOLUTE": ("jumps",),
    "JUMP_BACKWARD": ("jumps",),
    "JUMP_BACKWARD_NO_INTERRUPT": ("generators",),
    "JUMP_FORWARD": ("jumps to and fro",),
    "JUMP_IF_FALSE_OR_POP": ("jumps",),
    "JUMP_IF_NOT_EXC_MATCH": ("exceptions",),
    "JUMP_IF_TRUE_OR_POP": ("jumps",),
    "KW_NAMES": ("calls",),
    "LIST_APPEND": ("comprehensions",),
    "LIST_EXTEND": ("items",),
    "LIST_TO_TUPLE": ("unpacked displays",),
    "LOAD_ASSERTION_ERROR": ("asserted",),
    "LOAD_ATTR": ("attributes",),
    "LOAD_BUILD_CLASS": ("a class",),
    "LOAD_CLASSDEREF": ("names of a class",),
    "LOAD_FROM_DICT_OR_DEREF": ("names of a class",),
    "LOAD_LOCALS": ("names of a class",),
    "LOAD_NAME": ("names of a class",),
    "SETUP_ANNOTATIONS": ("names of a class",),
    "STORE_NAME": ("names of a class",),
    "LOAD_CLOSURE": ("cells",),
    "LOAD_CONST": ("operators",),
    "LOAD_DEREF": ("cells",),
    "LOAD_FAST": ("operators",),
    "LOAD_FAST_AND_CLEAR": ("comprehensions",),
    "LOAD_FAST_CHECK": ("deleted",),
    "LOAD_FAST_LOAD_FAST": ("operators",),
    "LOAD_GLOBAL": ("a deleted global",),
    "LOAD_METHOD": ("operators",),
    "LOAD_SUPER_ATTR": ("super",),
    "MAKE_CELL": ("cells",),
    "MAKE_FUNCTION": ("cells",),
    "MAP_ADD": ("comprehensions",),
    "MATCH_CLASS": ("matching",),
    "MATCH_KEYS": ("keys of a pattern",),
    "MATCH_MAPPING": ("matching",),
    "MATCH_SEQUENCE": ("matching",),
    "NOP": ("nothing",),
    "POP_BLOCK": ("asserted",),
    "POP_EXCEPT": ("exceptions",),
    "POP_FINALLY": ("finally",),
    "POP_JUMP_BACKWARD_IF_FALSE": ("jumps to and fro",),
    "POP_JUMP_BACKWARD_IF_NONE": ("jumps to and fro",),
    "POP_JUMP_BACKWARD_IF_NOT_NONE": ("jumps to and fro",),
    "POP_JUMP_BACKWARD_IF_TRUE": ("jumps",),
    "POP_JUMP_FORWARD_IF_FALSE": ("jumps",),
    "POP_JUMP_FORWARD_IF_NONE": ("jumps",),
    "POP_JUMP_FORWARD_IF_NOT_NONE": ("jumps",),
    "POP_JUMP_FORWARD_IF_TRUE": ("jumps",),
    "POP_JUMP_IF_FALSE": ("jumps",),
    "POP_JUMP_IF_NONE": ("jumps",),
    "POP_JUMP_IF_NOT_NONE": ("jumps",),
    "POP_JUMP_IF_TRUE": ("jumps",),
    "POP_TOP": ("cells",),
    "PRECALL": ("operators",),
    "PREP_RERAISE_STAR": ("groups",),
    "PUSH_EXC_INFO": ("exceptions",),
    "PUSH_NULL": ("cells",),
    "RAISE_VARARGS": ("a generator that raises",),
    "RERAISE": ("exceptions",),
    "RESUME": ("operators",),
    "RETURN_CONST": ("cells",),
    "RETURN_VALUE": ("operators",),
    "ROT_FOUR": ("finally",),
    "ROT_N": ("longer patterns",),
    "ROT_THREE": ("unpacking",),
    "ROT_TWO": ("unpacked displays",),
    "SEND": ("generators",),
    "SETUP_FINALLY": ("finally",),
    "SETUP_WITH": ("with",),
    "SET_ADD": ("comprehensions",),
    "SET_FUNCTION_ATTRIBUTE": ("cells",),
    "SET_UPDATE": ("unpacked displays",),
    "STORE_ATTR": ("attributes",),
    "STORE_DEREF": ("cells",),
    "STORE_FAST": ("operators",),
    "STORE_FAST_LOAD_FAST": ("operators",),
    "STORE_FAST_STORE_FAST": ("operators",),
    "STORE_GLOBAL": ("a deleted global",),
    "STORE_SLICE": ("items",),
    "STORE_SUBSCR": ("items",),
    "SWAP": ("swapped",),
    "TO_BOOL": ("operators",),
    "UNARY_INVERT": ("operators",),
    "UNARY_NEGATIVE": ("operators",),
    "UNARY_NOT": ("operators",),
    "UNARY_POSITIVE": ("operators",),
    "UNPACK_EX": ("unpacking",),
    "UNPACK_SEQUENCE": ("unpacking",),
    "WITH_CLEANUP_FINISH": ("with",),
    "WITH_CLEANUP_START": ("with",),
    "WITH_EXCEPT_START": ("with",),
    "YIELD_FROM": ("generators",),
    "YIELD_VALUE": ("generators",),
}

# The versions in which a normalised instruction occurs, where these are not all.
VERSIONS = {
    "AsyncGenWrap": "11-13",
    "LoadClosureAndClear": "12-13",
    "StoreClosure": "12-13",
    "LoadClassDeref": "8-11",
    "LoadFromDictOrDeref": "12-13",
    "LoadLocals": "12-13",
    "BeforeWith": "11-13",
    "BeginFinally": "8-8",
    "BinarySlice": "12-13",
    "BuildListUnpack": "8-8",
    "BuildMapUnpack": "8-8",
    "BuildMapUnpackWithCall": "8-8",
    "BuildSetUnpack": "8-8",
    "BuildTupleUnpack": "8-8",
    "BuildTupleUnpackWithCall": "8-8",
    "CallFinally": "8-8",
    "CheckEgMatch": "11-13",
    "CheckExcMatch": "11-13",
    "ConvertValue": "13-13",
    "CopyDictWithoutKeys": "10-10",
    "CopyFreeVars": "11-13",
    "DictMerge": "9-13",
    "DictUpdate": "9-13",
    "EndFinally": "8-8",
    "EndSend": "11-13",
    "GenStart": "10-10",
    "GetLen": "10-13",
    "JumpIfNotExcMatch": "8-10",
    "JumpIfOrPop": "8-11",
    "ListExtend": "9-13",
    "ListToTuple": "9-13",
    "LoadAssertionError": "9-13",
    "LoadClosureAndClear": "12-13",
    "LoadFastAndClear": "12-13",
    "LoadSuperAttr": "12-13",
    "MakeCell": "11-13",
    "MatchClass": "11-13",
    "MatchClassTest": "10-10",
    "MatchKeys": "11-13",
    "MatchKeysTest": "10-10",
    "MatchMapping": "10-13",
    "MatchSequence": "10-13",
    "Nop": "10-13",
    "PopBlock": "8-10",
    "PopExcept": "11-13",
    "PopExceptTriple": "8-10",
    "PopFinally": "8-8",
    "PrepReraiseStar": "11-13",
    "PushExcInfo": "11-13",
    "PushNull": "11-13",
    "Reraise": "11-13",
    "ReraiseTriple": "9-10",
    "Resume": "11-13",
    "RotN": "8-10",
    "Send": "11-13",
    "SetFunctionAttribute": "13-13",
    "SetUpdate": "9-13",
    "SetupFinally": "8-10",
    "SetupWith": "8-10",
    "StoreClosure": "12-13",
    "StoreSlice": "12-13",
    "WithCleanupFinish": "8-8",
    "WithCleanupStart": "8-8",
    "WithExceptStart": "11-13",
    "WithExceptStartTriple": "9-10",
    "YieldFrom": "8-10",
}
