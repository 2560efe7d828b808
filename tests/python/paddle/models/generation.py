"""Decoding loops, which call a model once a token and are not captured themselves."""

from dataclasses import dataclass
from typing import Optional, Tuple

import paddle

from .base import ModelOutput, parameters_of


@dataclass
class CausalLMOutput(ModelOutput):
    loss: Optional[paddle.Tensor] = None
    logits: paddle.Tensor = None
    past_key_values: Optional[Tuple[Tuple[paddle.Tensor]]] = None
    hidden_states: Optional[Tuple[paddle.Tensor]] = None


class GenerationMixin:
    """What a model with a cache needs to write a text."""

    main_input_name = "input_ids"

    def prepare_inputs_for_generation(self, input_ids, past_key_values=None, attention_mask=None, **kwargs):
        if past_key_values is not None:
            input_ids = input_ids[:, -1:]
        inputs = {"input_ids": input_ids, "past_key_values": past_key_values, "use_cache": kwargs.get("use_cache")}
        if attention_mask is not None and "attention_mask" in parameters_of(type(self).forward):
            inputs["attention_mask"] = attention_mask
        return inputs

    def update_model_kwargs(self, outputs, kwargs):
        kwargs["past_key_values"] = outputs["past_key_values"]
        if kwargs.get("attention_mask") is not None:
            mask = kwargs["attention_mask"]
            kwargs["attention_mask"] = paddle.concat([mask, paddle.ones([mask.shape[0], 1], mask.dtype)], axis=-1)
        return kwargs

    def logits_process(self, tokens, scores):
        """Words that were said become less probable."""
        seen = paddle.take_along_axis(scores, tokens, axis=-1)
        seen = paddle.where(seen < 0, seen * 1.2, seen / 1.2)
        return paddle.put_along_axis(scores, tokens, seen, axis=-1)

    @paddle.no_grad()
    def generate(self, input_ids, max_new_tokens=5, do_sample=False, eos_token_id=None, **kwargs):
        """The tokens, and the scores that they were chosen by."""
        tokens, every = input_ids, []
        finished = paddle.zeros([input_ids.shape[0]], dtype="bool")
        for _ in range(max_new_tokens):
            outputs = self(**self.prepare_inputs_for_generation(tokens, **kwargs))
            scores = self.logits_process(tokens, outputs.logits[:, -1, :])
            every.append(scores)
            if do_sample:
                chosen = paddle.multinomial(paddle.nn.functional.softmax(scores, axis=-1), num_samples=1)
            else:
                chosen = scores.argmax(axis=-1, keepdim=True)
            tokens = paddle.concat([tokens, chosen], axis=-1)
            kwargs = self.update_model_kwargs(outputs, kwargs)
            if eos_token_id is not None:
                finished = finished | (chosen.squeeze(-1) == eos_token_id)
                if bool(finished.all()):
                    break
        return tokens, every
