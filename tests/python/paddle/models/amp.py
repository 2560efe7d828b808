"""Blocks that compute in half precision: the context in forward, a decorator, and parts that stay as they are."""

from contextlib import contextmanager, nullcontext
from functools import wraps

import paddle
import paddle.nn.functional as F
from paddle import nn

from .llama import LlamaRMSNorm


def autocast_forward(**settings):
    """Decorates a forward whose layer says whether it wants half precision."""

    def decorate(forward):
        @wraps(forward)
        def wrapped(self, *args, **kwargs):
            with paddle.amp.auto_cast(enable=self.use_amp, **settings):
                return forward(self, *args, **kwargs)

        return wrapped

    return decorate


@contextmanager
def full_precision(*tensors):
    with paddle.amp.auto_cast(enable=False):
        yield tuple(t.astype("float32") for t in tensors)


class AmpMixin:
    amp_level = "O1"
    use_amp = True

    @property
    def amp_context(self):
        if not self.use_amp:
            return nullcontext()
        return paddle.amp.auto_cast(custom_black_list={"exp"}, level=self.amp_level, dtype="bfloat16")


class AmpBlock(nn.Layer, AmpMixin):
    def __init__(self, dim=8, use_amp=True, level="O1"):
        super().__init__()
        self.use_amp, self.amp_level = use_amp, level
        self.norm = LlamaRMSNorm(dim)
        self.fc1, self.fc2 = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x):
        residual = x
        with self.amp_context:
            x = self.fc2(F.gelu(self.fc1(self.norm(x))))
        return residual + x.astype(residual.dtype)


class AmpAttention(nn.Layer):
    use_amp = True

    def __init__(self, dim=8):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    @autocast_forward(dtype="bfloat16", level="O1")
    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, axis=-1)
        with full_precision(q, k) as (q, k):
            scores = F.softmax(paddle.matmul(q, k, transpose_y=True) / q.shape[-1] ** 0.5, axis=-1)
        return self.proj(paddle.matmul(scores.astype(v.dtype), v))


class AmpModel(nn.Layer):
    def __init__(self, dim=8, depth=2, use_amp=True, level="O1"):
        super().__init__()
        self.attention = AmpAttention(dim)
        self.attention.use_amp = use_amp
        self.blocks = nn.LayerList([AmpBlock(dim, use_amp, level) for _ in range(depth)])
        self.head = nn.Linear(dim, 3)

    def forward(self, x):
        x = x + self.attention(x).astype(x.dtype)
        for block in self.blocks:
            x = block(x)
        return {"logits": self.head(x.mean(axis=1)), "hidden": x}
