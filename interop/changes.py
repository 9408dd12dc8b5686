"""Runs the code of the pages of all rules, before and after the change, on a current PyTorch, on the cpu.

    python interop/changes.py [RULE]...

A page (analyze/rules/pages/RULE.md) has two pieces of code. The first line of each says what it needs: ranks=2 runs it on so
many processes (gloo), requires=WORD skips it, by name, where that is not at hand, and after the change "differs" says that
the gradients change with it; without it, the parameters after both must be equal (to 1e-5). The names that the code uses
are those of names() below.
"""

import contextlib
import os
import queue
import re
import sys
import tempfile
import threading
import time

import torch
import torch.distributed as dist
import torch.multiprocessing
import torch.nn.functional as F
from torch import nn

PAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "analyze", "rules", "pages")
FENCE = re.compile(r"^```python (before|after)(.*?)\n(.*?)^```$", re.M | re.S)
WIDTH, CLASSES, ROWS, ACCUMULATION = 16, 8, 8, 4


class Batch:
    """A micro-batch: inputs (ROWS x WIDTH), labels (ROWS; -100 is no target), as many targets as drawn."""

    def __init__(self, seed):
        rng = torch.Generator().manual_seed(seed)
        self.inputs = torch.randn(ROWS, WIDTH, generator=rng)
        self.labels = torch.randint(CLASSES, (ROWS,), generator=rng)
        self.labels[1 + seed % (ROWS - 1):] = -100


class Dataset(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        rng = torch.Generator().manual_seed(i)
        return torch.randn(WIDTH, generator=rng), int(i % CLASSES)


def network():
    torch.manual_seed(1)
    block = lambda out: nn.Sequential(nn.Linear(WIDTH, out), nn.ReLU())
    return nn.Sequential(block(WIDTH), block(WIDTH), nn.Linear(WIDTH, CLASSES))


class Swap:
    """A message to the next rank and one from the previous."""

    def __init__(self, tensor, rank, world):
        self.received = torch.empty_like(tensor)
        ops = [dist.P2POp(dist.isend, tensor.detach(), (rank + 1) % world),
               dist.P2POp(dist.irecv, self.received, (rank - 1) % world)]
        self.works = dist.batch_isend_irecv(ops)

    def wait(self):
        for work in self.works:
            work.wait()
        return self.received


def names(rank, world, folder):
    """What the pieces of code may use."""
    model = network()

    def train_step(batch):
        F.cross_entropy(model(batch.inputs), batch.labels).backward()
        model.zero_grad()

    def update_shard(p, shard):
        """Plain SGD on a shard of a parameter, whose gradient has been reduced; all ranks then hold all of it."""
        with torch.no_grad():
            whole = [torch.empty_like(shard) for _ in range(world)]
            dist.all_gather(whole, p.detach().chunk(world)[rank] - 0.1 * shard)
            p.copy_(torch.cat(whole))

    def write_log(lines):
        while True:
            lines.get()

    batches = [Batch(97 * rank + i) for i in range(8)]
    windows = [batches[:ACCUMULATION], batches[ACCUMULATION:-1]]  # the last one is a partial one
    return dict(
        torch=torch, nn=nn, F=F, dist=dist, contextlib=contextlib, os=os, queue=queue, threading=threading, time=time,
        rank=rank, model=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1), loader=batches, windows=windows,
        ACCUMULATION=ACCUMULATION, DDP=nn.parallel.DistributedDataParallel, dataset=Dataset(), log=lambda value: None,
        first=torch.randn(WIDTH, WIDTH), second=torch.randn(WIDTH, WIDTH), swap=lambda t: Swap(t, rank, world),
        train_step=train_step, update_shard=update_shard, write_log=write_log, folder=folder,
        checkpoint=os.path.join(folder, f"rank{rank}.pt"), trace=os.path.join(folder, f"trace{rank}.json"),
        save=lambda profiler: profiler.export_chrome_trace(os.path.join(folder, f"saved{rank}.json")),
    )


def parameters(scope):
    """All parameters in one vector; whole ones, where they are sharded."""
    with torch.no_grad():
        whole = [p.full_tensor() if hasattr(p, "full_tensor") else p for p in scope["model"].parameters()]
        return torch.cat([p.flatten() for p in whole])


def run(rank, world, pieces, port, folder, results):
    """Runs all pieces on one rank, and puts the parameters after each into results."""
    torch.set_num_threads(1)
    if world > 1:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        dist.init_process_group("gloo", rank=rank, world_size=world)
    for i, code in enumerate(pieces):
        scope = names(rank, world, folder)
        if world > 1:
            from torch.distributed.device_mesh import init_device_mesh
            from torch.distributed.fsdp import fully_shard
            mesh = init_device_mesh("cpu", (world,))
            scope.update(init_device_mesh=init_device_mesh, fully_shard=lambda m, mesh=mesh: fully_shard(m, mesh=mesh))
        if "dataset" in code:
            scope["model"] = nn.Sequential(*scope["model"])
        if "fully_shard" in code:  # the optimizer is made of the sharded parameters
            head, loop = re.split(r"^(?=for \w+ in (?:windows|loader):)", code, maxsplit=1, flags=re.M)
            exec(head, scope)
            scope["optimizer"] = torch.optim.SGD(scope["model"].parameters(), lr=0.1)
            code = loop
        exec(code, scope)
        values = parameters(scope)
        if rank == 0:
            results[i] = values
    if world > 1:
        dist.barrier()
        dist.destroy_process_group()


def outcomes(world, pieces, port, folder):
    """The parameters after each piece of code."""
    if world == 1:
        results = {}
        run(0, 1, pieces, port, folder, results)
        return results[0], results[1]
    with torch.multiprocessing.Manager() as manager:
        results = manager.dict()
        torch.multiprocessing.spawn(run, (world, pieces, port, folder, results), nprocs=world)
        return results[0].clone(), results[1].clone()


def missing(word):
    """Why what a piece of code needs is not at hand, or None."""
    if word == "cuda":
        return None if torch.cuda.is_available() else "no CUDA device"
    if word == "compiler":
        import shutil
        return None if shutil.which("g++") else "no C++ compiler"
    from torch.distributed.fsdp import FSDPModule
    return None if hasattr(FSDPModule, word) else f"this PyTorch ({torch.__version__}) has no {word}"


def check(rule, port):
    """Runs a page; returns what is wrong with it, "" for nothing, or why it was skipped."""
    with open(os.path.join(PAGES, rule + ".md")) as page:
        found = FENCE.findall(page.read())
    attributes = [f[1].split() for f in found]
    world = max(int(a.split("=")[1]) if a.startswith("ranks=") else 1 for one in attributes for a in one + ["ranks=1"])
    for a in sum(attributes, []):
        if a.startswith("requires=") and (why := missing(a.split("=")[1])):
            return "skipped: " + why
    pieces = [f[2] for f in found]
    for i, code in enumerate(pieces):
        compile(code, f"{rule} {found[i][0]}", "exec")
    with tempfile.TemporaryDirectory() as folder:
        before, after = outcomes(world, pieces, port, folder)
    distance = float((before - after).abs().max())
    if not torch.isfinite(after).all():
        return "the parameters after it are not finite"
    if ("differs" in attributes[1]) != (distance > 1e-5):
        return f"the parameters differ by {distance:.2g}, and the page says {'that' if distance <= 1e-5 else 'nothing of'} they do"
    return ""


def main(rules):
    rules = rules or sorted(f[:-3] for f in os.listdir(PAGES))
    wrong = 0
    for i, rule in enumerate(rules):
        verdict = check(rule, 29600 + i)
        if verdict.startswith("skipped"):
            print(f"interop: SKIPPED the code of {rule}: {verdict[9:]}", flush=True)
        elif verdict:
            wrong += 1
            print(f"interop: the code of {rule}: {verdict}", flush=True)
    print(f"interop: the code of {len(rules)} rules, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
