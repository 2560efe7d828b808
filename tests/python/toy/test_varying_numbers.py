"""Numbers that are other ones at each call: one capture serves them, and every call is what plain Python makes of it."""

import math
import traceback

import doors
import observe
import pytest
from toy_framework import toy

t = toy.tensor

INTS = [3, 4, 5, 0, -1, 10**20, 7, 2**63, -(2**40), 256, 257, 1, 2]
FLOATS = [0.5, 1.5, -0.0, 0.0, math.nan, math.inf, -math.inf, 1e308, 2.0, -3.25]
MIXED = [1, 2.0, True, 3, None, "s", 4, 2.5, False, [1], 5]
SEQUENCES = {"ints": INTS, "floats": FLOATS, "mixed": MIXED}


def behind_a_break(f):
    def outer(*args):
        doors.opaque(args[0])
        return f(*args)

    return toy.to_static(outer)


DOORS = [doors.entry, doors.inlined, doors.hook, behind_a_break]


class Box:
    def __init__(self, n):
        self.n = n


COUNTER = 0


def seen_of(function, *args):
    """What a call comes to, with the lines that an exception passed."""

    def run():
        try:
            return function(*args), None
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            lines = [(f.name, f.lineno) for f in frames if f.filename == __file__ and f.name not in ("run", "outer")]
            return None, (type(error).__name__, str(error), lines)

    observed = observe.Observed(run, (), {}, tuple)
    return observed.seen


@pytest.fixture(autouse=True)
def anew():
    toy.reset()
    yield


def carried(x, n):
    return x + 1, n


def computed(x, n):
    m = n * 2 + 1
    return x + 1, m, m - n, -n, +n


def of_two(x, n):
    y = n + n
    return x, y * n, y - n * 3


def divided(x, n):
    return x + 1, n / 4, n // 4, n % 4, 1 / n


def of_bits(x, n):
    return x + 1, n & 6, n | 1, n ^ 5, ~n, n >> 1, n << 1


def powers(x, n):
    return x + 1, n**2, 2 ** (n % 5)


def powers_of_floats(x, n):
    return x + 1, 0.9**n, 1 - 0.999**n, n**-0.5, pow(n, 2), n**0.5


def large_powers(x, n):
    return x + 1, 2.5**n


def powers_of_ints(x, n):
    if n == n and abs(n) > 300:
        return x
    return x + 1, 3**n, n**3, True**n, n**True, (-2) ** n, n**n


def shifted(x, n):
    if isinstance(n, int) and n > 300:
        return x
    return x + 1, 1 << n, n << 2, -1 >> n


def rounded(x, n):
    return x + 1, round(n * 0.37, 2), round(n, -1), round(n / 3), round(n), divmod(n, 3)


def of_math(x, n):
    m = abs(n) + 1
    found = math.sqrt(m), math.log(m), math.log2(m), math.log10(m), math.floor(n), math.ceil(m / 7)
    return x + 1, found, math.sin(m), math.cos(math.pi * n / 10), math.tan(m), math.tanh(n), math.exp(-m)


def of_math_or_not(x, n):
    try:
        return x + 1, math.sqrt(n), math.log(n), math.exp(n)
    except (ValueError, OverflowError) as error:
        return x, str(error)


def of_math_of_two(x, n):
    m = abs(n) + 1
    found = math.pow(m, -0.5), math.pow(2, -m), math.fmod(n, 7), math.atan2(n, m), math.copysign(1, n), math.hypot(n, 3)
    found += math.log(m, 10), math.log(10, m + 1), math.atan(n), math.fabs(n), math.trunc(n), math.expm1(-m), math.log1p(m)
    found += math.sinh(1 / m), math.cosh(1 / m), math.asin(1 / m), math.acos(1 / m), math.degrees(n), math.radians(n)
    return x + 1, found, math.gcd(int(n), 6)


def of_math_of_two_or_not(x, n):
    try:
        return x + 1, math.pow(n, 0.5), math.pow(n, -1), math.fmod(7, n), math.log(n, 2), math.log(2, n), math.acos(n)
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        return x, str(error)


def kinds_of_numbers(x, n):
    n = n * 0.75
    if math.isnan(n) or math.isinf(n):
        return x, math.isfinite(n), n.is_integer()
    return x + 1, math.isfinite(n), math.isnan(n)


def whole_or_not(x, n):
    n = n * 0.5
    return x + 1, n.is_integer(), (n / 3).is_integer() if n == n else 0


def kinds_as_given(x, n):
    if isinstance(n, int):
        return x + 1, math.isfinite(n), math.isinf(n)
    return x + 1, math.isfinite(n), math.isinf(n), math.isnan(n), n.is_integer()


def a_schedule(x, n):
    warm = min(n**-0.5, n * 40**-1.5) if n else 1.0
    return x * (0.1 * warm), 0.5 * (1 + math.cos(math.pi * (n % 20) / 20))


def converted(x, n):
    return x + 1, float(n), int(n), bool(n), abs(n), not n


def compared(x, n):
    return x + 1, n > 3, n == 4, 5 <= n, n != n, 0 < n < 100


def branched(x, n):
    if n > 3:
        return x * 2, n
    if not n:
        return x, "zero"
    return x + 1, n - 1


def truth(x, n):
    return x + 1, "some" if n else "none", n or 5, n and 6


def largest(x, n):
    return x + 1, max(n, 4), min(n, 4), max(2, n), min(7, n, 9)


def an_operand(x, n):
    return x * n, n - x, x / 2 + n * 0.5, x > n


def an_operand_twice(x, n):
    return (x + n) * n + (n + 1)


def an_operand_and_its_value(x, n):
    y = x + n
    return y, [0, 1, 2, 3][n % 4], str(n)


def a_key(x, n):
    return x + 1, {0: "a", 1: "b"}[n % 2], (10, 20)[n & 1]


def as_text(x, n):
    return x + 1, f"{n}", f"{n:>4}", "%s" % n, repr(n), str(n + 1)


def in_messages(x, n):
    text = f"step {n}: {n + 1:>6} {n!r} of {x.shape}"
    return x + 1, text, "n" + str(n), f"{n}" + f"{n * 0.5:.2f}", [text]


def of_templates(x, n):
    texts = ["%d" % n if isinstance(n, int) else "", "step %s of %r" % (n, n), "%5.1f|%-8.3e|%+g" % (n, n / 3, n)]
    texts += ["{} {:.2f} {!r}".format(n, n / 3, n), "{0}-{0:>6}-{a}".format(n, a="k"), "%(a)s %(b)d" % {"a": n, "b": 7}]
    return x + 1, texts, "%s %s" % ("k", str(n)), "%s" % ((n,),), "%%%s%%" % n, "{{{}}}".format(n)


def of_templates_for_ints(x, n):
    if not isinstance(n, int):
        return x
    return x + 1, "%d|%5d|%-5d|%05d|%+d|% d|%x|%X|%o|%i" % ((n,) * 10), "{:d} {:5} {:<5} {:05d} {:x}".format(*[n] * 5)


def of_templates_that_fail(x, n):
    try:
        return x + 1, "%d %d" % (n,), "%d" % n
    except TypeError as error:
        return x, str(error)


def said(x, n):
    doors.opaque(f"step {n}")
    return x + 1, f"{n}"


def signs_of_text(x, n):
    try:
        return x, +f"{n}"
    except TypeError as error:
        return x + 1, str(error)


def numbers_of_text(x, n):
    text = f"{n}"
    return x + 1, float(text) if n == n else 0, text * 2, text + "a", text > "3", not text, len(text), text[0]


def a_width_behind_a_return(x, n):
    if n - 5 > 1000:
        return x
    return x + 1, f"{1:{abs(n) % 7}}" if n == n else ""


def added_up(x, n):
    a, b = n, n + 1
    for _ in range(40):
        a, b = b, a + b
    return x + 1, b, b > 7


def doubled(x, n):
    if isinstance(n, (str, list)):
        return x
    for _ in range(70):
        n = n + n
    return x + 1, n, f"{n}"


def identical(x, n):
    m = n
    k = n + 0
    return x + 1, m is n, (n, n), k == n, [k, k]


def a_length(x, n):
    return x + 1, [7] * (n % 3), list(range(n % 3)), "ab" * (n % 2)


def a_loop(x, n):
    i = 0
    while i < n % 7:
        x = x + i
        i += 1
    return x, i


def counted(x, n):
    for i in range(3):
        n += i
    return x + 1, n


def a_default(x, n, *rest, k=2):
    return x + 1, n * k, rest


def in_a_call(x, n):
    def scaled(v, by):
        return v * by + 1

    return scaled(x, n), scaled(n, 3)


def in_a_closure(x, n):
    def inner():
        nonlocal n
        n = n + 1
        return n

    return x + inner(), inner(), n


def in_an_attribute(x, n):
    box = Box(n)
    box.n += 1
    return x + 1, box.n, box


def in_containers(x, n):
    return [n, n + 1], {"n": n, n * 0 == 0: 1}, (n, [n]), {"k": [n - 1]}


def sliced(x, n):
    return x + 1, [1, 2, 3, 4][n % 4 :], "abcd"[: n % 3]


def raised(x, n):
    y = x + 1
    if n > 4:
        raise ValueError(n)
    return y, 10 / n


def caught(x, n):
    try:
        return x + 1, 1 // n
    except ZeroDivisionError as error:
        return x, str(error)
    except TypeError as error:
        return x, str(error)


def a_break_with_it(x, n):
    m = n + 1
    doors.opaque(m)
    return x + 1, m, n * 2


def a_break_in_an_expression(x, n):
    return x + 1, n * 2 + (doors.opaque() or 1), n


PROGRAMS = [
    carried,
    computed,
    of_two,
    divided,
    of_bits,
    powers,
    powers_of_floats,
    large_powers,
    powers_of_ints,
    shifted,
    rounded,
    of_math,
    of_math_or_not,
    of_math_of_two,
    of_math_of_two_or_not,
    kinds_of_numbers,
    whole_or_not,
    kinds_as_given,
    a_schedule,
    converted,
    compared,
    branched,
    truth,
    largest,
    an_operand,
    an_operand_twice,
    an_operand_and_its_value,
    a_key,
    as_text,
    in_messages,
    of_templates,
    of_templates_for_ints,
    of_templates_that_fail,
    said,
    signs_of_text,
    numbers_of_text,
    a_width_behind_a_return,
    added_up,
    doubled,
    identical,
    a_length,
    a_loop,
    counted,
    a_default,
    in_a_call,
    in_a_closure,
    in_an_attribute,
    in_containers,
    sliced,
    raised,
    caught,
    a_break_with_it,
    a_break_in_an_expression,
]


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
@pytest.mark.parametrize("numbers", SEQUENCES)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_each_call_is_as_plain(program, numbers, door):
    captured = door(program)
    for n in SEQUENCES[numbers] * 2:
        assert seen_of(captured, t([1.0, 2.0]), n) == seen_of(program, t([1.0, 2.0]), n), n
    assert toy.stats()["hook_failures"] == 0
    assert "internal-error" not in toy.stats()["reasons"]


@pytest.mark.parametrize(
    "program, captures",
    [
        (carried, 1),
        (in_messages, 2),
        (of_templates_for_ints, 2),
        (said, 4),
        (computed, 2),
        (of_two, 2),
        (an_operand, 2),
        (an_operand_twice, 2),
        (compared, 5),
        (branched, 4),
        (converted, 3),
        (largest, 12),
        (counted, 2),
        (in_a_call, 2),
        (in_a_closure, 2),
        (in_an_attribute, 2),
        (a_default, 2),
        (powers_of_floats, 5),
        (rounded, 2),
        (of_math, 2),
        (of_math_of_two, 2),
        (kinds_of_numbers, 2),
        (whole_or_not, 4),
        (kinds_as_given, 2),
        (a_schedule, 24),
        (a_key, 3),
        (a_break_with_it, 4),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_few_captures_serve_all_numbers(program, captures):
    captured = toy.to_static(program)
    for n in range(-3, 40):
        assert seen_of(captured, t([1.0]), n) == seen_of(program, t([1.0]), n)
    assert toy.stats()["captures"] <= captures
    assert toy.stats()["reasons"].get("cache-full", 0) == 0


def counting(places):
    """A program that counts in each of these places."""

    class Holder:
        total = 0

    holder = Holder()
    holder.n, holder.inner = 0, Box(0.5)
    names, numbers, cell = {"n": 0, "other": 1}, [0, 5], 0

    def f(x):
        global COUNTER
        nonlocal cell
        if "attribute" in places:
            holder.n += 1
            holder.inner.n *= 1.5
        if "class" in places:
            Holder.total += 2
        if "global" in places:
            COUNTER = COUNTER + 3
        if "dict" in places:
            names["n"] -= 1
        if "list" in places:
            numbers[0] += numbers[1]
        if "cell" in places:
            cell += 1
        return x + 1, holder.n, Holder.total, COUNTER, names["n"], numbers[0], cell, holder.inner.n

    return f


@pytest.mark.parametrize("places", [["attribute"], ["class"], ["global"], ["dict"], ["list"], ["cell"]])
@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_counters(places, door):
    global COUNTER
    calls = []
    for translate in (lambda f: f, door):
        COUNTER = 0
        f = translate(counting(places))
        calls.append([seen_of(f, t([1.0])) for _ in range(90)])
    assert calls[0] == calls[1]
    assert toy.stats()["captures"] <= (6 if door is doors.hook or door is behind_a_break else 4)


def test_a_counter_that_begins_in_its_class():
    """One capture where the instance has no number yet, one for each branch: the first number that it has already varies."""

    class Steps:
        n = 0

        def step(self, x):
            self.n += 1
            return x * self.n if self.n > 3 else x + self.n

    plain, counted = Steps(), Steps()
    captured = toy.to_static(counted.step)
    for _ in range(20):
        assert seen_of(captured, t([1.0])) == seen_of(plain.step, t([1.0]))
    assert toy.stats()["captures"] == 3


def test_a_loop_that_breaks_each_round():
    def f(x):
        total = 0
        for i in range(50):
            total += i * 2
            x = x + i
            doors.opaque(total)
        return x, total, i

    captured = toy.to_static(f)
    for _ in range(3):
        assert seen_of(captured, t([1.0])) == seen_of(f, t([1.0]))
    assert toy.stats()["captures"] <= 4


def test_a_number_that_stays_is_a_constant():
    def f(x, n, k):
        return x + k, n + k

    captured = toy.to_static(f)
    for n in range(10):
        assert seen_of(captured, t([1.0]), n, 7) == seen_of(f, t([1.0]), n, 7)
    assert toy.stats()["captures"] <= 3
    guards = str(toy.explain(f)(t([1.0]), 3, 7).guards)
    assert "== 7" in guards, guards


def test_numbers_by_turns_of_two_kinds():
    def f(x, n):
        return x * n, n + 1

    captured = toy.to_static(f)
    for n in [1, 1.5, 2, 2.5, 3, 3.5, True, 4, 4.5]:
        assert seen_of(captured, t([1.0]), n) == seen_of(f, t([1.0]), n)
    assert toy.stats()["captures"] <= 5


def test_an_equal_constant_of_a_base_is_not_the_number_that_varies():
    class Base:
        k = 3

    def make(n):
        class Derived(Base):
            pass

        Derived.n = n
        return Derived

    def f(x, c):
        return x * c.n + c.k, c.n, c.k

    captured = toy.to_static(f)
    for n in [5, 3, 7, 3, 4]:
        c = make(n)
        assert seen_of(captured, t([1.0]), c) == seen_of(f, t([1.0]), c)


def test_builtins_that_the_program_replaces():
    import builtins

    def f(x, n):
        return x + 1, f"{n}", f"{n:>4}", f"{n!r}", -n, n * 2.5

    captured, calls, xs = toy.to_static(f), [], [t([1.0]) for _ in range(5)]
    captured(xs[4], 9)
    own = {name: getattr(builtins, name) for name in ("str", "repr", "format", "abs", "float")}
    try:
        for name in own:
            setattr(builtins, name, lambda *args, name=name: calls.append(name))
        results = [captured(xs[n], n)[1:] for n in range(4)]
    finally:
        for name in own:
            setattr(builtins, name, own[name])
    assert results == [f(t([1.0]), n)[1:] for n in range(4)]
    assert calls == []
