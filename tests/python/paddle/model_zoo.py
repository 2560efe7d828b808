"""The models that must be one graph each, and how two copies with equal weights are made."""

import paddle
from paddle import nn
from paddle.vision import models

MODELS = {
    "resnet18": (models.resnet18, [2, 3, 64, 64]),
    "resnet50": (models.resnet50, [2, 3, 64, 64]),
    "mobilenet_v2": (models.mobilenet_v2, [2, 3, 64, 64]),
    "vgg11": (lambda: models.vgg11(num_classes=10), [2, 3, 64, 64]),
    "lenet": (models.LeNet, [2, 1, 28, 28]),
    "encoder_layer": (lambda: nn.TransformerEncoderLayer(16, 4, 32, dropout=0.1), [2, 5, 16]),
}


def twins(name):
    """Two models of one name with the same weights, and their input's shape."""
    make, shape = MODELS[name]
    pair = []
    for _ in range(2):
        with paddle.utils.unique_name.guard():
            paddle.seed(7)
            pair.append(make())
    return pair[0], pair[1], shape


def batch(shape, seed=3):
    paddle.seed(seed)
    return paddle.randn(shape)
