"""Runs one test module of the standard library, plain or captured, and says what became of each test.

usage: run.py (plain | captured) MODULE FILE

FILE gets JSON lines as they come, so that a crash leaves what was known until then:
    {"begin": test}                                     it runs now
    {"test": test, "outcome": word, "detail": text}     word: ok, failure, error, skipped, expected, unexpected
    {"missing": module}                                 this version has no such test module
    {"end": {"entered": n, "rewritten": n, "in_general": n, "defects": [text, ..], "hook_failures": n}}
                                                        through; what `sot` counted, {} if plain
`detail` is what was raised, in one line, of each subtest that failed. Both ways everything but the capture is the same.
"""

import doctest
import faulthandler
import importlib
import importlib.util
import json
import os
import re
import signal
import sys
import tempfile
import traceback
import unittest
import warnings

MODE, MODULE, FILE = sys.argv[1:4]
# A shell has background jobs ignore it, which tests notice.
signal.signal(signal.SIGINT, signal.default_int_handler)
PROCESS = os.getpid()
ADDRESS = re.compile(r"0x[0-9a-fA-F]+")


class Stream:
    def __init__(self, path):
        self.number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0))

    def say(self, **what):
        # A forked child has nothing to say.
        if os.getpid() == PROCESS:
            os.write(self.number, (json.dumps(what) + "\n").encode("ascii"))


stream = Stream(os.path.abspath(FILE))


def in_a_line(kind, error):
    """Type and message, without what differs from run to run."""
    text = ADDRESS.sub("0x", "%s: %s" % (getattr(kind, "__name__", kind), error))
    return text.split("\n")[0][:300]


class Result(unittest.TestResult):
    """Tells of each test when it is through: a test with subtests may fail several times."""

    def startTest(self, test):
        super().startTest(test)
        self.words, self.details = ["ok"], []
        stream.say(begin=test.id())

    def stopTest(self, test):
        super().stopTest(test)
        stream.say(test=test.id(), outcome=self.words[-1], detail="; ".join(self.details))

    def took(self, test, word, error=None):
        if not hasattr(self, "words"):
            # Not a test: what prepares a class or a module.
            stream.say(test=test.id(), outcome=word, detail=in_a_line(*error[:2]) if error else "")
            return
        self.words.append(word)
        if error is not None:
            self.details.append(in_a_line(*error[:2]))
            print(test.id(), word, file=sys.stderr)
            traceback.print_exception(*error)

    def addFailure(self, test, err):
        self.took(test, "failure", err)

    def addError(self, test, err):
        self.took(test, "error", err)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.took(subtest, "failure" if issubclass(err[0], test.failureException) else "error", err)

    def addSkip(self, test, reason):
        self.took(test, "skipped")

    def addExpectedFailure(self, test, err):
        self.took(test, "expected")

    def addUnexpectedSuccess(self, test):
        self.took(test, "unexpected")


def exists(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def tests_of(module):
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    main = getattr(module, "test_main", None)
    if not hasattr(module, "load_tests") and main is not None and "run_doctest" in main.__code__.co_names:
        suite.addTest(doctest.DocTestSuite(module))
    return suite


def main():
    sys.path.remove(os.path.dirname(os.path.abspath(__file__)))
    sys.argv[1:] = []
    warnings.simplefilter("ignore")
    faulthandler.enable()
    name = "test." + MODULE
    if not exists(name):
        stream.say(missing=MODULE)
        return
    from test import support

    # No network, no big files.
    support.use_resources = []
    counts = {}
    if MODE == "captured":
        import sot

        for own in vars(Result).values():
            if hasattr(own, "__code__"):
                sot.disable(own)
        sot.disable(Stream.say)
        sot._sot._capture_all(True)
    result = Result()
    stream.say(begin=name)
    try:
        tests_of(importlib.import_module(name)).run(result)
        outcome, detail = "ok", ""
    except unittest.SkipTest as skip:
        outcome, detail = "skipped", ""
    except BaseException as error:
        traceback.print_exc()
        outcome, detail = "error", in_a_line(type(error), error)
    if MODE == "captured":
        sot._sot._capture_all(False)
        counts = sot._sot._capture_counts()
        counts["hook_failures"] = sot.stats()["hook_failures"]
    stream.say(test=name, outcome=outcome, detail=detail)
    stream.say(end=counts)


with tempfile.TemporaryDirectory() as folder:
    home = os.getcwd()
    os.chdir(folder)
    try:
        main()
    finally:
        os.chdir(home)
