# Code with every shape the compilers make. `cargo xtask codegen` compiles it with each interpreter.
# A line `# from 3.x` begins a part that older versions do not get.
import os.path as p
from sys import path, version as v
x: int = 1


def calls(a, b=1, *args, c, d=2, **kwargs):
    a.m(b).n(*args)
    f(a, b, k=c)(**kwargs)
    f(*args, b, k=d, **kwargs)
    print(*a, *b, **c, **d)
    return super().m(a)


def loops(n):
    for i in range(n):
        if i == 3:
            continue
        if i > 5 and n or i < 2:
            break
        for a, (b, *c) in zip(n, i):
            n += a
    else:
        n = None
    while n is not None:
        n = n[1:2] if n in x else n[i]
    return not n


def handlers(a):
    try:
        f(a)
    except ValueError as e:
        return g(e)
    except (TypeError, KeyError):
        raise
    else:
        a = 1
    finally:
        h(a)
    with a as b, b.c:
        try:
            return b
        finally:
            del b
    for i in a:
        try:
            if i:
                continue
            break
        finally:
            f(i)
    raise a from None


def closures(a, b):
    c = a

    def inner(d):
        nonlocal c
        c = a + d
        return lambda: (c, d, b)

    class C(a):
        z = c

        def m(self):
            return __class__, super().m()
    return [lambda: i for i in inner(c)], {i: c for i in b}, {i for i in a if i}, (i async for i in b)


def generator(a):
    got = yield a
    yield from got
    return (yield)


async def coroutine(a):
    async with a as b:
        await b
    async for i in a:
        yield i
    else:
        return
    try:
        await a
    finally:
        await b


def operators(a, b):
    a += b; a -= b; a *= b; a @= b; a /= b; a //= b; a %= b; a **= b; a <<= b; a >>= b; a &= b; a |= b; a ^= b
    r = a + b - a * b @ a / b // a % b ** a << b >> a & b | a ^ b
    a[b] += 1
    a.b += 1
    a[b:r] = a[1:2:3]
    del a[b], a.b, a
    b = a, r = r, b
    return -a, +a, ~a, not a, a < b <= r != a, a is b, a is not b, a not in b, a == b, a >= b


def formats(a, b):
    global x
    x = f"{a}{b!r:>{a}}{a!s}{b:x}{a!a}"
    return {"a": 1, "b": x}, {**a, "c": b}, [*a, *b], {*a, 1}, (*a, b), (y := a)


def big(a):
    if a:
        a = [a.n0, a.n1, a.n2, a.n3, a.n4, a.n5, a.n6, a.n7, a.n8, a.n9, a.n10, a.n11, a.n12, a.n13, a.n14, a.n15]
        a = [a.n16, a.n17, a.n18, a.n19, a.n20, a.n21, a.n22, a.n23, a.n24, a.n25, a.n26, a.n27, a.n28, a.n29, a.n30]
        a = a(1, 2, 3, 4, 5, 6, 7)(1.0, 2.0, 3.0, 4.0, 5.0)("a", "b", "c", "d", "e")(a, a, a, a)(a, a, a, a)(a, a)
        a = a(1, 2, 3, 4, 5, 6, 7)(1.0, 2.0, 3.0, 4.0, 5.0)("a", "b", "c", "d", "e")(a, a, a, a)(a, a, a, a)(a, a)
        a = a(1, 2, 3, 4, 5, 6, 7)(1.0, 2.0, 3.0, 4.0, 5.0)("a", "b", "c", "d", "e")(a, a, a, a)(a, a, a, a)(a, a)
        a = a(1, 2, 3, 4, 5, 6, 7)(1.0, 2.0, 3.0, 4.0, 5.0)("a", "b", "c", "d", "e")(a, a, a, a)(a, a, a, a)(a, a)
        a = a(1, 2, 3, 4, 5, 6, 7)(1.0, 2.0, 3.0, 4.0, 5.0)("a", "b", "c", "d", "e")(a, a, a, a)(a, a, a, a)(a, a)
        a = a(1, 2, 3, 4, 5, 6, 7)(1.0, 2.0, 3.0, 4.0, 5.0)("a", "b", "c", "d", "e")(a, a, a, a)(a, a, a, a)(a, a)
    assert a, "message"
    return a
# from 3.10


def matches(a):
    match a:
        case {"k": k, **rest}:
            return k, rest
        case [1, b, *c] | (b, 2, c):
            return b
        case C(m=n) if n:
            return n
        case str():
            return 1
# from 3.11


def groups(a):
    try:
        f()
    except* ValueError as e:
        g(e)
    except* TypeError:
        pass
# from 3.12


def generic[T: int, *U, **P](a: T) -> list[T]:
    type A[V] = dict[V, T]
    return A


class G[T]:
    y: T = [lambda: (T, i) for i in x]
