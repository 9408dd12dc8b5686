"""Trains the gpt of `gaprof train` in PyTorch eager and prints its speed beside ours: positions per second of processor time.

    .venv/bin/python interop/eager.py [THREADS] [ROUNDS]

Ours is `go test ./reference -bench Train` with one rank; both take 4 rows of 256 positions a step, 2 blocks, AdamW, float32.
The two take turns, and of each the best round counts, so that others who use the machine do not decide.
"""

import math
import os
import re
import subprocess
import sys
import tempfile
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
    """Positions per second of processor time."""
    torch.manual_seed(1)
    model = GPT(d, d // 64)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95), weight_decay=0.1)
    tokens = torch.randint(VOCABULARY, (ROWS, LENGTH + 1))
    for step in range(steps + 2):
        if step == 2:
            start = time.process_time()
        loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return steps * ROWS * LENGTH / (time.process_time() - start)


def ours(binary, d, steps, threads):
    """Positions per second of processor time."""
    command = [binary, "-test.run", "^$", "-test.bench", f"Train/d={d}/ranks=1$", "-test.benchtime", f"{steps}x"]
    out = subprocess.run(
        command, cwd="reference", env={**os.environ, "GOMAXPROCS": str(threads)}, check=True, capture_output=True, text=True
    ).stdout
    return float(re.search(r"([\d.e+]+) positions/cpu-s", out).group(1))


def main(threads=1, rounds=5):
    torch.set_num_threads(threads)
    print(f"interop: positions per second of processor time, {threads} thread(s), best of {rounds} rounds in turns, PyTorch {torch.__version__}")
    print("| width | gaprof train | PyTorch eager | ratio |\n|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        binary = os.path.join(folder, "reference.test")
        subprocess.run(["go", "test", "-c", "-o", binary, "./reference"], check=True)
        for d, steps in (64, 60), (512, 6):
            pairs = [(ours(binary, d, steps, threads), eager(d, steps)) for _ in range(rounds)]
            mine, theirs = (max(side) for side in zip(*pairs))
            print(f"| d={d} | {mine:,.0f} | {theirs:,.0f} | {mine / theirs:.2f} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
