"""Loops on two ranks: what reduces gradients in each of the ways that there are, and what only looks like it."""

import contextlib

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from harness import Written

WIDTH, DEPTH, OUTPUTS, BATCH = 16, 9, 10, 4


class Net(nn.Module):
    """Nine residual layers and a head: 20 parameters, more than the 16 elements that counters have."""

    def __init__(self, depth=DEPTH):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(depth))
        self.head = nn.Linear(WIDTH, OUTPUTS)

    def forward(self, x):
        for layer in self.layers:
            x = x + torch.tanh(layer(x))
        return self.head(x)


class Normed(nn.Module):
    """A convolution and a norm over the batch, whose buffers DDP broadcasts."""

    def __init__(self, norm=nn.BatchNorm1d):
        super().__init__()
        self.first = nn.Linear(WIDTH, 24)
        self.norm = norm(24)
        self.head = nn.Linear(24, OUTPUTS)

    def forward(self, x):
        return self.head(F.relu(self.norm(self.first(x))))


def data(run):
    return run.randn(BATCH, WIDTH), torch.randint(OUTPUTS, (BATCH,), generator=run.generator)


def nothing(*_):
    pass


def turn(run, model, optimizer, accum=1, unsynced=None, parts=None):
    """The loop that most of these share. unsynced(micro) is a context; parts are functions of the loop's own, by place."""
    parts = {"before": nothing, "forward": nothing, "backward": nothing, "gradients": nothing, "updated": nothing, "after": nothing} | (parts or {})
    batches = [data(run) for _ in range(accum)]

    def update(number):
        parts["before"]()
        for micro, (x, y) in enumerate(batches):
            with unsynced(micro) if unsynced else contextlib.nullcontext():
                logits = model(x)
                run.count("forward")
                loss = F.cross_entropy(logits, y) / accum
                parts["forward"](logits.detach(), y)
                loss.backward()
                run.count("backward")
            parts["backward"](logits.detach(), y)
        parts["gradients"]()
        optimizer.step()
        run.count("step " + type(optimizer).__name__)
        parts["updated"]()
        optimizer.zero_grad()
        parts["after"](number)

    return update


def adamw(model):
    return torch.optim.AdamW(model.parameters(), lr=1e-3)


def ddp(accum=1, sync="every", hook=None, model=Net, parts=None, **options):
    """DDP in one of its forms; with sync="last" inside no_sync() until the last micro-batch."""

    def build(run):
        core = model()
        run.trains(core.parameters())
        wrapped = DistributedDataParallel(core, **options)
        if hook:
            hook(wrapped)

        def unsynced(micro):
            return wrapped.no_sync() if sync == "last" and micro < accum - 1 else contextlib.nullcontext()

        return turn(run, wrapped, adamw(core), accum, unsynced, parts(run, core) if parts else None)

    return build


def register(name, *state):
    def hook(wrapped):
        from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

        wrapped.register_comm_hook(*state or (None,), getattr(default_hooks, name))

    return hook


def own_hook(wrapped):
    """A hook of the program's own, which divides after the sum."""

    def reduce(_, bucket):
        return dist.all_reduce(bucket.buffer(), async_op=True).get_future().then(lambda f: f.value()[0] / dist.get_world_size())

    wrapped.register_comm_hook(None, reduce)


def power_sgd(wrapped):
    from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as power

    wrapped.register_comm_hook(power.PowerSGDState(None, matrix_approximation_rank=1, start_powerSGD_iter=2), power.powerSGD_hook)


class TwoHeads(Net):
    """Every second forward leaves one head out."""

    def __init__(self):
        super().__init__()
        self.other = nn.Linear(WIDTH, OUTPUTS, bias=False)
        self.turn = 0

    def forward(self, x):
        logits = super().forward(x)
        self.turn += 1
        return logits + self.other(x) if self.turn % 2 else logits


def zero_redundancy(run):
    from torch.distributed.optim import ZeroRedundancyOptimizer

    core = Net()
    run.trains(core.parameters())
    return turn(run, DistributedDataParallel(core), ZeroRedundancyOptimizer(core.parameters(), torch.optim.Adam, lr=1e-3))


def join(run):
    """Uneven inputs: join() asks before every forward how many ranks are still there."""
    core = Net()
    run.trains(core.parameters())
    wrapped = DistributedDataParallel(core)
    wrapped.join().__enter__()  # around all turns; the data of both ranks last as long
    return turn(run, wrapped, adamw(core))


# Metrics and other all-reduces of the loop's own


def class_counts(run, _):
    """How many right answers each of 100 classes has, over ranks, after every micro-batch."""

    def count(logits, y):
        right = torch.zeros(100).index_add_(0, y, (logits.argmax(-1) == y).float())
        dist.all_reduce(right)

    return {"backward": count}


def confusion(run, _):
    """A matrix as large as many a parameter, between the forward and the backward."""

    def count(logits, y):
        matrix = torch.zeros(WIDTH * WIDTH).index_add_(0, y * OUTPUTS + logits.argmax(-1), torch.ones(len(y)))
        dist.all_reduce(matrix)

    return {"forward": count}


def confusion_at_end(run, _):
    """The same once per step, after the last backward."""
    matrix = torch.zeros(WIDTH, WIDTH)

    def count():
        dist.all_reduce(matrix)

    return {"gradients": count}


def histogram_after(run, _):
    """Statistics of the weights of every layer, after the optimizer."""

    def count(number):
        dist.all_reduce(torch.zeros(500))

    return {"after": count}


def codebook(run, model):
    """Vector quantization: cluster sizes and sums of a codebook that no optimizer steps are reduced in the forward."""

    def count(logits, y):
        dist.all_reduce(torch.ones(64))
        dist.all_reduce(torch.ones(64, WIDTH))

    return {"forward": count}


# Reductions by hand


def by_hand(reduce, accum=1, parts=None, each=False):
    """reduce(parameters) after the last backward, or with each after every one."""

    def build(run):
        model = Net()
        run.trains(model.parameters())
        parameters = list(model.parameters())
        own = parts(run, model) if parts else {}
        before = own.get("gradients", nothing)

        def reduced():
            reduce(parameters)
            before()

        own |= {"backward": lambda *_: reduce(parameters)} if each else {"gradients": reduced}
        return turn(run, model, adamw(model), accum, None, own)

    return build


def each_parameter(parameters):
    for p in parameters:
        dist.all_reduce(p.grad)
        p.grad /= dist.get_world_size()


def asynchronous(parameters):
    works = [dist.all_reduce(p.grad, async_op=True) for p in parameters]
    for work, p in zip(works, parameters):
        work.wait()
        p.grad.div_(dist.get_world_size())


def flat(parameters):
    whole = torch.cat([p.grad.flatten() for p in parameters])
    dist.all_reduce(whole)
    whole /= dist.get_world_size()
    for p, part in zip(parameters, whole.split([p.numel() for p in parameters])):
        p.grad.copy_(part.view_as(p))


def flat_in_half(parameters):
    whole = torch._utils._flatten_dense_tensors([p.grad for p in parameters])
    half = whole.to(torch.bfloat16)
    dist.all_reduce(half)
    whole = half.float().div_(dist.get_world_size())
    for p, part in zip(parameters, torch._utils._unflatten_dense_tensors(whole, [p.grad for p in parameters])):
        p.grad.copy_(part)


def in_three(parameters):
    for k in range(3):
        flat(parameters[k * len(parameters) // 3:(k + 1) * len(parameters) // 3])


def coalesced(parameters):
    with dist._coalescing_manager():
        for p in parameters:
            dist.all_reduce(p.grad)


def in_group(parameters, groups=[]):
    if not groups:
        groups.append(dist.new_group([0, 1]))
    for p in parameters:
        dist.all_reduce(p.grad, group=groups[0])


def scattered(parameters):
    """ZeRO by hand: a reduce-scatter of everything, and an all-gather to have it back."""
    whole = torch.cat([p.grad.flatten() for p in parameters])
    whole = F.pad(whole, (0, -len(whole) % dist.get_world_size()))
    part = torch.empty(len(whole) // dist.get_world_size())
    dist.reduce_scatter_tensor(part, whole)
    dist.all_gather_into_tensor(whole, part)
    for p, piece in zip(parameters, whole.split([p.numel() for p in parameters])):
        p.grad.copy_(piece.view_as(p))


def in_pre_hook(run):
    """The optimizer's pre-hook reduces."""
    model = Net()
    run.trains(model.parameters())
    optimizer = adamw(model)
    optimizer.register_step_pre_hook(lambda *_: each_parameter(list(model.parameters())))
    return turn(run, model, optimizer)


class Communicating(torch.optim.SGD):
    """Reduces in its step, as optimizers that shard their state do."""

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            flat(group["params"])
        return super().step(closure)


def communicating(run):
    model = Net()
    run.trains(model.parameters())
    torch.optim.SGD([nn.Parameter(torch.zeros(1))])
    return turn(run, model, Communicating(model.parameters(), lr=1e-3))


def local_sgd(every):
    """The parameters are averaged now and then, gradients never."""

    def build(run):
        model = Net()
        run.trains(model.parameters())

        def average(number):
            if number % every == every - 1:
                with torch.no_grad():
                    for p in model.parameters():
                        dist.all_reduce(p)
                        p /= dist.get_world_size()

        return turn(run, model, adamw(model), 2, None, {"after": average})

    return build


def averager(run):
    """The same by PyTorch's own averager."""
    from torch.distributed.algorithms.model_averaging.averagers import PeriodicModelAverager

    model = Net()
    run.trains(model.parameters())
    periodic = PeriodicModelAverager(period=1, warmup_steps=0)
    return turn(run, model, adamw(model), 1, None, {"updated": lambda: periodic.average_parameters(list(model.parameters()))})


def post_local_sgd(run):
    """The averager in the step of an optimizer around the optimizer."""
    from torch.distributed.algorithms.model_averaging.averagers import PeriodicModelAverager
    from torch.distributed.optim import PostLocalSGDOptimizer

    model = Net()
    run.trains(model.parameters())
    return turn(run, model, PostLocalSGDOptimizer(adamw(model), PeriodicModelAverager(period=1, warmup_steps=0)))


def in_post_hook(run):
    """The optimizer's post-hook averages what it has updated."""
    model = Net()
    run.trains(model.parameters())
    optimizer = adamw(model)

    def average(*_):
        for p in model.parameters():
            dist.all_reduce(p.detach())

    optimizer.register_step_post_hook(average)
    return turn(run, model, optimizer)


# Parallel models


class Copied(torch.autograd.Function):
    """Into a region of tensor parallelism: the sum is in backward."""

    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, g):
        g = g.contiguous()
        dist.all_reduce(g)
        return g


class Summed(torch.autograd.Function):
    """Out of it: the sum is in forward."""

    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g


class TensorParallel(nn.Module):
    """Two layers whose hidden dimension is divided over the ranks."""

    def __init__(self):
        super().__init__()
        self.up = nn.Linear(WIDTH, 2 * WIDTH)
        self.down = nn.Linear(2 * WIDTH, WIDTH, bias=False)
        self.head = nn.Linear(WIDTH, OUTPUTS)

    def forward(self, x):
        return self.head(x + Summed.apply(self.down(F.gelu(self.up(Copied.apply(x))))))


class Hooked(TensorParallel):
    """The sum of backward in a hook at the activation."""

    def forward(self, x):
        x = torch.tanh(x @ self.head.weight.T @ self.head.weight)

        def reduce(g):
            g = g.contiguous()
            dist.all_reduce(g)
            return g

        x.register_hook(reduce)
        return self.head(x + Summed.apply(self.down(F.gelu(self.up(x)))))


def alone(model, accum=1, parts=None):
    """A model that nobody wraps."""

    def build(run):
        core = model()
        run.trains(core.parameters())
        return turn(run, core, adamw(core), accum, None, parts(run, core) if parts else None)

    return build


def of_dtensors(run):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    model = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, OUTPUTS))
    parallelize_module(model, init_device_mesh("cpu", (2,)), {"0": ColwiseParallel(), "2": RowwiseParallel()})
    run.trains(model.parameters())
    return turn(run, model, adamw(model), 2)


class OverRanks(torch.autograd.Function):
    """Normalization over the batches of all ranks, as SyncBatchNorm does it."""

    @staticmethod
    def forward(ctx, x):
        sums = torch.cat([x.sum(0), (x * x).sum(0)])
        dist.all_reduce(sums)
        n = len(x) * dist.get_world_size()
        mean, square = (sums / n).chunk(2)
        scale = (square - mean * mean + 1e-5).rsqrt()
        x = (x - mean) * scale
        ctx.save_for_backward(x, scale)
        return x

    @staticmethod
    def backward(ctx, g):
        x, scale = ctx.saved_tensors
        sums = torch.cat([g.sum(0), (g * x).sum(0)])
        dist.all_reduce(sums)
        mean, product = (sums / (len(x) * dist.get_world_size())).chunk(2)
        return (g - mean - x * product) * scale


class SyncNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def forward(self, x):
        return OverRanks.apply(x) * self.weight + self.bias


class Contrastive(Net):
    """Features of all ranks are gathered, with gradients."""

    def forward(self, x):
        from torch.distributed.nn.functional import all_gather, all_reduce

        features = torch.cat(all_gather(super().forward(x)))
        spread = all_reduce(features.std(0))
        rank = dist.get_rank()
        return features[rank * BATCH:(rank + 1) * BATCH] - spread


class Experts(nn.Module):
    """Tokens go to the rank of their expert and back."""

    def __init__(self):
        super().__init__()
        self.expert, self.head = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, OUTPUTS)

    def forward(self, x):
        from torch.distributed.nn.functional import all_to_all_single

        there = all_to_all_single(torch.empty_like(x), x.contiguous())
        back = self.expert(there)
        return self.head(all_to_all_single(torch.empty_like(back), back))


def pipeline(run):
    """Two stages, four micro-batches, all forwards before all backwards."""
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH if run.rank == 0 else OUTPUTS))
    run.trains(model.parameters())
    optimizer = adamw(model)
    batches = [data(run) for _ in range(4)]

    def update(number):
        kept = []
        for x, y in batches:
            if run.rank == 0:
                out = model(x)
                dist.send(out.detach(), 1)
            else:
                x = torch.empty(BATCH, WIDTH)
                dist.recv(x, 0)
                x.requires_grad_()
                out = F.cross_entropy(model(x), y)
            run.count("forward")
            kept.append((x, out))
        for x, out in kept:
            if run.rank == 0:
                g = torch.empty(BATCH, WIDTH)
                dist.recv(g, 1)
                out.backward(g)
            else:
                out.backward()
                dist.send(x.grad, 0)
            run.count("backward")
        optimizer.step()
        run.count("step AdamW")
        optimizer.zero_grad()

    return update


# Sharded


def fsdp1(accum=1, sync="every", clip=False, strategy="FULL_SHARD", **options):
    def build(run):
        from torch.distributed.fsdp import FullyShardedDataParallel, ShardingStrategy

        core = Net(4)
        whole = sum(p.numel() for p in core.parameters())
        wrapped = FullyShardedDataParallel(
            core, device_id=torch.device("cpu"), sharding_strategy=ShardingStrategy[strategy], **options)
        run.trains([torch.empty(whole, requires_grad=True)])  # one flat parameter is what accumulates

        def unsynced(micro):
            return wrapped.no_sync() if sync == "last" and micro < accum - 1 else contextlib.nullcontext()

        clips = {"gradients": lambda: wrapped.clip_grad_norm_(1.0)} if clip else None
        return turn(run, wrapped, adamw(wrapped), accum, unsynced, clips)

    return build


def fsdp2(accum=1, sync="every", parts=None, mesh=(2,)):
    def build(run):
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        model = Net()
        over = init_device_mesh("cpu", mesh, mesh_dim_names=("replicate", "shard")[-len(mesh):])
        for layer in model.layers[:2]:
            fully_shard(layer, mesh=over)
        fully_shard(model, mesh=over)
        run.trains(model.parameters())

        @contextlib.contextmanager
        def unsynced(micro):
            model.set_requires_gradient_sync(sync == "every" or micro == accum - 1)
            yield

        return turn(run, model, adamw(model), accum, unsynced, parts(run, model) if parts else None)

    return build


def clipped(run, model):
    return {"gradients": lambda: nn.utils.clip_grad_norm_(model.parameters(), 1.0)}


CLIPPED = {"clip": True, "clip_place": "after_backward", "clip_kind": "foreach"}


def synced(wrapper, *per_micro_batch, **facts):
    """Facts of a loop that reduces gradients by so many collectives in each micro-batch; without a number in as many as unknown."""
    sync = "last_micro_batch" if len(per_micro_batch) > 1 and not any(per_micro_batch[:-1]) else "every_micro_batch"
    return {"wrapper": wrapper, "sync": sync, "gradient_collectives_per_micro_batch": list(per_micro_batch), **facts}


def by_ddp(*n, **facts):
    return synced("ddp", *n, average_pass={"kind": "reducer", "place": "in_backward"}, **facts)


def by_own(*n, **facts):
    return synced("manual", *n, **facts)


FLAT = {"average_pass": {"kind": "flat", "place": "after_backward"}}
AVERAGED = {"average_pass": {"kind": "per_parameter", "place": "after_backward"}}
P = 2 * (DEPTH + 1)


def two(name, build, accum=1, **more):
    return Written("sync2-" + name, build, world=2, accumulation=accum, micro_batches=accum, **more)


LOOPS = [
    two("ddp-find-unused", ddp(model=TwoHeads, find_unused_parameters=True), facts=by_ddp(1)),
    two("ddp-static-graph", ddp(2, static_graph=True), 2, facts=by_ddp(1, 1), planted=("AC001",)),
    two("ddp-bucket-view-hook", ddp(hook=register("allreduce_hook"), gradient_as_bucket_view=True), facts=by_ddp(1)),
    two("ddp-fp16-hook-no-sync", ddp(4, "last", register("fp16_compress_hook")), 4, facts=by_ddp(0, 0, 0, 1)),
    two("ddp-bf16-hook-sync-every", ddp(2, hook=register("bf16_compress_hook")), 2, facts=by_ddp(1, 1), planted=("AC001",)),
    two("ddp-own-hook", ddp(hook=own_hook), facts=by_ddp(1)),
    two("ddp-power-sgd", ddp(hook=power_sgd), facts=by_ddp(), warm_up=6),
    two("ddp-zero-redundancy", zero_redundancy, facts=by_ddp(1)),
    two("ddp-join", join, facts=by_ddp(1)),
    two("ddp-batch-norm", ddp(model=Normed), facts=by_ddp(1)),
    two("ddp-sync-norm", ddp(2, "last", model=lambda: Normed(SyncNorm)), 2, facts=by_ddp(0, 1)),
    two("ddp-class-counts", ddp(4, "last", parts=class_counts), 4, facts=by_ddp(0, 0, 0, 1)),
    two("ddp-confusion", ddp(4, "last", parts=confusion), 4, facts=by_ddp(0, 0, 0, 1)),
    two("ddp-codebook", ddp(4, "last", parts=codebook), 4, facts=by_ddp(0, 0, 0, 1)),
    two("ddp-contrastive", ddp(2, "last", model=Contrastive), 2, facts=by_ddp(0, 1)),
    two("hand-each", by_hand(each_parameter), facts=by_own(P, **AVERAGED)),
    two("hand-each-metrics", by_hand(each_parameter, 4, confusion_at_end), 4, facts=by_own(0, 0, 0, P, **AVERAGED)),
    two("hand-each-class-counts", by_hand(each_parameter, 2, class_counts), 2, facts=by_own(0, P, **AVERAGED)),
    two("hand-async", by_hand(asynchronous, 2), 2, facts=by_own(0, P, **AVERAGED)),
    two("hand-flat", by_hand(flat, 2), 2, facts=by_own(0, 1, **FLAT)),
    two("hand-flat-metrics", by_hand(flat, 2, confusion_at_end), 2, facts=by_own(0, 1, **FLAT)),
    two("hand-flat-half", by_hand(flat_in_half), facts=by_own(1, **FLAT)),
    two("hand-in-three", by_hand(in_three, 2), 2, facts=by_own(0, 3)),
    two("hand-coalesced", by_hand(coalesced), facts=by_own()),
    two("hand-group", by_hand(in_group), facts=by_own(P)),
    two("hand-scattered", by_hand(scattered, 2), 2, facts=by_own(0, 1)),
    two("hand-pre-hook", in_pre_hook, facts=by_own(P, **AVERAGED)),
    two("hand-in-step", communicating, facts=by_own(1)),
    two("local-sgd", local_sgd(1), 2, facts={"wrapper": "none"}),
    two("local-sgd-now-and-then", local_sgd(2), 2, facts={"wrapper": "none"}, active=4),
    two("local-sgd-averager", averager, facts={"wrapper": "none"}),
    two("local-sgd-optimizer", post_local_sgd, facts={"wrapper": "none"}, optimizers=(("AdamW", 1),)),
    two("local-sgd-post-hook", in_post_hook, facts={"wrapper": "none"}),
    two("tensor-parallel", alone(TensorParallel)),
    two("tensor-parallel-accum", alone(TensorParallel, 4), 4),
    two("tensor-parallel-hooked", alone(Hooked, 2), 2),
    two("tensor-parallel-dtensor", of_dtensors, 2),
    two("alone-sync-norm", alone(lambda: Normed(SyncNorm), 2), 2),
    two("alone-class-counts", alone(Net, 4, class_counts), 4),
    two("alone-confusion", alone(Net, 2, confusion_at_end), 2),
    two("alone-histogram", alone(Net, 2, histogram_after), 2),
    two("experts", alone(Experts, 2), 2),
    two("pipeline", pipeline, 4),
    two("fsdp1", fsdp1(), facts=synced("fsdp1")),
    two("fsdp1-no-sync", fsdp1(2, "last"), 2, facts=synced("fsdp1", 0, 1)),
    two("fsdp1-sync-every", fsdp1(2), 2, facts=synced("fsdp1", 1, 1), planted=("AC004",)),
    two("fsdp1-grad-op-clip", fsdp1(clip=True, strategy="SHARD_GRAD_OP"), facts=synced("fsdp1", 1, **CLIPPED)),
    two("fsdp1-original", fsdp1(use_orig_params=True), facts=synced("fsdp1", 1)),
    two("fsdp1-no-shard", fsdp1(strategy="NO_SHARD"), facts=synced("fsdp1", 1)),
    two("fsdp2-clip", fsdp2(parts=clipped), facts=synced("fsdp2", 3, **CLIPPED)),
    two("fsdp2-last-clip", fsdp2(2, "last", clipped), 2, facts=synced("fsdp2", 0, 3, **CLIPPED)),
    two("fsdp2-every-metrics", fsdp2(2, parts=confusion), 2, facts=synced("fsdp2", 3, 3), planted=("AC004",)),
    two("hsdp-last", fsdp2(2, "last", mesh=(2, 1)), 2, facts=synced("fsdp2", 0, 3)),
]
