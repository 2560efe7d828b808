"""Run a Python program with every function captured.

usage: python -m sot [--stats] program.py [argument ..]
       python -m sot [--stats] -m module [argument ..]
       python -m sot [--stats] -c code [argument ..]

The program runs as `python program.py` runs it, but each function that it calls is simulated, rewritten and run from its
rewritten code, tensors or not, those of the standard library and of installed packages too. Generators, coroutines and
the bodies of modules and classes run as they are. This makes no program faster: it shows whether captured code means
what the program means. Paddle need not be installed.

options:
  --stats     at the end, tell on standard error what became of the frames
  --only A:B  capture only these functions, numbered from 0 as they are first called: to find by halving
              the one whose capture makes a difference (--stats says how many there are, and names the last of A:B)
  --only WORD capture only functions of which `name (file:line)` contains this
  -h, --help  show this

Where the program uses another framework's translator that is built on the same core, what that one serves is left to it.

The environment variable SOT_CAPTURE_ALL=1 does the same for a program that imports sot, from there on.
"""

import sys

from . import _sot

# Tracebacks show the lines of what `-c` runs.
SHOWS_LINES = sys.version_info >= (3, 13)


def complain(text):
    print("python -m sot: %s" % text, file=sys.stderr)
    raise SystemExit(2)


def parse(arguments):
    """What to run, as (kind, name, the program's own arguments), and the options."""
    options = {"stats": False, "only": ()}
    while arguments:
        word = arguments.pop(0)
        if word in ("-h", "--help"):
            print(__doc__.strip())
            raise SystemExit(0)
        if word == "--stats":
            options["stats"] = True
        elif word == "--only" or word.startswith("--only="):
            if word == "--only" and not arguments:
                complain("--only needs a range of numbers or a part of a name")
            options["only"] = only(word[7:] or arguments.pop(0))
        elif word[:2] in ("-m", "-c"):
            if not word[2:] and not arguments:
                complain("%s needs %s" % (word, "a module" if word == "-m" else "code"))
            return word[:2], word[2:] or arguments.pop(0), arguments, options
        elif word.startswith("-"):
            complain("unknown option %s; options of the program come behind its name (see --help)" % word)
        else:
            return "program", word, arguments, options
    return complain("name a program, or a module with -m (see --help)")


def only(text):
    """What `--only` asks for, as `_capture_all` takes it."""
    first, colon, end = text.partition(":")
    if colon and all(part.isdigit() for part in (first, end) if part):
        return int(first or 0), int(end) if end else None
    return 0, None, text


def fresh_main(**names):
    """An empty module `__main__`, as Python makes it."""
    import builtins
    import types

    main = types.ModuleType("__main__")
    main.__dict__.update(names, __builtins__=builtins, __annotations__={})
    sys.modules["__main__"] = main
    return main.__dict__


def first_on_path(directory):
    if not getattr(sys.flags, "safe_path", sys.flags.isolated):
        sys.path[0] = directory


def prepare(kind, name, arguments):
    """A function that runs it."""
    if kind == "-m":
        sys.argv[:] = ["-m"] + arguments
        return lambda: run_module(name, True)
    if kind == "-c":
        sys.argv[:] = ["-c"] + arguments
        first_on_path("")
        if SHOWS_LINES:
            # Before the hook is on: what we import is none of the program's functions.
            import linecache  # noqa: F401

        return lambda: exec(compile_text(name + "\n"), fresh_main())
    sys.argv[:] = [name] + arguments
    return prepare_program(name)


def compile_text(text):
    if SHOWS_LINES:
        import linecache

        lines = [line + "\n" for line in text.splitlines()]
        linecache.cache["<string>"] = (len(text), None, lines, "<string>")
    return compile(text, "<string>", "exec", 0, True)


def run_module(name, alter_argv):
    import runpy

    fresh_main()
    # What `python -m` calls. It ends the process, with Python's own words, when there is no such module.
    runpy._run_module_as_main(name, alter_argv)


def prepare_program(path):
    """A file, or a directory or archive with a `__main__.py` in it."""
    import importlib.machinery
    import os
    import pkgutil

    if sys.version_info >= (3, 9) and os.path.isfile(path):
        path = os.path.join(os.getcwd(), path)
    loader = importlib.machinery.SourceFileLoader("__main__", path)
    if not os.path.isfile(path) or not path.endswith((".py", ".pyc", ".pyw")):
        if pkgutil.get_importer(path) is not None:
            first_on_path(path)
            return lambda: run_module("__main__", False)
    try:
        source = loader.get_data(path)
    except OSError as error:
        complain("can't open file %r: [Errno %s] %s" % (os.path.abspath(path), error.errno, error.strerror))
    if path.endswith(".pyc"):
        loader = importlib.machinery.SourcelessFileLoader("__main__", path)
    first_on_path(os.path.dirname(os.path.realpath(path)))

    def run():
        code = loader.get_code("__main__") if path.endswith(".pyc") else compile(source, path, "exec", 0, True)
        names = fresh_main(__file__=path, __cached__=None, __package__=None, __loader__=loader, __spec__=None)
        exec(code, names)

    return run


def behind_us(trace):
    """The part of a traceback that `python` would show."""
    shown = trace
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == behind_us.__code__.co_filename:
            shown = trace.tb_next
        trace = trace.tb_next
    return shown


def hide_us():
    """The exception on its way out is shown by whatever shows exceptions then, without our frames."""
    hook = sys.excepthook

    def show(kind, error, trace):
        sys.excepthook = hook
        trace = behind_us(trace)
        hook(kind, error.with_traceback(trace), trace)

    sys.excepthook = show


def tell():
    _sot._capture_all(False)
    counts = _sot._capture_counts()
    plain = sorted(counts["plain"].items(), key=lambda item: (-item[1], item[0]))
    if counts["last"]:
        print("sot: the last function captured is %s" % counts["last"], file=sys.stderr)
    lines = [("functions called", counts["functions"]), ("frames entered", counts["entered"]), ("rewritten", counts["rewritten"])]
    lines += [("rewritten in general", counts["in_general"])] if counts["in_general"] else []
    lines += [("plain Python: %s" % reason, count) for reason, count in plain]
    print("sot:", file=sys.stderr)
    for what, count in lines:
        print("  %10d  %s" % (count, what), file=sys.stderr)
    for count, reason, name in counts["plain_functions"]:
        print("  %10d  plain Python: %s: %s" % (count, reason, name), file=sys.stderr)
    for defect in counts["defects"]:
        print("  a defect of sot: %s" % defect, file=sys.stderr)


def main():
    kind, name, arguments, options = parse(sys.argv[1:])
    run = prepare(kind, name, arguments)
    if options["stats"]:
        import atexit

        # The first to be registered is the last to be called.
        atexit.register(tell)
    _sot._capture_all(True, *options["only"])
    try:
        run()
    except SystemExit:
        raise
    except BaseException:
        hide_us()
        raise


if __name__ == "__main__":
    main()
