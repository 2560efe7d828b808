"""The rest of paddle.vision, and the recurrent and transformer layers: one graph each, as eager computes."""

import numpy as np
import paddle
import pytest
import sot
from model_zoo import batch
from paddle import nn
from paddle.vision import models


class Seq2Seq(nn.Layer):
    def __init__(self):
        super().__init__()
        self.net = nn.Transformer(16, 2, 1, 1, 32)

    def forward(self, x):
        return self.net(x, x)


class Tagger(nn.Layer):
    def __init__(self, cell):
        super().__init__()
        self.embedding = nn.Embedding(20, 8)
        self.rnn = cell(8, 6, num_layers=2, direction="bidirect")
        self.head = nn.Linear(12, 5)

    def forward(self, tokens):
        out, _ = self.rnn(self.embedding(tokens))
        return self.head(out)


IMAGE = [1, 3, 64, 64]
MODELS = {
    "alexnet": (lambda: models.alexnet(num_classes=10), [1, 3, 224, 224]),
    "densenet121": (models.densenet121, IMAGE),
    "googlenet": (models.googlenet, [1, 3, 224, 224]),
    "inception_v3": (models.inception_v3, [1, 3, 96, 96]),
    "mobilenet_v1": (models.mobilenet_v1, IMAGE),
    "mobilenet_v3_small": (models.mobilenet_v3_small, IMAGE),
    "resnext50_32x4d": (models.resnext50_32x4d, IMAGE),
    "shufflenet_v2_x1_0": (models.shufflenet_v2_x1_0, IMAGE),
    "squeezenet1_0": (models.squeezenet1_0, IMAGE),
    "wide_resnet50_2": (models.wide_resnet50_2, IMAGE),
    "encoder": (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32), 2), [2, 5, 16]),
    "transformer": (Seq2Seq, [2, 5, 16]),
    "lstm": (lambda: Tagger(nn.LSTM), "tokens"),
    "gru": (lambda: Tagger(nn.GRU), "tokens"),
    "simple_rnn": (lambda: Tagger(nn.SimpleRNN), "tokens"),
}


def tensors(value):
    return [value] if isinstance(value, paddle.Tensor) else [t for item in value for t in tensors(item)]


@pytest.mark.parametrize("name", MODELS)
def test_eval(name, counting):
    make, shape = MODELS[name]
    paddle.seed(7)
    net = make()
    net.eval()
    x = paddle.to_tensor(np.arange(10).reshape([2, 5])) if shape == "tokens" else batch(shape)
    with paddle.no_grad():
        expected = tensors(net(x))
        sot.to_static(net)
        with counting() as cold:
            found = tensors(net(x))
        with counting() as warm:
            again = tensors(net(x))
    for ours in (found, again):
        assert len(ours) == len(expected)
        for a, b in zip(ours, expected):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-5)
    assert (warm.captures, warm.fallbacks) == (0, 0)
    reasons = sot.stats()["reasons"]
    assert (cold.graphs, cold.breaks, cold.fallbacks) == (1, 0, 0), reasons
