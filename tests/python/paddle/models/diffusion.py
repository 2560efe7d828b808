"""Diffusion: a scheduler with tables, a training step with random noise, and steps of denoising."""

import math
from dataclasses import dataclass
from enum import Enum
from typing import Optional, Tuple, Union

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

from .base import ModelOutput
from .unet import ConfigMixin, UNet2DModel


class Prediction(Enum):
    EPSILON = "epsilon"
    SAMPLE = "sample"
    V = "v_prediction"


@dataclass
class SchedulerOutput(ModelOutput):
    prev_sample: paddle.Tensor = None
    pred_original_sample: Optional[paddle.Tensor] = None


def betas_for_alpha_bar(count, max_beta=0.999):
    def alpha_bar(time_step):
        return math.cos((time_step + 0.008) / 1.008 * math.pi / 2) ** 2

    betas = [min(1 - alpha_bar((i + 1) / count) / alpha_bar(i / count), max_beta) for i in range(count)]
    return paddle.to_tensor(betas, dtype="float32")


def rescale_noise_cfg(noise_cfg, noise_pred_text, guidance_rescale=0.0):
    std_text = noise_pred_text.std(axis=list(range(1, noise_pred_text.ndim)), keepdim=True)
    std_cfg = noise_cfg.std(axis=list(range(1, noise_cfg.ndim)), keepdim=True)
    return guidance_rescale * noise_cfg * (std_text / std_cfg) + (1 - guidance_rescale) * noise_cfg


class DDPMScheduler(ConfigMixin):
    order = 1

    def __init__(
        self,
        num_train_timesteps: int = 20,
        beta_start: float = 0.0001,
        beta_end: float = 0.02,
        beta_schedule: str = "linear",
        prediction_type: str = "epsilon",
        clip_sample: bool = True,
        variance_type: str = "fixed_small",
    ):
        self.register_to_config(**{k: v for k, v in locals().items() if k != "self"})
        if beta_schedule == "linear":
            self.betas = paddle.linspace(beta_start, beta_end, num_train_timesteps, dtype="float32")
        elif beta_schedule == "squaredcos_cap_v2":
            self.betas = betas_for_alpha_bar(num_train_timesteps)
        else:
            raise NotImplementedError(f"{beta_schedule} is not written for {self.__class__}")
        self.alphas = 1.0 - self.betas
        self.alphas_cumprod = paddle.cumprod(self.alphas, 0)
        self.one = paddle.to_tensor(1.0)
        self.prediction_type = Prediction(prediction_type)
        self.num_inference_steps = None
        self.timesteps = list(range(num_train_timesteps))[::-1]
        self.coefficients = {
            "sqrt_alphas_cumprod": self.alphas_cumprod**0.5,
            "sqrt_one_minus_alphas_cumprod": (1 - self.alphas_cumprod) ** 0.5,
        }

    def __len__(self):
        return self.config.num_train_timesteps

    def set_timesteps(self, num_inference_steps: int):
        self.num_inference_steps = num_inference_steps
        step_ratio = self.config.num_train_timesteps // num_inference_steps
        self.timesteps = (np.arange(0, num_inference_steps) * step_ratio).round()[::-1].astype(np.int64).tolist()

    def extract(self, name, timesteps, like):
        """A number of a table for each sample, with as many axes as the samples have."""
        values = self.coefficients[name][timesteps].flatten().astype(like.dtype)
        while len(values.shape) < len(like.shape):
            values = values.unsqueeze(-1)
        return values

    def add_noise(self, original_samples, noise, timesteps):
        signal = self.extract("sqrt_alphas_cumprod", timesteps, original_samples)
        rest = self.extract("sqrt_one_minus_alphas_cumprod", timesteps, original_samples)
        return signal * original_samples + rest * noise

    def get_velocity(self, sample, noise, timesteps):
        signal = self.extract("sqrt_alphas_cumprod", timesteps, sample)
        return signal * noise - self.extract("sqrt_one_minus_alphas_cumprod", timesteps, sample) * sample

    def previous_timestep(self, timestep):
        count = self.num_inference_steps if self.num_inference_steps else self.config.num_train_timesteps
        return timestep - self.config.num_train_timesteps // count

    def _get_variance(self, t, variance_type=None):
        prev_t = self.previous_timestep(t)
        alpha_prod_t = self.alphas_cumprod[t]
        alpha_prod_t_prev = self.alphas_cumprod[prev_t] if prev_t >= 0 else self.one
        current_beta_t = 1 - alpha_prod_t / alpha_prod_t_prev
        variance = (1 - alpha_prod_t_prev) / (1 - alpha_prod_t) * current_beta_t
        variance = paddle.clip(variance, min=1e-20)
        kind = variance_type if variance_type is not None else self.config.variance_type
        if kind == "fixed_large":
            variance = current_beta_t
        elif kind == "fixed_small_log":
            variance = paddle.exp(0.5 * paddle.log(variance))
        return variance

    def step(self, model_output, timestep: int, sample, return_dict: bool = True) -> Union[SchedulerOutput, Tuple]:
        t, prev_t = timestep, self.previous_timestep(timestep)
        alpha_prod_t = self.alphas_cumprod[t]
        alpha_prod_t_prev = self.alphas_cumprod[prev_t] if prev_t >= 0 else self.one
        beta_prod_t, beta_prod_t_prev = 1 - alpha_prod_t, 1 - alpha_prod_t_prev
        current_alpha_t = alpha_prod_t / alpha_prod_t_prev
        if self.prediction_type is Prediction.EPSILON:
            original = (sample - beta_prod_t**0.5 * model_output) / alpha_prod_t**0.5
        elif self.prediction_type is Prediction.SAMPLE:
            original = model_output
        elif self.prediction_type is Prediction.V:
            original = (alpha_prod_t**0.5) * sample - (beta_prod_t**0.5) * model_output
        if self.config.clip_sample:
            original = original.clip(-1.0, 1.0)
        prev_sample = (alpha_prod_t_prev**0.5 * (1 - current_alpha_t)) / beta_prod_t * original
        prev_sample = prev_sample + current_alpha_t**0.5 * beta_prod_t_prev / beta_prod_t * sample
        variance = 0
        if t > 0:
            variance = (self._get_variance(t) ** 0.5) * paddle.randn(model_output.shape, dtype=model_output.dtype)
        prev_sample = prev_sample + variance
        if not return_dict:
            return (prev_sample,)
        return SchedulerOutput(prev_sample=prev_sample, pred_original_sample=original)


class DiffusionTraining(nn.Layer):
    """What a training script does between its loader and `backward`."""

    def __init__(self, prediction_type="epsilon", snr_gamma=None, **kwargs):
        super().__init__()
        self.unet = UNet2DModel(**kwargs)
        self.noise_scheduler = DDPMScheduler(prediction_type=prediction_type)
        self.snr_gamma = snr_gamma

    def compute_snr(self, timesteps):
        alphas_cumprod = self.noise_scheduler.alphas_cumprod[timesteps]
        return alphas_cumprod / (1 - alphas_cumprod)

    def forward(self, pixel_values, class_labels=None):
        noise = paddle.randn(pixel_values.shape)
        bsz = pixel_values.shape[0]
        timesteps = paddle.randint(0, self.noise_scheduler.config.num_train_timesteps, [bsz]).astype("int64")
        noisy = self.noise_scheduler.add_noise(pixel_values, noise, timesteps)
        pred = self.unet(noisy, timesteps, class_labels=class_labels).sample
        target = {
            Prediction.EPSILON: lambda: noise,
            Prediction.SAMPLE: lambda: pixel_values,
            Prediction.V: lambda: self.noise_scheduler.get_velocity(pixel_values, noise, timesteps),
        }[self.noise_scheduler.prediction_type]()
        if self.snr_gamma is None:
            loss = F.mse_loss(pred.astype("float32"), target.astype("float32"), reduction="mean")
        else:
            snr = self.compute_snr(timesteps)
            limits = self.snr_gamma * paddle.ones_like(timesteps).astype("float32")
            weights = paddle.stack([snr, limits], axis=1).min(axis=1)
            loss = F.mse_loss(pred, target, reduction="none")
            loss = (loss.mean(axis=list(range(1, len(loss.shape)))) * (weights / snr)).mean()
        return {"loss": loss, "pred": pred, "timesteps": timesteps}


class DenoisingStep(nn.Layer):
    """One step of a pipeline, with guidance."""

    def __init__(self, guidance_scale=2.0, guidance_rescale=0.0, steps=5, **kwargs):
        super().__init__()
        self.unet = UNet2DModel(cross_attention_dim=6, **kwargs)
        self.scheduler = DDPMScheduler(beta_schedule="squaredcos_cap_v2")
        self.scheduler.set_timesteps(steps)
        self._guidance_scale, self.guidance_rescale = guidance_scale, guidance_rescale

    @property
    def do_classifier_free_guidance(self):
        return self._guidance_scale > 1

    def forward(self, latents, t, prompt_embeds):
        guided = self.do_classifier_free_guidance
        model_input = paddle.concat([latents] * 2) if guided else latents
        noise_pred = self.unet(model_input, t, encoder_hidden_states=prompt_embeds, return_dict=False)[0]
        if guided:
            uncond, text = noise_pred.chunk(2)
            noise_pred = uncond + self._guidance_scale * (text - uncond)
            if self.guidance_rescale > 0.0:
                noise_pred = rescale_noise_cfg(noise_pred, text, self.guidance_rescale)
        return self.scheduler.step(noise_pred, t, latents)
