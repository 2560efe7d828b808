"""What the families share: configurations, outputs, and a base class of models."""

import inspect
import logging
import warnings
from abc import ABC, abstractmethod
from collections import OrderedDict
from dataclasses import fields
from enum import Enum

import paddle
from paddle import nn

try:
    import accelerated_kernels_that_nobody_has as kernels
except ImportError:
    kernels = None

logger = logging.getLogger(__name__)


class Config:
    """Settings of a model: any keyword is an attribute, and some have a second name."""

    model_type = ""
    attribute_map = {}

    def __init__(self, **kwargs):
        self.return_dict = kwargs.pop("return_dict", True)
        self.output_hidden_states = kwargs.pop("output_hidden_states", False)
        self.use_cache = kwargs.pop("use_cache", True)
        self._name_or_path = str(kwargs.pop("name_or_path", ""))
        for key, value in kwargs.items():
            try:
                setattr(self, key, value)
            except AttributeError:
                logger.error("cannot set %s of %s", key, self)
                raise

    def __setattr__(self, key, value):
        names = super().__getattribute__("attribute_map")
        super().__setattr__(names.get(key, key), value)

    def __getattribute__(self, key):
        if key != "attribute_map" and key in super().__getattribute__("attribute_map"):
            key = super().__getattribute__("attribute_map")[key]
        return super().__getattribute__(key)

    @property
    def use_return_dict(self):
        return self.return_dict and not getattr(self, "torchscript", False)

    def to_dict(self):
        return {**{k: v for k, v in vars(self).items() if not k.startswith("_")}, "model_type": self.model_type}

    def __repr__(self):
        return f"{type(self).__name__}({self.to_dict()})"


class ModelOutput(OrderedDict):
    """An ordered dict of those fields of a dataclass that are not None; also read by attribute and by number."""

    def __post_init__(self):
        names = fields(self)
        if not names:
            raise ValueError(f"{type(self).__name__} has no fields.")
        for field in names:
            value = getattr(self, field.name)
            if value is not None:
                self[field.name] = value

    def __getitem__(self, key):
        if isinstance(key, str):
            return dict(self.items())[key]
        return self.to_tuple()[key]

    def __setattr__(self, name, value):
        if name in self.keys() and value is not None:
            super().__setitem__(name, value)
        super().__setattr__(name, value)

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        super().__setattr__(key, value)

    def __delitem__(self, *args, **kwargs):
        raise TypeError(f"items of a {type(self).__name__} cannot be deleted")

    def to_tuple(self):
        return tuple(self[key] for key in self.keys())


class ExplicitEnum(str, Enum):
    @classmethod
    def _missing_(cls, value):
        raise ValueError(f"{value} is no {cls.__name__}; choose one of {[m.value for m in cls]}")


def first(*values):
    """The first of them that is not None, as in `use_cache if use_cache is not None else config.use_cache`."""
    return next((value for value in values if value is not None), None)


def is_available(name):
    return name == "kernels" and kernels is not None


def parameters_of(function):
    return frozenset(inspect.signature(function).parameters)


def warn_once(owner, flag, message):
    """Says something the first time, and notes it in the owner."""
    if not getattr(owner, flag, False):
        logger.info(message)
        setattr(owner, flag, True)


ACTIVATIONS = {"gelu": nn.functional.gelu, "relu": nn.functional.relu, "silu": nn.functional.silu}


class ModuleUtilsMixin:
    """Helpers that a model has beside its layers."""

    @property
    def dtype(self):
        return next(p.dtype for p in self.parameters() if p.dtype in (paddle.float32, paddle.float64, paddle.bfloat16))

    def num_parameters(self, only_trainable=False):
        return sum(p.size for p in self.parameters() if not (only_trainable and p.stop_gradient))

    def lowest(self, dtype):
        return float(paddle.finfo(dtype).min)

    def get_extended_attention_mask(self, attention_mask, dtype):
        """From [batch, keys] or [batch, queries, keys] of ones and zeros to what is added to scores."""
        if attention_mask.ndim == 3:
            extended = attention_mask[:, None, :, :]
        elif attention_mask.ndim == 2:
            extended = attention_mask[:, None, None, :]
        else:
            raise ValueError(f"wrong shape of attention_mask: {attention_mask.shape}")
        return (1.0 - extended.astype(dtype)) * self.lowest(dtype)

    def get_head_mask(self, head_mask, num_hidden_layers):
        return [None] * num_hidden_layers if head_mask is None else list(head_mask)


class PretrainedModel(nn.Layer, ModuleUtilsMixin, ABC):
    config_class = None
    base_model_prefix = ""

    def __init__(self, config, *inputs, **kwargs):
        super().__init__()
        if self.config_class is not None and not isinstance(config, self.config_class):
            raise TypeError(f"{type(self).__name__} wants a {self.config_class.__name__}, not a {type(config)}")
        self.config = config

    @property
    def base_model(self):
        return getattr(self, self.base_model_prefix, self)

    @property
    def device(self):
        return next(iter(self.parameters())).place

    @abstractmethod
    def _init_weights(self, layer):
        """How one layer's weights start."""

    def post_init(self):
        self.apply(self._init_weights)

    def warn_if_padding_and_no_attention_mask(self, tokens, attention_mask):
        if attention_mask is not None or getattr(self.config, "pad_token_id", None) is None:
            return
        if not getattr(self, "_warned_of_padding", False):
            warnings.warn("padding may be in the input; an attention mask says where", stacklevel=2)
            self._warned_of_padding = True
