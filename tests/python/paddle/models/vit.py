"""An image as a sequence of patches: positions that are resized, layers that are dropped, features from between."""

import math
from functools import lru_cache, partial
from itertools import repeat
from typing import Callable, List, Optional, Sequence, Union

import paddle
import paddle.nn.functional as F
from paddle import nn

from .base import ExplicitEnum


def to_2tuple(x):
    return tuple(x) if isinstance(x, (tuple, list)) else tuple(repeat(x, 2))


class Pool(ExplicitEnum):
    TOKEN = "token"
    AVG = "avg"
    NONE = ""


def drop_path(x, drop_prob: float = 0.0, training: bool = False, scale_by_keep: bool = True):
    if drop_prob == 0.0 or not training:
        return x
    keep_prob = 1 - drop_prob
    shape = (x.shape[0],) + (1,) * (x.ndim - 1)
    random_tensor = paddle.floor(keep_prob + paddle.rand(shape, dtype=x.dtype))
    if keep_prob > 0.0 and scale_by_keep:
        random_tensor = random_tensor / keep_prob
    return x * random_tensor


class DropPath(nn.Layer):
    def __init__(self, drop_prob=0.0):
        super().__init__()
        self.drop_prob = drop_prob

    def forward(self, x):
        return drop_path(x, self.drop_prob, self.training)


class LayerScale(nn.Layer):
    def __init__(self, dim, init_values=1e-1):
        super().__init__()
        self.gamma = self.create_parameter([dim], default_initializer=nn.initializer.Constant(init_values))

    def forward(self, x):
        return x * self.gamma


class Mlp(nn.Layer):
    def __init__(self, in_features, hidden_features=None, out_features=None, act_layer=nn.GELU, drop=0.0):
        super().__init__()
        out_features = out_features or in_features
        hidden_features = hidden_features or in_features
        drop1, drop2 = to_2tuple(drop)
        self.fc1 = nn.Linear(in_features, hidden_features)
        self.act = act_layer()
        self.drop1 = nn.Dropout(drop1)
        self.fc2 = nn.Linear(hidden_features, out_features)
        self.drop2 = nn.Dropout(drop2)

    def forward(self, x):
        for layer in (self.fc1, self.act, self.drop1, self.fc2, self.drop2):
            x = layer(x)
        return x


class Attention(nn.Layer):
    def __init__(self, dim, num_heads=2, qkv_bias=False, qk_norm=False, attn_drop=0.0, norm_layer=nn.LayerNorm):
        super().__init__()
        assert dim % num_heads == 0, "dim should be divisible by num_heads"
        self.num_heads = num_heads
        self.head_dim = dim // num_heads
        self.scale = self.head_dim**-0.5
        self.qkv = nn.Linear(dim, dim * 3, bias_attr=None if qkv_bias else False)
        self.q_norm = norm_layer(self.head_dim) if qk_norm else nn.Identity()
        self.k_norm = norm_layer(self.head_dim) if qk_norm else nn.Identity()
        self.attn_drop = nn.Dropout(attn_drop)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape([B, N, 3, self.num_heads, self.head_dim]).transpose([2, 0, 3, 1, 4])
        q, k, v = qkv.unbind(0)
        q, k = self.q_norm(q) * self.scale, self.k_norm(k)
        attn = self.attn_drop(F.softmax(q @ k.transpose([0, 1, 3, 2]), axis=-1))
        return self.proj((attn @ v).transpose([0, 2, 1, 3]).reshape([B, N, C]))


class Block(nn.Layer):
    def __init__(
        self, dim, num_heads, mlp_ratio=2.0, drop_path=0.0, init_values=None, norm_layer=nn.LayerNorm, **kwargs
    ):
        super().__init__()
        self.norm1 = norm_layer(dim)
        self.attn = Attention(dim, num_heads, norm_layer=norm_layer, **kwargs)
        self.ls1 = LayerScale(dim, init_values=init_values) if init_values else nn.Identity()
        self.drop_path1 = DropPath(drop_path) if drop_path > 0.0 else nn.Identity()
        self.norm2 = norm_layer(dim)
        self.mlp = Mlp(dim, int(dim * mlp_ratio), drop=0.1)
        self.ls2 = LayerScale(dim, init_values=init_values) if init_values else nn.Identity()
        self.drop_path2 = DropPath(drop_path) if drop_path > 0.0 else nn.Identity()

    def forward(self, x):
        x = x + self.drop_path1(self.ls1(self.attn(self.norm1(x))))
        return x + self.drop_path2(self.ls2(self.mlp(self.norm2(x))))


class PatchEmbed(nn.Layer):
    def __init__(self, img_size=16, patch_size=4, in_chans=3, embed_dim=16, flatten=True, strict_img_size=True):
        super().__init__()
        self.img_size, self.patch_size = to_2tuple(img_size), to_2tuple(patch_size)
        self.grid_size = tuple(s // p for s, p in zip(self.img_size, self.patch_size))
        self.num_patches = math.prod(self.grid_size)
        self.flatten, self.strict_img_size = flatten, strict_img_size
        self.proj = nn.Conv2D(in_chans, embed_dim, kernel_size=self.patch_size, stride=self.patch_size)

    def forward(self, x):
        B, C, H, W = x.shape
        if self.strict_img_size:
            assert H == self.img_size[0], f"the height {H} is not that of the model: {self.img_size[0]}"
            assert W == self.img_size[1], f"the width {W} is not that of the model: {self.img_size[1]}"
        else:
            assert all(s % p == 0 for s, p in zip((H, W), self.patch_size)), f"{(H, W)} is cut by {self.patch_size}"
        x = self.proj(x)
        return x.flatten(2).transpose([0, 2, 1]) if self.flatten else x


@lru_cache(maxsize=8)
def grid_of(length, width, patch):
    return length // patch, width // patch


def resample_abs_pos_embed(posemb, new_size, old_size, num_prefix_tokens=1):
    num_new_tokens = new_size[0] * new_size[1] + num_prefix_tokens
    if num_new_tokens == posemb.shape[1] and new_size[0] == new_size[1]:
        return posemb
    prefix, posemb = posemb[:, :num_prefix_tokens], posemb[:, num_prefix_tokens:]
    embed_dim = posemb.shape[-1]
    posemb = posemb.reshape([1, old_size[0], old_size[1], -1]).transpose([0, 3, 1, 2])
    posemb = F.interpolate(posemb, size=new_size, mode="bilinear", align_corners=False)
    posemb = posemb.transpose([0, 2, 3, 1]).reshape([1, -1, embed_dim])
    return paddle.concat([prefix, posemb], axis=1)


class VisionTransformer(nn.Layer):
    dynamic_img_size: bool

    def __init__(
        self,
        img_size: Union[int, Sequence[int]] = 16,
        patch_size: int = 4,
        num_classes: int = 5,
        global_pool: Union[str, Pool] = "token",
        embed_dim: int = 16,
        depth: int = 3,
        num_heads: int = 2,
        class_token: bool = True,
        dynamic_img_size: bool = False,
        drop_path_rate: float = 0.2,
        norm_layer: Optional[Callable] = None,
        **kwargs,
    ):
        super().__init__()
        norm_layer = norm_layer or partial(nn.LayerNorm, epsilon=1e-6)
        self.global_pool = Pool(global_pool)
        self.num_prefix_tokens = 1 if class_token else 0
        self.dynamic_img_size = dynamic_img_size
        self.patch_embed = PatchEmbed(img_size, patch_size, embed_dim=embed_dim, strict_img_size=not dynamic_img_size)
        normal = nn.initializer.TruncatedNormal(std=0.2)
        count = self.patch_embed.num_patches + self.num_prefix_tokens
        self.cls_token = self.create_parameter([1, 1, embed_dim], default_initializer=normal) if class_token else None
        self.pos_embed = self.create_parameter([1, count, embed_dim], default_initializer=normal)
        dpr = [x.item() for x in paddle.linspace(0, drop_path_rate, depth)]
        self.blocks = nn.Sequential(
            *[Block(embed_dim, num_heads, drop_path=dpr[i], norm_layer=norm_layer, **kwargs) for i in range(depth)]
        )
        self.norm = norm_layer(embed_dim) if self.global_pool != Pool.AVG else nn.Identity()
        self.fc_norm = norm_layer(embed_dim) if self.global_pool == Pool.AVG else nn.Identity()
        self.head = nn.Linear(embed_dim, num_classes) if num_classes > 0 else nn.Identity()

    def grid_of(self, height, width):
        return tuple(extent // patch for extent, patch in zip((height, width), self.patch_embed.patch_size))

    def _pos_embed(self, x, height, width):
        pos_embed = self.pos_embed
        if self.dynamic_img_size:
            new = self.grid_of(height, width)
            pos_embed = resample_abs_pos_embed(pos_embed, new, self.patch_embed.grid_size, self.num_prefix_tokens)
        if self.cls_token is not None:
            x = paddle.concat([self.cls_token.expand([x.shape[0], -1, -1]), x], axis=1)
        return x + pos_embed

    def forward_features(self, x):
        height, width = x.shape[-2:]
        return self.norm(self.blocks(self._pos_embed(self.patch_embed(x), height, width)))

    def forward_head(self, x, pre_logits: bool = False):
        if self.global_pool is Pool.AVG:
            x = x[:, self.num_prefix_tokens :].mean(axis=1)
        elif self.global_pool:
            x = x[:, 0]
        x = self.fc_norm(x)
        return x if pre_logits else self.head(x)

    def forward(self, x):
        return self.forward_head(self.forward_features(x))


class FeatureVisionTransformer(VisionTransformer):
    """Gives the maps of some layers as well, as a backbone does."""

    def __init__(self, out_indices=(0, -1), **kwargs):
        super().__init__(**kwargs)
        self.out_indices = {i % len(self.blocks) for i in out_indices}

    def grid_of(self, height, width):
        return grid_of(height, width, self.patch_embed.patch_size[0])

    def forward_intermediates(self, x, norm: bool = False) -> List[paddle.Tensor]:
        intermediates = []
        B, _, height, width = x.shape
        x = self._pos_embed(self.patch_embed(x), height, width)
        for i, blk in enumerate(self.blocks):
            x = blk(x)
            if i in self.out_indices:
                intermediates.append(self.norm(x) if norm else x)
        intermediates = [y[:, self.num_prefix_tokens :] for y in intermediates]
        H, W = height // self.patch_embed.patch_size[0], width // self.patch_embed.patch_size[1]
        return [y.reshape([B, H, W, -1]).transpose([0, 3, 1, 2]) for y in intermediates]

    def forward(self, x):
        features = self.forward_intermediates(x, norm=True)
        return {"features": features, "pooled": paddle.concat([f.mean(axis=[2, 3]) for f in features], axis=-1)}
