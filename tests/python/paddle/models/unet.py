"""A network that goes down and up again with skip lists, told the time and, where wanted, a class or a text."""

import math
from dataclasses import dataclass
from typing import Optional, Tuple, Union

import paddle
import paddle.nn.functional as F
from paddle import nn

from .base import ACTIVATIONS, ModelOutput


@dataclass
class UNetOutput(ModelOutput):
    sample: paddle.Tensor = None


class FrozenDict(dict):
    """The settings of a model, which nobody changes."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setitem__(self, key, value):
        raise TypeError(f"{key} of a {type(self).__name__} cannot be set")


class ConfigMixin:
    """Keeps what a constructor was given, and reads attributes that the model has not from there."""

    def register_to_config(self, **kwargs):
        kwargs.pop("self", None)
        kwargs.pop("__class__", None)
        object.__setattr__(self, "_internal_dict", FrozenDict(kwargs))

    @property
    def config(self):
        return self.__dict__["_internal_dict"]


def get_timestep_embedding(timesteps, embedding_dim, flip_sin_to_cos=False, downscale_freq_shift=1, max_period=10000):
    assert len(timesteps.shape) == 1, "timesteps should be of one dimension"
    half_dim = embedding_dim // 2
    exponent = -math.log(max_period) * paddle.arange(0, half_dim, dtype="float32")
    exponent = exponent / (half_dim - downscale_freq_shift)
    emb = timesteps[:, None].astype("float32") * paddle.exp(exponent)[None, :]
    emb = paddle.concat([paddle.sin(emb), paddle.cos(emb)], axis=-1)
    if flip_sin_to_cos:
        emb = paddle.concat([emb[:, half_dim:], emb[:, :half_dim]], axis=-1)
    if embedding_dim % 2 == 1:
        emb = F.pad(emb, [0, 1, 0, 0])
    return emb


class TimestepEmbedding(nn.Layer):
    def __init__(self, channels, time_embed_dim, act_fn="silu", cond_proj_dim=None):
        super().__init__()
        self.linear_1 = nn.Linear(channels, time_embed_dim)
        self.cond_proj = nn.Linear(cond_proj_dim, channels, bias_attr=False) if cond_proj_dim is not None else None
        self.act = ACTIVATIONS.get(act_fn)
        self.linear_2 = nn.Linear(time_embed_dim, time_embed_dim)

    def forward(self, sample, condition=None):
        if condition is not None:
            sample = sample + self.cond_proj(condition)
        sample = self.linear_1(sample)
        if self.act is not None:
            sample = self.act(sample)
        return self.linear_2(sample)


class ResnetBlock2D(nn.Layer):
    def __init__(self, *, in_channels, out_channels=None, temb_channels=32, groups=2, dropout=0.0, norm="default"):
        super().__init__()
        out_channels = in_channels if out_channels is None else out_channels
        self.time_embedding_norm = norm
        self.norm1 = nn.GroupNorm(groups, in_channels)
        self.conv1 = nn.Conv2D(in_channels, out_channels, 3, padding=1)
        width = out_channels if norm == "default" else 2 * out_channels
        self.time_emb_proj = nn.Linear(temb_channels, width)
        self.norm2 = nn.GroupNorm(groups, out_channels)
        self.dropout = nn.Dropout(dropout)
        self.conv2 = nn.Conv2D(out_channels, out_channels, 3, padding=1)
        self.conv_shortcut = nn.Conv2D(in_channels, out_channels, 1) if in_channels != out_channels else None

    def forward(self, input_tensor, temb):
        hidden_states = self.conv1(F.silu(self.norm1(input_tensor)))
        temb = self.time_emb_proj(F.silu(temb))[:, :, None, None]
        if self.time_embedding_norm == "default":
            hidden_states = self.norm2(hidden_states + temb)
        elif self.time_embedding_norm == "scale_shift":
            scale, shift = paddle.chunk(temb, 2, axis=1)
            hidden_states = self.norm2(hidden_states) * (1 + scale) + shift
        hidden_states = self.conv2(self.dropout(F.silu(hidden_states)))
        if self.conv_shortcut is not None:
            input_tensor = self.conv_shortcut(input_tensor)
        return input_tensor + hidden_states


class SpatialAttention(nn.Layer):
    def __init__(self, channels, heads=2, cross_attention_dim=None):
        super().__init__()
        self.heads = heads
        self.norm = nn.GroupNorm(2, channels)
        self.to_q = nn.Linear(channels, channels)
        self.to_k = nn.Linear(cross_attention_dim or channels, channels)
        self.to_v = nn.Linear(cross_attention_dim or channels, channels)
        self.to_out = nn.LayerList([nn.Linear(channels, channels), nn.Dropout(0.0)])

    def forward(self, hidden_states, encoder_hidden_states=None):
        residual = hidden_states
        batch, channel, height, width = hidden_states.shape
        hidden_states = self.norm(hidden_states).reshape([batch, channel, height * width]).transpose([0, 2, 1])
        context = hidden_states if encoder_hidden_states is None else encoder_hidden_states
        parts = (self.to_q(hidden_states), self.to_k(context), self.to_v(context))
        q, k, v = [t.reshape([batch, -1, self.heads, channel // self.heads]).transpose([0, 2, 1, 3]) for t in parts]
        scores = F.softmax(paddle.matmul(q, k, transpose_y=True) * (channel // self.heads) ** -0.5, axis=-1)
        hidden_states = paddle.matmul(scores, v).transpose([0, 2, 1, 3]).reshape([batch, -1, channel])
        for module in self.to_out:
            hidden_states = module(hidden_states)
        return hidden_states.transpose([0, 2, 1]).reshape([batch, channel, height, width]) + residual


class DownBlock2D(nn.Layer):
    has_cross_attention = False

    def __init__(self, in_channels, out_channels, layers, add_downsample, attention=None, **kwargs):
        super().__init__()
        channels = [in_channels] + [out_channels] * (layers - 1)
        self.resnets = nn.LayerList(
            [ResnetBlock2D(in_channels=c, out_channels=out_channels, **kwargs) for c in channels]
        )
        self.attentions = nn.LayerList([attention(out_channels) for _ in channels]) if attention else None
        conv = nn.Conv2D(out_channels, out_channels, 3, stride=2, padding=1)
        self.downsamplers = nn.LayerList([conv]) if add_downsample else None

    def forward(self, hidden_states, temb=None, encoder_hidden_states=None):
        output_states = ()
        for i, resnet in enumerate(self.resnets):
            hidden_states = resnet(hidden_states, temb)
            if self.attentions is not None:
                hidden_states = self.attentions[i](hidden_states, encoder_hidden_states)
            output_states += (hidden_states,)
        if self.downsamplers is not None:
            for downsampler in self.downsamplers:
                hidden_states = downsampler(hidden_states)
            output_states += (hidden_states,)
        return hidden_states, output_states


class CrossAttnDownBlock2D(DownBlock2D):
    has_cross_attention = True

    def __init__(self, *args, cross_attention_dim=None, **kwargs):
        super().__init__(
            *args, attention=lambda c: SpatialAttention(c, cross_attention_dim=cross_attention_dim), **kwargs
        )


class UpBlock2D(nn.Layer):
    def __init__(self, skips, in_channels, out_channels, add_upsample, **kwargs):
        super().__init__()
        widths = [in_channels] + [out_channels] * (len(skips) - 1)
        self.resnets = nn.LayerList(
            [ResnetBlock2D(in_channels=c + s, out_channels=out_channels, **kwargs) for c, s in zip(widths, skips)]
        )
        self.upsampler = nn.Conv2D(out_channels, out_channels, 3, padding=1) if add_upsample else None

    def forward(self, hidden_states, res_hidden_states_tuple, temb=None, upsample_size=None):
        for resnet in self.resnets:
            res_hidden_states = res_hidden_states_tuple[-1]
            res_hidden_states_tuple = res_hidden_states_tuple[:-1]
            hidden_states = resnet(paddle.concat([hidden_states, res_hidden_states], axis=1), temb)
        if self.upsampler is not None:
            if upsample_size is None:
                hidden_states = F.interpolate(hidden_states, scale_factor=2.0, mode="nearest")
            else:
                hidden_states = F.interpolate(hidden_states, size=upsample_size, mode="nearest")
            hidden_states = self.upsampler(hidden_states)
        return hidden_states


def get_down_block(kind, *args, cross_attention_dim=None, **kwargs):
    kind = kind[7:] if kind.startswith("UNetRes") else kind
    if kind == "DownBlock2D":
        return DownBlock2D(*args, **kwargs)
    if kind == "CrossAttnDownBlock2D":
        return CrossAttnDownBlock2D(*args, cross_attention_dim=cross_attention_dim, **kwargs)
    raise ValueError(f"there is no {kind}")


class UNet2DModel(nn.Layer, ConfigMixin):
    def __init__(
        self,
        in_channels: int = 3,
        block_out_channels: Tuple[int, ...] = (4, 8),
        down_block_types: Tuple[str, ...] = ("DownBlock2D", "CrossAttnDownBlock2D"),
        layers_per_block: int = 2,
        cross_attention_dim: Optional[int] = None,
        num_class_embeds: Optional[int] = None,
        center_input_sample: bool = False,
        resnet_time_scale_shift: str = "default",
        dropout: float = 0.0,
    ):
        super().__init__()
        self.register_to_config(**{k: v for k, v in locals().items() if k != "self"})
        time_embed_dim = block_out_channels[0] * 4
        common = dict(temb_channels=time_embed_dim, dropout=dropout, norm=resnet_time_scale_shift)
        self.time_embedding = TimestepEmbedding(block_out_channels[0], time_embed_dim)
        self.class_embedding = nn.Embedding(num_class_embeds, time_embed_dim) if num_class_embeds else None
        self.conv_in = nn.Conv2D(in_channels, block_out_channels[0], 3, padding=1)
        self.down_blocks, self.up_blocks = nn.LayerList([]), nn.LayerList([])
        output_channel, skips = block_out_channels[0], [block_out_channels[0]]
        for i, kind in enumerate(down_block_types):
            input_channel, output_channel = output_channel, block_out_channels[i]
            last = i == len(block_out_channels) - 1
            self.down_blocks.append(
                get_down_block(
                    kind,
                    input_channel,
                    output_channel,
                    layers_per_block,
                    not last,
                    cross_attention_dim=cross_attention_dim,
                    **common,
                )
            )
            skips += [output_channel] * (layers_per_block + (not last))
        self.mid_block = nn.LayerList(
            [ResnetBlock2D(in_channels=output_channel, **common), SpatialAttention(output_channel)]
        )
        for i, channel in enumerate(reversed(block_out_channels)):
            taken = [skips.pop() for _ in range(layers_per_block + 1)]
            last = i == len(block_out_channels) - 1
            self.up_blocks.append(UpBlock2D(taken, output_channel, channel, not last, **common))
            output_channel = channel
        self.conv_norm_out = nn.GroupNorm(2, output_channel)
        self.conv_out = nn.Conv2D(output_channel, in_channels, 3, padding=1)

    def get_time(self, sample, timestep):
        timesteps = timestep
        if not isinstance(timesteps, paddle.Tensor):
            timesteps = paddle.to_tensor([timesteps], dtype="int64")
        elif len(timesteps.shape) == 0:
            timesteps = timesteps[None]
        return timesteps.expand([sample.shape[0]])

    def forward(
        self,
        sample: paddle.Tensor,
        timestep: Union[paddle.Tensor, float, int],
        encoder_hidden_states: Optional[paddle.Tensor] = None,
        class_labels: Optional[paddle.Tensor] = None,
        return_dict: bool = True,
    ) -> Union[UNetOutput, Tuple]:
        overall_up_factor = 2 ** (len(self.up_blocks) - 1)
        forward_upsample_size = False
        if any(s % overall_up_factor != 0 for s in sample.shape[-2:]):
            forward_upsample_size = True
        if self.config.center_input_sample:
            sample = 2 * sample - 1.0
        timesteps = self.get_time(sample, timestep)
        t_emb = get_timestep_embedding(timesteps, self.config.block_out_channels[0])
        emb = self.time_embedding(t_emb.astype(sample.dtype))
        if self.class_embedding is not None:
            if class_labels is None:
                raise ValueError("class_labels are needed where num_class_embeds is given")
            emb = emb + self.class_embedding(class_labels)
        sample = self.conv_in(sample)
        down_block_res_samples = (sample,)
        for block in self.down_blocks:
            if hasattr(block, "has_cross_attention") and block.has_cross_attention:
                sample, res = block(hidden_states=sample, temb=emb, encoder_hidden_states=encoder_hidden_states)
            else:
                sample, res = block(hidden_states=sample, temb=emb)
            down_block_res_samples += res
        resnet, attention = self.mid_block
        sample = attention(resnet(sample, emb))
        upsample_size = None
        for i, block in enumerate(self.up_blocks):
            is_final_block = i == len(self.up_blocks) - 1
            res_samples = down_block_res_samples[-len(block.resnets) :]
            down_block_res_samples = down_block_res_samples[: -len(block.resnets)]
            if not is_final_block and forward_upsample_size:
                upsample_size = down_block_res_samples[-1].shape[2:]
            sample = block(sample, res_samples, temb=emb, upsample_size=upsample_size)
        sample = self.conv_out(F.silu(self.conv_norm_out(sample)))
        if not return_dict:
            return (sample,)
        return UNetOutput(sample=sample)
