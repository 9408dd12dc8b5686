"""What loops that are written out one by one (interop/loops_*.py) share: counting, recording and the truth file.

A module interop/loops_NAME.py has a list LOOPS of Written. Each has a function

    def build(run):
        model = ...
        run.trains(model.parameters())
        def update(number):      # one turn of the loop; it counts what it does, where it does it
            loss = model(x); run.count("forward")
            loss.backward(); run.count("backward")
            optimizer.step(); run.count("step AdamW")
        return update

which is called on every rank. A framework that runs the loop itself is driven otherwise: see Written.drives. Nothing in the truth comes from the trace.
"""

import dataclasses
import gzip
import importlib.util
import json
import os
import socket
import typing

import torch


class Truth:
    """Counts what the loop does, one Counter-like dict per update."""

    def __init__(self):
        self.updates = []
        self.now = {}

    def count(self, what, n=1):
        self.now[what] = self.now.get(what, 0) + n

    def append(self, what, value):
        self.now.setdefault(what, []).append(value)

    def update(self):
        self.updates.append(self.now)
        self.now = {}

    def each(self, what, default=0):
        """The value of every recorded update; they must agree."""
        values = [u.get(what, default) for u in self.updates]
        assert all(v == values[0] for v in values), (what, values)
        return values[0]


def pack(file, target, whole_microseconds=False):
    """Compresses a trace; the only byte that changes is the name of the machine, which Kineto writes into its head. With
    whole_microseconds times are cut off as older versions of PyTorch did, each by itself."""
    with open(file, "rb") as source:
        text = source.read()
    text = text.replace(json.dumps(socket.gethostname()).encode(), b'"localhost"')
    if whole_microseconds:
        data = json.loads(text)
        for event in data["traceEvents"]:
            for key in ("ts", "dur"):
                if key in event:
                    event[key] = int(event[key])
        text = json.dumps(data).encode()
    with open(target, "wb") as out, gzip.GzipFile("", "wb", 9, out, mtime=0) as packed:
        packed.write(text)
    os.remove(file)


@dataclasses.dataclass
class Written:
    """A loop that is written out. The defaults are the truth of a clean loop on one rank: one backward and one update per turn."""

    name: str
    build: typing.Callable  # of a Run; returns update(number), which is one turn of the loop
    world: int = 1
    updates: int = 1  # updates per turn: maximal runs of optimizer steps without a new gradient in between
    accumulation: int | None = 1  # null where optimizers or steps differ
    micro_batches: int | None = 1  # null where they differ from step to step: see by_step
    by_step: typing.Sequence | None = None  # micro-batches of every recorded step, where they differ
    optimizers: typing.Sequence | None = None  # (name, accumulation) each; None: those counted as "step NAME", at accumulation
    planted: tuple = ()  # rule ids that must be found; all others stay notes
    facts: dict = dataclasses.field(default_factory=dict)  # other keys of the truth file, in the place of the defaults
    warm_up: int = 2  # turns
    active: int = 3  # turns
    profiler_step: bool = True
    profiler: dict = dataclasses.field(default_factory=dict)  # further arguments of torch.profiler.profile
    whole_microseconds: bool = False
    drives: bool = False  # build returns whole(turned), which runs all turns itself and calls turned() after each
    needs: tuple = ()  # modules without which the loop is skipped
    note: str = ""

    def lacks(self):
        return next((m for m in self.needs if importlib.util.find_spec(m) is None), None)


class Run:
    """One run of a written loop on one rank."""

    def __init__(self, rank, world):
        self.rank, self.world = rank, world
        self.truth = Truth()
        self.parameters = []
        self.generator = torch.Generator().manual_seed(1000 * rank)
        self.profiler = None  # while recording with profiler.step()

    def trains(self, parameters):
        """Says what trains: parameters in any order, each once."""
        self.parameters = [p for p in parameters if p.requires_grad]

    def count(self, what, n=1):
        self.truth.count(what, n)

    def append(self, what, value):
        self.truth.append(what, value)

    def randn(self, *shape):
        return torch.randn(*shape, generator=self.generator)


def record(loop, rank, world, out):
    """Trains a written loop, leaves its trace and its truth."""
    torch.manual_seed(0)
    run = Run(rank, world)
    update = loop.build(run)
    file = loop.name + (f"-rank{rank}" if world > 1 else "") + ".json"
    arguments = {"activities": [torch.profiler.ProfilerActivity.CPU], "record_shapes": True, **loop.profiler}
    if loop.drives:
        schedule = torch.profiler.schedule(wait=1, warmup=loop.warm_up - 1, active=loop.active, repeat=1)
        with torch.profiler.profile(**arguments, schedule=schedule, on_trace_ready=lambda p: p.export_chrome_trace(file)) as run.profiler:
            update(lambda: turned(run))
        run.truth.updates = run.truth.updates[loop.warm_up:]
    elif loop.profiler_step:
        schedule = torch.profiler.schedule(wait=1, warmup=loop.warm_up - 1, active=loop.active, repeat=1)
        with torch.profiler.profile(**arguments, schedule=schedule, on_trace_ready=lambda p: p.export_chrome_trace(file)) as run.profiler:
            turns(run, update, range(loop.warm_up))
            run.truth = Truth()
            turns(run, update, range(loop.warm_up, loop.warm_up + loop.active))
    else:
        turns(run, update, range(loop.warm_up))
        run.truth = Truth()
        with torch.profiler.profile(**arguments) as profiler:
            turns(run, update, range(loop.warm_up, loop.warm_up + loop.active))
        profiler.export_chrome_trace(file)
    pack(file, os.path.join(out, file + ".gz"), loop.whole_microseconds)
    with open(os.path.join(out, file.removesuffix(".json") + ".truth.json"), "w") as target:
        json.dump(tell(loop, run, file + ".gz"), target, indent=1)
        target.write("\n")


def turned(run):
    """After one turn of a loop that drives itself."""
    run.truth.update()
    run.profiler.step()


def turns(run, update, numbers):
    for number in numbers:
        update(number)
        run.truth.update()
        if run.profiler:
            run.profiler.step()


def tell(loop, run, trace):
    """The truth, from what the loop says of itself and what it counted."""
    counted = [u for u in run.truth.updates]
    names = sorted({k.removeprefix("step ") for u in counted for k in u if k.startswith("step ")})
    optimizers = loop.optimizers if loop.optimizers is not None else [(name, loop.accumulation) for name in names]
    told = {
        "trace": trace, "torch": torch.__version__, "rank": run.rank, "world_size": run.world, "wrapper": "single",
        "optimizer_steps": loop.updates * loop.active,
        "accumulation_steps": loop.accumulation,
        "micro_batches": loop.micro_batches,
        "optimizers": [{"name": name, "accumulation_steps": n} for name, n in optimizers],
        "params": len(run.parameters), "param_shapes": [list(p.shape) for p in run.parameters],
        "param_numel": sum(p.numel() for p in run.parameters),
        "param_bytes": sum(p.numel() * p.element_size() for p in run.parameters),
        "scale_pass": {"kind": "none", "place": "none", "count": 0, "calls_per_update": 0, "factor": "none"},
        "scale_needless": False, "scale_avoidable": False,
        "clip": False, "clip_place": "none", "clip_kind": "none", "unscale": False,
        "sync": "none", "gradient_collectives_per_micro_batch": [],
        "token_all_reduce": {"present": False, "where": None, "count_per_step": 0},
        "average_pass": {"kind": "none", "place": "none"},
        "counted": counted, "planted": list(loop.planted), "note": loop.note,
    }
    if loop.by_step is not None:
        told["micro_batches_by_step"] = list(loop.by_step)
    assert not loop.facts.keys() - told.keys() - {"clip_tensors", "clips", "weight_decay_decoy"}, loop.facts
    return told | loop.facts
