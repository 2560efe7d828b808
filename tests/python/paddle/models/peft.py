"""A model around another one, which gives what it has not itself, with small matrices beside the linear layers."""

import math
from dataclasses import dataclass, field
from typing import Dict, List

from paddle import nn

from .gpt import GPTConfig, GPTForCausalLM


@dataclass
class LoraConfig:
    r: int = 2
    lora_alpha: int = 4
    lora_dropout: float = 0.1
    target_modules: List[str] = field(default_factory=lambda: ["c_attn", "c_fc"])

    @property
    def scaling(self):
        return self.lora_alpha / self.r


class LoraLayer(nn.Layer):
    """A linear layer that stays as it is, and for each adapter two matrices that learn."""

    def __init__(self, base_layer, config):
        super().__init__()
        self.base_layer = base_layer
        self.scaling: Dict[str, float] = {}
        self.lora_A, self.lora_B, self.lora_dropout = nn.LayerDict(), nn.LayerDict(), nn.LayerDict()
        self.active_adapters: List[str] = []
        for parameter in base_layer.parameters():
            parameter.stop_gradient = True
        self.update_layer("default", config)

    def update_layer(self, name, config):
        width_in, width_out = self.base_layer.weight.shape
        uniform = nn.initializer.Uniform(-1 / math.sqrt(width_in), 1 / math.sqrt(width_in))
        self.scaling[name] = config.scaling
        self.lora_A[name] = nn.Linear(width_in, config.r, weight_attr=uniform, bias_attr=False)
        self.lora_B[name] = nn.Linear(config.r, width_out, weight_attr=uniform, bias_attr=False)
        self.lora_dropout[name] = nn.Dropout(config.lora_dropout) if config.lora_dropout > 0.0 else nn.Identity()
        self.active_adapters.append(name)

    def forward(self, x, *args, **kwargs):
        result = self.base_layer(x, *args, **kwargs)
        for active in self.active_adapters:
            if active not in self.lora_A.keys():
                continue
            lora_a, lora_b, dropout = self.lora_A[active], self.lora_B[active], self.lora_dropout[active]
            result = result + lora_b(lora_a(dropout(x))) * self.scaling[active]
        return result


class PeftModel(nn.Layer):
    def __init__(self, model, config):
        super().__init__()
        self.base_model = model
        self.peft_config = {"default": config}
        for path, layer in list(model.named_sublayers()):
            for name, child in list(layer.named_children()):
                if name in config.target_modules:
                    setattr(layer, name, LoraLayer(child, config))

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name == "base_model":
                raise
            return getattr(self.base_model, name)

    def forward(self, *args, **kwargs):
        hidden_states, *_ = self.transformer(*args, use_cache=self.config.use_cache, **kwargs)
        return {"logits": self.compute_logits(hidden_states), "scaling": self.peft_config["default"].scaling}


def build():
    return PeftModel(GPTForCausalLM(GPTConfig()), LoraConfig())


class BuiltAround(GPTForCausalLM):
    """The same without a model around it."""

    def __init__(self):
        super().__init__(GPTConfig())
        for _, layer in list(self.named_sublayers()):
            for name, child in list(layer.named_children()):
                if name in LoraConfig().target_modules:
                    setattr(layer, name, LoraLayer(child, LoraConfig()))
