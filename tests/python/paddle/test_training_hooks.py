"""Hooks of a backward pass, and functions of the program that an optimizer calls, may do anything: what a function has read and done is before
them what it is in plain Python, and behind them as well."""

import collections
import functools
import operator
import queue
import sys

import paddle
import paddle.nn.functional as F
import pytest
from training import by_an_entry, by_the_hook, registry, with_optimizer

PROGRAMS, program = registry()


def seen_by_a_hook(late):
    """What the function has done before a backward pass, a hook sees: one that was there, or one that comes with the fourth call."""

    def make():
        net, optimizer = with_optimizer()
        state = {"steps": 0}
        seen = []

        def hook(gradient):
            seen.append((net.count, len(net.log), dict(state), net.flag))
            net.count += 10

        if not late:
            net.first.weight.register_hook(hook)

        def f(x, y):
            net.count += 1
            state["steps"] += 1
            loss = F.cross_entropy(net(x), y)
            net.log.append(float(len(net.log)))
            net.flag = not net.flag
            loss.backward()
            net.count += 1
            optimizer.step()
            optimizer.clear_grad()
            state["steps"] += 1
            return loss, net.count, dict(state), list(seen)

        def happens(call):
            if call == 3 and late:
                net.first.weight.register_hook(hook)

        return f, [net], happens

    return make


PROGRAMS["a_hook_sees_what_was_done"] = seen_by_a_hook(False), None, None
PROGRAMS["a_late_hook_sees_what_was_done"] = seen_by_a_hook(True), None, None


@program()
def a_hook_that_raises_behind_what_was_done():
    net, optimizer = with_optimizer()

    def hook(gradient):
        if net.count % 3 == 2:
            raise ValueError(f"at {net.count}")

    net.second.bias.register_hook(hook)

    def f(x, y):
        net.count += 1
        net.log.append(net.count)
        try:
            F.cross_entropy(net(x), y).backward()
            net.count += 5
            optimizer.step()
        except ValueError as error:
            net.log.append(str(error).partition("\n")[0])
        except Exception as error:
            net.log.append(type(error).__name__)
        finally:
            optimizer.clear_grad()
        return net.count

    return f, [net]


def hooked(hook, read_before, read_after):
    """A hook that changes what the function reads before and behind the backward pass."""

    def make():
        net, optimizer = with_optimizer()
        net.first.weight.register_hook(lambda gradient: hook(net))

        def f(x, y):
            before = read_before(net)
            loss = F.cross_entropy(net(x), y) * (2.0 if before else 1.0)
            loss.backward()
            after = read_after(net)
            if after:
                loss = loss + 1
            optimizer.step()
            optimizer.clear_grad()
            return loss, before, after, f"{before} {after}"

        return f, [net]

    return make


def flips(net):
    net.flag = not net.flag


def counts(net):
    net.count += 1


def logs(net):
    net.log.append(len(net.log))


def replaces(net):
    net.log = [*net.log, 1]


READS = {
    "nothing": lambda net: None,
    "flag": lambda net: net.flag,
    "count": lambda net: net.count,
    "length": lambda net: len(net.log),
    "list": lambda net: list(net.log),
}
# Hooks, and by what their work is seen.
HOOKS = {flips: ["flag"], counts: ["count"], logs: ["length", "list"], replaces: ["length", "list"]}
for hook, reads in HOOKS.items():
    for before in ["nothing", *reads]:
        for after in ["nothing", *reads]:
            made = hooked(hook, READS[before], READS[after])
            PROGRAMS[f"hook_that_{hook.__name__}_with_{before}_before_and_{after}_after"] = made, None, None


@program()
def a_hook_that_raises():
    net, optimizer = with_optimizer()

    def hook(gradient):
        net.count += 1
        if net.count % 2:
            raise ValueError(f"no {net.count}")

    net.first.weight.register_hook(hook)

    def f(x, y):
        try:
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
        except Exception as error:
            return type(error).__name__, net.count
        finally:
            optimizer.clear_grad()
        return loss

    return f, [net]


@program()
def a_hook_that_raises_out_of_the_function():
    net, optimizer = with_optimizer()

    def hook(gradient):
        net.count += 1
        if net.count == 2:
            raise KeyError("no")

    net.second.weight.register_hook(hook)

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return f, [net]


@program()
def a_hook_that_comes_later():
    net, optimizer = with_optimizer()

    def hook(gradient):
        net.flag = True

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        if net.flag:
            optimizer.clear_grad()
            return loss * 5
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return f, [net], lambda call: net.second.weight.register_hook(hook) if call == 3 else None


@program()
def a_hook_that_changes_the_optimizer():
    net, optimizer = with_optimizer()
    box = {"optimizer": optimizer}

    def hook(gradient):
        box["optimizer"] = paddle.optimizer.SGD(0.01, parameters=net.parameters())

    net.first.weight.register_hook(hook)

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        box["optimizer"].step()
        box["optimizer"].clear_grad()
        return loss

    return f, [net]


@program()
def a_hook_of_the_frame():
    net, optimizer = with_optimizer()

    def f(x, y):
        seen = []
        out = net(x)
        out.register_hook(lambda gradient: seen.append(gradient.sum()))
        loss = F.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss, seen

    return f, [net]


@program()
def a_clip_of_the_program():
    net, _ = with_optimizer()

    class Clip(paddle.nn.ClipGradByGlobalNorm):
        def _dygraph_clip(self, given):
            net.flag = not net.flag
            return super()._dygraph_clip(given)

    optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters(), grad_clip=Clip(0.5))

    def f(x, y):
        before = net.flag
        loss = F.cross_entropy(net(x), y) * (3.0 if before else 1.0)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss, before, net.flag

    return f, [net]


@program()
def a_clip_that_comes_later():
    net, optimizer = with_optimizer()

    class Clip(paddle.nn.ClipGradByGlobalNorm):
        def _dygraph_clip(self, given):
            net.count += 1
            return super()._dygraph_clip(given)

    def f(x, y):
        before = net.count
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss, before, net.count

    def happens(call):
        if call == 3:
            optimizer._grad_clip = Clip(0.5)

    return f, [net], happens


def called_by_c(make_hook):
    """Hooks in which no frame of the program runs."""

    def make():
        net, optimizer = with_optimizer()
        seen = []
        net.first.weight.register_hook(make_hook(net, seen))

        def f(x, y):
            before = len(seen), len(net.log), net.flag
            seen.append("mine")
            net.flag = None
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
            optimizer.clear_grad()
            return before, [type(item).__name__ for item in seen], len(net.log), net.flag

        return f, [net]

    return make


def sent_to(net, seen):
    def listens():
        while True:
            seen.append((yield))

    generator = listens()
    next(generator)

    def gives_nothing(gradient):
        generator.send(gradient)

    # The hook itself is of C, and what it is given goes to the generator alone.
    return functools.partial(operator.call, gives_nothing) if hasattr(operator, "call") else gives_nothing


OF_C = {
    "append": lambda net, seen: seen.append,
    "append_to_log": lambda net, seen: net.log.append,
    "set_attribute": lambda net, seen: functools.partial(lambda_free_setattr(net), "flag"),
    "library": lambda net, seen: collections.UserList(seen).append,
    "queue": lambda net, seen: queue.SimpleQueue().put,
    "generator": sent_to,
}


def lambda_free_setattr(net):
    # `object.__setattr__` of the layer, which gives None.
    return functools.partial(object.__setattr__, net)


for name, make_hook in OF_C.items():
    PROGRAMS[f"hook_of_c_{name}"] = called_by_c(make_hook), None, None


@program()
def a_pass_while_an_exception_is_handled():
    net, optimizer = with_optimizer()
    net.first.weight.register_hook(lambda gradient: net.log.append(sys.exc_info()[0].__name__))

    def f(x, y):
        try:
            [][0]
        except IndexError:
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
        optimizer.clear_grad()
        return loss

    return f, [net]


@program()
def a_pass_that_returns_within_its_handlers():
    net, optimizer = with_optimizer()

    def hook(gradient):
        net.count += 1
        if net.count % 2:
            raise KeyError(net.count)

    net.first.weight.register_hook(hook)

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        try:
            return loss.backward()
        except Exception as error:
            return type(error).__name__
        finally:
            net.log.append(net.count)

    return f, [net]


@program()
def a_mode_that_a_hook_sets():
    net, optimizer = with_optimizer()
    net.first.weight.register_hook(lambda gradient: paddle.set_grad_enabled(False) and None)

    def f(x, y):
        with paddle.no_grad():
            scale = net(x).mean()
        loss = F.cross_entropy(net(x), y) * scale
        loss.backward()
        off = paddle.is_grad_enabled()
        paddle.set_grad_enabled(True)
        optimizer.clear_grad()
        return loss, off

    return f, [net]


@pytest.mark.parametrize("name", PROGRAMS)
def test_hooks_by_an_entry(name):
    by_an_entry(*PROGRAMS[name])


@pytest.mark.parametrize("name", PROGRAMS)
def test_hooks_by_the_hook(name):
    by_the_hook(PROGRAMS[name][0])
