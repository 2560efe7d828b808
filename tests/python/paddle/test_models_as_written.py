"""Models as people write them: one graph each in eval and in training, eager's results bit for bit, types included.

Results are compared first, whatever the decisions are: what does not reach one graph yet (`BREAKS`) has to be right all
the same.
"""

import dataclasses
import gc
import os
import warnings

import paddle
import pytest
import sot
from models import base, bert, experts, gan, llama, vit
from models.cases import CASES, DECODERS, Case, checkpointed_gpt, of_width, tokens

os.environ["SOT_MEASURE"] = "0"


@pytest.fixture(autouse=True)
def as_at_the_start():
    llama.mask_value("float32")  # as it is from the second call of any model on
    vit.grid_of.cache_clear()
    level = base.logger.level
    base.logger.setLevel("WARNING")
    yield
    base.logger.setLevel(level)


def facts(value):
    """All of a result that can be compared: types, and tensors to the last bit."""
    if isinstance(value, paddle.Tensor):
        tape = value.stop_gradient, value.is_leaf, value.grad_fn is not None
        return [value.numpy().tobytes(), value.shape, str(value.dtype), str(value.place), tape]
    name = type(value).__name__
    if isinstance(value, dict):
        items = [(key, facts(item)) for key, item in value.items()]
        return [name, items, [(key, facts(item)) for key, item in sorted(getattr(value, "__dict__", {}).items())]]
    if dataclasses.is_dataclass(value):
        return [name, [(f.name, facts(getattr(value, f.name))) for f in dataclasses.fields(value)]]
    if isinstance(value, (list, tuple)):
        return [name, [facts(item) for item in value]]
    if isinstance(value, llama.DynamicCache):
        return [name, [(key, facts(item)) for key, item in vars(value).items()]]
    return [name, repr(value)]


def tensors(value):
    if isinstance(value, paddle.Tensor):
        return [value]
    if isinstance(value, dict):
        return tensors(list(value.values()))
    if dataclasses.is_dataclass(value):
        return tensors([getattr(value, f.name) for f in dataclasses.fields(value)])
    return [t for item in value for t in tensors(item)] if isinstance(value, (list, tuple)) else []


def of_outputs(output):
    parts = [(t.astype("float32") ** 2).mean() for t in tensors(output) if not t.stop_gradient]
    return sum(parts[1:], parts[0])


# What does not reach its one graph yet: by test and case, the cause.
JOINED = "the extents of a sum of two tensors that vary are unknown behind several joins: a capture for each size"
COLD = "a call of a function with lru_cache breaks where a number that varies is among its arguments"
HEARD = "auto_cast says that it has no effect, and here each call hears of it: a break (test_amp_inside.py: one graph without)"
KEPT = "the Size that the head keeps varies, and is taken for fixed first: a capture more; with any size one for each"
BREAKS = {
    ("sizes", "t5"): JOINED,
    ("sizes", "vit_features"): COLD,
    ("sizes", "detector"): KEPT,
    ("sizes", "detector_any_size"): KEPT,
    ("training", "vit_features"): COLD,
    ("decoding", "llama_growing"): "a table that has grown is taken for one of fixed length first: two captures more",
    **{(test, name): HEARD for test in ("eval", "sizes", "training") for name in ("amp", "amp_O2")},
}


class NotReached(AssertionError):
    """The results are eager's, the decisions are not what they should be."""


def decided(found, wanted):
    if found != wanted:
        raise NotReached(f"{found} instead of {wanted}; {sot.stats()['reasons']}; missed {sot.stats()['missed']}")


def at_most(found, wanted):
    if found > wanted:
        raise NotReached(f"{found} captures instead of {wanted}; missed {sot.stats()['missed']}")


def cases(test, of=CASES):
    def marks(name):
        reason = BREAKS.get((test, name))
        return pytest.mark.xfail(strict=True, raises=NotReached, reason=reason) if reason else ()

    return [pytest.param(name, marks=marks(name)) for name in of]


def twins(case):
    """Two models with the same weights."""
    pair = []
    for _ in range(2):
        with paddle.utils.unique_name.guard():
            paddle.seed(7)
            pair.append(case.make())
    return pair


def call(model, case, size, seed=3):
    paddle.seed(seed)
    *args, keywords = case.args(size)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        output = model(*args, **keywords)
    return output, [str(w.message) for w in told]


def of_state(model):
    """Parameters, buffers, and what else the layers have noted in themselves."""
    noted = {
        f"{path}.{name}": facts(value)
        for path, layer in model.named_sublayers(include_self=True)
        for name, value in vars(layer).items()
        if isinstance(value, (bool, int, float, str, list, tuple)) and name not in ("_full_name", "forward")
    }
    return {**noted, **{n: facts(t) for n, t in [*model.named_buffers(), *model.named_parameters()]}}


@pytest.mark.parametrize("name", cases("eval"))
def test_eval(name, counting):
    """The first call is one graph; a second may meet what the first has set (a flag, a cache); the third is a hit."""
    case, seen = CASES[name], {}
    eager, net = twins(case)
    eager.eval(), net.eval()
    sot.to_static(net)
    with paddle.no_grad():
        for seed in (3, 4, 5):
            with counting() as seen[seed]:
                found = call(net, case, case.sizes[0], seed)
            assert facts(call(eager, case, case.sizes[0], seed)) == facts(found), seed
    assert of_state(eager) == of_state(net)
    decided((seen[3].captures, seen[3].graphs, seen[3].breaks, seen[3].fallbacks), (1, 1, 0, 0))
    decided((seen[5].captures, seen[5].graphs, seen[5].hits), (0, 0, 1))


@pytest.mark.parametrize("name", cases("sizes"))
def test_sizes(name, counting):
    """Batches and lengths that vary take three captures at most, whatever their order."""
    case = CASES[name]
    eager, net = twins(case)
    eager.eval(), net.eval()
    sot.to_static(net)
    with paddle.no_grad(), counting() as seen:
        for seed, size in enumerate(case.sizes + case.sizes[::-1]):
            assert facts(call(eager, case, size, seed)) == facts(call(net, case, size, seed)), size
    assert (seen.fallbacks, seen.graph_failures) == (0, 0), sot.stats()["reasons"]
    decided(seen.breaks, 0)
    at_most(seen.captures, case.captures)


@pytest.mark.parametrize("name", cases("training"))
def test_training(name, counting):
    """Loss and backward outside of what is captured, and steps of an optimizer, at two sizes."""
    case, seen = CASES[name], {}
    pair = twins(case)
    sot.to_static(pair[1])
    loss_of = case.loss or of_outputs
    optimizers = [paddle.optimizer.AdamW(0.01, parameters=model.parameters()) for model in pair]
    for step, size in enumerate([case.sizes[0]] * 3 + [case.sizes[1]] * 3):
        with counting() as seen[step]:
            outcomes = []
            for model, optimizer in zip(pair, optimizers):
                output, told = call(model, case, size, step)
                loss = loss_of(output)
                loss.backward()
                grads = {n: None if p.grad is None else facts(p.grad) for n, p in model.named_parameters()}
                optimizer.step()
                optimizer.clear_grad()
                outcomes.append((facts(output), told, facts(loss), grads, of_state(model)))
        for expected, found in zip(*outcomes):
            assert expected == found, step
    decided((seen[0].captures, seen[0].graphs, seen[0].breaks, seen[0].fallbacks), (1, 1, 0, 0))
    for step in (2, 5):
        decided((seen[step].captures, seen[step].graphs, seen[step].hits), (0, 0, 1))
    decided([seen[step].breaks for step in range(6)], [0] * 6)


@pytest.mark.parametrize("sampled", [False, True], ids=["greedy", "sampled"])
@pytest.mark.parametrize("name", cases("decoding", DECODERS))
def test_decoding(name, sampled, counting):
    """A text is written token by token with a cache that grows; the loop is not captured."""
    make, captures = DECODERS[name]
    eager, net = twins(Case(make, None, ()))
    eager.eval(), net.eval()
    sot.to_static(net)
    with counting() as seen:
        for prompt in ((2, 4), (2, 6), (2, 5)):
            outcomes = []
            for model in (eager, net):
                paddle.seed(5)
                outcomes.append(facts(model.generate(tokens(*prompt), max_new_tokens=7, do_sample=sampled)))
            assert outcomes[0] == outcomes[1]
    assert (seen.fallbacks, seen.graph_failures) == (0, 0), sot.stats()["reasons"]
    decided(seen.breaks, 0)
    at_most(seen.captures, captures)


def test_denoising_loop(counting):
    """The loop of a pipeline: the time is a number that varies, and the last step has no noise."""
    eager, net = twins(CASES["denoising"])
    eager.eval(), net.eval()
    sot.to_static(net)
    with paddle.no_grad(), counting() as seen:
        for _ in range(2):
            outcomes = []
            for model in (eager, net):
                paddle.seed(5)
                latents, prompt, states = paddle.randn([2, 3, 8, 8]), paddle.randn([4, 4, 6]), []
                for t in model.scheduler.timesteps:
                    states.append(model(latents, t, prompt))
                    latents = states[-1].prev_sample
                outcomes.append(facts(states))
            assert outcomes[0] == outcomes[1]
    decided((seen.breaks, seen.fallbacks, seen.hits), (0, 0, 10 - seen.captures))
    at_most(seen.captures, 3)


@pytest.mark.parametrize("mode", list(gan.Mode), ids=lambda mode: mode.name.lower())
def test_gan(mode, counting):
    """Steps of two optimizers in turn: a capture for each of the two losses."""
    pair = twins(Case(lambda: gan.GAN(mode, num_classes=3), None, ()))
    sot.to_static(pair[1])
    optimizers = [model.configure_optimizers() for model in pair]
    with counting() as seen:
        for step in range(3):
            outcomes = []
            for model, both in zip(pair, optimizers):
                paddle.seed(step)
                real, labels, losses = paddle.rand([3, 1, 8, 8]), paddle.randint(0, 3, [3]), []
                for idx, (optimizer, frozen) in enumerate(zip(both, (model.discriminator, model.generator))):
                    gan.set_requires_grad(frozen, False)
                    loss = model(real, labels, optimizer_idx=idx)
                    loss.backward()
                    losses += [facts(loss), [None if p.grad is None else facts(p.grad) for p in model.parameters()]]
                    optimizer.step()
                    optimizer.clear_grad()
                    gan.set_requires_grad(frozen, True)
                outcomes.append((losses, of_state(model)))
            assert outcomes[0] == outcomes[1], step
    decided((seen.captures, seen.graphs, seen.breaks, seen.hits), (2, 2, 0, 4))


@pytest.mark.parametrize("training", [False, True], ids=["eval", "training"])
def test_experts_that_are_left_out(training, counting):
    """Whether an expert is asked depends on data: a break for each expert of each layer, and eager's results."""
    case = Case(lambda: experts.MoeModel(experts.MoeConfig(), "sparse"), of_width(8), ())
    pair = twins(case)
    for model in pair:
        model.train() if training else model.eval()
    sot.to_static(pair[1])
    first = None
    with paddle.set_grad_enabled(training):
        for step, size in enumerate([(1, 1), (1, 1), (2, 3), (1, 1), (1, 2), (2, 3)]):
            with counting() as seen:
                outcomes = []
                for model in pair:
                    output, _ = call(model, case, size, step)
                    found = [facts(output)]
                    if training:
                        of_outputs(output).backward()
                        found += [None if p.grad is None else facts(p.grad) for p in model.parameters()]
                        model.clear_gradients()
                    outcomes.append(found)
            assert outcomes[0] == outcomes[1], step
            first = first or seen
    decided((first.breaks, first.graphs, first.fallbacks), (8, 9, 0))
    decided(set(sot.stats()["reasons"]), {"branch-on-tensor"})


def told_bert():
    return bert.BertModel(bert.BertConfig(pad_token_id=0))


@pytest.mark.parametrize("name", cases("told_once", ["warning", "logging"]))
def test_told_once(name, counting, caplog):
    """What is said at the first call breaks it there, and is said once; from then on there is one graph."""
    make = told_bert if name == "warning" else checkpointed_gpt
    base.logger.setLevel("INFO")
    case = Case(make, lambda size: (tokens(*size), {}), ())
    pair = twins(case)
    sot.to_static(pair[1])
    said, seen = [], {}
    for step in range(3):
        outcomes = []
        with counting() as seen[step]:
            for model in pair:
                caplog.clear()
                output, told = call(model, case, (2, 5), step)
                records = [(r.getMessage(), r.funcName, r.lineno) for r in caplog.records]
                outcomes.append((facts(output), told, records))
        assert outcomes[0] == outcomes[1]
        said.append(bool(outcomes[0][1] or outcomes[0][2]))
    assert said == [True, False, False]
    decided([(s.breaks, s.fallbacks) for s in seen.values()], [(1, 0), (0, 0), (0, 0)])
    decided(seen[2].hits, 1)


def test_a_collection_between_calls(counting):
    """A model that a function holds, as that of a script with a `main`, keeps what was captured of it."""
    case = CASES["vit"]
    eager, net = twins(case)
    sot.to_static(net)
    with counting() as seen:
        for step in range(3):
            assert facts(call(eager, case, 2, step)) == facts(call(net, case, 2, step))
            gc.collect()
    decided((seen.captures, seen.hits), (1, 2))
