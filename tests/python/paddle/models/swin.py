"""Attention in windows that are shifted in every second block, with masks made by loops and a table of positions."""

import collections.abc
from collections import namedtuple
from dataclasses import dataclass
from typing import Optional, Tuple

import paddle
import paddle.nn.functional as F
from paddle import nn

from .base import Config, ModelOutput, PretrainedModel
from .vit import DropPath, Mlp, to_2tuple

Stage = namedtuple("Stage", ["hidden", "resolution"])


class SwinConfig(Config):
    model_type = "swin"
    attribute_map = {"hidden_size": "embed_dim", "num_attention_heads": "num_heads", "num_hidden_layers": "num_layers"}

    def __init__(
        self, image_size=16, patch_size=2, embed_dim=8, depths=(2, 2), num_heads=(2, 4), window_size=4, **kwargs
    ):
        self.image_size, self.patch_size, self.embed_dim = image_size, patch_size, embed_dim
        self.depths, self.num_heads, self.window_size = list(depths), list(num_heads), window_size
        self.num_layers = len(depths)
        self.drop_path_rate = kwargs.pop("drop_path_rate", 0.1)
        self.num_labels = kwargs.pop("num_labels", 3)
        super().__init__(**kwargs)
        self.stage_names = ["stem"] + [f"stage{i}" for i in range(1, len(depths) + 1)]


@dataclass
class SwinOutput(ModelOutput):
    logits: paddle.Tensor = None
    pooler_output: Optional[paddle.Tensor] = None
    stages: Optional[Tuple[Stage, ...]] = None


def window_partition(x, window_size):
    B, H, W, C = x.shape
    x = x.reshape([B, H // window_size, window_size, W // window_size, window_size, C])
    return x.transpose([0, 1, 3, 2, 4, 5]).reshape([-1, window_size, window_size, C])


def window_reverse(windows, window_size, H, W):
    B = windows.shape[0] // (H * W // window_size // window_size)
    x = windows.reshape([B, H // window_size, W // window_size, window_size, window_size, -1])
    return x.transpose([0, 1, 3, 2, 4, 5]).reshape([B, H, W, -1])


class WindowAttention(nn.Layer):
    def __init__(self, dim, window_size, num_heads):
        super().__init__()
        self.window_size = window_size if isinstance(window_size, collections.abc.Iterable) else to_2tuple(window_size)
        self.num_heads = num_heads
        self.scale = (dim // num_heads) ** -0.5
        wh, ww = self.window_size
        table = nn.initializer.TruncatedNormal(std=0.3)
        self.relative_position_bias_table = self.create_parameter(
            [(2 * wh - 1) * (2 * ww - 1), num_heads], default_initializer=table
        )
        coords = paddle.stack(paddle.meshgrid(paddle.arange(wh), paddle.arange(ww))).flatten(1)
        relative = (coords[:, :, None] - coords[:, None, :]).transpose([1, 2, 0])
        relative[:, :, 0] += wh - 1
        relative[:, :, 1] += ww - 1
        relative[:, :, 0] *= 2 * ww - 1
        self.register_buffer("relative_position_index", relative.sum(-1))
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)
        self.softmax = nn.Softmax(axis=-1)

    def get_bias(self):
        area = self.window_size[0] * self.window_size[1]
        bias = self.relative_position_bias_table[self.relative_position_index.reshape([-1])]
        return bias.reshape([area, area, -1]).transpose([2, 0, 1]).unsqueeze(0)

    def forward(self, x, mask=None):
        B_, N, C = x.shape
        qkv = self.qkv(x).reshape([B_, N, 3, self.num_heads, C // self.num_heads]).transpose([2, 0, 3, 1, 4])
        q, k, v = qkv[0] * self.scale, qkv[1], qkv[2]
        attn = q @ k.transpose([0, 1, 3, 2]) + self.get_bias()
        if mask is not None:
            nW = mask.shape[0]
            attn = attn.reshape([B_ // nW, nW, self.num_heads, N, N]) + mask.unsqueeze(1).unsqueeze(0)
            attn = attn.reshape([-1, self.num_heads, N, N])
        return self.proj((self.softmax(attn) @ v).transpose([0, 2, 1, 3]).reshape([B_, N, C]))


class SwinBlock(nn.Layer):
    def __init__(self, config, dim, num_heads, shift_size=0, drop_path=0.0):
        super().__init__()
        self.window_size = config.window_size
        self.shift_size = shift_size
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = WindowAttention(dim, config.window_size, num_heads)
        self.drop_path = DropPath(drop_path) if drop_path > 0 else nn.Identity()
        self.mlp = Mlp(dim, dim * 2)

    def set_shift_and_window_size(self, input_resolution):
        """Where the image is no larger than a window there is nothing to shift."""
        if min(input_resolution) <= self.window_size:
            self.shift_size = 0
            self.window_size = min(input_resolution)

    def get_attn_mask(self, height, width, dtype):
        if self.shift_size <= 0:
            return None
        img_mask = paddle.zeros([1, height, width, 1], dtype=dtype)
        slices = (
            slice(0, -self.window_size),
            slice(-self.window_size, -self.shift_size),
            slice(-self.shift_size, None),
        )
        count = 0
        for height_slice in slices:
            for width_slice in slices:
                img_mask[:, height_slice, width_slice, :] = count
                count += 1
        windows = window_partition(img_mask, self.window_size).reshape([-1, self.window_size * self.window_size])
        attn_mask = windows.unsqueeze(1) - windows.unsqueeze(2)
        return paddle.where(attn_mask != 0, paddle.full_like(attn_mask, -100.0), paddle.zeros_like(attn_mask))

    def maybe_pad(self, x, height, width):
        pad_right = (self.window_size - width % self.window_size) % self.window_size
        pad_bottom = (self.window_size - height % self.window_size) % self.window_size
        if pad_right or pad_bottom:
            x = F.pad(x, (0, 0, 0, pad_bottom, 0, pad_right, 0, 0), mode="constant")
        return x, pad_right, pad_bottom

    def forward(self, x, resolution):
        H, W = resolution
        self.set_shift_and_window_size(resolution)
        B, L, C = x.shape
        assert L == H * W, "input feature has wrong size"
        shortcut = x
        x, pad_right, pad_bottom = self.maybe_pad(self.norm1(x).reshape([B, H, W, C]), H, W)
        _, Hp, Wp, _ = x.shape
        shift = self.shift_size
        shifted = paddle.roll(x, shifts=(-shift, -shift), axis=(1, 2)) if shift > 0 else x
        windows = window_partition(shifted, self.window_size).reshape([-1, self.window_size * self.window_size, C])
        attended = self.attn(windows, mask=self.get_attn_mask(Hp, Wp, x.dtype))
        attended = attended.reshape([-1, self.window_size, self.window_size, C])
        shifted = window_reverse(attended, self.window_size, Hp, Wp)
        x = paddle.roll(shifted, shifts=(shift, shift), axis=(1, 2)) if shift > 0 else shifted
        if pad_right > 0 or pad_bottom > 0:
            x = x[:, :H, :W, :]
        x = shortcut + self.drop_path(x.reshape([B, H * W, C]))
        return x + self.drop_path(self.mlp(self.norm2(x)))


class PatchMerging(nn.Layer):
    def __init__(self, dim):
        super().__init__()
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias_attr=False)
        self.norm = nn.LayerNorm(4 * dim)

    def forward(self, x, resolution):
        H, W = resolution
        B, _, C = x.shape
        x = x.reshape([B, H, W, C])
        if H % 2 == 1 or W % 2 == 1:
            x = F.pad(x, (0, 0, 0, H % 2, 0, W % 2, 0, 0))
        x = paddle.concat([x[:, i::2, j::2, :] for j in (0, 1) for i in (0, 1)], axis=-1)
        return self.reduction(self.norm(x.reshape([B, -1, 4 * C])))


class SwinStage(nn.Layer):
    def __init__(self, config, dim, depth, num_heads, drop_path, downsample):
        super().__init__()
        shift = config.window_size // 2
        self.blocks = nn.LayerList(
            [SwinBlock(config, dim, num_heads, 0 if i % 2 == 0 else shift, drop_path[i]) for i in range(depth)]
        )
        self.downsample = downsample(dim) if downsample is not None else None

    def forward(self, x, resolution):
        for block in self.blocks:
            x = block(x, resolution)
        before = Stage(x, resolution)
        if self.downsample is None:
            return x, before, resolution
        return self.downsample(x, resolution), before, tuple((extent + 1) // 2 for extent in resolution)


class SwinForImageClassification(PretrainedModel):
    config_class = SwinConfig

    def __init__(self, config):
        super().__init__(config)
        self.patch_embed = nn.Conv2D(3, config.embed_dim, config.patch_size, stride=config.patch_size)
        dims = [int(config.embed_dim * 2**i) for i in range(config.num_layers)]
        rates = [float(r) for r in paddle.linspace(0, config.drop_path_rate, sum(config.depths))]
        self.stages = nn.LayerList()
        for i, (dim, depth, heads) in enumerate(zip(dims, config.depths, config.num_attention_heads)):
            rate = rates[sum(config.depths[:i]) : sum(config.depths[: i + 1])]
            last = i + 1 == config.num_layers
            self.stages.append(SwinStage(config, dim, depth, heads, rate, None if last else PatchMerging))
        self.norm = nn.LayerNorm(dims[-1])
        self.avgpool = nn.AdaptiveAvgPool1D(1)
        self.head = nn.Linear(dims[-1], config.num_labels)
        self.post_init()

    def _init_weights(self, layer):
        if isinstance(layer, nn.Linear):
            layer.weight.set_value(paddle.normal(0.0, 0.2, shape=layer.weight.shape))

    def maybe_pad(self, pixels, height, width):
        size = self.config.patch_size
        if width % size != 0:
            pixels = F.pad(pixels, (0, size - width % size, 0, 0))
        if height % size != 0:
            pixels = F.pad(pixels, (0, 0, 0, size - height % size))
        return pixels

    def forward(self, pixel_values):
        _, _, height, width = pixel_values.shape
        x = self.patch_embed(self.maybe_pad(pixel_values, height, width))
        resolution = tuple(x.shape[2:])
        x = x.flatten(2).transpose([0, 2, 1])
        stages = ()
        for stage in self.stages:
            x, before, resolution = stage(x, resolution)
            stages += (before,)
        pooled = paddle.flatten(self.avgpool(self.norm(x).transpose([0, 2, 1])), 1)
        return SwinOutput(self.head(pooled), pooler_output=pooled, stages=stages)
