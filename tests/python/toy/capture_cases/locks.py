"""Locks around tensors, in a process that has no other threads."""

import threading

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


@case()
def a_block_with_a_lock():
    lock, state = threading.Lock(), {"steps": 1}

    def f(x):
        with lock as taken:
            state["steps"] = 1
            y = x * 2.0
        return y + 1.0, taken, lock.locked()

    return {"f": f, "args": x1, "watch": lambda: [state, lock.locked()]}


@case()
def a_block_with_a_lock_twice():
    lock = threading.RLock()

    def f(x):
        with lock as outer:
            with lock as inner:
                y = x * 2.0
        return y + 1.0, outer, inner

    return {"f": f, "args": x1, "watch": lambda: [lock._is_owned()]}


@case()
def taken_and_released():
    lock = threading.Lock()

    def f(x):
        taken = lock.acquire()
        try:
            y, held, again = x * 2.0, lock.locked(), lock.acquire(blocking=False)
        finally:
            lock.release()
        return y + 1.0, taken, held, again, lock.locked(), lock.acquire(False), lock.release()

    return {"f": f, "args": x1, "watch": lambda: [lock.locked()]}


@case()
def locks_of_ones_own():
    def f(x):
        lock, again = threading.Lock(), threading.RLock()
        with lock, again, again:
            y, held = x * 2.0, (lock.locked(), lock.acquire(False))
        return y + 1.0, held, lock.locked()

    return {"f": f, "args": x1}


@open_case
def locks_that_are_handed_out():
    kept = []

    def f(x):
        lock, again = threading.Lock(), threading.RLock()
        lock.acquire()
        again.acquire()
        kept.extend((lock, again, lock))
        return x * 2.0, [lock.locked(), again._is_owned()]

    return {"f": f, "args": x1, "watch": lambda: [(k is kept[-1], k.__class__.__name__) for k in kept] + [
        k.locked() if hasattr(k, "locked") else k._is_owned() for k in kept
    ]}


@open_case
def a_break_within():
    lock, seen = threading.Lock(), []

    def f(x):
        with lock:
            y = x * 2.0
            print("held", lock.locked())
            y = y + 1.0
            seen.append(lock.locked())
        print("held", lock.locked())
        return y * 3.0

    return {"f": f, "args": x1, "watch": lambda: [seen, lock.locked()]}


@open_case
def an_exception_within():
    lock, again = threading.Lock(), threading.RLock()

    def f(x):
        try:
            with lock, again:
                y = x * 2.0
                raise ValueError("within")
        except ValueError as error:
            return y + 1.0, str(error), lock.locked()

    def g(x):
        with lock:
            return x * {}["none"]

    def both(x):
        try:
            return g(x)
        except KeyError:
            return f(x), lock.locked()

    return {"f": both, "args": x1, "watch": lambda: [lock.locked(), again._is_owned()]}


@open_case
def an_exception_that_leaves():
    lock = threading.Lock()

    def f(x):
        with lock:
            y = x * 2.0
            raise ValueError(y.shape)

    return {"f": f, "args": x1, "watch": lambda: [lock.locked()]}


@open_case
def released_by_nobody():
    lock, again = threading.Lock(), threading.RLock()

    def f(x):
        said = []
        for release in (lock.release, again.release):
            try:
                release()
            except RuntimeError as error:
                said.append(str(error))
        return x + 1.0, said

    return {"f": f, "args": x1}


@open_case
def held_by_the_caller():
    lock, again, calls = threading.Lock(), threading.RLock(), [0]

    def f(x):
        taken = lock.acquire(blocking=False), again.acquire(blocking=False)
        if taken[0]:
            lock.release()
        again.release()
        return x * 2.0, taken

    def args():
        calls[0] += 1
        if calls[0] % 2:
            lock.acquire()
            again.acquire()
        elif lock.locked():
            lock.release()
            again.release()
        return x1()

    return {"f": f, "args": args, "watch": lambda: [lock.locked(), again._is_owned()]}


@open_case
def held_by_a_thread_that_has_ended():
    again, calls = threading.RLock(), [0]

    def f(x):
        taken = again.acquire(blocking=False)
        if taken:
            again.release()
        return x * 2.0, taken

    def args():
        calls[0] += 1
        if calls[0] == 2:
            thread = threading.Thread(target=again.acquire)
            thread.start()
            thread.join()
        return x1()

    return {"f": f, "args": args}


@open_case
def another_thread_beside():
    lock, calls, ends = threading.Lock(), [0], []
    end = threading.Event()

    def f(x):
        with lock:
            y = x * 2.0
        return y + 1.0

    def args():
        calls[0] += 1
        if calls[0] == 2:
            ends.append(threading.Thread(target=end.wait))
            ends[0].start()
        return x1()

    def watch():
        if calls[0] == 3:
            end.set()
            ends[0].join()
        return [lock.locked()]

    return {"f": f, "args": args, "watch": watch}


@open_case
def locks_that_are_given():
    def f(x, lock):
        with lock:
            y = x * 2.0
        return y + 1.0, lock

    class Holder:
        def __init__(self):
            self.lock = threading.Lock()

        def scaled(self, x):
            with self.lock:
                return x * 3.0

    def both(x, lock, holder):
        return f(x, lock)[0] + holder.scaled(x), lock.locked(), holder.lock.locked()

    return {"f": both, "args": lambda: (*x1(), threading.Lock(), Holder())}


@open_case
def locks_with_methods_of_their_own():
    class Loud:
        def __init__(self):
            self.lock = threading.Lock()

        def __enter__(self):
            print("enter")
            return self.lock.__enter__()

        def __exit__(self, *error):
            print("exit", error[0])
            return self.lock.__exit__(*error)

    loud = Loud()

    def f(x):
        with loud as taken:
            y = x * 2.0
        return y + 1.0, taken

    return {"f": f, "args": x1, "watch": lambda: [loud.lock.locked()]}


@case()
def conditions_and_events():
    condition = threading.Condition()

    def f(x):
        with condition:
            y = x * 2.0
        return y + 1.0

    return {"f": f, "args": x1}


@case()
def a_generator_that_holds_a_lock():
    lock = threading.Lock()

    def steps(x):
        with lock:
            yield x
            yield lock.locked()

    def f(x):
        rest = steps(x)
        first, held = next(rest), lock.locked()
        return first * 2.0, held, list(rest), lock.locked()

    return {"f": f, "args": x1, "watch": lambda: [lock.locked()]}


@open_case
def a_generator_that_holds_a_lock_and_is_left():
    lock = threading.RLock()

    def steps(x):
        with lock:
            yield x

    def f(x):
        rest = steps(x)
        first, held = next(rest), lock._is_owned()
        del rest
        return first * 2.0, held, lock._is_owned()

    return {"f": f, "args": x1, "watch": lambda: [lock._is_owned()]}


@open_case
def locks_as_keys():
    def f(x):
        lock = threading.Lock()
        found, both = {lock: 1}, [lock, lock]
        with both[0]:
            held = both[1].locked()
        return x * 2.0, found[lock], held, lock in found, lock == both[0], bool(lock), hash(lock) == hash(both[1])

    return {"f": f, "args": x1}
