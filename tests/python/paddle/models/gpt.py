"""A decoder with learned positions; its cache is a tuple of pairs of tensors."""

from typing import Optional, Tuple

import paddle
import paddle.nn.functional as F
from paddle import Tensor, nn

from .base import ACTIVATIONS, Config, PretrainedModel, warn_once
from .generation import CausalLMOutput, GenerationMixin


class GPTConfig(Config):
    model_type = "gpt"
    attribute_map = {
        "hidden_size": "n_embd",
        "max_position_embeddings": "n_positions",
        "num_attention_heads": "n_head",
        "num_hidden_layers": "n_layer",
    }
    keys_to_ignore_at_inference = ["past_key_values"]

    def __init__(self, vocab_size=40, n_positions=32, n_embd=16, n_layer=2, n_head=2, n_inner=None, **kwargs):
        self.vocab_size = vocab_size
        self.n_positions = n_positions
        self.n_embd = n_embd
        self.n_layer = n_layer
        self.n_head = n_head
        self.n_inner = n_inner
        self.activation_function = kwargs.pop("activation_function", "gelu")
        self.pdrop = kwargs.pop("pdrop", 0.1)
        self.scale_attn_by_inverse_layer_idx = kwargs.pop("scale_attn_by_inverse_layer_idx", False)
        self.tie_word_embeddings = kwargs.pop("tie_word_embeddings", True)
        super().__init__(**kwargs)


class GPTAttention(nn.Layer):
    def __init__(self, config, layer_idx=None):
        super().__init__()
        limit = config.max_position_embeddings
        causal = paddle.tril(paddle.ones([limit, limit], dtype="bool")).reshape([1, 1, limit, limit])
        self.register_buffer("bias", causal, persistable=False)
        self.embed_dim = config.hidden_size
        self.num_heads = config.num_attention_heads
        self.head_dim = self.embed_dim // self.num_heads
        if self.head_dim * self.num_heads != self.embed_dim:
            raise ValueError(f"{self.embed_dim=} is no multiple of {self.num_heads=}")
        self.config = config
        self.layer_idx = layer_idx
        self.c_attn = nn.Linear(self.embed_dim, 3 * self.embed_dim)
        self.c_proj = nn.Linear(self.embed_dim, self.embed_dim)
        self.attn_dropout = nn.Dropout(config.pdrop)
        self.resid_dropout = nn.Dropout(config.pdrop)

    def _attn(self, query, key, value, attention_mask=None):
        weights = paddle.matmul(query, key.transpose([0, 1, 3, 2]))
        weights = weights / (value.shape[-1] ** 0.5)
        if self.config.scale_attn_by_inverse_layer_idx:
            weights = weights / float(self.layer_idx + 1)
        query_length, key_length = query.shape[-2], key.shape[-2]
        causal_mask = self.bias[:, :, key_length - query_length : key_length, :key_length]
        mask_value = paddle.full([], paddle.finfo(weights.dtype).min, dtype=weights.dtype)
        weights = paddle.where(causal_mask, weights, mask_value)
        if attention_mask is not None:
            weights = weights + attention_mask
        weights = self.attn_dropout(F.softmax(weights, axis=-1).astype(value.dtype))
        return paddle.matmul(weights, value), weights

    def _split_heads(self, tensor, num_heads, head_dim):
        return tensor.reshape([*tensor.shape[:-1], num_heads, head_dim]).transpose([0, 2, 1, 3])

    def _merge_heads(self, tensor, num_heads, head_dim):
        tensor = tensor.transpose([0, 2, 1, 3])
        return tensor.reshape([*tensor.shape[:-2], num_heads * head_dim])

    def forward(self, hidden_states, layer_past: Optional[Tuple[Tensor, Tensor]] = None, mask=None, use_cache=False):
        query, key, value = self.c_attn(hidden_states).split(3, axis=2)
        query, key, value = (self._split_heads(t, self.num_heads, self.head_dim) for t in (query, key, value))
        if layer_past is not None:
            past_key, past_value = layer_past
            key = paddle.concat((past_key, key), axis=-2)
            value = paddle.concat((past_value, value), axis=-2)
        present = (key, value) if use_cache is True else None
        output, _ = self._attn(query, key, value, mask)
        output = self.c_proj(self._merge_heads(output, self.num_heads, self.head_dim))
        return self.resid_dropout(output), present


class GPTBlock(nn.Layer):
    def __init__(self, config, layer_idx=None):
        super().__init__()
        hidden_size = config.hidden_size
        inner_dim = config.n_inner if config.n_inner is not None else 4 * hidden_size
        self.ln_1 = nn.LayerNorm(hidden_size)
        self.attn = GPTAttention(config, layer_idx=layer_idx)
        self.ln_2 = nn.LayerNorm(hidden_size)
        self.c_fc = nn.Linear(hidden_size, inner_dim)
        self.c_proj = nn.Linear(inner_dim, hidden_size)
        self.act = ACTIVATIONS[config.activation_function]
        self.dropout = nn.Dropout(config.pdrop)

    def mlp(self, hidden_states):
        return self.dropout(self.c_proj(self.act(self.c_fc(hidden_states))))

    def forward(self, hidden_states, layer_past=None, attention_mask=None, use_cache=False):
        residual = hidden_states
        attended, *rest = self.attn(self.ln_1(hidden_states), layer_past, attention_mask, use_cache)
        hidden_states = attended + residual
        residual = hidden_states
        hidden_states = residual + self.mlp(self.ln_2(hidden_states))
        return (hidden_states, *rest) if use_cache else (hidden_states,)


class GPTPretrainedModel(PretrainedModel):
    config_class = GPTConfig
    base_model_prefix = "transformer"
    supports_gradient_checkpointing = True

    def _init_weights(self, layer):
        if isinstance(layer, (nn.Linear, nn.Embedding)):
            layer.weight.set_value(paddle.normal(0.0, 0.2, shape=layer.weight.shape))
        for name, p in layer.named_parameters(include_sublayers=False):
            if "c_proj" in name and "weight" in name:
                p.set_value(p / (2 * self.config.n_layer) ** 0.5)


class GPTModel(GPTPretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.wte = nn.Embedding(config.vocab_size, config.hidden_size)
        self.wpe = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.drop = nn.Dropout(config.pdrop)
        self.h = nn.LayerList([GPTBlock(config, layer_idx=i) for i in range(config.num_hidden_layers)])
        self.ln_f = nn.LayerNorm(config.hidden_size)
        self.gradient_checkpointing = False
        self.post_init()

    def forward(
        self,
        input_ids,
        past_key_values=None,
        attention_mask=None,
        use_cache=None,
        output_hidden_states=None,
    ):
        config = self.config
        output_hidden_states = output_hidden_states if output_hidden_states is not None else config.output_hidden_states
        use_cache = use_cache if use_cache is not None else config.use_cache
        input_shape = input_ids.shape
        input_ids = input_ids.reshape([-1, input_shape[-1]])
        batch_size = input_ids.shape[0]
        if past_key_values is None:
            past_length = 0
            past_key_values = tuple([None] * len(self.h))
        else:
            past_length = past_key_values[0][0].shape[-2]
        position_ids = paddle.arange(past_length, input_shape[-1] + past_length, dtype="int64")
        position_ids = position_ids.unsqueeze(0).reshape([-1, input_shape[-1]])
        if attention_mask is not None:
            attention_mask = attention_mask.reshape([batch_size, -1])[:, None, None, :].astype(self.dtype)
            attention_mask = (1.0 - attention_mask) * self.lowest(self.dtype)
        hidden_states = self.drop(self.wte(input_ids) + self.wpe(position_ids))
        if self.gradient_checkpointing and self.training and use_cache:
            warn_once(self, "_told_of_cache", "no cache where gradients are recomputed")
            use_cache = False
        presents = () if use_cache else None
        all_hidden_states = () if output_hidden_states else None
        for block, layer_past in zip(self.h, past_key_values):
            if output_hidden_states:
                all_hidden_states = all_hidden_states + (hidden_states,)
            outputs = block(hidden_states, layer_past=layer_past, attention_mask=attention_mask, use_cache=use_cache)
            hidden_states = outputs[0]
            if use_cache is True:
                presents = presents + (outputs[1],)
        hidden_states = self.ln_f(hidden_states).reshape([*input_shape, hidden_states.shape[-1]])
        if output_hidden_states:
            all_hidden_states = all_hidden_states + (hidden_states,)
        return hidden_states, presents, all_hidden_states


class GPTForCausalLM(GPTPretrainedModel, GenerationMixin):
    def __init__(self, config):
        super().__init__(config)
        self.transformer = GPTModel(config)
        if not config.tie_word_embeddings:
            self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias_attr=False)

    def get_output_embeddings(self):
        return getattr(self, "lm_head", None)

    def compute_logits(self, hidden_states):
        head = self.get_output_embeddings()
        if head is not None:
            return head(hidden_states)
        return paddle.matmul(hidden_states, self.transformer.wte.weight, transpose_y=True)

    def forward(self, input_ids=None, past_key_values=None, attention_mask=None, labels=None, **kwargs):
        return_dict = kwargs.pop("return_dict", None)
        return_dict = self.config.use_return_dict if return_dict is None else return_dict
        hidden_states, *others = self.transformer(input_ids, past_key_values, attention_mask, **kwargs)
        logits = self.compute_logits(hidden_states)
        loss = None
        if labels is not None:
            shifted, wanted = logits[..., :-1, :], labels[..., 1:]
            loss = F.cross_entropy(shifted.reshape([-1, shifted.shape[-1]]), wanted.reshape([-1]))
        if not return_dict:
            output = (logits, *[o for o in others if o is not None])
            return (loss, *output) if loss is not None else output
        return CausalLMOutput(loss, logits, past_key_values=others[0], hidden_states=others[1])
