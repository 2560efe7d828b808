"""Mixtures of experts: all of them with dense masks, or only those that some token chose."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple, Optional

import paddle
import paddle.nn.functional as F
from paddle import nn

from .base import Config, ModelOutput, warn_once


class Routing(NamedTuple):
    weights: paddle.Tensor
    chosen: paddle.Tensor
    logits: paddle.Tensor


@dataclass(frozen=True)
class Losses:
    balance: paddle.Tensor
    z: paddle.Tensor

    @property
    def total(self):
        return self.balance * 0.01 + self.z * 0.001


@dataclass
class MoeOutput(ModelOutput):
    last_hidden_state: paddle.Tensor = None
    aux_loss: Optional[paddle.Tensor] = None
    router_logits: Optional[tuple] = None


class MoeConfig(Config):
    attribute_map = {"num_local_experts": "num_experts"}

    def __init__(self, hidden_size=8, num_experts=4, top_k=2, num_layers=2, jitter=0.0, **kwargs):
        super().__init__(**kwargs)
        self.hidden_size, self.num_experts, self.top_k = hidden_size, num_experts, top_k
        self.num_layers, self.jitter = num_layers, jitter


class TopKGate(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.wg = nn.Linear(config.hidden_size, config.num_local_experts, bias_attr=False)

    def forward(self, hidden_states):
        if self.training and self.config.jitter > 0:
            low, high = 1.0 - self.config.jitter, 1.0 + self.config.jitter
            hidden_states = hidden_states * paddle.uniform(hidden_states.shape, min=low, max=high)
        logits = self.wg(hidden_states)
        weights, chosen = paddle.topk(F.softmax(logits, axis=-1), self.config.top_k, axis=-1)
        weights = weights / weights.sum(axis=-1, keepdim=True)
        return Routing(weights, chosen, logits)


class Expert(nn.Layer):
    def __init__(self, hidden_size):
        super().__init__()
        self.w1 = nn.Linear(hidden_size, hidden_size * 2)
        self.w2 = nn.Linear(hidden_size * 2, hidden_size)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)))


class MoeBlock(nn.Layer, ABC):
    def __init__(self, config):
        super().__init__()
        self.gate = TopKGate(config)
        self.experts = nn.LayerList([Expert(config.hidden_size) for _ in range(config.num_experts)])
        self.num_experts = config.num_experts

    @abstractmethod
    def combine(self, tokens, routing):
        """What the experts make of the tokens."""

    def losses(self, routing):
        probs = F.softmax(routing.logits, axis=-1)
        share = F.one_hot(routing.chosen, self.num_experts).mean(axis=[0, 1])
        balance = (share * probs.mean(axis=0)).sum() * self.num_experts
        return Losses(balance=balance, z=paddle.logsumexp(routing.logits, axis=-1).square().mean())

    def forward(self, hidden_states):
        batch, length, width = hidden_states.shape
        tokens = hidden_states.reshape([-1, width])
        routing = self.gate(tokens)
        out = self.combine(tokens, routing).reshape([batch, length, width])
        return out, routing.logits, self.losses(routing)


class DenseMoeBlock(MoeBlock):
    """Each expert sees each token, and a mask takes what was not chosen away."""

    def combine(self, tokens, routing):
        mask = F.one_hot(routing.chosen, self.num_experts).transpose([2, 1, 0])
        final = paddle.zeros_like(tokens)
        for idx, expert in enumerate(self.experts):
            weight = (mask[idx] * routing.weights.transpose([1, 0])).sum(axis=0)
            final = final + expert(tokens) * weight.unsqueeze(-1)
        return final


class SparseMoeBlock(MoeBlock):
    """An expert that nobody chose is left out, so the way through the code depends on data."""

    def combine(self, tokens, routing):
        final = paddle.zeros_like(tokens)
        for idx, expert in enumerate(self.experts):
            weight = ((routing.chosen == idx).astype(tokens.dtype) * routing.weights).sum(axis=-1)
            if weight.sum() > 0:
                final = final + expert(tokens) * weight.unsqueeze(-1)
        return final


class MoeModel(nn.Layer):
    blocks = {"dense": DenseMoeBlock, "sparse": SparseMoeBlock}

    def __init__(self, config, kind="dense"):
        super().__init__()
        self.config = config
        self.layers = nn.LayerList([self.blocks[kind](config) for _ in range(config.num_layers)])
        self.norms = nn.LayerList([nn.LayerNorm(config.hidden_size) for _ in range(config.num_layers)])

    def forward(self, hidden_states):
        router_logits, losses = [], []
        for norm, layer in zip(self.norms, self.layers):
            out, logits, loss = layer(norm(hidden_states))
            hidden_states = hidden_states + out
            router_logits.append(logits)
            losses.append(loss)
        if self.config.top_k == self.config.num_experts:
            warn_once(self, "_told_of_all", "each token goes to each expert")
        aux_loss = sum(loss.total for loss in losses)
        return MoeOutput(hidden_states, aux_loss=aux_loss, router_logits=tuple(router_logits))
