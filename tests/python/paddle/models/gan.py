"""Two networks against each other, each with its optimizer."""

from collections import OrderedDict
from enum import IntEnum

import paddle
import paddle.nn.functional as F
from paddle import nn


class Mode(IntEnum):
    VANILLA = 0
    LSGAN = 1
    HINGE = 2


def up_block(in_channels, out_channels, normalize=True):
    layers = [nn.Conv2DTranspose(in_channels, out_channels, 4, 2, 1)]
    if normalize:
        layers.append(nn.BatchNorm2D(out_channels, momentum=0.8))
    return [*layers, nn.ReLU()]


class Generator(nn.Layer):
    def __init__(self, latent_dim=8, channels=4, num_classes=None):
        super().__init__()
        self.latent_dim, self.init_size, self.channels = latent_dim, 4, channels
        self.label_emb = nn.Embedding(num_classes, latent_dim) if num_classes else None
        self.l1 = nn.Sequential(nn.Linear(latent_dim, channels * self.init_size**2))
        self.conv_blocks = nn.Sequential(*up_block(channels, channels), nn.Conv2D(channels, 1, 3, padding=1), nn.Tanh())

    def sample_noise(self, count):
        return paddle.randn([count, self.latent_dim])

    def forward(self, z, labels=None):
        if self.label_emb is not None and labels is not None:
            z = paddle.multiply(self.label_emb(labels), z)
        out = self.l1(z)
        out = out.reshape([out.shape[0], self.channels, self.init_size, self.init_size])
        return self.conv_blocks(out)


class MinibatchStdDev(nn.Layer):
    def forward(self, x):
        std = paddle.sqrt(x.var(axis=0, unbiased=False) + 1e-8).mean()
        return paddle.concat([x, std.expand([x.shape[0], 1, *x.shape[2:]])], axis=1)


class Discriminator(nn.Layer):
    def __init__(self, channels=4):
        super().__init__()
        self.blocks = nn.Sequential(
            ("down", nn.Conv2D(1, channels, 3, 2, 1)),
            ("act", nn.LeakyReLU(0.2)),
            ("drop", nn.Dropout2D(0.25)),
            ("std", MinibatchStdDev()),
        )
        self.adv_layer = nn.Linear((channels + 1) * 16, 1)

    def forward(self, img, return_features=False):
        features = OrderedDict()
        x = img
        for name, block in self.blocks.named_children():
            x = block(x)
            features[name] = x
        validity = self.adv_layer(x.flatten(start_axis=1))
        return (validity, features) if return_features else validity


class GANLoss:
    """How far an answer is from real or fake, in one of several ways."""

    def __init__(self, mode=Mode.VANILLA, target_real_label=1.0, target_fake_label=0.0):
        self.mode = mode
        self.labels = {True: target_real_label, False: target_fake_label}

    def get_target_tensor(self, prediction, target_is_real):
        return paddle.full_like(prediction, self.labels[target_is_real])

    def __call__(self, prediction, target_is_real, for_discriminator=True):
        if self.mode == Mode.VANILLA:
            return F.binary_cross_entropy_with_logits(prediction, self.get_target_tensor(prediction, target_is_real))
        elif self.mode == Mode.LSGAN:
            return F.mse_loss(prediction, self.get_target_tensor(prediction, target_is_real))
        elif self.mode is Mode.HINGE:
            if not for_discriminator:
                return -prediction.mean()
            sign = 1 if target_is_real else -1
            return F.relu(1 - sign * prediction).mean()
        raise NotImplementedError(f"{self.mode!r} is not written")


def set_requires_grad(nets, requires_grad=False):
    for net in nets if isinstance(nets, list) else [nets]:
        for name, param in net.named_parameters():
            if not name.endswith(("_mean", "_variance")):
                param.stop_gradient = not requires_grad


class GAN(nn.Layer):
    """Both networks; which of the two losses is computed is said by the caller."""

    def __init__(self, mode=Mode.VANILLA, feature_weight=0.1, num_classes=None):
        super().__init__()
        self.generator, self.discriminator = Generator(num_classes=num_classes), Discriminator()
        self.criterion = GANLoss(mode)
        self.feature_weight = feature_weight

    def generator_losses(self, fake, real):
        judged, features = self.discriminator(fake, return_features=True)
        _, wanted = self.discriminator(real, return_features=True)
        matching = sum(F.l1_loss(f, wanted[name].detach()) for name, f in features.items())
        return {"adversarial": self.criterion(judged, True, for_discriminator=False), "matching": matching}

    def forward(self, real, labels=None, optimizer_idx=0):
        z = self.generator.sample_noise(real.shape[0])
        if optimizer_idx == 0:
            losses = self.generator_losses(self.generator(z, labels), real)
            return losses["adversarial"] + self.feature_weight * losses["matching"]
        with paddle.no_grad():
            fake = self.generator(z, labels)
        on_real = self.criterion(self.discriminator(real), True)
        on_fake = self.criterion(self.discriminator(fake.detach()), False)
        return (on_real + on_fake) * 0.5

    def configure_optimizers(self, lr=0.002):
        return [
            paddle.optimizer.Adam(lr, parameters=self.generator.parameters(), beta1=0.5),
            paddle.optimizer.Adam(lr * 2, parameters=self.discriminator.parameters(), beta1=0.5),
        ]
