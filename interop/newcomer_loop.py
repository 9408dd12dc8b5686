"""A small training loop: four micro-batches per optimizer step, whose gradients are averaged.

before: each gradient is divided after backward(); after: the loss is. interop/newcomer.sh appends README's recipe, which records it.
"""

import sys

import torch
from torch import nn

accumulation, rank, variant = 4, 0, sys.argv[1]
torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Embedding(512, 128), nn.Flatten(), nn.Linear(128 * 32, 512), nn.GELU(), nn.Linear(512, 512))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
loader = [[torch.randint(512, (16, 33)) for _ in range(accumulation)] for _ in range(12)]


def train_step(micro_batches):
    for tokens in micro_batches:
        loss = nn.functional.cross_entropy(model(tokens[:, :32]), tokens[:, 32])
        if variant == "after":
            loss = loss / accumulation
        loss.backward()
    if variant == "before":
        for p in model.parameters():
            p.grad /= accumulation
    optimizer.step()
    optimizer.zero_grad()
