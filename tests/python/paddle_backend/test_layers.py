"""Leaf layers of `paddle.nn`, train and eval, without gradients: results, buffers, random stream, and no trace in the layer."""

import numpy as np
import paddle
import pytest
from paddle import nn


def f(*shape):
    return lambda: [paddle.rand(shape) * 0.8 + 0.1]


def two(*shape):
    return lambda: [paddle.rand(shape) * 0.8 + 0.1, paddle.rand(shape) * 0.8 + 0.1]


def classes(*shape):
    return lambda: [paddle.rand(shape), paddle.randint(0, shape[-1], shape[:1])]


LAYERS = {
    "Linear": (lambda: nn.Linear(4, 5), f(2, 4)),
    "Embedding": (lambda: nn.Embedding(10, 4), lambda: [paddle.randint(0, 10, [2, 3])]),
    "Bilinear": (lambda: nn.Bilinear(4, 4, 5), two(2, 4)),
    "GroupNorm": (lambda: nn.GroupNorm(3, 6), f(2, 6, 4, 4)),
    "LayerNorm": (lambda: nn.LayerNorm(4), f(2, 3, 4)),
    "LocalResponseNorm": (lambda: nn.LocalResponseNorm(3), f(2, 3, 8, 8)),
    "PReLU": (lambda: nn.PReLU(), f(2, 3, 4)),
    "RReLU": (lambda: nn.RReLU(), f(2, 3, 4)),
    "Dropout": (lambda: nn.Dropout(0.5), f(2, 3, 4)),
    "Dropout downscale": (lambda: nn.Dropout(0.5, mode="downscale_in_infer"), f(2, 3, 4)),
    "Dropout2D": (lambda: nn.Dropout2D(0.5), f(2, 3, 4, 4)),
    "AlphaDropout": (lambda: nn.AlphaDropout(0.5), f(2, 3, 4)),
    "MaxPool2D": (lambda: nn.MaxPool2D(2), f(2, 3, 8, 8)),
    "AvgPool2D": (lambda: nn.AvgPool2D(2), f(2, 3, 8, 8)),
    "AdaptiveAvgPool2D": (lambda: nn.AdaptiveAvgPool2D(3), f(2, 3, 8, 8)),
    "FractionalMaxPool2D": (lambda: nn.FractionalMaxPool2D(2), f(2, 3, 8, 8)),
    "Upsample": (lambda: nn.Upsample(scale_factor=2), f(2, 3, 4, 4)),
    "PixelShuffle": (lambda: nn.PixelShuffle(2), f(2, 4, 4, 4)),
    "CosineSimilarity": (lambda: nn.CosineSimilarity(), two(2, 4)),
    "CrossEntropyLoss": (lambda: nn.CrossEntropyLoss(), classes(3, 4)),
    "NLLLoss": (lambda: nn.NLLLoss(), classes(3, 4)),
    "MSELoss": (lambda: nn.MSELoss(), two(3, 4)),
    "BCEWithLogitsLoss": (lambda: nn.BCEWithLogitsLoss(), two(3, 4)),
    "KLDivLoss": (lambda: nn.KLDivLoss(), two(3, 4)),
    "Sequential": (lambda: nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1D(4), nn.ReLU(), nn.Dropout(0.3)), f(5, 4)),
    "LSTMCell": (lambda: nn.LSTMCell(4, 5), f(2, 4)),
    "GRUCell": (lambda: nn.GRUCell(4, 5), f(2, 4)),
    "decoder": (lambda: nn.TransformerDecoderLayer(8, 2, 16), two(2, 3, 8)),
    "Transformer": (lambda: nn.Transformer(8, 2, 1, 1, 16), two(2, 3, 8)),
    "encoder, norm first": (lambda: nn.TransformerEncoderLayer(8, 2, 16, normalize_before=True, activation="gelu"), f(2, 3, 8)),
}
for d, shape in ((1, (2, 3, 8)), (2, (2, 3, 8, 8)), (3, (2, 3, 4, 4, 4))):
    LAYERS[f"Conv{d}D"] = (lambda d=d: getattr(nn, f"Conv{d}D")(3, 4, 3), f(*shape))
    LAYERS[f"Conv{d}DTranspose"] = (lambda d=d: getattr(nn, f"Conv{d}DTranspose")(3, 4, 3), f(*shape))
    LAYERS[f"BatchNorm{d}D"] = (lambda d=d: getattr(nn, f"BatchNorm{d}D")(3), f(*shape))
    LAYERS[f"InstanceNorm{d}D"] = (lambda d=d: getattr(nn, f"InstanceNorm{d}D")(3), f(*shape))
    LAYERS[f"ZeroPad{d}D"] = (lambda d=d: getattr(nn, f"ZeroPad{d}D")([1] * (2 * d)), f(*shape))
for name in "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax Mish ReLU6 SELU Silu Softmax Softplus Softshrink Softsign Swish Tanhshrink ThresholdedReLU".split():
    LAYERS[name] = (lambda name=name: getattr(nn, name)(), f(2, 4, 6))


def leaves(o):
    return [leaf for i in o for leaf in leaves(i)] if isinstance(o, (list, tuple)) else [o]


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("name", LAYERS)
def test_layer(backend, build, name, train):
    make, inputs = LAYERS[name]
    layers, tensors = [], []
    for _ in range(2):
        paddle.seed(1)
        layers.append(make())
        layers[-1].train() if train else layers[-1].eval()
        tensors.append(inputs())
    (eager, ours), (xs, ys) = layers, tensors
    assert backend.layer_call(ours) == "leaf"
    before = [dict(d) for d in backend.leaf_state(ours)]
    with paddle.no_grad():
        graph = build(lambda b, *v: leaves(b.layer(ours, *v)), *ys)
    after = [dict(d) for d in backend.leaf_state(ours)]
    assert all(a.keys() == b.keys() and all(a[k] is b[k] for k in a) for a, b in zip(before, after))
    for step in range(2):
        paddle.seed(50 + step)
        with paddle.no_grad():
            want, stream = leaves(eager(*xs)), paddle.rand([2]).numpy()
            paddle.seed(50 + step)
            got = graph(*ys)
        assert (paddle.rand([2]).numpy() == stream).all()
        for g, w in zip(got, want):
            assert (g.dtype, list(g.shape), g.stop_gradient) == (w.dtype, list(w.shape), w.stop_gradient)
            np.testing.assert_allclose(g.numpy(), w.numpy(), rtol=1e-5, atol=1e-6)
    for a, b in zip(eager.buffers(), ours.buffers()):
        np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=1e-6)
