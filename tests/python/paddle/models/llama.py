"""A decoder with rotary positions whose tables grow, grouped heads, root mean squares, and a cache object."""

from functools import lru_cache, partial
from typing import Any, Dict, List, Optional, Tuple

import paddle
import paddle.nn.functional as F
from paddle import nn

from .base import ACTIVATIONS, Config, PretrainedModel, is_available, logger
from .generation import CausalLMOutput, GenerationMixin


class LlamaConfig(Config):
    model_type = "llama"
    attribute_map = {"n_layer": "num_hidden_layers", "rms_norm_epsilon": "rms_norm_eps"}

    def __init__(
        self,
        vocab_size=40,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=None,
        hidden_act="silu",
        max_position_embeddings=8,
        rms_norm_eps=1e-6,
        rope_theta=10000.0,
        rope_scaling=None,
        attn_implementation="eager",
        **kwargs,
    ):
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.intermediate_size = intermediate_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.num_key_value_heads = num_attention_heads if num_key_value_heads is None else num_key_value_heads
        self.hidden_act = hidden_act
        self.max_position_embeddings = max_position_embeddings
        self.rms_norm_eps = rms_norm_eps
        self.rope_theta = rope_theta
        self.rope_scaling = rope_scaling
        self._attn_implementation = attn_implementation
        self._validate_rope_scaling()
        super().__init__(**kwargs)

    def _validate_rope_scaling(self):
        if self.rope_scaling is None:
            return
        if not isinstance(self.rope_scaling, dict) or set(self.rope_scaling) != {"type", "factor"}:
            raise ValueError(f"rope_scaling wants a type and a factor, not {self.rope_scaling}")


class DynamicCache:
    """Keys and values by layer, which grow with each call."""

    def __init__(self):
        self.key_cache: List[paddle.Tensor] = []
        self.value_cache: List[paddle.Tensor] = []
        self._seen_tokens = 0

    def __getitem__(self, layer_idx):
        if layer_idx < len(self):
            return self.key_cache[layer_idx], self.value_cache[layer_idx]
        raise KeyError(f"the cache has {len(self)} layers, none at {layer_idx}")

    def __iter__(self):
        for layer_idx in range(len(self)):
            yield self.key_cache[layer_idx], self.value_cache[layer_idx]

    def __len__(self):
        return len(self.key_cache)

    def update(self, keys, values, layer_idx, cache_kwargs: Optional[Dict[str, Any]] = None):
        if layer_idx == 0:
            self._seen_tokens += keys.shape[-2]
        if len(self.key_cache) <= layer_idx:
            self.key_cache.append(keys)
            self.value_cache.append(values)
        else:
            self.key_cache[layer_idx] = paddle.concat([self.key_cache[layer_idx], keys], axis=-2)
            self.value_cache[layer_idx] = paddle.concat([self.value_cache[layer_idx], values], axis=-2)
        return self.key_cache[layer_idx], self.value_cache[layer_idx]

    def get_seq_length(self, layer_idx=0):
        return 0 if len(self.key_cache) <= layer_idx else self.key_cache[layer_idx].shape[-2]

    @classmethod
    def from_legacy_cache(cls, past_key_values: Optional[Tuple] = None):
        cache = cls()
        for layer_idx, (keys, values) in enumerate(past_key_values or ()):
            cache.update(keys, values, layer_idx)
        return cache

    def to_legacy_cache(self):
        return tuple(self)


class LlamaRMSNorm(nn.Layer):
    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = self.create_parameter([hidden_size], default_initializer=nn.initializer.Constant(1.0))
        self.variance_epsilon = eps

    def forward(self, hidden_states):
        input_dtype = hidden_states.dtype
        hidden_states = hidden_states.astype("float32")
        variance = hidden_states.pow(2).mean(-1, keepdim=True)
        hidden_states = hidden_states * paddle.rsqrt(variance + self.variance_epsilon)
        return self.weight * hidden_states.astype(input_dtype)

    def extra_repr(self):
        return f"{tuple(self.weight.shape)}, eps={self.variance_epsilon}"


class LlamaRotaryEmbedding(nn.Layer):
    def __init__(self, dim, max_position_embeddings=8, base=10000.0):
        super().__init__()
        self.dim, self.base, self.max_position_embeddings = dim, base, max_position_embeddings
        self._set_cos_sin_cache(seq_len=max_position_embeddings)

    def inverse_frequencies(self, seq_len):
        return 1.0 / (self.base ** (paddle.arange(0, self.dim, 2, dtype="float32") / self.dim))

    def _set_cos_sin_cache(self, seq_len):
        self.max_seq_len_cached = seq_len
        t = paddle.arange(seq_len, dtype="float32")
        freqs = paddle.einsum("i,j->ij", t, self.inverse_frequencies(seq_len))
        emb = paddle.concat([freqs, freqs], axis=-1)
        self.cos_cached = emb.cos()[None, :, None, :]
        self.sin_cached = emb.sin()[None, :, None, :]

    def forward(self, x, seq_len=None):
        if seq_len > self.max_seq_len_cached:
            self._set_cos_sin_cache(seq_len)
        return (
            self.cos_cached[:, :seq_len, :, :].astype(x.dtype),
            self.sin_cached[:, :seq_len, :, :].astype(x.dtype),
        )


class LlamaDynamicNTKScalingRotaryEmbedding(LlamaRotaryEmbedding):
    """Stretches its base where the text is longer than what it was trained with."""

    def __init__(self, *args, scaling_factor=1.0, **kwargs):
        self.scaling_factor = scaling_factor
        super().__init__(*args, **kwargs)

    def inverse_frequencies(self, seq_len):
        base = self.base
        if seq_len > self.max_position_embeddings:
            stretch = self.scaling_factor * seq_len / self.max_position_embeddings - (self.scaling_factor - 1)
            base = base * stretch ** (self.dim / (self.dim - 2))
        return 1.0 / (base ** (paddle.arange(0, self.dim, 2, dtype="float32") / self.dim))


def rotate_half(x):
    half = x.shape[-1] // 2
    return paddle.concat([-x[..., half:], x[..., :half]], axis=-1)


def apply_rotary_pos_emb(q, k, cos, sin, position_ids):
    cos = cos.squeeze(axis=[0, 2])[position_ids].unsqueeze(1)
    sin = sin.squeeze(axis=[0, 2])[position_ids].unsqueeze(1)
    return (q * cos) + (rotate_half(q) * sin), (k * cos) + (rotate_half(k) * sin)


def repeat_kv(hidden_states, n_rep):
    batch, num_key_value_heads, slen, head_dim = hidden_states.shape
    if n_rep == 1:
        return hidden_states
    hidden_states = hidden_states[:, :, None, :, :].expand([batch, num_key_value_heads, n_rep, slen, head_dim])
    return hidden_states.reshape([batch, num_key_value_heads * n_rep, slen, head_dim])


def eager_attention(module, query, key, value, mask, scaling):
    weights = paddle.matmul(query, key.transpose([0, 1, 3, 2])) * scaling
    if mask is not None:
        weights = weights + mask[:, :, :, : key.shape[-2]]
    weights = F.softmax(weights.astype("float32"), axis=-1).astype(query.dtype)
    return paddle.matmul(weights, value)


def sdpa_attention(module, query, key, value, mask, scaling):
    query, key, value = [t.transpose([0, 2, 1, 3]) for t in (query, key, value)]
    mask = mask.expand([query.shape[0], 1, query.shape[1], key.shape[1]]) if mask is not None else None
    out = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, training=module.training)
    return out.transpose([0, 2, 1, 3])


ALL_ATTENTION_FUNCTIONS = {"eager": eager_attention, "sdpa": sdpa_attention}


class LlamaAttention(nn.Layer):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.config = config
        self.layer_idx = layer_idx
        self.head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        self.num_heads = config.num_attention_heads
        self.num_key_value_heads = config.num_key_value_heads
        self.num_key_value_groups = self.num_heads // self.num_key_value_heads
        linear = partial(nn.Linear, bias_attr=False)
        self.q_proj = linear(config.hidden_size, self.num_heads * self.head_dim)
        self.k_proj = linear(config.hidden_size, self.num_key_value_heads * self.head_dim)
        self.v_proj = linear(config.hidden_size, self.num_key_value_heads * self.head_dim)
        self.o_proj = linear(self.num_heads * self.head_dim, config.hidden_size)
        self._init_rope()

    def _init_rope(self):
        kwargs = {"max_position_embeddings": self.config.max_position_embeddings, "base": self.config.rope_theta}
        if self.config.rope_scaling is None:
            self.rotary_emb = LlamaRotaryEmbedding(self.head_dim, **kwargs)
        elif (kind := self.config.rope_scaling["type"]) == "dynamic":
            factor = self.config.rope_scaling["factor"]
            self.rotary_emb = LlamaDynamicNTKScalingRotaryEmbedding(self.head_dim, scaling_factor=factor, **kwargs)
        else:
            raise ValueError(f"unknown kind of rope scaling: {kind}")

    def forward(self, hidden_states, attention_mask=None, position_ids=None, past_key_value=None):
        bsz, q_len, _ = hidden_states.shape
        query = self.q_proj(hidden_states).reshape([bsz, q_len, self.num_heads, self.head_dim])
        key = self.k_proj(hidden_states).reshape([bsz, q_len, self.num_key_value_heads, self.head_dim])
        value = self.v_proj(hidden_states).reshape([bsz, q_len, self.num_key_value_heads, self.head_dim])
        query, key, value = map(lambda t: t.transpose([0, 2, 1, 3]), (query, key, value))
        kv_seq_len = key.shape[-2]
        if past_key_value is not None:
            kv_seq_len += past_key_value.get_seq_length(self.layer_idx)
        cos, sin = self.rotary_emb(value, seq_len=kv_seq_len)
        query, key = apply_rotary_pos_emb(query, key, cos, sin, position_ids)
        if past_key_value is not None:
            key, value = past_key_value.update(key, value, self.layer_idx, {"sin": sin, "cos": cos})
        key, value = repeat_kv(key, self.num_key_value_groups), repeat_kv(value, self.num_key_value_groups)
        attention = eager_attention
        if self.config._attn_implementation != "eager":
            attention = ALL_ATTENTION_FUNCTIONS[self.config._attn_implementation]
        output = attention(self, query, key, value, attention_mask, self.head_dim**-0.5)
        if (size := list(output.shape)) != [bsz, self.num_heads, q_len, self.head_dim]:
            raise ValueError(f"the output should be of {(bsz, self.num_heads, q_len, self.head_dim)}, and is of {size}")
        return self.o_proj(output.transpose([0, 2, 1, 3]).reshape([bsz, q_len, -1])), past_key_value


class LlamaMLP(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias_attr=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias_attr=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias_attr=False)
        self.act_fn = ACTIVATIONS[config.hidden_act]

    def forward(self, x):
        if is_available("kernels"):
            raise NotImplementedError
        return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))


class LlamaDecoderLayer(nn.Layer):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.self_attn = LlamaAttention(config=config, layer_idx=layer_idx)
        self.mlp = LlamaMLP(config)
        self.input_layernorm = LlamaRMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.post_attention_layernorm = LlamaRMSNorm(config.hidden_size, eps=config.rms_norm_eps)

    def forward(self, hidden_states, **kwargs):
        residual = hidden_states
        attended, cache = self.self_attn(hidden_states=self.input_layernorm(hidden_states), **kwargs)
        hidden_states = residual + attended
        return hidden_states + self.mlp(self.post_attention_layernorm(hidden_states)), cache


@lru_cache(maxsize=None)
def mask_value(dtype_name):
    return float(paddle.finfo(getattr(paddle, dtype_name)).min)


def make_causal_mask(length, past, dtype):
    mask = paddle.triu(paddle.full([length, length], mask_value("float32"), dtype=dtype), diagonal=1)
    if past > 0:
        mask = paddle.concat([paddle.zeros([length, past], dtype=dtype), mask], axis=-1)
    return mask[None, None, :, :]


def expand_mask(mask, dtype, tgt_len):
    bsz, src_len = mask.shape
    inverted = 1.0 - mask[:, None, None, :].expand([bsz, 1, tgt_len, src_len]).astype(dtype)
    return paddle.where(inverted.astype("bool"), paddle.full_like(inverted, mask_value("float32")), inverted)


class LlamaPretrainedModel(PretrainedModel):
    config_class = LlamaConfig
    base_model_prefix = "model"

    def _init_weights(self, layer):
        if isinstance(layer, (nn.Linear, nn.Embedding)):
            layer.weight.set_value(paddle.normal(0.0, 0.3, shape=layer.weight.shape))


class LlamaModel(LlamaPretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.LayerList([LlamaDecoderLayer(config, i) for i in range(config.num_hidden_layers)])
        self.norm = LlamaRMSNorm(config.hidden_size, eps=config.rms_norm_epsilon)
        self.post_init()

    def _prepare_decoder_attention_mask(self, attention_mask, input_shape, embeds, past_length):
        combined = None
        if input_shape[-1] > 1:
            combined = make_causal_mask(input_shape[-1], past_length, embeds.dtype)
        if attention_mask is not None:
            expanded = expand_mask(attention_mask, embeds.dtype, tgt_len=input_shape[-1])
            combined = expanded if combined is None else paddle.maximum(expanded + combined, paddle.to_tensor(-1e30))
        return combined

    def forward(self, input_ids, attention_mask=None, past_key_values=None, use_cache=None, output_hidden_states=None):
        use_cache = use_cache if use_cache is not None else self.config.use_cache
        batch_size, seq_length = input_ids.shape[:2]
        past_length = 0
        return_legacy_cache = False
        if use_cache:
            if not isinstance(past_key_values, DynamicCache):
                return_legacy_cache = True
                past_key_values = DynamicCache.from_legacy_cache(past_key_values)
            past_length = past_key_values.get_seq_length()
        position_ids = paddle.arange(past_length, seq_length + past_length, dtype="int64")
        position_ids = position_ids.unsqueeze(0).expand([batch_size, seq_length])
        hidden_states = self.embed_tokens(input_ids)
        shape = [batch_size, seq_length]
        mask = self._prepare_decoder_attention_mask(attention_mask, shape, hidden_states, past_length)
        every = [] if output_hidden_states else None
        for decoder_layer in self.layers:
            if every is not None:
                every.append(hidden_states)
            hidden_states, cache = decoder_layer(
                hidden_states, attention_mask=mask, position_ids=position_ids, past_key_value=past_key_values
            )
        hidden_states = self.norm(hidden_states)
        if return_legacy_cache and use_cache:
            cache = cache.to_legacy_cache()
        return hidden_states, cache, None if every is None else tuple(every) + (hidden_states,)


class LlamaForCausalLM(LlamaPretrainedModel, GenerationMixin):
    _tied_weights_keys = ["lm_head.weight"]

    def __init__(self, config):
        super().__init__(config)
        self.model = LlamaModel(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias_attr=False)

    def forward(self, input_ids=None, attention_mask=None, past_key_values=None, labels=None, **kwargs):
        hidden_states, cache, every = self.base_model(input_ids, attention_mask, past_key_values, **kwargs)
        logits = self.lm_head(hidden_states).astype("float32")
        loss = None
        if labels is not None:
            shift_logits = logits[:, :-1, :].reshape([-1, self.config.vocab_size])
            loss = F.cross_entropy(shift_logits, labels[:, 1:].reshape([-1]), ignore_index=-100)
            logger.debug("loss of %d labels", len(labels.shape))
        return CausalLMOutput(loss=loss, logits=logits, past_key_values=cache, hidden_states=every)
