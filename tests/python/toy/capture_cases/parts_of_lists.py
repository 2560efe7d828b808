"""Lists and deques from before the frame that are asked for single items and given single ones, while they grow at one end or the
other: how long they are is no fact, and a look at the whole finds what was stored."""

import itertools

from observe import called_between, case, open_case

WORLD = """
import collections

calls = iter(range(1000))
told = []

class Loud:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        told.append(self.name)

class Own(list):
    def __getitem__(self, index):
        told.append(("read", index))
        return list.__getitem__(self, index)

class Plain:
    pass

def touch(x):
    return x

touch = toy.disable(touch)
tensors = [toy.tensor([float(i), 1.0]) for i in range(4)]
numbers = [1, 2, 3, 4]
queue = collections.deque([1, 2, 3])
own = Plain()
own.history = [toy.tensor([3.0, 4.0])]
"""


def seen(world):
    kinds = [type(value).__name__ if not isinstance(value, int) else value for value in world["numbers"]]
    return kinds, len(world["tensors"]), list(world["queue"]), len(world["own"].history)


def build_of(name, body, between):
    return called_between(name, WORLD, body, between, "tensors, numbers", seen)


# While an item is appended before each call.
GROWS = "tensors.append(toy.tensor([float(n), 2.0])); numbers.append(n); queue.append(n); own.history.append(toy.tensor([5.0, 6.0]))"
READS = {
    "first_tensor": ("return x + tensors[0]", 1),
    "last_tensor": ("return x + tensors[-1]", 2),
    "first_number": ("return x * numbers[0]", 1),
    "last_number": ("return x * numbers[-1]", 2),
    "last_two": ("return x + tensors[-1] - tensors[-2]", 2),
    "first_of_queue": ("return x * queue[0]", 1),
    "last_of_queue": ("return x * queue[-1]", 2),
    "last_of_attribute": ("return x + own.history[-1]", 2),
    "slice_at_the_start": ("return x + sum(numbers[:2]) + sum(numbers[1:3])", 1),
    "slice_at_the_end": ("s = 0\nfor v in tensors[-3:]:\n    s = s + v\nreturn s + x", 2),
    "appended_and_before": ("tensors.append(x * 2)\nreturn tensors[-1] + tensors[-2] + tensors[0]", 2),
    "stored_at_the_start": ("numbers[0] = n\nreturn x * numbers[0]", 2),
    "stored_at_the_end": ("numbers[-1] += 1\nreturn x * numbers[-1]", 2),
    "stored_tensor": ("tensors[0] = tensors[0] * 0.9 + x\nreturn tensors[0] + 1", 1),
    "stored_behind_a_break": ("tensors[0] = x * 2\ntouch(x)\nreturn tensors[0] + 1", None),
}
for name, (body, captures) in READS.items():
    register = open_case if captures is None else case(captures=captures, graphs=captures)
    register(build_of(f"list_grows_{name}", body, GROWS))

# At an index that is another one at each call.
BY_NUMBERS = {
    "stored": "numbers[n % 4] = n\nreturn x * 3",
    "stored_and_read": "numbers[n % 4] = n\nreturn x * numbers[n % 4]",
    "tensor_stored": "tensors[n % 4] = x * 2\nreturn tensors[n % 4] + 1",
    "tensor_read": "return x + tensors[n % 4]",
    "from_the_end": "numbers[-1 - n % 3] = n\nreturn x * numbers[-1 - n % 3]",
    "two": "numbers[n % 4] = n\nnumbers[(n + 1) % 4] = 7\nreturn x * numbers[n % 4], numbers[0], numbers[-1]",
    "and_a_known_one": "numbers[n % 4] = 8\nnumbers[2] = 9\nreturn x * numbers[n % 4], numbers[2], numbers[1]",
    "and_all": "numbers[n % 4] = 8\nreturn x * 2, list(numbers), sum(numbers)",
    "out_of_range": "try:\n    numbers[n + 3] = 8\nexcept IndexError as error:\n    return x * 2, str(error)\nreturn x * 3",
    "appended_then_stored": "numbers.append(n)\nnumbers[n] = 8\nreturn x * numbers[-1], numbers[n]",
    "stored_then_appended": "numbers[n % 4] = 8\nnumbers.append(9)\nreturn x * numbers[-1], numbers[n % 4], numbers[-2], len(numbers)",
    "behind_a_break": "numbers[n % 4] = 8\ntouch(x)\nreturn x * numbers[n % 4], numbers[0]",
}
BEST = {"stored": 2, "stored_and_read": 2, "tensor_stored": 2, "tensor_read": 2}
for name, body in BY_NUMBERS.items():
    captures = BEST.get(name)
    register = open_case if captures is None else case(captures=captures, graphs=captures)
    register(build_of(f"index_varies_{name}", body, "pass"))

# What stands in the place, from the third call on.
OTHERS = {
    "a_text": "numbers[-1] = numbers[0] = 'text'",
    "a_list": "numbers[-1] = numbers[0] = [1]",
    "a_tensor": "numbers[-1] = numbers[0] = toy.tensor([3.0, 4.0])",
    "none": "numbers[-1] = numbers[0] = None",
    "whose_end_is_told": "numbers[-1] = Loud(n); numbers[0] = Loud(-n)",
    "held_by_a_list": "numbers[-1] = [Loud(n)]; numbers[0] = [Loud(-n)]",
    "a_shorter_list": "del numbers[1:]",
    "an_empty_list": "numbers.clear()",
    "a_longer_list": "numbers.extend([7, 8])",
    "another_at_the_start": "numbers.insert(0, 7)",
    "another_list": "numbers = [5, 6]",
    "a_class_of_its_own": "numbers = Own([5, 6])",
    "a_tuple": "numbers = (5, 6)",
    "a_deque": "numbers = collections.deque([5, 6])",
    "a_dict": "numbers = {0: 5, -1: 6, 1: 7}",
}
ASKED = {
    "read": "try:\n    y = numbers[0], numbers[-1]\nexcept IndexError as error:\n    y = str(error)\ntold.append('then')\nreturn x * 2, y",
    "stored": "try:\n    numbers[0] = n\n    numbers[-1] = n\nexcept (IndexError, TypeError) as error:\n    told.append(str(error))\ntold.append('then')\nreturn x * 2",
    "sliced": "try:\n    y = list(numbers[-2:]), list(numbers[:2])\nexcept TypeError as error:\n    y = str(error)\ntold.append('then')\nreturn x * 2, y",
    "read_by_number": "try:\n    y = numbers[n % 2]\nexcept IndexError as error:\n    y = str(error)\ntold.append('then')\nreturn x * 2, y",
    "stored_by_number": "try:\n    numbers[n % 2] = n\nexcept (IndexError, TypeError) as error:\n    told.append(str(error))\ntold.append('then')\nreturn x * 2",
    "stored_and_seen": "try:\n    numbers[0] = n\n    numbers[-1] = 5\nexcept (IndexError, TypeError) as error:\n    told.append(str(error))\nreturn x * 2, list(numbers), len(numbers)",
}
for (other, between), (how, body) in itertools.product(OTHERS.items(), ASKED.items()):
    open_case(build_of(f"place_in_list_of_{other}_is_{how}", body, f"if n > 1:\n    {between}"))

# The whole is looked at when some of it was stored.
LOOKS = {
    "length": "len(numbers)",
    "items": "list(numbers)",
    "sum": "sum(v for v in numbers)",
    "copy": "numbers[:]",
    "reversed": "list(reversed(numbers))",
    "compared": "numbers == [1, 2, 3, 4]",
    "text": "repr(numbers)",
    "last": "numbers.pop()",
    "found": "(2 in numbers, numbers.count(5))",
    "sorted": "sorted(numbers)",
    "joined": "numbers + [1]",
    "unpacked": "[*numbers]",
    "slice": "(numbers[-2:], numbers[1:2])",
}
STORES = {
    "one": "numbers[0] = n",
    "two": "numbers[0] = n\nnumbers[-1] = 5",
    "twice": "numbers[1] = n\nnumbers[1] = n + 1",
    "one_place": "numbers[3] = n\nnumbers[-1] = n + 1",
    "numbers": "numbers[n % 4] = n\nnumbers[1] = 5",
    "behind_a_break": "numbers[0] = n\ntouch(x)\nnumbers[1] = n",
    "and_appended": "numbers[0] = n\nnumbers.append(5)",
    "after_appended": "numbers.append(5)\nnumbers[0] = n\nnumbers[-1] = 6",
    "and_deleted": "numbers[0] = n\ndel numbers[1]",
    "in_a_callee": "def put(d, v): d[0] = v\nput(numbers, n)\nput(numbers, n + 1)",
    "beside_an_iterator": "it = iter(numbers)\nnext(it)\nnumbers[1] = n\ntold.append(next(it))",
}
for (look, text), (stores, body) in itertools.product(LOOKS.items(), STORES.items()):
    name = f"list_looked_at_for_{look}_when_{stores}_stored"
    open_case(build_of(name, f"{body}\nreturn x * 2, {text}", "numbers[:] = [1, 2, 3, 4 + n % 2]"))
