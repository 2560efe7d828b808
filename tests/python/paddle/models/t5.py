"""An encoder and a decoder with buckets of relative positions, and caches of both kinds of attention."""

import copy
import math
from dataclasses import dataclass
from typing import Optional, Tuple

import paddle
import paddle.nn.functional as F
from paddle import nn

from .base import ACTIVATIONS, Config, ModelOutput, PretrainedModel


class T5Config(Config):
    model_type = "t5"
    attribute_map = {"hidden_size": "d_model", "num_attention_heads": "num_heads", "num_hidden_layers": "num_layers"}

    def __init__(self, vocab_size=40, d_model=16, d_kv=4, d_ff=24, num_layers=2, num_heads=4, **kwargs):
        self.vocab_size, self.d_model, self.d_kv, self.d_ff = vocab_size, d_model, d_kv, d_ff
        self.num_layers = num_layers
        self.num_decoder_layers = kwargs.pop("num_decoder_layers", None) or num_layers
        self.num_heads = num_heads
        self.relative_attention_num_buckets = kwargs.pop("relative_attention_num_buckets", 8)
        self.relative_attention_max_distance = kwargs.pop("relative_attention_max_distance", 16)
        self.dropout_rate = kwargs.pop("dropout_rate", 0.1)
        self.layer_norm_epsilon = kwargs.pop("layer_norm_epsilon", 1e-6)
        self.feed_forward_proj = kwargs.pop("feed_forward_proj", "relu")
        *gated, act = self.feed_forward_proj.split("-")
        self.dense_act_fn, self.is_gated_act = act, gated == ["gated"]
        self.decoder_start_token_id = kwargs.pop("decoder_start_token_id", 0)
        self.pad_token_id = kwargs.pop("pad_token_id", 0)
        self.is_decoder = kwargs.pop("is_decoder", False)
        super().__init__(**kwargs)


@dataclass
class StackOutput(ModelOutput):
    last_hidden_state: paddle.Tensor = None
    past_key_values: Optional[Tuple] = None
    hidden_states: Optional[Tuple] = None


@dataclass
class Seq2SeqLMOutput(ModelOutput):
    loss: Optional[paddle.Tensor] = None
    logits: paddle.Tensor = None
    past_key_values: Optional[Tuple] = None
    encoder_last_hidden_state: Optional[paddle.Tensor] = None


class T5LayerNorm(nn.Layer):
    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = self.create_parameter([hidden_size], default_initializer=nn.initializer.Constant(1.0))
        self.variance_epsilon = eps

    def forward(self, hidden_states):
        variance = paddle.pow(hidden_states.astype(paddle.float32), 2).mean(axis=-1, keepdim=True)
        hidden_states = hidden_states * paddle.rsqrt(variance + self.variance_epsilon)
        if self.weight.dtype in [paddle.float16, paddle.bfloat16]:
            hidden_states = hidden_states.astype(self.weight.dtype)
        return self.weight * hidden_states


class T5FeedForward(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.wi = nn.Linear(config.d_model, config.d_ff, bias_attr=False)
        self.gate = nn.Linear(config.d_model, config.d_ff, bias_attr=False) if config.is_gated_act else None
        self.wo = nn.Linear(config.d_ff, config.d_model, bias_attr=False)
        self.dropout = nn.Dropout(config.dropout_rate)
        self.layer_norm = T5LayerNorm(config.d_model, eps=config.layer_norm_epsilon)
        self.act = ACTIVATIONS[config.dense_act_fn]

    def forward(self, hidden_states):
        normed = self.layer_norm(hidden_states)
        inner = self.act(self.wi(normed))
        if self.gate is not None:
            inner = inner * self.gate(normed)
        return hidden_states + self.dropout(self.wo(self.dropout(inner)))


class T5Attention(nn.Layer):
    def __init__(self, config, has_relative_attention_bias=False):
        super().__init__()
        self.is_decoder = config.is_decoder
        self.has_relative_attention_bias = has_relative_attention_bias
        self.num_buckets = config.relative_attention_num_buckets
        self.max_distance = config.relative_attention_max_distance
        self.n_heads, self.d_kv = config.num_heads, config.d_kv
        self.inner_dim = self.n_heads * self.d_kv
        for name in ("q", "k", "v"):
            setattr(self, name, nn.Linear(config.d_model, self.inner_dim, bias_attr=False))
        self.o = nn.Linear(self.inner_dim, config.d_model, bias_attr=False)
        self.dropout = config.dropout_rate
        if has_relative_attention_bias:
            self.relative_attention_bias = nn.Embedding(self.num_buckets, self.n_heads)

    @staticmethod
    def _relative_position_bucket(relative_position, bidirectional=True, num_buckets=32, max_distance=128):
        """Near distances have a bucket each, far ones share buckets that widen with the logarithm."""
        relative_buckets = 0
        if bidirectional:
            num_buckets //= 2
            relative_buckets += (relative_position > 0).astype("int64") * num_buckets
            relative_position = paddle.abs(relative_position)
        else:
            relative_position = -paddle.minimum(relative_position, paddle.zeros_like(relative_position))
        max_exact = num_buckets // 2
        is_small = relative_position < max_exact
        far = paddle.log(relative_position.astype("float32") / max_exact) / math.log(max_distance / max_exact)
        if_large = max_exact + (far * (num_buckets - max_exact)).astype("int64")
        if_large = paddle.minimum(if_large, paddle.full_like(if_large, num_buckets - 1))
        relative_buckets += paddle.where(is_small, relative_position, if_large)
        return relative_buckets

    def compute_bias(self, query_length, key_length):
        context_position = paddle.arange(query_length, dtype="int64")[:, None]
        memory_position = paddle.arange(key_length, dtype="int64")[None, :]
        buckets = self._relative_position_bucket(
            memory_position - context_position,
            bidirectional=(not self.is_decoder),
            num_buckets=self.num_buckets,
            max_distance=self.max_distance,
        )
        return self.relative_attention_bias(buckets).transpose([2, 0, 1]).unsqueeze(0)

    def forward(self, hidden_states, mask=None, key_value_states=None, position_bias=None, past=None, use_cache=False):
        batch_size, seq_length = hidden_states.shape[:2]
        real_seq_length = seq_length
        if past is not None:
            if len(past) != 2:
                raise ValueError(f"a cache has two states, not {len(past)}")
            real_seq_length += past[0].shape[2]
        key_length = real_seq_length if key_value_states is None else key_value_states.shape[1]

        def shape(states):
            return states.reshape([batch_size, -1, self.n_heads, self.d_kv]).transpose([0, 2, 1, 3])

        def unshape(states):
            return states.transpose([0, 2, 1, 3]).reshape([batch_size, -1, self.inner_dim])

        def project(states, proj_layer, key_value_states, past_states):
            if key_value_states is None:
                states = shape(proj_layer(states))
                return states if past_states is None else paddle.concat([past_states, states], axis=2)
            return shape(proj_layer(key_value_states)) if past_states is None else past_states

        query = shape(self.q(hidden_states))
        key = project(hidden_states, self.k, key_value_states, past[0] if past is not None else None)
        value = project(hidden_states, self.v, key_value_states, past[1] if past is not None else None)
        scores = paddle.matmul(query, key, transpose_y=True)
        if position_bias is None:
            if not self.has_relative_attention_bias:
                position_bias = paddle.zeros([1, self.n_heads, real_seq_length, key_length], dtype=scores.dtype)
            else:
                position_bias = self.compute_bias(real_seq_length, key_length)
            if past is not None:
                position_bias = position_bias[:, :, -hidden_states.shape[1] :, :]
            if mask is not None:
                position_bias = position_bias + mask
        weights = F.softmax((scores + position_bias).astype("float32"), axis=-1).astype(scores.dtype)
        weights = F.dropout(weights, p=self.dropout, training=self.training)
        present = (key, value) if self.is_decoder and use_cache else None
        return self.o(unshape(paddle.matmul(weights, value))), present, position_bias


class T5Residual(nn.Layer):
    """Attention of one kind, with the norm before and the sum behind."""

    def __init__(self, config, has_relative_attention_bias=False):
        super().__init__()
        self.attention = T5Attention(config, has_relative_attention_bias)
        self.layer_norm = T5LayerNorm(config.d_model, eps=config.layer_norm_epsilon)
        self.dropout = nn.Dropout(config.dropout_rate)

    def forward(self, hidden_states, **kwargs):
        output, *rest = self.attention(self.layer_norm(hidden_states), **kwargs)
        return (hidden_states + self.dropout(output),) + tuple(rest)


class T5Block(nn.Layer):
    def __init__(self, config, has_relative_attention_bias=False):
        super().__init__()
        self.is_decoder = config.is_decoder
        self.layer = nn.LayerList()
        self.layer.append(T5Residual(config, has_relative_attention_bias))
        if self.is_decoder:
            self.layer.append(T5Residual(config))
        self.layer.append(T5FeedForward(config))

    def forward(self, hidden_states, mask, position_bias, encoded, encoded_mask, cross_bias, past, use_cache):
        self_past, cross_past = (past[:2], past[2:]) if past is not None else (None, None)
        hidden_states, present, position_bias = self.layer[0](
            hidden_states, mask=mask, position_bias=position_bias, past=self_past, use_cache=use_cache
        )
        if self.is_decoder and encoded is not None:
            hidden_states, cross_present, cross_bias = self.layer[1](
                hidden_states,
                mask=encoded_mask,
                key_value_states=encoded,
                position_bias=cross_bias,
                past=cross_past,
                use_cache=use_cache,
            )
            if present is not None:
                present = present + cross_present
        return self.layer[-1](hidden_states), present, position_bias, cross_bias


class T5PretrainedModel(PretrainedModel):
    config_class = T5Config

    def _init_weights(self, layer):
        if isinstance(layer, (nn.Linear, nn.Embedding)):
            layer.weight.set_value(paddle.normal(0.0, 0.3, shape=layer.weight.shape))

    def _shift_right(self, labels):
        start = self.config.decoder_start_token_id
        assert start is not None, "a decoder wants a token to start with"
        shifted = paddle.concat([paddle.full([labels.shape[0], 1], start, labels.dtype), labels[:, :-1]], axis=-1)
        return paddle.where(shifted == -100, paddle.full_like(shifted, self.config.pad_token_id), shifted)


class T5Stack(T5PretrainedModel):
    def __init__(self, config, embed_tokens=None):
        super().__init__(config)
        self.embed_tokens = embed_tokens
        self.is_decoder = config.is_decoder
        self.block = nn.LayerList([T5Block(config, i == 0) for i in range(config.num_layers)])
        self.final_layer_norm = T5LayerNorm(config.d_model, eps=config.layer_norm_epsilon)
        self.dropout = nn.Dropout(config.dropout_rate)

    def get_extended_attention_mask(self, attention_mask, dtype, queries=None):
        if self.is_decoder and attention_mask.ndim == 2:
            batch, keys = attention_mask.shape
            ids = paddle.arange(keys)
            causal = ids[None, None, :].tile([batch, keys, 1]) <= ids[None, :, None]
            attention_mask = causal.astype(dtype) * attention_mask[:, None, :].astype(dtype)
            attention_mask = attention_mask[:, -queries:]
        return super().get_extended_attention_mask(attention_mask, dtype)

    def forward(self, input_ids, attention_mask=None, encoded=None, encoded_mask=None, past=None, use_cache=None):
        batch_size, seq_length = input_ids.shape
        mask_length = past[0][0].shape[2] + seq_length if past is not None else seq_length
        if use_cache is True and not self.is_decoder:
            raise ValueError("only a decoder has a cache")
        embeds = self.embed_tokens(input_ids)
        if attention_mask is None:
            attention_mask = paddle.ones([batch_size, mask_length])
        mask = self.get_extended_attention_mask(attention_mask, embeds.dtype, seq_length)
        if encoded is not None:
            if encoded_mask is None:
                encoded_mask = paddle.ones(encoded.shape[:2])
            encoded_mask = (1.0 - encoded_mask[:, None, None, :].astype(embeds.dtype)) * -1e9
        if past is None:
            past = [None] * len(self.block)
        presents = () if use_cache else None
        bias = cross_bias = None
        hidden_states = self.dropout(embeds)
        for layer_module, layer_past in zip(self.block, past):
            hidden_states, present, bias, cross_bias = layer_module(
                hidden_states, mask, bias, encoded, encoded_mask, cross_bias, layer_past, use_cache
            )
            if use_cache:
                presents += (present,)
        return StackOutput(self.dropout(self.final_layer_norm(hidden_states)), past_key_values=presents)


class T5ForConditionalGeneration(T5PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.shared = nn.Embedding(config.vocab_size, config.d_model)
        encoder_config = copy.deepcopy(config)
        encoder_config.is_decoder = encoder_config.use_cache = False
        self.encoder = T5Stack(encoder_config, self.shared)
        decoder_config = copy.deepcopy(config)
        decoder_config.is_decoder = True
        decoder_config.num_layers = config.num_decoder_layers
        self.decoder = T5Stack(decoder_config, self.shared)
        self.post_init()

    def forward(self, input_ids=None, attention_mask=None, decoder_input_ids=None, labels=None, **kwargs):
        encoder_outputs, past = kwargs.pop("encoder_outputs", None), kwargs.pop("past_key_values", None)
        use_cache = kwargs.pop("use_cache", self.config.use_cache)
        if encoder_outputs is None:
            encoder_outputs = self.encoder(input_ids, attention_mask)
        elif not isinstance(encoder_outputs, StackOutput):
            encoder_outputs = StackOutput(*encoder_outputs)
        encoded = encoder_outputs[0]
        if labels is not None and decoder_input_ids is None:
            decoder_input_ids = self._shift_right(labels)
        if past is not None:
            decoder_input_ids = decoder_input_ids[:, -1:]
        decoded = self.decoder(
            decoder_input_ids, encoded=encoded, encoded_mask=attention_mask, past=past, use_cache=use_cache
        )
        sequence = decoded.last_hidden_state * (self.config.hidden_size**-0.5)
        logits = paddle.matmul(sequence, self.shared.weight, transpose_y=True)
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits.reshape([-1, logits.shape[-1]]), labels.flatten(), ignore_index=-100)
        return Seq2SeqLMOutput(
            loss=loss,
            logits=logits,
            past_key_values=decoded.past_key_values,
            encoder_last_hidden_state=encoder_outputs.last_hidden_state,
        )

    @paddle.no_grad()
    def generate(self, input_ids, max_new_tokens=5, **_):
        """Greedy, with what the encoder says computed once."""
        encoder_outputs = self.encoder(input_ids)
        tokens = paddle.full([input_ids.shape[0], 1], self.config.decoder_start_token_id, input_ids.dtype)
        past, every = None, []
        for _ in range(max_new_tokens):
            out = self(decoder_input_ids=tokens, encoder_outputs=encoder_outputs, past_key_values=past)
            past = out.past_key_values
            every.append(out.logits)
            tokens = paddle.concat([tokens, out.logits[:, -1:].argmax(axis=-1)], axis=-1)
        return tokens, every
