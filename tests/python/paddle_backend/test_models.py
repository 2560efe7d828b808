"""Whole models as one layer call, without gradients: results, running statistics, random stream."""

import numpy as np
import paddle
import pytest
from paddle import nn
from paddle.vision import models

MODELS = {
    "resnet18": (lambda: models.resnet18(), [2, 3, 64, 64]),
    "resnet50": (lambda: models.resnet50(), [1, 3, 32, 32]),
    "mobilenet_v2": (lambda: models.mobilenet_v2(), [1, 3, 32, 32]),
    "vgg11": (lambda: models.vgg11(num_classes=10), [1, 3, 32, 32]),
    "lenet": (lambda: models.LeNet(), [2, 1, 28, 28]),
    "encoder": (lambda: nn.TransformerEncoderLayer(16, 4, 32, dropout=0.1), [2, 5, 16]),
    "encoder_stack": (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32), 2), [2, 5, 16]),
    "mha": (lambda: nn.MultiHeadAttention(16, 4, dropout=0.2), [2, 5, 16]),
    "lstm": (lambda: Last(nn.LSTM(8, 6, num_layers=2)), [2, 5, 8]),
    "bilstm": (lambda: Last(nn.LSTM(8, 6, num_layers=2, direction="bidirect", dropout=0.3)), [2, 5, 8]),
    "gru": (lambda: Last(nn.GRU(8, 6)), [2, 5, 8]),
    "rnn": (lambda: Last(nn.SimpleRNN(8, 6)), [2, 5, 8]),
}


class Last(nn.Layer):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        return self.net(x)[0]


def close(a, b, what):
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5, err_msg=what)


def fresh(name):
    paddle.seed(7)
    make, shape = MODELS[name]
    net, x = make(), None
    paddle.seed(3)
    x = paddle.randn(shape)
    return net, x


@pytest.mark.parametrize("name", MODELS)
def test_eval(build, name):
    net, x = fresh(name)
    net.eval()
    with paddle.no_grad():
        expected = net(x)
        graph = build(lambda b, v: b.layer(net, v), x)
        for _ in range(3):
            got = graph(x)
            close(got.numpy(), expected.numpy(), name)
            assert got.stop_gradient


@pytest.mark.parametrize("name", MODELS)
def test_train_mode(build, name):
    (net, x), (other, z) = fresh(name), fresh(name)
    with paddle.no_grad():
        graph = build(lambda b, v: b.layer(other, v), z)
        for step in range(3):
            paddle.seed(100 + step)
            expected = net(x)
            stream = paddle.rand([4]).numpy()
            paddle.seed(100 + step)
            got = graph(z)
            # The random stream goes on in the same place.
            assert (paddle.rand([4]).numpy() == stream).all()
            close(got.numpy(), expected.numpy(), f"{name} forward {step}")
            for (key, a), (_, b) in zip(net.named_buffers(), other.named_buffers()):
                close(b.numpy(), a.numpy(), f"{name} {key}")
