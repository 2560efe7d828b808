"""`build_code(read_code(code))` is the same code, for every function of the standard library's own."""

import importlib
import types

import pytest

MODULES = "argparse ast collections dataclasses inspect json.decoder typing unittest.mock".split()
ATTRIBUTES = (
    "co_argcount co_posonlyargcount co_kwonlyargcount co_nlocals co_stacksize co_flags co_code co_consts "
    "co_names co_varnames co_filename co_name co_firstlineno co_freevars co_cellvars co_qualname "
    "co_linetable co_lnotab co_exceptiontable"
).split()


def all_code(code):
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from all_code(const)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", MODULES)
def test_standard_library(sot, name):
    path = importlib.import_module(name).__file__
    with open(path, "rb") as source:
        module = compile(source.read(), path, "exec")
    count = 0
    for code in all_code(module):
        again = sot._probe_rebuild(code)
        for attribute in ATTRIBUTES:
            if hasattr(code, attribute):
                assert getattr(again, attribute) == getattr(code, attribute), attribute
        if hasattr(code, "co_positions"):
            assert list(again.co_positions()) == list(code.co_positions())
        assert again == code and hash(again) == hash(code)
        count += 1
    assert count > 10


def test_rebuilt_code_runs(sot):
    def f(a, b=2, *args, k=3, **kw):
        try:
            return sum([a, b, k, *args]) + (lambda: a)()
        finally:
            kw.clear()

    again = types.FunctionType(sot._probe_rebuild(f.__code__), globals(), "f", f.__defaults__)
    again.__kwdefaults__ = f.__kwdefaults__
    assert again(1, 2, 5, k=4) == f(1, 2, 5, k=4)


def test_not_code(sot):
    with pytest.raises(AttributeError):
        sot._probe_rebuild(3)
