"""Runs test modules of the standard library, with (`replaced`) or without (`plain`) re-encoded functions.

Replaced: a function that exists by now gets a re-encoded `__code__`, and whatever is imported from a source file from
now on is executed from re-encoded code, test modules included. Either way modules are compiled from source, so that the
two runs differ in nothing else.

Reports {"no_tests": why} when there is no package `test`; or for each module {"begin": name} or {"missing": name}, then
    {"module": name, "run": n, "skipped": n, "bad": [test, ..]}
and replaced, at the end:
    {"replaced": n, "live": n, "left": [function, ..]}       code objects made; functions of files; those not replaced
    {"warm": {word: n}, "wrong": [[function, detail], ..]}   what the interpreter has made of the code by then
"""

import dis
import faulthandler
import gc
import importlib
import importlib.machinery
import importlib.util
import inspect
import os
import sys
import sysconfig
import tempfile
import threading
import types
import unittest
import warnings

import link
import stack

# Of one module. A hang must not eat the whole run; the interpreter then says where it was.
LIMIT = 300

HERE = os.path.dirname(os.path.abspath(__file__))
MODE, MODULES = sys.argv[2], sys.argv[3:]

lock = threading.RLock()
active = MODE == "replaced"
# New code objects by the id of the old one; both are kept, so that no id is given twice.
made = {}
old_codes = []


def leave_link():
    """A forked child must not talk on its parent's connection."""
    global active
    active = False


def rebuild(code):
    """The re-encoded form of a code object and all inside it."""
    with lock:
        # A function inside may have had its turn before what holds its code.
        codes = [inner for inner in link.nested(code) if id(inner) not in made]
        answers = link.recode(codes)
        # Those inside come after what holds them.
        for old, new in reversed(list(zip(codes, answers))):
            consts = tuple(
                made.get(id(c), c) if isinstance(c, types.CodeType) else c for c in old.co_consts
            )
            try:
                if "error" in new:
                    raise ValueError("%s: %s" % (new["error"], new["detail"]))
                result = link.build(old, new, consts)
            except Exception as error:
                link.report(broken=[link.plain("%s:%d %s" % (old.co_filename, old.co_firstlineno, old.co_name)), repr(error)])
                result = old
            made[id(old)] = result
            old_codes.append(old)
        return made[id(code)]


def get_code(self, name):
    path = self.get_filename(name)
    code = compile(self.get_data(path), path, "exec", dont_inherit=True)
    return rebuild(code) if active else code


def functions():
    """Every function there is, but those of these scripts."""
    for thing in gc.get_objects():
        if type(thing) is types.FunctionType and os.path.dirname(thing.__code__.co_filename) != HERE:
            yield thing


def exists(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        # The package it should be in.
        return False


def collect(support, result):
    """Lets a module's own `test_main`, which most have up to 3.11, run its tests and doctests into a result."""
    run_doctest = getattr(support, "run_doctest", None)

    def unittests(*parts):
        suite = unittest.TestSuite()
        loader = unittest.defaultTestLoader
        for part in parts:
            if isinstance(part, str):
                part = loader.loadTestsFromModule(sys.modules[part])
            elif isinstance(part, type):
                part = loader.loadTestsFromTestCase(part)
            suite.addTest(part)
        suite.run(result)

    def doctests(*parts, **options):
        failed, run = run_doctest(*parts, **options)
        result.testsRun += run
        return failed, run

    support.run_unittest, support.run_doctest = unittests, doctests


def run(name, support):
    if not exists("test." + name):
        link.report(missing=name)
        return
    link.report(begin=name)
    faulthandler.dump_traceback_later(LIMIT, exit=True)
    result = unittest.TestResult()
    bad = set()
    collect(support, result)
    try:
        module = importlib.import_module("test." + name)
        if hasattr(module, "test_main"):
            module.test_main()
        else:
            unittest.defaultTestLoader.loadTestsFromModule(module).run(result)
    except unittest.SkipTest:
        pass
    except Exception as error:
        print(name, repr(error), file=sys.stderr)
        bad.add("test.%s: %s" % (name, link.plain(str(error)).splitlines()[0]))
    faulthandler.cancel_dump_traceback_later()
    for test, trace in result.failures + result.errors:
        print(test, trace, sep="\n", file=sys.stderr)
        bad.add(getattr(test, "test_case", test).id())
    bad |= {test.id() for test in result.unexpectedSuccesses}
    link.report(module=name, run=result.testsRun, skipped=len(result.skipped), bad=sorted(bad))


# These give themselves a `__code__` of their own making.
SELF_MADE = {"test.test_dis.bug42562"}


def coverage():
    new = {id(code) for code in made.values()}
    home = sysconfig.get_paths()["stdlib"]
    live, left = 0, []
    for function in functions():
        code = function.__code__
        # `types.coroutine` gives its function a copy of the code with another flag.
        if code.co_filename.startswith(home) and not code.co_flags & inspect.CO_ITERABLE_COROUTINE:
            live += 1
            name = "%s.%s" % (function.__module__, function.__qualname__)
            if id(code) not in new and name not in SELF_MADE:
                left.append(link.plain(name))
    link.report(replaced=len(new), live=live, left=sorted(left))


# What these stand for is kept beside the code, not in it.
HIDING = {number for name, number in dis.opmap.items() if name in ("INSTRUMENTED_LINE", "INSTRUMENTED_INSTRUCTION")}


def hides(code):
    adaptive = code._co_code_adaptive
    return any(
        adaptive[at] in HIDING
        for start, (number, _, behind) in stack.instructions(code).items()
        for at in range(start, behind - 2 * stack.CACHES[number], 2)
    )


def warm():
    """Specialised code, as the interpreter runs it, must decode to the same as `co_code`."""
    if not hasattr(coverage.__code__, "_co_code_adaptive"):
        return
    codes = {}
    for function in functions():
        for code in link.nested(function.__code__):
            codes[id(code)] = code
    instrumented = {key for key, code in codes.items() if hides(code)}
    codes = [code for key, code in codes.items() if key not in instrumented]
    words, wrong = {"instrumented": len(instrumented)}, []
    for start in range(0, len(codes), 200):
        part = codes[start : start + 200]
        answers = link.ask({"compare": [[link.as_json(c), c._co_code_adaptive.hex()] for c in part]})
        for code, (word, detail) in zip(part, answers):
            words[word] = words.get(word, 0) + 1
            if word == "different":
                wrong.append([link.plain("%s:%d %s" % (code.co_filename, code.co_firstlineno, code.co_name)), detail])
    link.report(warm=words, wrong=wrong)


def main():
    # As in CPython's own test runner: nothing of these scripts is in the way.
    sys.path.remove(HERE)
    sys.argv[1:] = []
    warnings.simplefilter("ignore")
    faulthandler.enable()
    os.register_at_fork(after_in_child=leave_link)
    importlib.machinery.SourceFileLoader.get_code = get_code
    if active:
        for function in list(functions()):
            function.__code__ = rebuild(function.__code__)
    try:
        from test import support
    except ImportError as error:
        link.report(no_tests=str(error))
        return

    # No network, no big files.
    support.use_resources = []
    for name in MODULES:
        run(name, support)
    if active:
        coverage()
        warm()


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
    os.chdir(HERE)
link.end()
