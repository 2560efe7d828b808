"""An encoder with absolute positions, a pooler, and heads for classes and for masked words."""

import math
from dataclasses import dataclass
from typing import Optional, Tuple

import paddle
import paddle.nn.functional as F
from paddle import nn

from .base import ACTIVATIONS, Config, ExplicitEnum, ModelOutput, PretrainedModel, first


class BertConfig(Config):
    model_type = "bert"
    attribute_map = {"num_classes": "num_labels", "dropout": "hidden_dropout_prob"}

    def __init__(
        self,
        vocab_size=40,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=32,
        hidden_act="gelu",
        hidden_dropout_prob=0.1,
        attention_probs_dropout_prob=0.1,
        max_position_embeddings=32,
        type_vocab_size=2,
        layer_norm_eps=1e-12,
        chunk_size_feed_forward=0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.intermediate_size = intermediate_size
        self.hidden_act = hidden_act
        self.hidden_dropout_prob = hidden_dropout_prob
        self.attention_probs_dropout_prob = attention_probs_dropout_prob
        self.max_position_embeddings = max_position_embeddings
        self.type_vocab_size = type_vocab_size
        self.layer_norm_eps = layer_norm_eps
        self.chunk_size_feed_forward = chunk_size_feed_forward


class ProblemType(ExplicitEnum):
    REGRESSION = "regression"
    SINGLE_LABEL = "single_label_classification"
    MULTI_LABEL = "multi_label_classification"


@dataclass
class EncoderOutput(ModelOutput):
    last_hidden_state: paddle.Tensor = None
    pooler_output: Optional[paddle.Tensor] = None
    hidden_states: Optional[Tuple[paddle.Tensor]] = None
    attentions: Optional[Tuple[paddle.Tensor]] = None


@dataclass
class ClassifierOutput(ModelOutput):
    loss: Optional[paddle.Tensor] = None
    logits: paddle.Tensor = None
    hidden_states: Optional[Tuple[paddle.Tensor]] = None
    attentions: Optional[Tuple[paddle.Tensor]] = None


class BertEmbeddings(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=0)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, epsilon=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.register_buffer("position_ids", paddle.arange(config.max_position_embeddings).unsqueeze(0))

    def forward(self, input_ids=None, token_type_ids=None, position_ids=None, inputs_embeds=None):
        input_shape = input_ids.shape if input_ids is not None else inputs_embeds.shape[:-1]
        seq_length = input_shape[1]
        if position_ids is None:
            position_ids = self.position_ids[:, :seq_length]
        if token_type_ids is None:
            token_type_ids = paddle.zeros(input_shape, dtype="int64")
        if inputs_embeds is None:
            inputs_embeds = self.word_embeddings(input_ids)
        embeddings = inputs_embeds + self.token_type_embeddings(token_type_ids)
        embeddings += self.position_embeddings(position_ids)
        return self.dropout(self.layer_norm(embeddings))


class BertSelfAttention(nn.Layer):
    def __init__(self, config):
        super().__init__()
        if config.hidden_size % config.num_attention_heads != 0 and not hasattr(config, "embedding_size"):
            raise ValueError(f"{config.hidden_size} is no multiple of {config.num_attention_heads}")
        self.num_attention_heads = config.num_attention_heads
        self.attention_head_size = int(config.hidden_size / config.num_attention_heads)
        self.all_head_size = self.num_attention_heads * self.attention_head_size
        self.query = nn.Linear(config.hidden_size, self.all_head_size)
        self.key = nn.Linear(config.hidden_size, self.all_head_size)
        self.value = nn.Linear(config.hidden_size, self.all_head_size)
        self.dropout = nn.Dropout(config.attention_probs_dropout_prob)

    def transpose_for_scores(self, x):
        new_shape = x.shape[:-1] + [self.num_attention_heads, self.attention_head_size]
        return x.reshape(new_shape).transpose([0, 2, 1, 3])

    def forward(self, hidden_states, attention_mask=None, head_mask=None, output_attentions=False):
        query = self.transpose_for_scores(self.query(hidden_states))
        key = self.transpose_for_scores(self.key(hidden_states))
        value = self.transpose_for_scores(self.value(hidden_states))
        scores = paddle.matmul(query, key, transpose_y=True) / math.sqrt(self.attention_head_size)
        if attention_mask is not None:
            scores = scores + attention_mask
        probs = self.dropout(F.softmax(scores, axis=-1))
        if head_mask is not None:
            probs = probs * head_mask
        context = paddle.matmul(probs, value).transpose([0, 2, 1, 3])
        context = context.reshape(context.shape[:-2] + [self.all_head_size])
        return (context, probs) if output_attentions else (context,)


class BertResidual(nn.Layer):
    def __init__(self, config, in_features):
        super().__init__()
        self.dense = nn.Linear(in_features, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, epsilon=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, hidden_states, input_tensor):
        return self.layer_norm(self.dropout(self.dense(hidden_states)) + input_tensor)


def apply_chunking_to_forward(forward_fn, chunk_size, chunk_dim, *tensors):
    assert len(tensors) > 0, f"{tensors} has to be a tuple of tensors"
    if chunk_size > 0:
        if tensors[0].shape[chunk_dim] % chunk_size != 0:
            raise ValueError(f"{tensors[0].shape[chunk_dim]} is no multiple of {chunk_size}")
        count = tensors[0].shape[chunk_dim] // chunk_size
        chunks = tuple(t.chunk(count, axis=chunk_dim) for t in tensors)
        return paddle.concat([forward_fn(*chunk) for chunk in zip(*chunks)], axis=chunk_dim)
    return forward_fn(*tensors)


class BertLayer(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.chunk_size_feed_forward = config.chunk_size_feed_forward
        self.seq_len_dim = 1
        self.attention = BertSelfAttention(config)
        self.attention_output = BertResidual(config, config.hidden_size)
        self.intermediate = nn.Linear(config.hidden_size, config.intermediate_size)
        act = config.hidden_act
        self.act_fn = ACTIVATIONS[act] if isinstance(act, str) else act
        self.output = BertResidual(config, config.intermediate_size)

    def forward(self, hidden_states, attention_mask=None, head_mask=None, output_attentions=False):
        attended = self.attention(hidden_states, attention_mask, head_mask, output_attentions=output_attentions)
        attention_output = self.attention_output(attended[0], hidden_states)
        layer_output = apply_chunking_to_forward(
            self.feed_forward_chunk, self.chunk_size_feed_forward, self.seq_len_dim, attention_output
        )
        return (layer_output,) + attended[1:]

    def feed_forward_chunk(self, attention_output):
        return self.output(self.act_fn(self.intermediate(attention_output)), attention_output)


class BertEncoder(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.layer = nn.LayerList([BertLayer(config) for _ in range(config.num_hidden_layers)])

    def forward(self, hidden_states, mask, head_mask, output_attentions, output_hidden_states, return_dict=True):
        all_hidden_states = () if output_hidden_states else None
        all_attentions = () if output_attentions else None
        for i, layer_module in enumerate(self.layer):
            if output_hidden_states:
                all_hidden_states = all_hidden_states + (hidden_states,)
            layer_head_mask = head_mask[i] if head_mask is not None else None
            outputs = layer_module(hidden_states, mask, layer_head_mask, output_attentions)
            hidden_states = outputs[0]
            if output_attentions:
                all_attentions = all_attentions + (outputs[1],)
        if output_hidden_states:
            all_hidden_states = all_hidden_states + (hidden_states,)
        if not return_dict:
            return tuple(v for v in [hidden_states, all_hidden_states, all_attentions] if v is not None)
        return EncoderOutput(
            last_hidden_state=hidden_states, hidden_states=all_hidden_states, attentions=all_attentions
        )


class BertPretrainedModel(PretrainedModel):
    config_class = BertConfig
    base_model_prefix = "bert"

    def _init_weights(self, layer):
        if isinstance(layer, (nn.Linear, nn.Embedding)):
            layer.weight.set_value(paddle.normal(0.0, 0.2, shape=layer.weight.shape))
        elif isinstance(layer, nn.LayerNorm):
            layer.bias.set_value(paddle.full_like(layer.bias, 0.01))


class BertModel(BertPretrainedModel):
    def __init__(self, config, add_pooling_layer=True):
        super().__init__(config)
        self.embeddings = BertEmbeddings(config)
        self.encoder = BertEncoder(config)
        self.pooler = nn.Linear(config.hidden_size, config.hidden_size) if add_pooling_layer else None
        self.post_init()

    def forward(
        self,
        input_ids=None,
        attention_mask=None,
        token_type_ids=None,
        head_mask=None,
        inputs_embeds=None,
        output_attentions=None,
        output_hidden_states=None,
        return_dict=None,
    ):
        output_attentions = first(output_attentions, getattr(self.config, "output_attentions", False))
        output_hidden_states = first(output_hidden_states, self.config.output_hidden_states)
        return_dict = return_dict if return_dict is not None else self.config.use_return_dict
        if input_ids is not None and inputs_embeds is not None:
            raise ValueError("input_ids and inputs_embeds cannot both be given")
        elif input_ids is not None:
            self.warn_if_padding_and_no_attention_mask(input_ids, attention_mask)
            input_shape = input_ids.shape
        elif inputs_embeds is not None:
            input_shape = inputs_embeds.shape[:-1]
        else:
            raise ValueError("one of input_ids and inputs_embeds is needed")
        batch_size, seq_length = input_shape
        if attention_mask is None:
            attention_mask = paddle.ones([batch_size, seq_length])
        extended = self.get_extended_attention_mask(attention_mask, self.dtype)
        head_mask = self.get_head_mask(head_mask, self.config.num_hidden_layers)
        embedded = self.embeddings(input_ids, token_type_ids, inputs_embeds=inputs_embeds)
        encoded = self.encoder(embedded, extended, head_mask, output_attentions, output_hidden_states, return_dict)
        sequence = encoded[0]
        pooled = paddle.tanh(self.pooler(sequence[:, 0])) if self.pooler is not None else None
        if not return_dict:
            return (sequence, pooled) + encoded[1:]
        return EncoderOutput(
            last_hidden_state=sequence,
            pooler_output=pooled,
            hidden_states=encoded.hidden_states,
            attentions=encoded.attentions,
        )


class BertForSequenceClassification(BertPretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.num_labels = config.num_labels
        self.bert = BertModel(config)
        self.dropout = nn.Dropout(first(getattr(config, "classifier_dropout", None), config.dropout))
        self.classifier = nn.Linear(config.hidden_size, config.num_classes)

    def forward(self, input_ids=None, attention_mask=None, token_type_ids=None, labels=None, **kwargs):
        return_dict = first(kwargs.pop("return_dict", None), self.config.use_return_dict)
        outputs = self.base_model(input_ids, attention_mask, token_type_ids, return_dict=return_dict, **kwargs)
        logits = self.classifier(self.dropout(outputs[1]))
        loss = None
        if labels is not None:
            if getattr(self.config, "problem_type", None) is None:
                if self.num_labels == 1:
                    self.config.problem_type = ProblemType.REGRESSION
                elif self.num_labels > 1 and labels.dtype in (paddle.int64, paddle.int32):
                    self.config.problem_type = ProblemType.SINGLE_LABEL
                else:
                    self.config.problem_type = ProblemType.MULTI_LABEL
            if self.config.problem_type == "regression":
                loss = F.mse_loss(logits.squeeze(), labels.squeeze())
            elif self.config.problem_type == "single_label_classification":
                loss = F.cross_entropy(logits.reshape([-1, self.num_labels]), labels.reshape([-1]))
            elif self.config.problem_type == ProblemType.MULTI_LABEL:
                loss = F.binary_cross_entropy_with_logits(logits, labels)
        if not return_dict:
            output = (logits,) + outputs[2:]
            return ((loss,) + output) if loss is not None else output
        return ClassifierOutput(
            loss=loss, logits=logits, hidden_states=outputs.hidden_states, attentions=outputs.attentions
        )
