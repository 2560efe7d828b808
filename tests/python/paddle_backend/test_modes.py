"""Entering and leaving: errors, abandonment, threads, the user's lines; and the guards on state."""

import operator
import threading
import traceback

import numpy as np
import paddle
import pytest

x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])


def test_an_error_in_the_framework_is_a_refusal_and_the_graph_goes_on(backend):
    b = backend.begin()
    v = b.input(x)
    with pytest.raises(RuntimeError, match="api-rejected"):
        b.call("api", "matmul", paddle.matmul, (v, 3))
    with pytest.raises(RuntimeError, match="in-place-tensor"):
        b.call("method", "unsqueeze_", None, (v, 0))
    r = b.call("method", "__add__", operator.add, (v, 1))
    np.testing.assert_array_equal(b.finish([0], [r]).run([x])[0].numpy(), (x + 1).numpy())


def test_abandoned(backend):
    b = backend.begin()
    b.call("api", "exp", paddle.exp, (b.input(x),))
    b.abandon()
    assert isinstance(x + 1, paddle.Tensor)


def test_refused_call_leaves_nothing(backend):
    b = backend.begin()
    v = b.input(x)
    with pytest.raises(RuntimeError):
        b.call("api", "equal_all", paddle.equal_all, (v, v))
    assert b.finish([0], [b.call("api", "exp", paddle.exp, (v,))]).op_count == 1


def test_other_threads_stay_eager(backend):
    b = backend.begin()
    v = b.input(x)
    seen = []

    def other():
        seen.append(paddle.in_dynamic_mode())
        seen.append(isinstance(paddle.exp(x) + 1, paddle.Tensor))
        seen.append(any("test_modes" in f.filename for f in traceback.extract_stack()))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert seen == [True, True, True]
    assert not paddle.in_dynamic_mode()
    b.call("api", "exp", paddle.exp, (v,))
    b.abandon()


def test_threads_run_one_graph(build):
    built = build(lambda b, v: b.api(paddle.exp, b.operator(operator.mul, v, 2.0)), x)
    wrong = []

    def work(k):
        for i in range(200):
            t = paddle.full([2, 2], 0.001 * (k * 200 + i))
            if not np.allclose(built(t).numpy(), np.exp(t.numpy() * 2), rtol=1e-5):
                wrong.append((k, i))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong


def test_operation_errors_name_the_users_line(backend):
    b = backend.begin()
    b.at("model.py", 42, "forward")
    v = b.input(x)
    r = b.call("api", "floor_divide", paddle.floor_divide, (b.call("method", "astype", None, (v, "int32")), 0))
    graph = b.finish([0], [r])
    with pytest.raises(Exception, match="model.py") as raised:
        graph.run([x])
    assert "42" in str(raised.value)
    assert "division by zero" in str(raised.value)


def test_outputs_that_are_inputs(build):
    built = build(lambda b, v: [v, b.api(paddle.exp, v), v], x)
    out = built(x)
    assert out[0] is x and out[2] is x


def test_one_value_twice_is_one_object(build):
    def fn(b, v):
        y = b.api(paddle.exp, v)
        return [y, y]

    out = build(fn, x)(x)
    assert out[0] is out[1]


@pytest.mark.parametrize(
    "fn",
    [
        lambda b, v: b.method("reshape", v, [4]),
        lambda b, v: b.method("detach", v),
        lambda b, v: [b.api(paddle.exp, v)] * 1 + [b.method("reshape", b.api(paddle.exp, v), [4])] * 0 + [b.api(paddle.t, v)],
    ],
)
def test_views_of_inputs_are_replayed(backend, fn):
    from conftest import Built

    assert "view" in Built(backend, fn, x).graph.replay_only


def test_view_beside_its_base_is_replayed(backend):
    from conftest import Built

    def fn(b, v):
        y = b.api(paddle.exp, v)
        return [y, b.method("reshape", y, [4])]

    assert "share memory" in Built(backend, fn, x).graph.replay_only


def test_view_of_an_intermediate_is_compiled(build):
    np.testing.assert_array_equal(
        build(lambda b, v: b.method("reshape", b.api(paddle.exp, v), [4]), x)(x).numpy(), paddle.exp(x).reshape([4]).numpy()
    )


def test_tensor_check(backend):
    check = backend.tensor_check(x)
    y = paddle.ones([2, 2])
    assert check.matches(y)
    y.stop_gradient = False
    others = [y, paddle.ones([2, 2, 1]), paddle.ones([2, 3]), paddle.ones([2, 2], "float64"), 3, None, paddle.Tensor()]
    others.append(paddle.create_parameter([2, 2], "float32"))
    assert not any(check.matches(o) for o in others)
    for t in (paddle.zeros([0, 3]), paddle.to_tensor(1.0), paddle.ones([2, 3, 4], "bfloat16"), y):
        assert backend.tensor_check(t).matches(t)
        assert not backend.tensor_check(t).matches(x)


def test_ambient(backend):
    guard = backend.ambient()
    assert guard.matches() and len(guard.describe()) >= 5
    with paddle.no_grad():
        assert not guard.matches()
    paddle.set_default_dtype("float64")
    assert not guard.matches()
    paddle.set_default_dtype("float32")
    assert guard.matches()
    paddle.set_flags({"FLAGS_use_stride_kernel": False})
    assert not guard.matches()
    paddle.set_flags({"FLAGS_use_stride_kernel": True})
    paddle.enable_static()
    assert not guard.matches()
    paddle.disable_static()
    # Eager mode has another tracer from here on, to which captured code would set modes.
    assert backend.ambient().matches() and not guard.matches()


def test_fold_answers_as_eager(backend):
    b = backend.begin()
    v = b.input(x)
    try:
        folded = {
            "mode": backend.fold(paddle.in_dynamic_mode, ()),
            "grad": backend.fold(paddle.is_grad_enabled, ()),
            "tensor": backend.fold(paddle.is_tensor, (v,)),
            "no": backend.fold(paddle.is_tensor, (3,)),
            "float": backend.fold(paddle.is_floating_point, (v,)),
            "dtype": backend.fold(paddle.get_default_dtype, ()),
            "device": backend.fold(paddle.get_device, ()),
        }
    finally:
        b.abandon()
    assert folded == {"mode": True, "grad": True, "tensor": True, "no": False, "float": True, "dtype": "float32", "device": "cpu"}


def test_attributes(backend):
    b = backend.begin()
    v = b.input(x)
    y = b.call("api", "exp", paddle.exp, (v,))
    kinds = {n: b.getattr(y, n)[0] for n in ("shape", "ndim", "dtype", "size", "stop_gradient", "T", "reshape", "numpy", "name", "grad", "add_", "unsqueeze_", "foo")}
    shape = b.getattr(y, "shape")[1]
    size = b.getattr(y, "size")[1]
    b.abandon()
    # Newer releases give an instance of a class of theirs.
    counted = "constant" if type(x.size) is int else "fresh"
    assert kinds == {
        "shape": "fresh", "ndim": "constant", "dtype": "constant", "size": counted, "stop_gradient": "constant",
        "T": "value", "reshape": "method", "numpy": "break", "name": "break", "grad": "break", "add_": "method", "unsqueeze_": "break", "foo": "break",
    }  # fmt: skip
    assert shape == x.shape and type(shape) is type(x.shape)
    assert size == x.size and type(size) is type(x.size)


def test_classify(backend):
    def kind(o):
        return backend.classify(o).split("(")[0]

    class Sub(paddle.nn.Layer):
        pass

    import functools

    @functools.wraps(paddle.add)
    def mine(*a):
        return paddle.add(*a)

    assert {n: kind(o) for n, o in {
        "tensor": x, "layer": Sub(), "api": paddle.add, "op": paddle._C_ops.add, "fold": paddle.is_tensor,
        "dtype": paddle.float32, "seed": paddle.seed, "no_grad": paddle.no_grad, "switch": paddle.base.dygraph.base._set_grad_enabled, "wrapped": mine, "print": print,
        "in place": paddle.unsqueeze_, "model": paddle.vision.models.ResNet.forward,
    }.items()} == {
        "tensor": "Tensor", "layer": "Layer", "api": "Api", "op": "Api", "fold": "Foldable", "dtype": "Constant",
        "seed": "Break", "no_grad": "Unknown", "switch": "Switch", "wrapped": "Unknown", "print": "Unknown", "in place": "Break", "model": "Unknown",
    }  # fmt: skip


def test_layer_call(backend):
    nn = paddle.nn
    linear = nn.Linear(2, 2)
    assert backend.layer_call(linear) == "leaf"
    assert backend.layer_call(nn.Sequential(linear, nn.ReLU())) == "leaf"

    class Mine(nn.Layer):
        pass

    assert backend.layer_call(Mine()) == "forward"
    assert backend.layer_call(nn.Sequential(linear, Mine())) == "forward"
    handle = linear.register_forward_post_hook(lambda *a: None)
    assert backend.layer_call(linear) == "simulate"
    handle.remove()
    assert backend.layer_call(linear) == "leaf"
    linear.forward = lambda v: v
    assert backend.layer_call(linear) == "forward"
    state = backend.leaf_state(nn.Sequential(nn.Linear(2, 2)))
    assert any("weight" in d for d in state) and any("training" in d for d in state)


def test_many_small_programs_do_not_get_mixed_up(build):
    # Paddle finds executors by a hash of a number and an address.
    for k in range(300):
        assert float(build(lambda b, v, k=k: b.operator(operator.mul, v, float(k)), x)(x).sum()) == 10.0 * k
