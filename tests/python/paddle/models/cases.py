"""What each model is called with, and how often it may be captured."""

import dataclasses

import paddle

from . import amp, bert, detector, diffusion, experts, gan, gpt, llama, peft, swin, t5, unet, vit


@dataclasses.dataclass
class Case:
    make: callable
    args: callable  # of a size: arguments, the last of them keywords
    sizes: tuple
    loss: callable = None  # of the output, outside of the captured forward; else the squares of all that has gradients
    captures: int = 3  # over all sizes


def tokens(*shape, top=40):
    return paddle.randint(1, top, shape)


def bert_inputs(size):
    batch, length = size
    mask = paddle.ones([batch, length], dtype="int64")
    mask[:, -1] = 0
    return tokens(batch, length), {"attention_mask": mask, "token_type_ids": tokens(batch, length, top=2)}


def labelled(size):
    return tokens(*size), {"labels": tokens(*size)}


def padded(size):
    mask = paddle.ones(size, dtype="int64")
    mask[0, 0] = 0
    return tokens(*size), {"attention_mask": mask}


def checkpointed_gpt():
    model = gpt.GPTForCausalLM(gpt.GPTConfig())
    model.transformer.gradient_checkpointing = True
    return model


def long_llama(**settings):
    """Whose tables are long enough."""
    return llama.LlamaForCausalLM(llama.LlamaConfig(max_position_embeddings=16, **settings))


def llama_with_cold_caches():
    llama.mask_value.cache_clear()
    return long_llama()


def image(size):
    batch, height, width = size
    return paddle.randn([batch, 3, height, width]), {}


def images(height, width):
    return lambda size: image((size, height, width))


def of_width(width):
    return lambda size: (paddle.randn([*size, width]), {})


BATCHES = (2, 3, 5, 4)
IMAGES = ((2, 16, 16), (2, 16, 24), (3, 24, 20), (2, 12, 16))
SEQUENCES = ((2, 6), (3, 6), (3, 9), (2, 12), (5, 7))
CASES = {
    "bert": Case(lambda: bert.BertModel(bert.BertConfig()), bert_inputs, SEQUENCES),
    "bert_all_outputs": Case(
        lambda: bert.BertModel(bert.BertConfig(output_hidden_states=True, output_attentions=True)),
        lambda size: (tokens(*size), {}),
        SEQUENCES,
    ),
    "bert_tuple": Case(
        lambda: bert.BertModel(bert.BertConfig(return_dict=False, chunk_size_feed_forward=3), add_pooling_layer=False),
        bert_inputs,
        ((2, 6), (3, 6), (4, 6)),
    ),
    "bert_classifier": Case(
        lambda: bert.BertForSequenceClassification(bert.BertConfig(num_labels=3)),
        lambda size: (tokens(*size), {"labels": paddle.randint(0, 3, [size[0]])}),
        SEQUENCES,
        lambda out: out.loss,
    ),
    "gpt": Case(lambda: gpt.GPTForCausalLM(gpt.GPTConfig()), lambda size: (tokens(*size), {}), SEQUENCES),
    "gpt_labels": Case(
        lambda: gpt.GPTForCausalLM(gpt.GPTConfig(tie_word_embeddings=False, scale_attn_by_inverse_layer_idx=True)),
        labelled,
        SEQUENCES,
        lambda out: out.loss,
    ),
    "gpt_no_cache": Case(checkpointed_gpt, labelled, SEQUENCES, lambda out: out["loss"]),
    "gpt_tuple": Case(
        lambda: gpt.GPTForCausalLM(gpt.GPTConfig(return_dict=False, output_hidden_states=True, n_inner=24)),
        lambda size: (tokens(*size), {}),
        SEQUENCES,
    ),
    "llama": Case(long_llama, labelled, SEQUENCES, lambda out: out.loss),
    "llama_grouped": Case(
        lambda: long_llama(num_key_value_heads=2, use_cache=False),
        lambda size: (tokens(*size), {"output_hidden_states": True}),
        SEQUENCES,
    ),
    "llama_first": Case(llama_with_cold_caches, padded, SEQUENCES),
    "llama_sdpa": Case(
        lambda: long_llama(num_key_value_heads=1, attn_implementation="sdpa"),
        padded,
        SEQUENCES,
    ),
    "llama_growing": Case(
        lambda: llama.LlamaForCausalLM(llama.LlamaConfig(rope_scaling={"type": "dynamic", "factor": 2.0})),
        labelled,
        ((2, 6), (2, 9), (3, 12), (2, 7)),
        lambda out: out.loss,
        captures=5,  # its table grows or does not, and then how far it has grown varies
    ),
    "llama_own_cache": Case(
        long_llama,
        lambda size: (tokens(*size), {"past_key_values": llama.DynamicCache()}),
        SEQUENCES,
    ),
    "t5": Case(
        lambda: t5.T5ForConditionalGeneration(t5.T5Config()),
        lambda size: (tokens(*size), {"labels": tokens(size[0], size[1] - 2)}),
        SEQUENCES,
        lambda out: out.loss,
    ),
    "t5_gated": Case(
        lambda: t5.T5ForConditionalGeneration(t5.T5Config(feed_forward_proj="gated-gelu", num_decoder_layers=1)),
        lambda size: (*padded(size)[:1], {**padded(size)[1], "decoder_input_ids": tokens(size[0], 4)}),
        SEQUENCES,
    ),
    "peft": Case(peft.build, lambda size: (tokens(*size), {}), SEQUENCES, lambda out: (out["logits"] ** 2).mean()),
    "peft_inside": Case(peft.BuiltAround, lambda size: (tokens(*size), {}), SEQUENCES),
    "vit": Case(vit.VisionTransformer, images(16, 16), BATCHES),
    "vit_average": Case(
        lambda: vit.VisionTransformer(
            global_pool="avg", class_token=False, qk_norm=True, init_values=0.1, qkv_bias=True
        ),
        images(16, 16),
        BATCHES,
    ),
    "vit_any_size": Case(lambda: vit.VisionTransformer(dynamic_img_size=True), image, IMAGES),
    "vit_features": Case(lambda: vit.FeatureVisionTransformer(dynamic_img_size=True), image, IMAGES),
    "swin": Case(lambda: swin.SwinForImageClassification(swin.SwinConfig()), images(16, 16), BATCHES),
    "swin_any_size": Case(
        lambda: swin.SwinForImageClassification(swin.SwinConfig(embed_dim=4, num_heads=(1, 2))),
        image,
        ((1, 16, 16), (2, 16, 24), (2, 24, 20), (1, 23, 18)),
        captures=4,  # each size is padded in another way
    ),
    "unet": Case(unet.UNet2DModel, lambda n: (*images(8, 8)(n)[:1], paddle.randint(0, 20, [n]), {}), BATCHES),
    "unet_odd": Case(
        lambda: unet.UNet2DModel(num_class_embeds=4, resnet_time_scale_shift="scale_shift", dropout=0.1),
        lambda size: (*image(size)[:1], 7, {"class_labels": paddle.randint(0, 4, [size[0]]), "return_dict": False}),
        ((2, 9, 7), (3, 9, 7), (2, 11, 9), (4, 7, 13)),
    ),
    "detector": Case(
        detector.Detector,
        lambda n: ({"image": paddle.randn([n, 3, 64, 64]), "im_id": paddle.arange(n)}, {}),
        BATCHES,
        lambda out: out["loss"],
    ),
    "detector_any_size": Case(
        lambda: detector.Detector(post_process=detector.BatchedDecoder()),
        lambda size: ({"image": image(size)[0]}, {}),
        ((2, 32, 64), (1, 64, 64), (2, 64, 96), (3, 32, 32)),
        lambda out: out["loss"],
    ),
    "experts": Case(lambda: experts.MoeModel(experts.MoeConfig(jitter=0.1)), of_width(8), SEQUENCES),
    "experts_all": Case(lambda: experts.MoeModel(experts.MoeConfig(top_k=4)), of_width(8), SEQUENCES),
    "diffusion": Case(diffusion.DiffusionTraining, images(8, 8), BATCHES, lambda out: out["loss"]),
    "diffusion_velocity": Case(
        lambda: diffusion.DiffusionTraining("v_prediction", snr_gamma=5.0, num_class_embeds=3),
        lambda n: (*images(8, 8)(n)[:1], {"class_labels": paddle.randint(0, 3, [n])}),
        BATCHES,
        lambda out: out["loss"],
    ),
    "denoising": Case(
        lambda: diffusion.DenoisingStep(guidance_rescale=0.5),
        lambda n: (*images(8, 8)(n)[:1], 12, paddle.randn([2 * n, 4, 6]), {}),
        BATCHES,
    ),
    "generator": Case(
        lambda: gan.Generator(num_classes=3),
        lambda n: (paddle.randn([n, 8]), {"labels": paddle.randint(0, 3, [n])}),
        BATCHES,
    ),
    "amp": Case(amp.AmpModel, of_width(8), SEQUENCES),
    "amp_O2": Case(lambda: amp.AmpModel(level="O2"), of_width(8), SEQUENCES),
    "amp_off": Case(lambda: amp.AmpModel(use_amp=False), of_width(8), SEQUENCES),
}

# How they are made, and how many captures a text takes: prompts of one length and of any, caches the same.
DECODERS = {
    "gpt": (lambda: gpt.GPTForCausalLM(gpt.GPTConfig()), 4),
    "llama": (lambda: llama.LlamaForCausalLM(llama.LlamaConfig(num_key_value_heads=2, max_position_embeddings=32)), 4),
    # And tables of one length and of any, and those that grow from one and from any.
    "llama_growing": (lambda: llama.LlamaForCausalLM(llama.LlamaConfig(max_position_embeddings=8)), 7),
    # Caches of length one, and those of what the encoder has said, are captures of their own.
    "t5": (lambda: t5.T5ForConditionalGeneration(t5.T5Config()), 6),
}
