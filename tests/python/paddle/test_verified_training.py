"""`SOT_VERIFY=1` with Paddle: plain Python beside training steps and drawn numbers, in a process of its own."""

import os
import subprocess
import sys
import textwrap

PROGRAM = """
import paddle, sot
from paddle import nn

paddle.seed(3)
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1D(8), nn.Dropout(0.5), nn.Linear(8, 2))
optimizer = paddle.optimizer.AdamW(0.1, parameters=net.parameters())
captured = sot.to_static(net)
scale = [2.0]


@sot.to_static
def noise(x):
    return x * scale[0] + paddle.rand(x.shape)


for _ in range(4):
    x = noise(paddle.ones([6, 4]))
    captured(x).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
scale[0] = 3.0
noise(x)
counts = sot.stats()
print(counts["verified"], counts["differences"], counts["graphs"] > 0)
"""


def test_training_and_random_numbers_are_those_of_plain_python():
    env = dict(os.environ, SOT_VERIFY="1", OMP_NUM_THREADS="1", GLOG_minloglevel="3")
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(PROGRAM)]
    ran = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert ran.stdout == "9 0 True\n", ran.stderr
    assert "sot.verify" not in ran.stderr and "SOT_VERIFY" not in ran.stderr
