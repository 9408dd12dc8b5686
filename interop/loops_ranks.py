"""The loops of loops_mixed.py on two ranks: closures, SAM and skipped steps in DDP, hooks that compress, buckets by hand, tensor parallelism."""

import contextlib
import copy

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from harness import Written
from loops_mixed import ALIKE, BATCH, CLASSES, CLIP_AT_ONCE, INPUTS, P, WIDTH, Checkpointed, Kit, Net


def wrapped(run, model=None, make=None, **options):
    """A Kit whose model is in DDP: k.model is the wrapper, k.parameters those of what it wraps."""
    core = model or Net()
    k = Kit(run, core, make, **options)
    k.core, k.model = core, DistributedDataParallel(core)
    return k


def ddp_closure(accum=1, clip=False, sync="last"):
    """The closure runs the last micro-batch."""

    def build(run):
        k = wrapped(run)

        def update(number):
            def last():
                loss = k.loss() / accum
                k.backward(loss)
                if clip:
                    nn.utils.clip_grad_norm_(k.parameters, 0.01)
                return loss

            for _ in range(accum - 1):
                with k.model.no_sync() if sync == "last" else contextlib.nullcontext():
                    k.backward(k.loss() / accum)
            k.step(last)
            k.clear()

        return update

    return build


def ddp_lbfgs(evaluations):
    def build(run):
        k = wrapped(run, make=torch.optim.LBFGS, lr=0.1, max_iter=evaluations, tolerance_grad=0, tolerance_change=0)

        def update(number):
            def closure():
                k.clear()
                loss = k.loss()
                k.backward(loss)
                return loss

            k.step(closure)

        return update

    return build


def ddp_sam(sync):
    """Both passes are reduced, or the first one is each rank's own (m-sharpness)."""

    def build(run):
        k = wrapped(run, make=torch.optim.SGD, momentum=0.9)

        def update(number):
            with k.model.no_sync() if sync == "last" else contextlib.nullcontext():
                k.backward(k.loss())
            with torch.no_grad():
                norm = torch.stack([p.grad.norm() for p in k.parameters]).norm()
                moves = [p.grad * (0.05 / (norm + 1e-12)) for p in k.parameters]
                for p, m in zip(k.parameters, moves):
                    p.add_(m)
            k.clear()
            k.backward(k.loss())
            with torch.no_grad():
                for p, m in zip(k.parameters, moves):
                    p.sub_(m)
            k.step()
            k.clear()

        return update

    return build


def ddp_skipped(run):
    """A scaler that leaves out a step, with clipping."""
    k = wrapped(run)
    scaler = torch.amp.GradScaler("cpu", init_scale=512.0)

    def update(number):
        loss = k.loss() * (float("inf") if number == 3 else 1)
        k.backward(scaler.scale(loss))
        scaler.unscale_(k.optimizer)
        nn.utils.clip_grad_norm_(k.parameters, 0.01)
        scaler.step(k.optimizer)
        if number != 3:
            run.count("step AdamW")
        scaler.update()
        k.clear()

    return update


def ddp_gan(run):
    """Both networks in DDP; the discriminator is wrapped and trained on one sum of losses, its gradients are not reduced in the generator's turn."""
    g, d = Net(6, INPUTS), Net(outputs=1)
    run.trains([*d.parameters(), *g.parameters()])
    wg, wd = DistributedDataParallel(g), DistributedDataParallel(d)
    og, od = torch.optim.Adam(g.parameters()), torch.optim.Adam(d.parameters())
    real, ones, zeros = run.randn(BATCH, INPUTS), torch.ones(BATCH, 1), torch.zeros(BATCH, 1)
    bce = F.binary_cross_entropy_with_logits

    def update(number):
        fake = wg(run.randn(BATCH, 6))
        od.zero_grad()
        (bce(wd(torch.cat([real, fake.detach()])), torch.cat([ones, zeros]))).backward()
        od.step()
        run.count("step Adam")
        og.zero_grad()
        d.requires_grad_(False)
        bce(d(fake), ones).backward()
        d.requires_grad_(True)
        og.step()
        run.count("step Adam")

    return update


def ddp_actor_critic(run):
    """A trunk that both heads share, one loss, clipping, and advantages normalized over all ranks."""

    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.trunk, self.policy, self.value = Net(outputs=WIDTH), nn.Linear(WIDTH, 3), nn.Linear(WIDTH, 1)

        def forward(self, x):
            hidden = torch.tanh(self.trunk(x))
            return self.policy(hidden), self.value(hidden).squeeze(-1)

    k = wrapped(run, Shared(), torch.optim.Adam)
    advantages, returns = run.randn(BATCH), run.randn(BATCH)

    def update(number):
        moments = torch.stack([advantages.sum(), advantages.pow(2).sum(), torch.tensor(float(BATCH))])
        dist.all_reduce(moments)
        mean = moments[0] / moments[2]
        normal = (advantages - mean) / (moments[1] / moments[2] - mean ** 2).sqrt()
        logits, value = k.model(k.x)
        run.count("forward")
        chosen = logits.log_softmax(-1).gather(1, k.y[:, None] % 3).squeeze(1)
        k.clear()
        k.backward(-(chosen * normal).mean() + 0.5 * F.mse_loss(value, returns))
        nn.utils.clip_grad_norm_(k.parameters, 0.01)
        k.step()

    return update


def ddp_evaluated(run):
    """An evaluation with its metrics reduced after every step, and weights averaged for it."""
    k = wrapped(run)
    average = copy.deepcopy(k.core)

    def update(number):
        for micro in range(2):
            with k.model.no_sync() if micro == 0 else contextlib.nullcontext():
                k.backward(k.loss() / 2)
        k.step()
        k.clear()
        with torch.no_grad():
            for a, p in zip(average.parameters(), k.parameters):
                a.lerp_(p, 0.1)
            matrix = torch.zeros(CLASSES * CLASSES)
            for _ in range(2):
                matrix.index_add_(0, k.y * CLASSES + average(k.x).argmax(-1), torch.ones(BATCH))
            dist.all_reduce(matrix)
            loss = F.cross_entropy(average(k.x), k.y)
            dist.all_reduce(loss)

    return update


def ddp_checkpointed(run):
    k = wrapped(run, Checkpointed(False))

    def update(number):
        for micro in range(2):
            with k.model.no_sync() if micro == 0 else contextlib.nullcontext():
                k.backward(k.loss() / 2)
        k.step()
        k.clear()

    return update


def int8(state, bucket):
    """A hook that gathers whole numbers of 8 bits and adds them up."""
    buffer = bucket.buffer()
    scale = buffer.abs().max() / 127
    small = (buffer / scale).round().to(torch.int8)
    scales, parts = [[torch.empty_like(t) for _ in range(dist.get_world_size())] for t in (scale, small)]
    dist.all_gather(scales, scale)
    dist.all_gather(parts, small)
    buffer.copy_(sum(p.float() * s for p, s in zip(parts, scales)) / len(parts))
    future = torch.futures.Future()
    future.set_result(buffer)
    return future


def ddp_hook(kind):
    def build(run):
        from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook

        k = wrapped(run)
        power = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=1, start_powerSGD_iter=2, min_compression_rate=1)
        hooks = {"int8": (None, int8), "power-half": (power, default_hooks.fp16_compress_wrapper(powerSGD_hook.powerSGD_hook))}
        k.model.register_comm_hook(*hooks[kind])

        def update(number):
            k.backward(k.loss())
            k.step()
            k.clear()

        return update

    return build


def buckets(last):
    """Reductions by hand as Megatron has them: hooks add to a flat buffer, and reduce it when it is full; in the last micro-batch, or each."""

    def build(run):
        k = Kit(run)
        flat = torch.zeros(sum(p.numel() for p in k.parameters))
        views = dict(zip(k.parameters, flat.split([p.numel() for p in k.parameters])))
        state = {"left": 0, "sync": True, "work": None}

        def hook(p):
            views[p].add_(p.grad.flatten())
            p.grad = None
            state["left"] -= 1
            if state["left"] == 0 and state["sync"]:
                flat.div_(run.world)
                state["work"] = dist.all_reduce(flat, async_op=True)

        for p in k.parameters:
            p.register_post_accumulate_grad_hook(hook)

        def update(number):
            flat.zero_()
            for micro in range(2):
                state.update(left=len(k.parameters), sync=not last or micro == 1)
                k.backward(k.loss() / 2)
            state["work"].wait()
            for p, v in views.items():
                p.grad = v.view_as(p)
            k.step()
            k.clear()

        return update

    return build


def parallel_tensors(clip=False, accum=1, metrics=False):
    """Tensor and sequence parallelism by DTensor."""

    def build(run):
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

        model = nn.Sequential(nn.Linear(INPUTS, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, 2 * WIDTH),
                              nn.GELU(), nn.Linear(2 * WIDTH, CLASSES))
        parallelize_module(model, init_device_mesh("cpu", (2,)), {"0": ColwiseParallel(), "2": RowwiseParallel(), "4": ColwiseParallel(),
                                                                  "6": RowwiseParallel()})
        k = Kit(run, model, foreach=True)

        def update(number):
            for _ in range(accum):
                k.backward(k.loss() / accum)
            if clip:
                nn.utils.clip_grad_norm_(k.parameters, 0.01)
            if metrics:
                counts = torch.zeros(CLASSES * 8)
                dist.all_reduce(counts)
            k.step()
            k.clear()

        return update

    return build


def sharded(accum=1, sync="every", after=None, passes=1, make=None):
    """FSDP2 of each block and the whole; passes=2: SAM's two."""

    def build(run):
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        model = Net()
        mesh = init_device_mesh("cpu", (2,))
        for block in model.blocks:
            fully_shard(block, mesh=mesh)
        fully_shard(model, mesh=mesh)
        k = Kit(run, model, make)
        k.scale = torch.tensor(0.5)

        def one(number):
            if after == "closure":
                def closure():
                    k.clear()
                    loss = k.loss()
                    k.backward(loss)
                    return loss

                k.step(closure)
                return
            for micro in range(accum):
                model.set_requires_gradient_sync(sync == "every" or micro == accum - 1)
                k.backward(k.loss() / accum)
            if after == "clip":
                k.run.append("norm", nn.utils.clip_grad_norm_(k.parameters, 0.01).full_tensor().item())
            k.step()
            k.clear()

        return one

    return build


def hand_reduced(accum, how):
    """all-reduces after backward, without waiting for each: waited for in reverse, in the optimizer's pre-hook, or beside the norm."""

    def build(run):
        k = Kit(run)

        def update(number):
            for _ in range(accum):
                k.backward(k.loss() / accum)
            works = [dist.all_reduce(p.grad, op=dist.ReduceOp.SUM, async_op=True) for p in reversed(k.parameters)]
            if how == "then-mul":
                for w in works:
                    w.wait()
                with torch.no_grad():
                    for p in k.parameters:
                        p.grad.mul_(1 / run.world)
            elif how == "clip":
                for w, p in zip(works, reversed(k.parameters)):
                    w.wait()
                    p.grad /= run.world
                nn.utils.clip_grad_norm_(k.parameters, 0.01)
            else:
                futures = torch.futures.collect_all([w.get_future() for w in works])
                futures.wait()
                torch._foreach_div_([p.grad for p in k.parameters], float(run.world))
            k.step()
            k.clear()

        return update

    return build


def synced(wrapper, *per_micro_batch, **facts):
    last = len(per_micro_batch) > 1 and not any(per_micro_batch[:-1])
    return {"wrapper": wrapper, "sync": "last_micro_batch" if last else "every_micro_batch",
            "gradient_collectives_per_micro_batch": list(per_micro_batch), **facts}


def by_ddp(*n, **facts):
    return synced("ddp", *n, average_pass={"kind": "reducer", "place": "in_backward"}, **facts)


def by_own(*n, **facts):
    return synced("manual", *n, **facts)


def by_shards(*n, **facts):
    return synced("fsdp2", *n, **facts)


AVERAGED = {"average_pass": {"kind": "per_parameter", "place": "after_backward"}}


def two(name, build, accum=1, **more):
    return Written("mixed2-" + name, build, world=2, **({"accumulation": accum, "micro_batches": accum} | more))


LOOPS = [
    two("closure", ddp_closure(), facts=by_ddp(1)),
    two("closure-clip-accum4", ddp_closure(4, True), 4, facts=by_ddp(0, 0, 0, 1, **CLIP_AT_ONCE)),
    two("closure-sync-every", ddp_closure(2, sync="every"), 2, facts=by_ddp(1, 1), planted=("AC001",)),
    two("closure-lbfgs4", ddp_lbfgs(4), 4, facts=by_ddp(1, 1, 1, 1)),
    two("sam", ddp_sam("every"), 2, facts=by_ddp(1, 1)),
    two("sam-own", ddp_sam("last"), 2, facts=by_ddp(0, 1)),
    two("scaler-skipped", ddp_skipped, None, active=4, by_step=[1, 2, 1], facts=by_ddp(1) | {
        "optimizer_steps": 3, "clip": True, "clips": {"clip after_backward": 3, "clip between_micro_batches": 1, "unscale after_backward": 4}}),
    two("gan", ddp_gan, updates=2, facts=by_ddp(1) | ALIKE),
    two("actor-critic", ddp_actor_critic, facts=by_ddp(1, **CLIP_AT_ONCE)),
    two("evaluated", ddp_evaluated, 2, facts=by_ddp(0, 1)),
    two("checkpointed", ddp_checkpointed, 2, facts=by_ddp(0, 1)),
    two("int8", ddp_hook("int8"), facts=by_ddp()),
    two("power-half", ddp_hook("power-half"), facts=by_ddp(), warm_up=6),
    two("buckets-last", buckets(True), 2, facts=by_own(0, 1)),
    two("buckets-each", buckets(False), 2, facts=by_own(1, 1), planted=("AC001",)),
    two("tensors-clip", parallel_tensors(True), facts=CLIP_AT_ONCE),
    two("tensors-accum-metrics", parallel_tensors(False, 3, True), 3),
    two("sharded-clip-last", sharded(4, "last", "clip"), 4, facts=by_shards(0, 0, 0, 3, **CLIP_AT_ONCE)),
    two("sharded-closure", sharded(after="closure", make=torch.optim.SGD), facts=by_shards(3)),
    two("hand-mul", hand_reduced(2, "then-mul"), 2, facts=by_own(0, P, **AVERAGED)),
    two("hand-clip", hand_reduced(1, "clip"), facts=by_own(P, **AVERAGED, **CLIP_AT_ONCE)),
    two("hand-futures", hand_reduced(3, "futures"), 3, facts=by_own(0, 0, P, **AVERAGED)),
]
