"""Plain Python beside a captured call, in a copy of the process: what either came to, as lines that can be compared.

Nothing here runs code of the program: values are looked at by what C says of them. Functions of modules are taken from C, so that
what a test puts in their places is not asked."""

import collections
import marshal
import posix
import sys
import types
from select import select
from time import monotonic

# Things that are looked at of one call. What is behind is not compared.
LIMIT = 200_000
# Of a text or of bytes.
SHOWN = 200
# How long the copy is waited for: this, or so many times as long as the captured call took.
PATIENCE = 30.0
TIMES = 20.0

ATOMS = (bool, int, float, complex, type(None), type(Ellipsis), type(NotImplemented))
TEXTS = (str, bytes)
SHORT = ATOMS + TEXTS
SEQUENCES = (list, tuple, collections.deque)
MEMBERS = (set, frozenset)
WRITTEN = (int, float, complex, str, bytes, bytearray)
ITERATORS = tuple(
    type(iter(made))
    for made in ([], (), {}, {}.values(), {}.items(), set(), "", b"", range(0), reversed([]))
)
mro_of = type.__dict__["__mro__"].__get__
dict_of_class = type.__dict__["__dict__"].__get__
name_of_class = type.__dict__["__qualname__"].__get__
of_exceptions = BaseException.__dict__


def is_one(kind, kinds):
    """Whether a class is one of these; no class is asked whether it is equal to another."""
    return any(kind is other for other in kinds)


def text_of(value):
    """An atom or a text, in full but for what is long."""
    if is_one(type(value), ATOMS):
        return repr(value)
    if len(value) <= SHOWN:
        return repr(value)
    return "%r.. (%d in all, hash %x)" % (value[:SHOWN], len(value), hash(value))


def attributes(value, mro):
    """Names and values of what an instance has in its dict and its slots."""
    found = []
    for base in mro:
        names = dict_of_class(base)
        own = names.get("__dict__")
        if type(own) is types.GetSetDescriptorType:
            held = own.__get__(value)
            if type(held) is dict:
                found += [(name, held[name]) for name in list(held) if type(name) is str]
            break
    for base in mro:
        for name, slot in list(dict_of_class(base).items()):
            if type(slot) is types.MemberDescriptorType:
                try:
                    found.append((name, slot.__get__(value)))
                except AttributeError:
                    pass
    return found


def lines_of(traceback):
    """The frames of a traceback, as it names them."""
    found = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        found.append("%s:%s in %s" % (code.co_filename, traceback.tb_lineno, code.co_name))
        traceback = traceback.tb_next
    return ", ".join(found)


class Look:
    """What is reached from some roots, by path. `tell`: of a tensor, its parts by name, else None. `of`: names of modules whose classes
    are looked into."""

    def __init__(self, tell, of):
        self.tell = tell
        self.of = of
        self.lines = []
        self.seen = {}
        # What was looked at must not give its address to another.
        self.kept = []

    def at(self, roots):
        waiting = list(reversed(roots))
        while waiting and len(self.lines) < LIMIT:
            path, value = waiting.pop()
            if is_one(type(value), SHORT):
                self.lines.append((path, "%s %s" % (type(value).__name__, text_of(value))))
                continue
            if type(value) is not tuple and type(value) is not frozenset:
                known = self.seen.setdefault(id(value), path)
                if known is not path:
                    self.lines.append((path, "the same as " + known))
                    continue
            self.kept.append(value)
            text, parts = self.one(value)
            self.lines.append((path, text))
            waiting.extend((path + way, part) for way, part in reversed(parts))
        return self.lines

    def one(self, value):
        """What it is, and the ways to its parts."""
        told = self.tell(value)
        if told is not None:
            return "tensor", [("." + name, part) for name, part in told]
        kind = type(value)
        if kind is types.ModuleType:
            return "module", []
        mro = mro_of(kind)
        if is_one(type, mro):
            return self.of_class(value)
        name = name_of_class(kind)
        if kind is types.FunctionType:
            return self.of_function(value)
        if kind is types.MethodType:
            return name, [(".__self__", value.__self__), (".__func__", value.__func__)]
        if kind is types.CellType:
            try:
                return name, [(".cell_contents", value.cell_contents)]
            except ValueError:
                return name + ", empty", []
        if is_one(kind, ITERATORS):
            return "%s of %s more" % (name, value.__length_hint__() if hasattr(kind, "__length_hint__") else "?"), []
        if kind is types.GeneratorType:
            frame = value.gi_frame
            waits = "ended" if frame is None else "at line %s" % frame.f_lineno
            return "%s %s, %s" % (name, value.__qualname__, waits), []
        parts = []
        text = name
        for base in SEQUENCES:
            if is_one(base, mro):
                items = list(base.__iter__(value))
                text = "%s of %d" % (name, len(items))
                parts += [("[%d]" % at, item) for at, item in enumerate(items)]
        for base in MEMBERS:
            if is_one(base, mro):
                members = list(base.__iter__(value))
                atoms = [text_of(item) for item in members if is_one(type(item), SHORT)]
                text = "%s of %d: %s" % (name, len(members), ", ".join(sorted(atoms)))
        if is_one(dict, mro):
            items = list(dict.items(value))
            text = "%s of %d" % (name, len(items))
            for at, (key, item) in enumerate(items):
                if is_one(type(key), SHORT):
                    parts.append(("[%s]" % text_of(key), item))
                else:
                    parts += [("<key %d>" % at, key), ("[key %d]" % at, item)]
            keys = [text_of(key) for key, _ in items if is_one(type(key), SHORT)]
            text += ": " + ", ".join(keys[:SHOWN])
        for base in WRITTEN:
            if is_one(base, mro):
                text = "%s %s" % (name, base.__repr__(value)[:SHOWN])
        if is_one(BaseException, mro):
            text = "%s at %s" % (name, lines_of(of_exceptions["__traceback__"].__get__(value)))
            names = ("args", "__cause__", "__context__", "__suppress_context__")
            parts += [("." + name, of_exceptions[name].__get__(value)) for name in names]
        parts += [("." + name, part) for name, part in attributes(value, mro)]
        return text, parts

    def of_class(self, value):
        held = dict_of_class(value)
        if held.get("__module__") not in self.of:
            return "class " + name_of_class(value), []
        parts = [
            ("." + name, part)
            for name, part in list(held.items())
            if not is_one(type(part), (types.GetSetDescriptorType, types.MemberDescriptorType))
        ]
        return "class " + name_of_class(value), parts

    def of_function(self, value):
        code = value.__code__
        parts = [(".__closure__[%d]" % at, cell) for at, cell in enumerate(value.__closure__ or ())]
        parts += [(".__defaults__", value.__defaults__), (".__kwdefaults__", value.__kwdefaults__)]
        parts += [("." + str(name), part) for name, part in list(value.__dict__.items())]
        return "function %s at %s:%d" % (value.__qualname__, code.co_filename, code.co_firstlineno), parts


def look(outcome, arguments, names, cells, function, tell):
    """Lines about a call: its outcome (whether it raised, what it gave or raised, the traceback), its arguments by name, and all that its globals lead to."""
    raised, value, traceback = outcome
    if raised:
        # Up to 3.11 the exception is given its traceback by who catches it.
        of_exceptions["__traceback__"].__set__(value, traceback)
    roots = [("the exception" if raised else "the result", value)]
    code, space = function.__code__, function.__globals__
    roots += [(name, value) for name, value in zip(names, arguments) if value is not None]
    roots += list(zip(code.co_freevars, cells))
    skipped = ("__builtins__", "__spec__", "__loader__")
    roots += [("globals[%r]" % name, space[name]) for name in list(space) if name not in skipped]
    stream = sys.modules.get("random")
    if stream is not None and type(stream) is types.ModuleType and hasattr(stream, "_inst"):
        roots.append(("the state of random", hash(stream._inst.getstate())))
    return Look(tell, (space.get("__name__"), "__main__")).at(roots)


def differences(ours, theirs, most=5):
    """Paths at which two calls differ, with what is there: captured, plain. The order of the lines of either is no difference."""
    ours, theirs = dict(ours), dict(theirs)
    found = [(path, ours[path], theirs[path]) for path in ours if path in theirs and ours[path] != theirs[path]]
    if len(ours) < LIMIT and len(theirs) < LIMIT:
        found += [(path, ours[path], "nothing") for path in tops(ours, theirs)]
        found += [(path, "nothing", theirs[path]) for path in tops(theirs, ours)]
    return found[:most]


def tops(these, others):
    """The paths that others lack, but for what is below one of them."""
    found = []
    for path in these:
        if path not in others and not (found and path.startswith(found[-1]) and path[len(found[-1])] in ".[<"):
            found.append(path)
    return found


def write_all(number, data):
    view = memoryview(data)
    while view:
        view = view[posix.write(number, view):]


def read_all(number, until):
    """All that comes before the end; None: it did not come in time."""
    parts = []
    while True:
        ready, _, _ = select([number], [], [], max(0.0, until - monotonic()))
        if not ready:
            return None
        part = posix.read(number, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)


class Beside:
    """The pipes between the process and its copy, which runs the call as plain Python; and a copy of that, the witness, which stays as it
    is before the call and is asked what a capture would rely on."""

    def __init__(self):
        self.answer, self.answers = posix.pipe()
        self.question, self.asks = posix.pipe()
        self.reply, self.replies = posix.pipe()
        self.started = monotonic()
        self.number = None
        stream = sys.modules.get("random")
        self.stream = getattr(stream, "_inst", None)
        self.state = self.stream and self.stream.getstate()

    def in_parent(self, number):
        self.number = number
        for end in (self.answers, self.question, self.replies):
            posix.close(end)

    def in_copy(self):
        """What it writes nobody sees; and the random stream, which a new process begins anew, goes on."""
        for end in (self.answer, self.asks, self.reply):
            posix.close(end)
        nowhere = posix.open("/dev/null", posix.O_RDWR)
        for end in (1, 2):
            posix.dup2(nowhere, end)
        self.restore()

    def restore(self):
        if self.stream:
            self.stream.setstate(self.state)

    def tell(self, lines):
        write_all(self.answers, marshal.dumps(lines))

    def is_asked(self):
        """Of the witness: whether there is a question."""
        posix.close(self.answers)
        self.restore()
        return posix.read(self.question, 1) == b"?"

    def reply_with(self, guards):
        write_all(self.replies, marshal.dumps(guards))

    def end(self):
        """Leave a copy."""
        posix._exit(0)

    def told(self):
        """What plain Python came to, or None."""
        now = monotonic()
        data = read_all(self.answer, now + max(PATIENCE, TIMES * (now - self.started)))
        return marshal.loads(data) if data else None

    def guards_of_now(self):
        """What a capture made before the call would rely on; None: none could be made."""
        write_all(self.asks, b"?")
        data = read_all(self.reply, monotonic() + PATIENCE)
        return marshal.loads(data) if data else None

    def close(self):
        for end in (self.answer, self.asks, self.reply):
            posix.close(end)
        if self.number is not None:
            try:
                if posix.waitpid(self.number, posix.WNOHANG)[0] == 0:
                    posix.kill(self.number, 9)
                    posix.waitpid(self.number, 0)
            except ChildProcessError:
                pass
