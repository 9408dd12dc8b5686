"""Small training loops under torch.profiler, each with the truth about itself beside its trace.

    python interop/loops.py OUT [--only WORD]... [--world N]... [--list]

Every loop writes OUT/NAME.json.gz, which is what torch.profiler exports, and OUT/NAME.truth.json. The truth is counted by
the loop while it works (a forward is counted where forward is called, and so on); it never looks at the trace.
"""

import argparse
import contextlib
import dataclasses
import datetime
import importlib
import json
import pathlib
import os
import shutil
import socket
import sys
import traceback

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
import torch.distributed as dist
import torch.nn.functional as F
import torch.utils.checkpoint
from torch import nn

from harness import Truth, Written, pack, record

VOCABULARY, WIDTH, LENGTH, BATCH = 61, 16, 8, 2  # 61 does not divide by two: FSDP2's shards are uneven
IGNORE = -100
WARM_UP, ACTIVE = 2, 3  # updates


class Block(nn.Module):
    """Pre-norm attention and MLP."""

    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.norm2 = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = self.qkv(self.norm1(x)).chunk(3, dim=-1)
        weights = (q @ k.transpose(-1, -2) / WIDTH**0.5).softmax(-1)
        x = x + self.out(weights @ v)
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Model(nn.Module):
    """A one-layer language model with an untied head: 15 parameters."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.position = nn.Parameter(torch.randn(LENGTH, WIDTH) * 0.02)
        self.block = Block()
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def hidden(self, tokens, checkpoint=False):
        x = self.embedding(tokens) + self.position
        if checkpoint:
            return self.norm(torch.utils.checkpoint.checkpoint(self.block, x, use_reentrant=False))
        return self.norm(self.block(x))

    def forward(self, tokens, checkpoint=False):
        return self.head(self.hidden(tokens, checkpoint))


@dataclasses.dataclass
class Loop:
    """What one loop does. The defaults are a clean loop."""

    name: str
    wrapper: str = "single"  # single | ddp | fsdp2 | manual (an all-reduce per parameter after backward) | hooks (in backward)
    accum: int = 1  # micro-batches per update
    single_backward: bool = False  # add the losses up, one backward per update
    loss: str = "mean"  # mean | sum | prescaled (by the update's token count, known before the first forward) | over_accum
    scale: str = "none"  # none | per_parameter | foreach | compiled
    factor: str = "tensor"  # tensor | float
    scale_each: bool = False  # after every micro-batch: a bug
    clip: str = "none"  # none | foreach | loop | each (after every micro-batch: a bug)
    zero_grad: str = "after_step"  # after_step | before_forward | in_place | each (before every micro-batch: a bug)
    optimizer: str = "adamw"  # adamw | sgd | nested | two
    options: dict = dataclasses.field(default_factory=dict)
    in_backward: str = "none"  # none | every (step and free in every hook) | keep (step in every hook, free per update) | last
    amp: str = "none"  # none | scaler | bfloat16
    ema: str = "none"  # none | loop | foreach | averaged_model
    weight_decay: str = "none"  # none | loop | foreach, by hand before the step
    sync: str = "every"  # every | last, for ddp and fsdp2
    token_all_reduce: str = "none"  # none | before_scale | before_forward
    bucket_view: bool = False
    bucket_mb: float = 0.008  # several buckets even here
    static_graph: bool = False
    factor_one: bool = False  # fsdp2: sum instead of mean
    reshard: bool = True
    hsdp: bool = False  # fsdp2: two replicas of one shard
    reduce_loss: bool = False  # a second all-reduce, of the loss for the log
    checkpoint: bool = False  # the block's forward runs again in backward
    chunked_loss: bool = False  # two backwards through the head per micro-batch, one through the rest
    frozen: bool = False  # only the block's linear layers train
    tied: bool = False  # the head is the embedding
    profiler_step: str = "update"  # update | micro_batch | none
    planted: tuple = ()
    note: str = ""


def loops():
    """All loops by the number of ranks: those below, and those that interop/loops_*.py write out."""
    one, two = described()
    worlds = {1: one, 2: two}
    for file in sorted(pathlib.Path(__file__).resolve().parent.glob("loops_*.py")):
        for loop in importlib.import_module(file.stem).LOOPS:
            worlds.setdefault(loop.world, []).append(loop)
    return worlds


def described():
    both = dict(loss="sum", scale="per_parameter")
    one = [
        # accumulation 1
        Loop("single-accum1-skip"),
        Loop("single-accum1-scale-tensor", **both, planted=("GS001",)),
        Loop("single-accum1-scale-float", **both, factor="float", planted=("GS001",)),
        Loop("single-accum1-scale-foreach-tensor", loss="sum", scale="foreach", planted=("GS001",)),
        Loop("single-accum1-scale-foreach-float", loss="sum", scale="foreach", factor="float", planted=("GS001",)),
        Loop("single-accum1-clip-only", clip="foreach"),
        Loop("single-accum1-clip-only-loop", clip="loop"),
        Loop("single-accum1-scale-clip", **both, clip="foreach", planted=("GS001",)),
        Loop("single-accum1-scale-foreach-clip", loss="sum", scale="foreach", clip="foreach", planted=("GS001",)),
        Loop("single-accum1-zero-in-place", zero_grad="in_place"),
        Loop("single-accum1-no-profiler-step", **both, profiler_step="none", planted=("GS001",)),
        # accumulation 4
        Loop("single-accum4-scale", accum=4, **both, planted=("GS002",)),
        Loop("single-accum4-scale-foreach", accum=4, loss="sum", scale="foreach", planted=("GS002",)),
        Loop("single-accum4-scale-compiled", accum=4, loss="sum", scale="compiled", planted=("GS002",)),
        Loop("single-accum4-scale-clip", accum=4, **both, clip="foreach", planted=("GS002",)),
        Loop("single-accum4-prescaled", accum=4, loss="prescaled"),
        Loop("single-accum4-prescaled-clip", accum=4, loss="prescaled", clip="foreach"),
        Loop("single-accum4-over-accum", accum=4, loss="over_accum", zero_grad="before_forward"),
        Loop("single-accum4-profiler-step-per-micro-batch", accum=4, loss="prescaled", profiler_step="micro_batch"),
        Loop("single-accum4-single-backward", accum=4, loss="prescaled", single_backward=True, planted=("AC005",)),
        Loop("single-accum4-scale-inside", accum=4, **both, scale_each=True, planted=("GS007",)),
        Loop("single-accum4-scale-inside-float", accum=4, **both, factor="float", scale_each=True, planted=("GS007",)),
        Loop("single-accum4-zero-inside", accum=4, loss="prescaled", zero_grad="each", planted=("GS007",)),
        Loop("single-accum4-clip-inside", accum=4, loss="prescaled", clip="each", planted=("CL004",)),
        # what looks like a scale pass and is none
        Loop("single-accum1-ema", ema="loop"),
        Loop("single-accum1-ema-foreach", ema="foreach"),
        Loop("single-accum4-ema-averaged-model", accum=4, loss="prescaled", ema="averaged_model"),
        Loop("single-accum1-weight-decay", weight_decay="loop"),
        Loop("single-accum1-weight-decay-foreach", weight_decay="foreach"),
        Loop("single-accum4-weight-decay", accum=4, loss="prescaled", weight_decay="loop"),
        Loop("single-accum1-grad-scaler", amp="scaler"),
        Loop("single-accum1-grad-scaler-clip", amp="scaler", clip="foreach"),
        Loop("single-accum4-bfloat16", accum=4, loss="prescaled", amp="bfloat16"),
        # models
        Loop("single-accum4-checkpoint", accum=4, loss="over_accum", checkpoint=True),
        Loop("single-accum1-chunked-loss", chunked_loss=True, note="the head's gradient is accumulated twice per micro-batch"),
        Loop("single-accum1-frozen-scale", frozen=True, **both, planted=("GS001",)),
        Loop("single-accum1-tied-scale", tied=True, **both, planted=("GS001",)),
        # optimizers
        Loop("single-accum1-adamw-foreach", options={"foreach": True}),
        Loop("single-accum1-adamw-fused", options={"fused": True}),
        Loop("single-accum1-sgd", optimizer="sgd", options={"momentum": 0.9, "weight_decay": 0.01}),
        Loop("single-accum1-sgd-foreach", optimizer="sgd", options={"momentum": 0.9, "weight_decay": 0.01, "foreach": True}),
        Loop("single-accum1-sgd-fused", optimizer="sgd", options={"momentum": 0.9, "fused": True}),
        Loop("single-accum4-scale-adamw-foreach", accum=4, **both, options={"foreach": True}, planted=("GS002",)),
        Loop("single-accum1-nested-optimizer", optimizer="nested"),
        Loop("single-accum1-two-optimizers", optimizer="two", note="AdamW at every update, SGD at every second one"),
        Loop("single-accum1-in-backward", in_backward="every"),
        Loop("single-accum4-in-backward", accum=4, optimizer="sgd", loss="prescaled", in_backward="every", planted=("OP002",)),
        Loop("single-accum4-in-backward-keep", accum=4, optimizer="sgd", loss="prescaled", in_backward="keep", planted=("OP002",)),
        Loop("single-accum4-in-backward-last", accum=4, optimizer="sgd", loss="prescaled", in_backward="last"),
    ]
    ddp = dict(wrapper="ddp")
    scale = dict(loss="sum", scale="per_parameter", token_all_reduce="before_scale")
    fsdp = dict(wrapper="fsdp2")
    two = [
        Loop("ddp2-accum1-skip", **ddp),
        Loop("ddp2-accum1-clip", **ddp, clip="foreach"),
        Loop("ddp2-accum1-scale", **ddp, **scale, planted=("GS002",)),
        Loop("ddp2-accum1-prescaled", **ddp, loss="prescaled", token_all_reduce="before_forward"),
        Loop("ddp2-accum1-one-bucket", **ddp, bucket_mb=25),
        Loop("ddp2-accum4-no-sync-scale", **ddp, accum=4, sync="last", **scale, planted=("GS002",)),
        Loop("ddp2-accum4-no-sync-scale-clip", **ddp, accum=4, sync="last", **scale, reduce_loss=True, clip="foreach", planted=("GS002",)),
        Loop("ddp2-accum4-no-sync-prescaled", **ddp, accum=4, sync="last", loss="prescaled", token_all_reduce="before_forward"),
        Loop("ddp2-accum4-no-sync-over-accum", **ddp, accum=4, sync="last", loss="over_accum"),
        Loop("ddp2-accum4-sync-every-scale", **ddp, accum=4, **scale, planted=("AC001", "GS002")),
        Loop("ddp2-accum4-bucket-view", **ddp, accum=4, sync="last", bucket_view=True, **scale, planted=("GS002",)),
        Loop("ddp2-accum4-bucket-view-sync-every", **ddp, accum=4, bucket_view=True, loss="over_accum", planted=("AC001",)),
        Loop("ddp2-accum4-bucket-view-in-place", **ddp, accum=4, sync="last", bucket_view=True, zero_grad="in_place", loss="over_accum"),
        Loop("ddp2-accum4-single-backward", **ddp, accum=4, loss="prescaled", token_all_reduce="before_forward", single_backward=True,
             planted=("AC005",)),
        Loop("ddp2-accum1-static-graph", **ddp, static_graph=True),
        Loop("manual2-accum1", wrapper="manual"),
        Loop("manual2-accum4-scale", wrapper="manual", accum=4, sync="last", **scale, planted=("GS002",)),
        Loop("hooks2-accum1", wrapper="hooks"),
        Loop("hooks2-accum4-last", wrapper="hooks", accum=4, sync="last", loss="over_accum"),
        Loop("fsdp2-accum1-skip", **fsdp),
        Loop("fsdp2-accum1-clip", **fsdp, clip="foreach"),
        Loop("fsdp2-accum1-scale", **fsdp, **scale, planted=("GS002",)),
        Loop("fsdp2-accum4-scale", **fsdp, accum=4, **scale, planted=("AC004", "GS002")),
        Loop("fsdp2-accum4-scale-foreach", **fsdp, accum=4, **{**scale, "scale": "foreach"}, planted=("AC004", "GS002")),
        Loop("fsdp2-accum4-prescaled", **fsdp, accum=4, loss="prescaled", token_all_reduce="before_forward", factor_one=True,
             planted=("AC004",)),
        Loop("fsdp2-accum4-last-scale", **fsdp, accum=4, sync="last", **scale, planted=("GS002",)),
        Loop("fsdp2-accum4-last-prescaled", **fsdp, accum=4, sync="last", loss="prescaled", token_all_reduce="before_forward"),
        Loop("hsdp2-accum4-over-accum", **fsdp, accum=4, hsdp=True, loss="over_accum", planted=("AC003",)),
        Loop("fsdp2-accum1-no-reshard", **fsdp, reshard=False),
    ]
    return one, two


class NestedAdamW(torch.optim.AdamW):
    """A subclass whose step calls its parent's: two spans for one step."""

    @torch.no_grad()
    def step(self, closure=None):
        return super().step(closure)


def batches(rank, update, accum):
    """Micro-batches whose token counts differ, the same in every run."""
    generator = torch.Generator().manual_seed(1000 * rank + update)
    result = []
    for _ in range(accum):
        tokens = torch.randint(VOCABULARY, (BATCH, LENGTH), generator=generator)
        labels = torch.randint(VOCABULARY, (BATCH, LENGTH), generator=generator)
        padding = int(torch.randint(LENGTH, (), generator=generator))
        labels[0, LENGTH - padding:] = IGNORE
        result.append((tokens, labels))
    return result


def optimizers(loop, model):
    """The optimizers with their names and how many updates each waits."""
    options = {"lr": 1e-3, **loop.options}
    parameters = [p for p in model.parameters() if p.requires_grad]
    if loop.optimizer == "adamw":
        return [(torch.optim.AdamW(parameters, **options), "AdamW", 1)]
    if loop.optimizer == "sgd":
        return [(torch.optim.SGD(parameters, **options), "SGD", 1)]
    if loop.optimizer == "nested":
        torch.optim.AdamW([nn.Parameter(torch.zeros(1))])  # the profiler's span comes to a class with its first instance
        return [(NestedAdamW(parameters, **options), "NestedAdamW", 1)]
    assert loop.optimizer == "two"
    return [(torch.optim.AdamW(parameters[:6], **options), "AdamW", 1), (torch.optim.SGD(parameters[6:], **options), "SGD", 2)]


def train(loop, rank, world, out):
    torch.manual_seed(0)
    truth = Truth()
    model = core = Model()
    if loop.frozen:
        for name, p in model.named_parameters():
            p.requires_grad_(name.startswith("block.") and "norm" not in name)
    if loop.tied:
        model.head.weight = model.embedding.weight
    shapes = [list(p.shape) for p in model.parameters() if p.requires_grad]
    if loop.wrapper == "ddp":
        core = nn.parallel.DistributedDataParallel(
            model, bucket_cap_mb=loop.bucket_mb, gradient_as_bucket_view=loop.bucket_view, static_graph=loop.static_graph)
    if loop.wrapper == "fsdp2":
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        mesh = init_device_mesh("cpu", (world, 1), mesh_dim_names=("replicate", "shard")) if loop.hsdp else init_device_mesh("cpu", (world,))
        fully_shard(model.block, mesh=mesh, reshard_after_forward=loop.reshard)
        fully_shard(model, mesh=mesh, reshard_after_forward=loop.reshard)
        if loop.factor_one:
            for module in (model.block, model):
                module.set_gradient_divide_factor(1.0)
                module.set_force_sum_reduction_for_comms(True)  # gloo has no PREMUL_SUM
    parameters = [p for p in model.parameters() if p.requires_grad]
    steppers = [] if loop.in_backward != "none" else optimizers(loop, model)
    averages = [p.detach().clone() for p in parameters] if loop.ema in ("loop", "foreach") else None
    averaged = None
    if loop.ema == "averaged_model":
        averaged = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.99))
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0) if loop.amp == "scaler" else None
    micro_batch = 0  # the hooks below look at it

    if loop.in_backward != "none":
        kind = {"adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}[loop.optimizer]
        own = {p: kind([p], lr=1e-3) for p in parameters}

        def hook(p):
            if loop.in_backward == "last" and micro_batch != loop.accum - 1:
                return
            own[p].step()
            truth.count("step " + kind.__name__)
            if loop.in_backward != "keep":
                own[p].zero_grad()

        for p in parameters:
            p.register_post_accumulate_grad_hook(hook)

    if loop.wrapper == "hooks":
        def reduce(p):
            if loop.sync == "last" and micro_batch != loop.accum - 1:
                return
            dist.all_reduce(p.grad)
            p.grad /= world
            truth.count("gradient all-reduce")

        for p in parameters:
            p.register_post_accumulate_grad_hook(reduce)

    def autocast():
        return torch.autocast("cpu", torch.bfloat16) if loop.amp == "bfloat16" else contextlib.nullcontext()

    if loop.scale == "compiled":
        torch.compiler.reset()

        @torch.compile
        def compiled(gradients, factor):
            torch._foreach_mul_(gradients, factor)

    def scale(divisor):
        """Gradients divided by the token count; times world, because the wrappers average."""
        times = world if loop.wrapper != "single" else 1
        factor = times / divisor if loop.factor == "tensor" else times / float(divisor)
        with torch.no_grad():
            if loop.scale == "per_parameter":
                for p in parameters:
                    p.grad *= factor
            elif loop.scale == "compiled":
                compiled([p.grad for p in parameters], factor)
            else:
                torch._foreach_mul_([p.grad for p in parameters], factor)
        truth.count("scale")
        truth.count("scaled", len(parameters))

    def clip():
        nn.utils.clip_grad_norm_(parameters, 1.0, foreach=False if loop.clip == "loop" else None)
        truth.count("clip")

    def zero(to_none=True):
        for optimizer, _, _ in steppers:
            optimizer.zero_grad(set_to_none=to_none)
        truth.count("zero_grad")

    def all_reduce(value, where):
        dist.all_reduce(value)
        truth.count(where)

    def update(number, profiler):
        nonlocal micro_batch
        data = prepared[number]
        truth.append("tokens", counts[number])
        if loop.zero_grad == "before_forward":
            zero()
        count = sum((labels != IGNORE).sum() for _, labels in data) if loop.loss == "prescaled" else None
        if loop.token_all_reduce == "before_forward":
            all_reduce(count, "before_forward")
        seen = torch.zeros((), dtype=torch.int64)
        total = 0.0
        log = torch.zeros(())
        for micro_batch, (tokens, labels) in enumerate(data):
            last = micro_batch == loop.accum - 1
            if loop.zero_grad == "each":
                zero()
            synced = loop.sync == "every" or last
            if loop.wrapper == "fsdp2":
                model.set_requires_gradient_sync(synced)
            if loop.chunked_loss:
                hidden = model.hidden(tokens)
                truth.count("forward")
                cut = hidden.detach().requires_grad_()
                for x, y in zip(cut.chunk(2, dim=1), labels.chunk(2, dim=1)):
                    part = F.cross_entropy(model.head(x).flatten(0, 1), y.flatten(), ignore_index=IGNORE, reduction="sum")
                    (part / (labels != IGNORE).sum()).backward()
                hidden.backward(cut.grad)
                truth.append("backward", synced)
                continue
            unsynced = core.no_sync() if loop.wrapper == "ddp" and not synced else contextlib.nullcontext()
            with unsynced:
                with autocast():
                    logits = core(tokens, checkpoint=True) if loop.checkpoint else core(tokens)
                    mean = loop.loss in ("mean", "over_accum")
                    loss = F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten(), ignore_index=IGNORE, reduction="mean" if mean else "sum")
                    truth.count("forward")
                if loop.loss == "prescaled":
                    times = world if loop.token_all_reduce == "before_forward" and not loop.factor_one else 1
                    loss = loss * (times / count)
                if loop.loss == "over_accum":
                    loss = loss / loop.accum
                if loop.scale != "none":
                    seen += (labels != IGNORE).sum()
                log += loss.detach()
                if loop.single_backward:
                    total = total + loss
                    if last:
                        total.backward()
                        truth.append("backward", synced)
                else:
                    (scaler.scale(loss) if scaler else loss).backward()
                    truth.append("backward", synced)
            if loop.scale_each:
                scale((labels != IGNORE).sum())
            if loop.clip == "each":
                clip()
            if loop.profiler_step == "micro_batch" and not last:
                profiler.step()
        if loop.wrapper == "manual":
            for p in parameters:
                dist.all_reduce(p.grad)
                p.grad /= world
            truth.count("gradient all-reduce", len(parameters))
        if loop.token_all_reduce == "before_scale":
            all_reduce(seen, "before_scale")
        if loop.reduce_loss:
            all_reduce(log, "before_scale")
        if loop.scale != "none" and not loop.scale_each:
            scale(seen)
        if scaler and loop.clip != "none":
            scaler.unscale_(steppers[0][0])
        if loop.clip in ("foreach", "loop"):
            clip()
        if loop.weight_decay != "none":
            with torch.no_grad():
                if loop.weight_decay == "loop":
                    for p in parameters:
                        p.mul_(1 - 1e-3 * 0.1)
                else:
                    torch._foreach_mul_(parameters, 1 - 1e-3 * 0.1)
            truth.count("weight_decay")
        for optimizer, name, every in steppers:
            if number % every != every - 1:
                continue
            if scaler:
                scaler.step(optimizer)
                scaler.update()
                truth.count("unscale")
            else:
                optimizer.step()
            truth.count("step " + name)
            if loop.zero_grad == "after_step" and len(steppers) > 1:
                optimizer.zero_grad()
                truth.count("zero_grad " + name)
        if averages:
            with torch.no_grad():
                if loop.ema == "loop":
                    for a, p in zip(averages, parameters):
                        a.mul_(0.99).add_(p, alpha=0.01)
                else:
                    torch._foreach_mul_(averages, 0.99)
                    torch._foreach_add_(averages, parameters, alpha=0.01)
            truth.count("ema")
        if averaged:
            averaged.update_parameters(model)
            truth.count("ema")
        if loop.zero_grad in ("after_step", "in_place") and len(steppers) == 1:
            zero(loop.zero_grad == "after_step")
        if loop.in_backward == "keep":
            for optimizer in own.values():
                optimizer.zero_grad()
            truth.count("zero_grad")

    active = ACTIVE if loop.optimizer != "two" else 4
    prepared = [batches(rank, number, loop.accum) for number in range(WARM_UP + active)]
    counts = [[int((labels != IGNORE).sum()) for _, labels in data] for data in prepared]
    per_update = loop.accum if loop.profiler_step == "micro_batch" else 1
    file = loop.name + (f"-rank{rank}" if world > 1 else "") + ".json"
    arguments = dict(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True, with_stack=False)
    done = 0
    if loop.profiler_step == "none":
        for _ in range(WARM_UP):
            update(done, None)
            done += 1
        truth = Truth()
        with torch.profiler.profile(**arguments) as profiler:
            for _ in range(active):
                update(done, None)
                truth.update()
                done += 1
        profiler.export_chrome_trace(file)
    else:
        schedule = torch.profiler.schedule(wait=per_update, warmup=(WARM_UP - 1) * per_update, active=active * per_update, repeat=1)
        with torch.profiler.profile(**arguments, schedule=schedule, on_trace_ready=lambda p: p.export_chrome_trace(file)) as profiler:
            for _ in range(WARM_UP + active):
                if done == WARM_UP:
                    truth = Truth()
                update(done, profiler)
                if done >= WARM_UP:
                    truth.update()
                done += 1
                profiler.step()
    pack(file, os.path.join(out, file + ".gz"))
    reductions = {"single": 0, "fsdp2": 2, "manual": len(parameters), "hooks": len(parameters)}.get(loop.wrapper)
    if loop.wrapper == "ddp":
        data = core._get_ddp_logging_data()
        reductions = len((data.get("rebuilt_bucket_sizes") or data["bucket_sizes"]).split(","))
    told = tell(loop, truth, rank, world, file + ".gz", shapes, parameters, active, reductions)
    with open(os.path.join(out, file.removesuffix(".json") + ".truth.json"), "w") as target:
        json.dump(told, target, indent=1)
        target.write("\n")


def tell(loop, truth, rank, world, trace, shapes, parameters, updates, reductions):
    """The truth, from the counts."""
    backward = truth.each("backward", [])
    micro_batches = truth.each("forward")
    names = sorted({k.removeprefix("step ") for u in truth.updates for k in u if k.startswith("step ")})
    steppers = []
    for name in names:
        steps = sum(u.get("step " + name, 0) for u in truth.updates)
        instances = 1
        if loop.in_backward != "none":
            instances = len(parameters)
            steps //= instances
        steppers.append({
            "name": name, "steps": steps, "instances": instances, "nested_spans": 2 if loop.optimizer == "nested" else 1,
            "accumulation_steps": len(backward) * updates // steps,
            "params": len(parameters) if loop.optimizer != "two" else {"AdamW": 6, "SGD": len(parameters) - 6}[name],
        })
    made = max(s["steps"] for s in steppers)  # optimizer in backward makes one update per backward
    accumulation = {s["accumulation_steps"] for s in steppers}
    sync = "none"
    if loop.wrapper != "single":
        sync = "every_micro_batch" if all(backward) else "last_micro_batch"
    assert loop.wrapper != "manual" or loop.accum == 1 or loop.sync == "last"
    group = world if loop.wrapper != "single" else 1
    scaled = truth.each("scaled")
    place = "none"
    if scaled:
        place = "between_micro_batches" if truth.each("scale") > 1 else "after_backward"
    where = next((w for w in ("before_scale", "before_forward") if truth.each(w)), None)
    told = {
        "trace": trace, "torch": torch.__version__, "rank": rank, "world_size": world, "wrapper": loop.wrapper,
        "optimizer_steps": made,
        "accumulation_steps": accumulation.pop() if len(accumulation) == 1 else None,
        "intended_accumulation_steps": len(backward),
        "micro_batches": micro_batches * updates // made,
        "optimizers": steppers,
        "params": len(shapes), "param_shapes": shapes, "param_numel": sum(torch.Size(s).numel() for s in shapes),
        "param_bytes": sum(torch.Size(s).numel() for s in shapes) * 4,
    }
    if loop.wrapper == "fsdp2":
        told["local_param_shapes"] = [list(p.to_local().shape) for p in parameters]
    told |= {
        "scale_pass": {
            "kind": loop.scale, "place": place, "count": scaled // max(truth.each("scale"), 1), "calls_per_update": truth.each("scale"),
            "factor": loop.factor if scaled else "none"},
        "scale_needless": place == "after_backward" and group == 1 and micro_batches == 1,
        "scale_avoidable": place == "after_backward",
        "clip": bool(truth.each("clip")),
        "clip_place": "none" if not truth.each("clip") else "between_micro_batches" if loop.clip == "each" else "after_backward",
        "clip_kind": "none" if loop.clip == "none" else "per_parameter" if loop.clip == "loop" else "foreach",
        "unscale": bool(truth.each("unscale")),
        "loss": loop.loss, "autocast": loop.amp == "bfloat16",
        "sync": sync, "synced_backwards": backward if loop.wrapper != "single" else [],
        "gradient_collectives_per_micro_batch": [reductions if synced else 0 for synced in backward],
        "token_all_reduce": {
            "present": where is not None, "where": where,
            "count_per_step": truth.each(where) if where else 0},
        "gradient_all_reduces_by_hand": truth.each("gradient all-reduce"),
        "average_pass": {"kind": {"manual": "per_parameter", "hooks": "per_parameter", "ddp": "reducer"}.get(loop.wrapper, "none"),
                         "place": {"manual": "after_backward", "hooks": "in_backward", "ddp": "in_backward"}.get(loop.wrapper, "none")},
        "hsdp": loop.hsdp, "bucket_view": loop.bucket_view, "checkpoint": loop.checkpoint, "chunked_loss": loop.chunked_loss, "frozen": loop.frozen, "tied": loop.tied,
        "zero_grad": {"after_step": "after step, set_to_none", "before_forward": "before first forward, set_to_none",
                      "in_place": "after step, in place", "each": "before every forward, set_to_none"}[loop.zero_grad]
        if loop.in_backward == "none" else {"every": "in the hook", "last": "in the hook", "keep": "after last backward"}[loop.in_backward],
        "ema_decoy": loop.ema != "none", "ema_kind": loop.ema,
        "weight_decay_decoy": loop.weight_decay != "none", "weight_decay_kind": loop.weight_decay,
        "optimizer_in_backward": loop.in_backward != "none",
        "optimizer_options": loop.options,
        "profiler_step": {"update": "once per update", "micro_batch": "once per micro-batch", "none": "none"}[loop.profiler_step],
        "tokens": [u["tokens"][0] for u in truth.updates],
        "with_stack": False, "planted": list(loop.planted), "note": loop.note,
    }
    return told


def choose(loops, only):
    return [loop for loop in loops if not only or any(word in loop.name for word in only)]


def lacks(loop):
    """What this machine lacks for a loop, None if nothing."""
    if isinstance(loop, Written):
        module = loop.lacks()
        return module and f"no module {module}"
    if loop.scale == "compiled" and not (shutil.which("c++") or shutil.which("g++")):
        return "torch.compile needs a C++ compiler"
    return None


def work(rank, world, port, out, only):
    torch.set_num_threads(1)
    if world > 1:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(world), GLOO_SOCKET_IFNAME="lo")
        dist.init_process_group("gloo", rank=rank, world_size=world, timeout=datetime.timedelta(seconds=60))
    failed = []
    for loop in choose(loops()[world], only):
        if lack := lacks(loop):
            print(f"{loop.name}: SKIPPED: {lack}", file=sys.stderr, flush=True)
            continue
        try:
            (record if isinstance(loop, Written) else train)(loop, rank, world, ".")
            if rank == 0:
                print(f"{loop.name}: {os.path.getsize(loop.name + ('-rank0' if world > 1 else '') + '.json.gz')} bytes", flush=True)
        except Exception as err:
            failed.append(loop.name)
            print(f"{loop.name}: {type(err).__name__}: {err}", file=sys.stderr, flush=True)
            if isinstance(loop, Written):
                traceback.print_exc()
    if world > 1:
        dist.barrier()
        dist.destroy_process_group()
    if failed:
        raise SystemExit(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", nargs="?", default="interop/out")
    parser.add_argument("--only", action="append", help="loops whose name contains this")
    parser.add_argument("--world", type=int, action="append", help="loops of so many ranks")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    worlds = loops()
    if options.list:
        for loop in sum(worlds.values(), []):
            print(loop.name)
        return
    os.makedirs(options.out, exist_ok=True)
    os.chdir(options.out)  # a trace keeps the path it was written to
    for world in sorted(options.world or worlds):
        if world == 1:
            work(0, 1, 0, ".", options.only)
        elif choose(worlds[world], options.only):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = probe.getsockname()[1]
            torch.multiprocessing.spawn(work, (world, port, ".", options.only), nprocs=world)


if __name__ == "__main__":
    main()
