"""What stands on the stack under a `finally` block: nothing, the result that waits for it, or an exception. Blocks within it are
left for their handlers with the stack as it was, and breaks in it go on there."""

import threading

from capture_cases.protected import Manager, log_case

PRINTS = ("builtin-with-output",)


def more(x):
    return x + 1


def fails(x):
    raise ValueError(x)


@log_case()
def handler_in_a_block_that_is_fallen_into():
    def f(x, log):
        try:
            log.append("body")
        finally:
            try:
                log.append((more(1), [more(2), fails(3)]))
            except ValueError as error:
                log.append(str(error))
            log.append("end")
        return x * 2

    return f


@log_case()
def handler_in_a_block_that_a_result_waits_for():
    def f(x, log):
        try:
            return x * 2
        finally:
            try:
                log.append((more(1), [more(2), fails(3)]))
            except ValueError as error:
                log.append(str(error))
            log.append("end")

    return f


@log_case(captures=4, breaks=3, reasons=PRINTS)
def breaks_in_a_block_that_a_result_waits_for():
    def f(x, log):
        try:
            return more(x), log
        finally:
            print("before")
            try:
                log.append((more(1), [more(2), fails(3)]))
            except ValueError as error:
                print("handler")
                log.append(str(error))
            print("after")
            log.append("end")

    return f


@log_case(captures=4, breaks=3, reasons=PRINTS)
def breaks_in_blocks_that_loops_are_left_by():
    def f(x, log):
        for i in range(3):
            try:
                if i == 1:
                    continue
                if i == 2:
                    break
                log.append(i)
            finally:
                print("block", i)
                log.append((i, more(i)))
        return x * 2

    return f


@log_case(captures=5, breaks=4, reasons=PRINTS)
def blocks_in_blocks():
    def f(x, log):
        try:
            try:
                return more(x), log
            finally:
                print("inner")
                try:
                    for j in range(3):
                        try:
                            if j:
                                break
                        finally:
                            print("loop", j)
                            log.append((more(j), fails(j)))
                except ValueError as error:
                    print("caught")
                    log.append(str(error))
        finally:
            print("outer")
            log.append("outer")

    return f


@log_case(graphs=2, captures=3, breaks=2, reasons=PRINTS)
def blocks_that_forget_a_result():
    def f(x, log):
        try:
            return x * 3
        finally:
            print("first")
            for i in (1, 2):
                log.append(i)
            try:
                return x * 2
            finally:
                print("second")
                log.append("last")

    return f


@log_case(captures=3, breaks=2, reasons=PRINTS)
def result_from_within_a_handler():
    def f(x, log):
        try:
            raise KeyError(1)
        except KeyError as error:
            try:
                print("body")
                return x * 2, str(error)
            finally:
                print("block")
                log.append("block")

    return f


@log_case(captures=3, breaks=2, reasons=PRINTS)
def breaks_behind_an_exit_that_a_result_waits_for():
    def f(x, log):
        for i in range(2):
            with Manager(log):
                if i:
                    print("within")
                    return x * 2, more(i)
                print("once")

    return f


@log_case(captures=None, breaks=None, graphs=None, reasons=None)
def an_exit_of_c():
    lock = threading.Lock()

    def f(x, log):
        with lock:
            log.append(lock.locked())
        try:
            with lock:
                log.append((more(1), fails(2)))
        except ValueError as error:
            log.append((str(error), lock.locked()))
        with lock:
            return x * 2

    return f
