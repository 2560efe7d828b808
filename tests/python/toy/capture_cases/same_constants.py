"""Identity of constants, and `id`."""

from observe import case, open_case
from toy_framework import toy

t = toy.tensor
KINDS = ("train", "eval")


def x1():
    return (t([1.0, 2.0]),)


def same(a, b):
    return a is b, a is not b, id(a) == id(b) if a is None else None


@case()
def identity_of_constants_of_code():
    def f(x, mode="train"):
        big, other, train, half, again = 10**6, 1000000, "train", 2.5, 2.5
        return x + 1, mode is train, other is big, half is again, half is big, same("k", "k"), same(train, mode)

    return {"f": f, "args": x1}


@case()
def identity_of_found_constants():
    names = list(KINDS)

    def f(x, mode, size, ratio):
        kept = {"mode": mode}
        return x + 1, mode is KINDS[0], mode is names[0], size is size, kept["mode"] is mode, ratio is size, same(size, ratio)

    return {"f": f, "args": lambda: (t([1.0]), KINDS[0], 10**9, 1e9)}


@case(graphs=2, captures=2)
def identity_that_changes_between_calls():
    def long():
        return "".join(["long ", "enough"])

    one = long()
    pairs = iter([(one, one), (one, one), (one, long())] * 2)

    def f(x, pair):
        a, b = pair
        return x * 2 if a is b else x + 1

    return {"f": f, "args": lambda: (t([1.0]), next(pairs))}


@case()
def identity_of_computed_constants():
    def f(x, n, word):
        sums = n + 1000, n + 1000
        small = n % 3, n % 3
        words = word + "!", word + "!", word.upper()
        found = sums[0] is sums[1], small[0] is small[1], words[0] is words[1], words[2] is words[2], sums[0] is sums[0]
        first, empty, one, whole = "w", "", 1.0, 1
        more = n is n + 0, word is word + "", word[0] is first, str(word) is word, int(n) is n, empty is word[:0]
        return x + 1, found, more, [v is v for v in (1.5, n, word)], (n, 1) is word, one is whole

    return {"f": f, "args": lambda: (t([1.0]), 5000, "word")}


@case()
def identity_of_small_numbers():
    def f(x, n, items):
        three, two = 3, 2
        return x + 1, n is three, items[0] is n, len(items) is two, items[1] - 1 is n, n in items

    return {"f": f, "args": lambda: (t([1.0]), 3, [3, 4])}


@case()
def identity_across_a_name():
    class Empty:
        pass

    empty = Empty()

    def f(x, default=empty):
        ids = {id(same): 1, id(dict): 2, id(None): 3}
        return x + 1, default is empty, default is None, ids[id(same)], id(None) in ids, id(dict) == id(same)

    return {"f": f, "args": x1}


@open_case
def identity_behind_a_break():
    def f(x, n):
        y = x + 1
        a, b, c = n + 1000, n + 1000, n
        d = a
        print("spoken")
        return y * 2, a is b, a is d, c is n, b is not a

    return {"f": f, "args": lambda: (t([1.0]), 5000)}
