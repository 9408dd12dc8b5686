"""Loops whose steps are hard to tell: closures, several backward passes or optimizers per step, steps that are left out."""

import torch
import torch.nn.functional as F
from torch import nn

from harness import Written


def mlp(inputs=8, hidden=16, outputs=4):
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))


def closure_sgd(run):
    """The closure does everything: zero_grad, forward and backward, inside optimizer.step."""
    model = mlp()
    run.trains(model.parameters())
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
    x, y = run.randn(4, 8), run.randn(4, 4)

    def update(number):
        def closure():
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            run.count("forward")
            loss.backward()
            run.count("backward")
            return loss

        optimizer.step(closure)
        run.count("step SGD")

    return update


LOOPS = [
    Written("closure-sgd", closure_sgd),
]
