"""Gradients and losses of captured models are those of eager."""

import numpy as np
import paddle
import pytest
import sot
from model_zoo import MODELS, batch, twins


def loss_of(out):
    return (out * out).mean()


@pytest.mark.parametrize("name", MODELS)
def test_gradients(name, counting):
    eager, net, shape = twins(name)
    sot.to_static(net)
    with counting() as seen:
        for step in range(2):
            grads = []
            for model in (eager, net):
                x = batch(shape, 20 + step)
                x.stop_gradient = False
                paddle.seed(30 + step)
                loss_of(model(x)).backward()
                grads.append({"input": x.grad, **{n: p.grad for n, p in model.named_parameters()}})
                model.clear_gradients()
            assert grads[0].keys() == grads[1].keys()
            for key, expected in grads[0].items():
                found = grads[1][key]
                assert (expected is None) == (found is None), key
                if expected is not None:
                    scale = max(1.0, float(expected.abs().max()))
                    np.testing.assert_allclose(found.numpy() / scale, expected.numpy() / scale, rtol=1e-4, atol=1e-5, err_msg=key)
    assert (seen.graphs, seen.breaks, seen.fallbacks, seen.hits) == (1, 0, 0, 1)


def train(model, inputs, labels, steps, make_optimizer):
    optimizer = make_optimizer(model)
    losses = []
    for step in range(steps):
        paddle.seed(100 + step)
        loss = paddle.nn.functional.cross_entropy(model(inputs[step % len(inputs)]), labels)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    return losses


@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_lenet_20_steps(optimizer, counting):
    eager, net, _ = twins("lenet")
    sot.to_static(net)
    inputs = [batch([8, 1, 28, 28], seed) for seed in (1, 2)]
    labels = paddle.to_tensor(np.arange(8) % 10)

    def make(model):
        return getattr(paddle.optimizer, optimizer)(0.01, parameters=model.parameters())

    expected = train(eager, inputs, labels, 20, make)
    with counting() as seen:
        found = train(net, inputs, labels, 20, make)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    assert expected[-1] < expected[0]
    assert (seen.graphs, seen.breaks, seen.hits) == (1, 0, 19)
    for ours, theirs in zip(net.parameters(), eager.parameters()):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-4, atol=1e-5)


def test_encoder_with_a_head_20_steps(counting):
    class Classifier(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.encoder = paddle.nn.TransformerEncoderLayer(16, 4, 32, dropout=0.1)
            self.head = paddle.nn.Linear(16, 10)

        def forward(self, x):
            return self.head(self.encoder(x).mean(axis=1))

    models = []
    for _ in range(2):
        with paddle.utils.unique_name.guard():
            paddle.seed(7)
            models.append(Classifier())
    eager, net = models
    sot.to_static(net)
    inputs = [batch([8, 5, 16], seed) for seed in (1, 2)]
    labels = paddle.to_tensor(np.arange(8) % 10)

    def make(model):
        return paddle.optimizer.AdamW(0.01, parameters=model.parameters())

    expected = train(eager, inputs, labels, 20, make)
    with counting() as seen:
        found = train(net, inputs, labels, 20, make)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    assert (seen.graphs, seen.breaks, seen.hits) == (1, 0, 19)


def test_resnet18_running_statistics_and_losses():
    eager, net, _ = twins("resnet18")
    sot.to_static(net)
    inputs = [batch([4, 3, 32, 32], seed) for seed in (1, 2)]
    labels = paddle.to_tensor(np.arange(4))

    def make(model):
        return paddle.optimizer.Momentum(0.001, parameters=model.parameters())

    expected = train(eager, inputs, labels, 5, make)
    found = train(net, inputs, labels, 5, make)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    for ours, theirs in zip(net.buffers(), eager.buffers()):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-3, atol=1e-4)


def test_accumulation_and_double_use():
    eager, net, shape = twins("lenet")
    sot.to_static(net)
    for model in (eager, net):
        a, b = model(batch(shape, 1)), model(batch(shape, 2))
        (loss_of(a) + loss_of(b)).backward()
        loss_of(model(batch(shape, 3))).backward()
    for ours, theirs in zip(net.parameters(), eager.parameters()):
        np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), rtol=1e-4, atol=1e-5)


def test_backward_twice_needs_retain_graph():
    eager, net, shape = twins("lenet")
    sot.to_static(net)
    for model in (eager, net):
        loss = loss_of(model(batch(shape)))
        loss.backward(retain_graph=True)
        loss.backward()
        with pytest.raises(Exception, match="retain_graph"):
            loss.backward()
    for ours, theirs in zip(net.parameters(), eager.parameters()):
        np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), rtol=1e-4, atol=1e-5)
