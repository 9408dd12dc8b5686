"""Trains the gpt of `gaprof train` in PyTorch eager and prints its speed beside ours, with the same number of threads.

    .venv/bin/python interop/eager.py [THREADS]

Ours is `go test ./reference -bench Train` with one rank; both take 4 rows of 256 positions a step, 2 blocks, AdamW, float32.
"""

import math
import os
import re
import subprocess
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

ROWS, LENGTH, VOCABULARY, BLOCKS = 4, 256, 256, 2


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(d, d, bias=False) for _ in range(4))
        self.fc1, self.fc2 = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        b, t, d = x.shape
        h = self.ln1(x)
        q, k, v = (w(h).view(b, t, self.heads, d // self.heads).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        s = q @ k.transpose(-1, -2) / math.sqrt(d // self.heads)
        s = s.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), float("-inf"))
        x = x + self.wo((s.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d))
        return x + self.fc2(F.gelu(self.fc1(self.ln2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.tok, self.pos = nn.Embedding(VOCABULARY, d), nn.Embedding(LENGTH, d)
        self.blocks = nn.Sequential(*(Block(d, heads) for _ in range(BLOCKS)))
        self.lnf, self.head = nn.LayerNorm(d), nn.Linear(d, VOCABULARY, bias=False)

    def forward(self, tokens):
        return self.head(self.lnf(self.blocks(self.tok(tokens) + self.pos.weight)))


def eager(d, steps):
    """Positions a second."""
    torch.manual_seed(1)
    model = GPT(d, d // 64)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95), weight_decay=0.1)
    tokens = torch.randint(VOCABULARY, (ROWS, LENGTH + 1))
    for step in range(steps + 2):
        if step == 2:
            start = time.perf_counter()
        loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return steps * ROWS * LENGTH / (time.perf_counter() - start)


def ours(d, steps, threads):
    """Positions a second."""
    out = subprocess.run(
        ["go", "test", "./reference", "-run", "^$", "-bench", f"Train/d={d}/ranks=1$", "-benchtime", f"{steps}x"],
        env={**os.environ, "GOMAXPROCS": str(threads)}, check=True, capture_output=True, text=True,
    ).stdout
    return float(re.search(r"([\d.]+) positions/s", out).group(1))


def main(threads=1):
    torch.set_num_threads(threads)
    for d, steps in (64, 40), (512, 6):
        mine, theirs = ours(d, steps, threads), eager(d, steps)
        print(f"interop: d={d}, {threads} thread(s): gaprof {mine:.0f} positions/s, PyTorch {torch.__version__} {theirs:.0f}, ratio {mine / theirs:.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
