"""Loops as research code has them: adversarial and meta-learning, reinforcement learning, distillation, gradients that are changed in
ways of their own, optimizers that wrap others, and what happens beside training."""

import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

from harness import Written

INPUTS, WIDTH, CLASSES, BATCH = 9, 14, 5, 6


class Net(nn.Module):
    """Four layers, two of them alike: 8 parameters."""

    def __init__(self, inputs=INPUTS, outputs=CLASSES):
        super().__init__()
        self.up = nn.Linear(inputs, WIDTH)
        self.blocks = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(2))
        self.head = nn.Linear(WIDTH, outputs)

    def features(self, x):
        x = F.gelu(self.up(x))
        for block in self.blocks:
            x = x + F.gelu(block(x))
        return x

    def forward(self, x):
        return self.head(self.features(x))


class Kit:
    """A model, its optimizer, data and counting."""

    def __init__(self, run, model=None, make=None, **options):
        self.run, self.model = run, model or Net()
        run.trains(self.model.parameters())
        self.parameters = list(self.model.parameters())
        self.optimizer = (make or torch.optim.AdamW)(self.parameters, **({"lr": 1e-3} | options))
        self.x, self.y = run.randn(BATCH, INPUTS), torch.randint(CLASSES, (BATCH,), generator=run.generator)

    def loss(self, x=None, model=None):
        loss = F.cross_entropy((model or self.model)(self.x if x is None else x), self.y)
        self.run.count("forward")
        return loss

    def backward(self, loss, **options):
        loss.backward(**options)
        self.run.count("backward")

    def step(self, *closure, optimizer=None):
        optimizer = optimizer or self.optimizer
        optimizer.step(*closure)
        self.run.count("step " + type(optimizer).__name__)

    def clear(self, *optimizers):
        for optimizer in optimizers or (self.optimizer,):
            optimizer.zero_grad()


def plain(after=None, accum=1, updated=None, make=None, before=None, **options):
    """The usual loop with after(kit) between backward and step, updated(kit) after it and before(kit) at its beginning."""

    def build(run):
        k = Kit(run, make=make, **options)

        def update(number):
            if before:
                before(k)
            for _ in range(accum):
                k.backward(k.loss() / accum)
            if after:
                with torch.no_grad():
                    after(k)
            k.step()
            k.clear()
            if updated:
                with torch.no_grad():
                    updated(k)

        return update

    return build


# --- what is done to gradients


def centralize(k):
    for p in k.parameters:
        if p.dim() > 1:
            p.grad.add_(-p.grad.mean(dim=tuple(range(1, p.dim())), keepdim=True))


def centralize_subtracted(k):
    for p in k.parameters:
        if p.dim() > 1:
            p.grad -= p.grad.mean(1, keepdim=True)


def noise(k):
    for p in k.parameters:
        p.grad.add_(torch.randn_like(p), alpha=1e-3)


def sign(k):
    for p in k.parameters:
        p.grad.sign_()


def not_a_number(k):
    for p in k.parameters:
        torch.nan_to_num(p.grad, out=p.grad)


def by_layer(k):
    """Layer-wise learning rates, put into the gradients."""
    for depth, layer in enumerate([k.model.up, *k.model.blocks, k.model.head]):
        for p in layer.parameters():
            p.grad.mul_(0.7 ** (3 - depth))


def trust_ratio(k):
    """LARS by hand: each gradient by the ratio of norms."""
    for p in k.parameters:
        p.grad.mul_(p.norm() / (p.grad.norm() + 1e-6))


def clip_value(foreach):
    return lambda k: nn.utils.clip_grad_value_(k.parameters, 0.01, foreach=foreach)


def clamp_by_hand(k):
    for p in k.parameters:
        p.grad.clamp_(-0.01, 0.01)


def einsum_norm(k):
    total = torch.stack([torch.einsum("i,i->", g, g) for g in (p.grad.flatten() for p in k.parameters)]).sum().sqrt()
    factor = (0.01 / (total + 1e-6)).clamp(max=1)
    for p in k.parameters:
        p.grad.mul_(factor)


def matmul_norm(k):
    total = sum((g @ g).item() for g in (p.grad.view(-1) for p in k.parameters)) ** 0.5
    if total > 0.01:
        for p in k.parameters:
            p.grad.mul_(0.01 / total)


def get_total_norm(k):
    """The two halves of PyTorch's clipping, with the norm logged in between."""
    total = nn.utils.get_total_norm([p.grad for p in k.parameters])
    k.run.append("norm", total.item())
    nn.utils.clip_grads_with_norm_(k.parameters, 0.01, total)


def infinity_norm(k):
    nn.utils.clip_grad_norm_(k.parameters, 0.01, norm_type=float("inf"))


def first_norm(k):
    nn.utils.clip_grad_norm_(k.parameters, 0.01, norm_type=1.0, foreach=False)


def out_of_place(k):
    """p.grad = p.grad * factor."""
    total = torch.stack([p.grad.norm() for p in k.parameters]).norm()
    factor = (0.01 / (total + 1e-6)).clamp(max=1)
    for p in k.parameters:
        p.grad = p.grad * factor


def foreach_by_hand(k):
    gradients = [p.grad for p in k.parameters]
    total = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))
    torch._foreach_mul_(gradients, torch.clamp(0.01 / (total + 1e-6), max=1.0))


def unitwise(x):
    return x.norm(dim=1, keepdim=True) if x.dim() > 1 else x.norm()


def adaptive(k):
    """Adaptive clipping unit by unit, as NFNets have it."""
    for p in k.parameters:
        most = unitwise(p).clamp(min=1e-3) * 0.01
        norm = unitwise(p.grad)
        p.grad.copy_(torch.where(norm > most, p.grad * (most / norm.clamp(min=1e-6)), p.grad))


def adaptive_in_place(k):
    for p in k.parameters:
        most = unitwise(p).clamp(min=1e-3) * 0.01
        p.grad.mul_((most / unitwise(p.grad).clamp(min=1e-6)).clamp(max=1.0))


def logged_by_layer(k):
    for name, p in k.model.named_parameters():
        k.run.append(name, p.grad.norm().item())


def histograms(k):
    for p in k.parameters:
        k.run.append("most", (p.grad.abs().max().item(), p.grad.mean().item(), p.abs().mean().item()))


def clip_twice(k):
    """Once by module, then all of it."""
    nn.utils.clip_grad_norm_(k.model.head.parameters(), 0.01)
    nn.utils.clip_grad_norm_(k.parameters, 0.005)


def pre_hook(run):
    """The optimizer's pre-hook clips."""
    k = Kit(run)
    k.optimizer.register_step_pre_hook(lambda *_: nn.utils.clip_grad_norm_(k.parameters, 0.01) and None)

    def update(number):
        k.clear()
        k.backward(k.loss())
        k.step()

    return update


def tensor_hooks(change):
    """Hooks at the parameters change gradients in backward."""

    def build(run):
        k = Kit(run)
        for p in k.parameters:
            p.register_hook(change)

        def update(number):
            k.backward(k.loss())
            k.step()
            k.clear()

        return update

    return build


# --- averages of weights


def averaged(kind):
    def build(run):
        k = Kit(run)
        average = copy.deepcopy(k.model)
        if kind == "swa":
            average = torch.optim.swa_utils.AveragedModel(k.model)
        if kind == "ema":
            average = torch.optim.swa_utils.AveragedModel(k.model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9))

        @torch.no_grad()
        def follow():
            pairs = list(zip(average.parameters(), k.parameters))
            if kind == "lerp":
                torch._foreach_lerp_([a for a, _ in pairs], [p for _, p in pairs], 0.05)
            elif kind == "mul":
                for a, p in pairs:
                    a.mul_(0.8).add_(p, alpha=0.2)
            elif kind == "copy":
                for a, p in pairs:
                    a.copy_(a * 0.8 + p * 0.2)
            elif kind == "half":
                for a, p in pairs:
                    a.add_(p).div_(2)
            else:
                average.update_parameters(k.model)

        def update(number):
            k.clear()
            if kind == "teacher":  # a mean teacher's loss; the teacher follows before the student's step
                with torch.no_grad():
                    soft = average(k.x).softmax(-1)
                k.backward(k.loss() + F.mse_loss(k.model(k.x + 0.1 * run.randn(BATCH, INPUTS)).softmax(-1), soft))
                with torch.no_grad():
                    for a, p in zip(average.parameters(), k.parameters):
                        a.mul_(0.8).add_(p, alpha=0.2)
                k.step()
                return
            k.backward(k.loss())
            k.step()
            follow()

        return update

    return build


class Lookahead(torch.optim.Optimizer):
    """Slow weights, which the fast ones return to every second step."""

    def __init__(self, inner, every=2, alpha=0.5):
        self.inner, self.every, self.alpha, self.turns = inner, every, alpha, 0
        super().__init__([p for g in inner.param_groups for p in g["params"]], {})
        self.slow = [p.detach().clone() for g in self.param_groups for p in g["params"]]

    def step(self, closure=None):
        loss = self.inner.step(closure)
        self.turns += 1
        if self.turns % self.every == 0:
            with torch.no_grad():
                for s, p in zip(self.slow, (p for g in self.param_groups for p in g["params"])):
                    s.add_(p - s, alpha=self.alpha)
                    p.copy_(s)
        return loss


def lookahead(run):
    k = Kit(run)
    outer = Lookahead(k.optimizer)

    def update(number):
        outer.zero_grad()
        k.backward(k.loss())
        outer.step()
        run.count("step Lookahead")

    return update


# --- several passes


def adversarial(way):
    """fgsm: a backward to the input first, whose other gradients are thrown away; fgm: both count; pgd: two to the input by autograd.grad;
    freelb: three passes that all count."""

    def build(run):
        k = Kit(run)

        def update(number):
            if way == "fgsm":
                x = k.x.clone().requires_grad_()
                k.backward(k.loss(x))
                x = (x + 0.1 * x.grad.sign()).detach()
                k.clear()
                k.backward(k.loss(x))
            elif way == "fgsm-model":
                x = k.x.clone().requires_grad_()
                k.backward(k.loss(x))
                x = (x + 0.1 * x.grad.sign()).detach()
                k.model.zero_grad()
                k.backward(k.loss(x))
            elif way == "fgm":
                k.backward(k.loss())
                kept = k.model.up.weight.data.clone()
                gradient = k.model.up.weight.grad
                k.model.up.weight.data.add_(0.1 * gradient / gradient.norm())
                k.backward(k.loss())
                k.model.up.weight.data = kept
            elif way == "pgd":
                x = k.x
                for _ in range(2):
                    x = x.detach().requires_grad_()
                    gradient, = torch.autograd.grad(k.loss(x), x)
                    x = x + 0.05 * gradient.sign()
                k.backward(k.loss(x.detach()))
            elif way == "freelb":
                delta = torch.zeros_like(k.x).requires_grad_()
                for _ in range(3):
                    k.backward(k.loss(k.x + delta) / 3)
                    delta = (delta + 0.1 * delta.grad.sign()).detach().requires_grad_()
            else:  # trades: the adversary by KL to the clean output
                with torch.no_grad():
                    clean = k.model(k.x).softmax(-1)
                x = (k.x + 0.01 * run.randn(BATCH, INPUTS)).requires_grad_()
                gradient, = torch.autograd.grad(F.kl_div(F.log_softmax(k.model(x), -1), clean, reduction="batchmean"), x)
                x = (x + 0.1 * gradient.sign()).detach()
                logits = k.model(k.x)
                k.backward(F.cross_entropy(logits, k.y) + F.kl_div(F.log_softmax(k.model(x), -1), logits.softmax(-1), reduction="batchmean"))
            k.step()
            k.clear()

        return update

    return build


def retained_between(zero="first", heads=2, middle=False):
    """The body once, a head at a time: its forward, and a backward that keeps the body's graph."""

    def build(run):
        body = Net(outputs=WIDTH)
        tops = [nn.Sequential(nn.Tanh(), nn.Linear(WIDTH, n + 2)) for n in range(heads)]
        run.trains([*body.parameters(), *(p for t in tops for p in t.parameters())])
        optimizer = torch.optim.AdamW(run.parameters)
        x, labels = run.randn(BATCH, INPUTS), torch.tensor([0, 1, 0, 1, 0, 1])

        def update(number):
            optimizer.zero_grad()
            hidden = body(x)
            run.count("forward")
            for n, top in enumerate(tops):
                loss = F.cross_entropy(top(hidden), labels)
                loss.backward(retain_graph=n < heads - 1)
                run.count("backward")
                if middle:
                    run.append("loss", loss.item())
            optimizer.step()
            run.count("step AdamW")

        return update

    return build


def cut_at_features(run):
    """The heads' backward passes end at a copy of the features, the body's runs once."""
    body, tops = Net(outputs=WIDTH), [nn.Linear(WIDTH, 3), nn.Linear(WIDTH, 4)]
    run.trains([*body.parameters(), *(p for t in tops for p in t.parameters())])
    optimizer = torch.optim.AdamW(run.parameters)
    x, labels = run.randn(BATCH, INPUTS), torch.tensor([0, 1, 2, 0, 1, 2])

    def update(number):
        optimizer.zero_grad()
        hidden = body(x)
        run.count("forward")
        leaf = hidden.detach().requires_grad_()
        for top in tops:
            F.cross_entropy(top(leaf), labels).backward()
        hidden.backward(leaf.grad)
        optimizer.step()
        run.count("step AdamW")

    return update


def bptt(every):
    """Truncated backpropagation through time: three chunks, and a step after each or after all."""

    def build(run):
        cell, head = nn.GRU(INPUTS, WIDTH), nn.Linear(WIDTH, CLASSES)
        run.trains([*cell.parameters(), *head.parameters()])
        optimizer = torch.optim.Adam(run.parameters)
        x, y = run.randn(6, BATCH, INPUTS), torch.randint(CLASSES, (6, BATCH), generator=run.generator)

        def update(number):
            state = torch.zeros(1, BATCH, WIDTH)
            for chunk in range(3):
                out, state = cell(x[2 * chunk:2 * chunk + 2], state.detach())
                F.cross_entropy(head(out).flatten(0, 1), y[2 * chunk:2 * chunk + 2].flatten()).backward()
                if every:
                    nn.utils.clip_grad_norm_(run.parameters, 0.01)
                    optimizer.step()
                    run.count("step Adam")
                    optimizer.zero_grad()
            if not every:
                optimizer.step()
                run.count("step Adam")
                optimizer.zero_grad()

        return update

    return build


def private(run):
    """DP-SGD sample by sample: each gradient is clipped and added to a sum, which gets noise."""
    k = Kit(run, make=torch.optim.SGD)

    def update(number):
        sums = [torch.zeros_like(p) for p in k.parameters]
        for n in range(4):
            k.backward(F.cross_entropy(k.model(k.x[n:n + 1]), k.y[n:n + 1]))
            nn.utils.clip_grad_norm_(k.parameters, 0.01)
            for s, p in zip(sums, k.parameters):
                s.add_(p.grad)
            k.clear()
        for s, p in zip(sums, k.parameters):
            p.grad = (s + 0.001 * torch.randn_like(s)) / 4
        k.step()
        k.clear()

    return update


def surgery(run):
    """PCGrad: a backward for each task, its gradient kept and cleared; what conflicts is projected."""
    k = Kit(run, make=torch.optim.Adam)

    def update(number):
        logits = k.model(k.x)
        run.count("forward")
        kept = []
        for n, loss in enumerate((F.cross_entropy(logits, k.y), logits.pow(2).mean())):
            k.clear()
            k.backward(loss, retain_graph=n == 0)
            kept.append(torch.cat([p.grad.flatten() for p in k.parameters]))
        a, b = kept
        dot = torch.dot(a, b)
        if dot < 0:
            a = a - dot / torch.dot(b, b) * b
        for p, g in zip(k.parameters, (a + b).split([p.numel() for p in k.parameters])):
            p.grad = g.view_as(p).clone()
        k.step()

    return update


def maml(run):
    """Two tasks: an inner step by autograd.grad with its graph, the outer losses one backward each."""
    k = Kit(run, make=torch.optim.Adam)
    names = [n for n, _ in k.model.named_parameters()]

    def update(number):
        k.clear()
        for task in range(2):
            x = k.x + 0.1 * task
            gradients = torch.autograd.grad(F.cross_entropy(k.model(x), k.y), k.parameters, create_graph=True)
            fast = {n: p - 0.1 * g for n, p, g in zip(names, k.parameters, gradients)}
            k.backward(F.cross_entropy(torch.func.functional_call(k.model, fast, (x + 0.1,)), k.y) / 2)
        k.step()

    return update


def reptile(run):
    """An inner optimizer on a copy for three steps; the outer one moves towards it."""
    k = Kit(run, make=torch.optim.Adam)
    fast = copy.deepcopy(k.model)
    inner = torch.optim.SGD(fast.parameters(), lr=0.01)

    def update(number):
        with torch.no_grad():
            for f, p in zip(fast.parameters(), k.parameters):
                f.copy_(p)
        for _ in range(3):
            inner.zero_grad()
            k.backward(k.loss(model=fast))
            k.step(optimizer=inner)
        for f, p in zip(fast.parameters(), k.parameters):
            p.grad = p.detach() - f.detach()
        k.step()

    return update


def cached(run):
    """GradCache: embeddings without a graph, the gradient of the loss of all of them, then each chunk again with it."""
    k = Kit(run)

    def update(number):
        chunks = k.x.chunk(3)
        with torch.no_grad():
            embedded = torch.cat([k.model(c) for c in chunks])
        embedded.requires_grad_()
        loss = F.cross_entropy(embedded @ embedded.T, torch.arange(BATCH))
        gradient, = torch.autograd.grad(loss, embedded)
        for c, g in zip(chunks, gradient.chunk(3)):
            k.model(c).backward(g)
            run.count("forward")
            run.count("backward")
        k.step()
        k.clear()

    return update


class ESAM(torch.optim.Optimizer):
    """Efficient SAM: it perturbs, asks for the second pass by a closure of its own and steps."""

    def __init__(self, params, base, rho=0.05):
        super().__init__(params, {"rho": rho})
        self.base = base

    @torch.no_grad()
    def step(self, closure=None):
        parameters = [p for g in self.param_groups for p in g["params"] if p.grad is not None]
        norm = torch.stack([p.grad.norm() for p in parameters]).norm()
        moves = [0.05 * p.grad / (norm + 1e-12) for p in parameters]
        torch._foreach_add_(parameters, moves)
        self.base.zero_grad()
        with torch.enable_grad():
            closure()
        torch._foreach_sub_(parameters, moves)
        self.base.step()
        self.base.zero_grad()


def esam(half=False):
    """half: the second pass sees the samples whose loss rose most."""

    def build(run):
        k = Kit(run, make=torch.optim.SGD, momentum=0.9)
        sam = ESAM(k.parameters, k.optimizer)

        def update(number):
            logits = k.model(k.x)
            losses = F.cross_entropy(logits, k.y, reduction="none")
            k.backward(losses.mean())

            def second():
                again = F.cross_entropy(k.model(k.x), k.y, reduction="none")
                chosen = (again.detach() - losses.detach()).topk(BATCH // 2).indices
                k.backward(again[chosen].mean() if half else again.mean())

            sam.step(second)
            run.count("step ESAM")

        return update

    return build


def extragradient(run):
    """A step to look ahead, and one from where it began with the gradient there."""
    k = Kit(run, make=torch.optim.SGD)

    def update(number):
        kept = [p.detach().clone() for p in k.parameters]
        for ahead in (True, False):
            k.clear()
            k.backward(k.loss())
            if not ahead:
                with torch.no_grad():
                    torch._foreach_copy_(k.parameters, kept)
            k.step()

    return update


def remainder(way):
    """Three updates of which the last has fewer micro-batches. way: count (the loop knows how many are left) or tokens (a budget)."""

    def build(run):
        k = Kit(run)
        sizes = [4, 4, 2]
        seen = [0]

        def update(number):
            n = sizes[(number + 1) % 3]
            if way == "tokens":
                batches = [k.y.clone() for _ in range(n)]
                batches[0][0] = -100
                total = sum((y != -100).sum() for y in batches)
                for y in batches:
                    k.backward(F.cross_entropy(k.model(k.x), y, reduction="sum") / total)
                    run.count("forward")
            else:
                for _ in range(n):
                    k.backward(k.loss() / n)
            seen[0] += n
            k.step()
            k.clear()

        return update

    return build


# --- scaling of losses


def scaler(clip=False, accum=1, skip=None, make=None):
    def build(run):
        k = Kit(run, make=make)
        scaler = torch.amp.GradScaler("cpu", init_scale=512.0)

        def update(number):
            for _ in range(accum):
                with torch.autocast("cpu", torch.bfloat16):
                    loss = k.loss() / accum
                if number == skip:
                    loss = loss * float("inf")
                k.backward(scaler.scale(loss))
            if clip:
                scaler.unscale_(k.optimizer)
                nn.utils.clip_grad_norm_(k.parameters, 0.01)
            scaler.step(k.optimizer)
            if number != skip:
                run.count("step AdamW")
            scaler.update()
            k.clear()

        return update

    return build


def dynamic_scale(run):
    """Loss scaling by hand, with a test for infinities."""
    k = Kit(run)
    scale = torch.tensor(256.0)

    def update(number):
        k.clear()
        k.backward(k.loss() * scale)
        bad = sum((~torch.isfinite(p.grad)).sum() for p in k.parameters)
        if bad.item() == 0:
            with torch.no_grad():
                for p in k.parameters:
                    p.grad.div_(scale)
            k.step()

    return update


# --- several optimizers


def ppo(way):
    """A trunk that policy and value share. joint: one loss and one optimizer, two epochs; apart: two losses, two backward passes over
    one graph, two optimizers of which the policy's has the trunk; three: an optimizer for each part and one backward."""

    def build(run):
        trunk, policy, value = Net(outputs=WIDTH), nn.Linear(WIDTH, 3), nn.Linear(WIDTH, 1)
        run.trains([*trunk.parameters(), *policy.parameters(), *value.parameters()])
        observations, advantages, returns = run.randn(BATCH, INPUTS), run.randn(BATCH), run.randn(BATCH)
        if way == "apart":
            optimizers = [torch.optim.Adam([*trunk.parameters(), *policy.parameters()]), torch.optim.Adam(value.parameters())]
        elif way == "three":
            optimizers = [torch.optim.Adam(m.parameters()) for m in (trunk, policy, value)]
        else:
            optimizers = [torch.optim.Adam(run.parameters)]

        def act():
            with torch.no_grad():
                distribution = torch.distributions.Categorical(logits=policy(torch.tanh(trunk(observations))))
                actions = distribution.sample()
                return actions, distribution.log_prob(actions)

        def losses(actions, old):
            hidden = torch.tanh(trunk(observations))
            distribution = torch.distributions.Categorical(logits=policy(hidden))
            ratio = (distribution.log_prob(actions) - old).exp()
            surrogate = -torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
            return surrogate - 0.01 * distribution.entropy().mean(), F.mse_loss(value(hidden).squeeze(-1), returns)

        def update(number):
            actions, old = act()
            for _ in range(2 if way == "joint" else 1):
                a, c = losses(actions, old)
                for optimizer in optimizers:
                    optimizer.zero_grad()
                if way == "apart":
                    a.backward(retain_graph=True)
                    c.backward()
                else:
                    (a + 0.5 * c).backward()
                if way == "joint":
                    nn.utils.clip_grad_norm_(run.parameters, 0.5)
                for optimizer in optimizers:
                    optimizer.step()
                    run.count("step Adam")

        return update

    return build


def td3(run):
    """Two critics in one optimizer, the actor every second turn."""
    actor, q1, q2 = Net(outputs=3), Net(INPUTS + 3, 1), Net(INPUTS + 3, 1)
    run.trains([*actor.parameters(), *q1.parameters(), *q2.parameters()])
    critics, acting = torch.optim.Adam([*q1.parameters(), *q2.parameters()]), torch.optim.Adam(actor.parameters())
    targets = [copy.deepcopy(m) for m in (actor, q1, q2)]
    s, a, r = run.randn(BATCH, INPUTS), run.randn(BATCH, 3), run.randn(BATCH, 1)

    def update(number):
        with torch.no_grad():
            both = torch.cat([s, targets[0](s)], -1)
            y = r + 0.9 * torch.min(targets[1](both), targets[2](both))
        sa = torch.cat([s, a], -1)
        loss = F.mse_loss(q1(sa), y) + F.mse_loss(q2(sa), y)
        critics.zero_grad()
        loss.backward()
        critics.step()
        run.count("step Adam")
        if number % 2 == 0:
            loss = -q1(torch.cat([s, actor(s)], -1)).mean()
            acting.zero_grad()
            loss.backward()
            acting.step()
            run.count("step Adam")
            with torch.no_grad():
                for target, m in zip(targets, (actor, q1, q2)):
                    for t, p in zip(target.parameters(), m.parameters()):
                        t.data.copy_(0.99 * t.data + 0.01 * p.data)

    return update


def dqn(clip):
    """Q-learning with a target network and, in PyTorch's tutorial, clipping by value."""

    def build(run):
        k = Kit(run)
        target = copy.deepcopy(k.model)

        def update(number):
            with torch.no_grad():
                best = target(k.x).max(1).values
            q = k.model(k.x).gather(1, k.y[:, None]).squeeze(1)
            loss = F.smooth_l1_loss(q, 0.9 * best + 1)
            k.clear()
            k.backward(loss)
            if clip:
                nn.utils.clip_grad_value_(k.parameters, 100)
            k.step()
            state, own = target.state_dict(), k.model.state_dict()
            for key in state:
                state[key] = own[key] * 0.005 + state[key] * 0.995
            target.load_state_dict(state)

        return update

    return build


def gan(way):
    """shared: an encoder in both optimizers' paths, stepped by the discriminator's; vae: encoder, decoder and discriminator, three losses; cycle:
    two generators in one optimizer, two discriminators in another; r1: a penalty on real images; accum: two micro-batches each."""

    def build(run):
        e, g, d = Net(outputs=6), Net(6, INPUTS), Net(outputs=1)
        real = run.randn(BATCH, INPUTS)
        ones, zeros = torch.ones(BATCH, 1), torch.zeros(BATCH, 1)
        bce = F.binary_cross_entropy_with_logits

        def step(optimizer):
            optimizer.step()
            run.count("step " + type(optimizer).__name__)

        if way == "shared":
            head = nn.Linear(6, 1)
            run.trains([*e.parameters(), *head.parameters(), *g.parameters()])
            og, od = torch.optim.Adam(g.parameters()), torch.optim.Adam([*e.parameters(), *head.parameters()])

            def update(number):
                fake = g(e(real).detach())
                od.zero_grad()
                (bce(head(e(real)), ones) + bce(head(e(fake.detach())), zeros)).backward()
                step(od)
                og.zero_grad()
                (bce(head(e(fake)), ones) + F.l1_loss(fake, real)).backward()
                step(og)
        elif way == "vae":
            run.trains([*e.parameters(), *g.parameters(), *d.parameters()])
            oe, og, od = (torch.optim.RMSprop(m.parameters(), lr=1e-4) for m in (e, g, d))

            def update(number):
                for o in (oe, og, od):
                    o.zero_grad()
                code = e(real)
                z = code + 0.1 * torch.randn_like(code)
                again = g(z)
                (F.mse_loss(again, real) + 0.1 * code.pow(2).mean()).backward()
                step(oe)
                step(og)
                od.zero_grad()
                (bce(d(real), ones) + bce(d(again.detach()), zeros)).backward()
                step(od)
        elif way == "bi":  # encoder and generator in one optimizer
            judge = Net(INPUTS + 6, 1)
            run.trains([*e.parameters(), *g.parameters(), *judge.parameters()])
            og, od = torch.optim.Adam([*e.parameters(), *g.parameters()]), torch.optim.SGD(judge.parameters(), lr=0.01)

            def update(number):
                z = run.randn(BATCH, 6)
                code, fake = e(real), g(z)
                a, b = torch.cat([real, code], 1), torch.cat([fake, z], 1)
                od.zero_grad()
                (bce(judge(a.detach()), ones) + bce(judge(b.detach()), zeros)).backward()
                step(od)
                og.zero_grad()
                (bce(judge(a), zeros) + bce(judge(b), ones)).backward()
                step(og)
        elif way == "r1":
            run.trains([*d.parameters(), *g.parameters()])
            og, od = torch.optim.Adam(g.parameters()), torch.optim.Adam(d.parameters())

            def update(number):
                z = run.randn(BATCH, 6)
                od.zero_grad()
                x = real.clone().requires_grad_()
                scores = d(x)
                slope, = torch.autograd.grad(scores.sum(), x, create_graph=True)
                (F.softplus(-scores).mean() + F.softplus(d(g(z).detach())).mean() + slope.pow(2).sum(1).mean()).backward()
                step(od)
                og.zero_grad()
                F.softplus(-d(g(z))).mean().backward()
                step(og)
        else:  # least squares, the generator first
            run.trains([*g.parameters(), *d.parameters()])
            og, od = torch.optim.Adam(g.parameters()), torch.optim.Adam(d.parameters())

            def update(number):
                og.zero_grad()
                fake = g(run.randn(BATCH, 6))
                F.mse_loss(d(fake), ones).backward()
                step(og)
                od.zero_grad()
                (0.5 * (F.mse_loss(d(real), ones) + F.mse_loss(d(fake.detach()), zeros))).backward()
                step(od)

        return update

    return build


def distill(run):
    """A teacher without gradients, a student, and a projection with an optimizer of its own; one backward."""
    k = Kit(run)
    teacher, projection = Net(outputs=CLASSES).eval(), nn.Linear(WIDTH, WIDTH)
    run.trains([*k.parameters, *projection.parameters()])
    other = torch.optim.SGD(projection.parameters(), lr=0.01)

    def update(number):
        with torch.no_grad():
            features, soft = teacher.features(k.x), teacher(k.x).softmax(-1)
        own = k.model.features(k.x)
        logits = k.model.head(own)
        k.clear(k.optimizer, other)
        k.backward(F.kl_div(logits.log_softmax(-1), soft, reduction="batchmean") + F.mse_loss(projection(own), features))
        k.step()
        k.step(optimizer=other)

    return update


def independent(same):
    """Two models, each with its loss, backward and optimizer."""

    def build(run):
        one, two = Net(), Net(outputs=CLASSES if same else 3)
        run.trains([*one.parameters(), *two.parameters()])
        first, second = torch.optim.AdamW(one.parameters()), (torch.optim.AdamW if same else torch.optim.SGD)(two.parameters(), lr=1e-3)
        x, y = run.randn(BATCH, INPUTS), torch.tensor([0, 1, 2, 0, 1, 2])

        def update(number):
            for model, optimizer in ((one, first), (two, second)):
                optimizer.zero_grad()
                F.cross_entropy(model(x), y).backward()
                optimizer.step()
                run.count("step " + type(optimizer).__name__)

        return update

    return build


def alternating(run):
    """Body and head in turns."""
    k = Kit(run)
    body = torch.optim.AdamW([p for m in (k.model.up, k.model.blocks) for p in m.parameters()], lr=1e-3)
    head = torch.optim.SGD(k.model.head.parameters(), lr=0.01)

    def update(number):
        k.model.zero_grad()
        k.backward(k.loss())
        k.step(optimizer=(body, head)[number % 2])

    return update


def sparse(run):
    """A sparse embedding with SparseAdam beside AdamW."""
    table, net = nn.Embedding(40, INPUTS, sparse=True), Net()
    run.trains([table.weight, *net.parameters()])
    optimizers = [torch.optim.SparseAdam(table.parameters()), torch.optim.AdamW(net.parameters())]
    ids, y = torch.randint(40, (BATCH, 3), generator=run.generator), torch.randint(CLASSES, (BATCH,), generator=run.generator)

    def update(number):
        for o in optimizers:
            o.zero_grad()
        F.cross_entropy(net(table(ids).mean(1)), y).backward()
        for o in optimizers:
            o.step()
            run.count("step " + type(o).__name__)

    return update


class Orthogonal(torch.optim.Optimizer):
    """Muon: momentum, orthogonalized by Newton and Schulz."""

    def __init__(self, params, lr=1e-3):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                moment = self.state[p].setdefault("m", torch.zeros_like(p))
                moment.mul_(0.95).add_(p.grad)
                x = moment / (moment.norm() + 1e-7)
                if x.dim() == 2:
                    for _ in range(3):
                        a = x @ x.T
                        x = 3.4445 * x + (-4.775 * a + 2.0315 * a @ a) @ x
                p.mul_(1 - group["lr"] * 0.1).add_(x, alpha=-group["lr"])


def own_optimizers(run):
    """Matrices by Muon, all others by AdamW, with clipping and four micro-batches."""
    k = Kit(run)
    matrices = [p for p in k.parameters if p.dim() == 2]
    both = [Orthogonal(matrices), torch.optim.AdamW([p for p in k.parameters if p.dim() != 2])]

    def update(number):
        for _ in range(4):
            k.backward(k.loss() / 4)
        nn.utils.clip_grad_norm_(k.parameters, 0.01)
        for o in both:
            k.step(optimizer=o)
        k.clear(*both)

    return update


# --- closures


def closure_clipped_scaled(run):
    """A closure that clips, and logs what it clipped."""
    k = Kit(run, make=torch.optim.RMSprop)

    def update(number):
        def closure():
            k.clear()
            loss = k.loss()
            k.backward(loss)
            run.append("norm", nn.utils.clip_grad_norm_(k.parameters, 0.01).item())
            return loss

        k.step(closure)

    return update


def lbfgs(search, clip=False):
    def build(run):
        k = Kit(run, make=torch.optim.LBFGS, lr=0.5, max_iter=3, max_eval=20, line_search_fn=search, tolerance_grad=0, tolerance_change=0)
        k.evaluated = 0

        def update(number):
            def closure():
                k.clear()
                loss = k.loss() + 1e-3 * sum(p.pow(2).sum() for p in k.parameters)
                k.backward(loss)
                if clip:
                    nn.utils.clip_grad_norm_(k.parameters, 0.01)
                return loss

            k.step(closure)

        return update

    return build


# --- beside training


def evaluating(way):
    """after: an evaluation under no_grad after each step; loss: with its loss in the eval mode; inference: in inference_mode between the micro-batches."""

    def build(run):
        k = Kit(run)

        def update(number):
            for micro in range(2):
                k.backward(k.loss() / 2)
                if way == "between" and micro == 0:
                    with torch.inference_mode():
                        run.append("accuracy", (k.model(k.x).argmax(-1) == k.y).float().mean().item())
            k.step()
            k.clear()
            if way == "after":
                k.model.eval()
                with torch.no_grad():
                    for _ in range(3):
                        run.append("loss", F.cross_entropy(k.model(k.x), k.y).item())
                k.model.train()
            if way == "gradients":  # sensitivities of the input, for a picture
                x = k.x.clone().requires_grad_()
                gradient, = torch.autograd.grad(k.model(x).max(1).values.sum(), x)
                run.append("saliency", gradient.abs().sum().item())

        return update

    return build


class Checkpointed(Net):
    def __init__(self, reentrant):
        super().__init__()
        self.reentrant = reentrant

    def features(self, x):
        x = F.gelu(self.up(x))
        for block in self.blocks:
            x = x + checkpoint(lambda x, block=block: F.gelu(block(x)), x, use_reentrant=self.reentrant)
        return x


def checkpointed(reentrant, clip=False):
    def build(run):
        k = Kit(run, Checkpointed(reentrant), make=torch.optim.NAdam)

        def update(number):
            k.clear()
            for _ in range(3):
                k.backward(k.loss() / 3)
            if clip:
                nn.utils.clip_grad_norm_(k.parameters, 0.01)
            k.step()

        return update

    return build


class Dropped(Net):
    """Stochastic depth: each forward leaves out one of the blocks."""

    turn = 0

    def features(self, x):
        self.turn += 1
        x = F.gelu(self.up(x))
        return x + F.gelu(self.blocks[self.turn % 2](x))


def dropped(run):
    k = Kit(run, Dropped())

    def update(number):
        for _ in range(2):
            k.backward(k.loss() / 2)
        k.step()
        k.clear()

    return update


def twins(way):
    """byol: a target network that follows, two views; simclr: two views in one batch; moco: a queue; vicreg: two views, three terms."""

    def build(run):
        k = Kit(run)
        target = copy.deepcopy(k.model).requires_grad_(False)
        predictor = nn.Linear(CLASSES, CLASSES)
        if way == "byol":
            run.trains([*k.parameters, *predictor.parameters()])
            k.optimizer = torch.optim.AdamW(run.parameters)
        queue = F.normalize(run.randn(12, CLASSES), dim=1)

        def update(number):
            a, b = k.x, k.x + 0.1 * run.randn(BATCH, INPUTS)
            k.clear()
            if way == "byol":
                with torch.no_grad():
                    ta, tb = target(a), target(b)
                loss = 2 - F.cosine_similarity(predictor(k.model(a)), tb).mean() - F.cosine_similarity(predictor(k.model(b)), ta).mean()
            elif way == "simclr":
                z = F.normalize(k.model(torch.cat([a, b])), dim=1)
                similar = (z @ z.T / 0.1).masked_fill(torch.eye(2 * BATCH, dtype=torch.bool), float("-inf"))
                loss = F.cross_entropy(similar, torch.arange(2 * BATCH).roll(BATCH))
            elif way == "moco":
                q = F.normalize(k.model(a), dim=1)
                with torch.no_grad():
                    positive = F.normalize(target(b), dim=1)
                logits = torch.cat([(q * positive).sum(1, keepdim=True), q @ queue.T], 1)
                loss = F.cross_entropy(logits / 0.1, torch.zeros(BATCH, dtype=torch.long))
            else:
                za, zb = k.model(a), k.model(b)
                covariance = sum((z - z.mean(0)).T.matmul(z - z.mean(0)).fill_diagonal_(0).pow(2).sum() for z in (za, zb))
                spread = sum(F.relu(1 - (z.var(0) + 1e-4).sqrt()).mean() for z in (za, zb))
                loss = 25 * F.mse_loss(za, zb) + 25 * spread + 0.01 * covariance
            run.count("forward")
            k.backward(loss)
            k.step()
            with torch.no_grad():
                for t, p in zip(target.parameters(), k.model.parameters()):
                    t.mul_(0.99).add_(p, alpha=0.01)

        return update

    return build


def mixed_up(run):
    """Mixup: two cross-entropies of one output."""
    k = Kit(run, make=torch.optim.RAdam)

    def update(number):
        logits = k.model(0.3 * k.x + 0.7 * k.x.flip(0))
        k.clear()
        k.backward(0.3 * F.cross_entropy(logits, k.y) + 0.7 * F.cross_entropy(logits, k.y.flip(0)))
        k.step()

    return update


def consistent(run):
    """R-Drop: the same batch twice, and the divergence between both."""
    k = Kit(run, make=torch.optim.Adamax)

    def update(number):
        a, b = (F.dropout(k.model(k.x), 0.1) for _ in range(2))
        both = 0.5 * (F.kl_div(a.log_softmax(-1), b.softmax(-1), reduction="batchmean") + F.kl_div(b.log_softmax(-1), a.softmax(-1), reduction="batchmean"))
        k.clear()
        k.backward(0.5 * (F.cross_entropy(a, k.y) + F.cross_entropy(b, k.y)) + both)
        k.step()

    return update


def momentum_in_gradients(run):
    """Gradients decay instead of being cleared: momentum, as some write it."""
    k = Kit(run, make=torch.optim.SGD)

    def update(number):
        with torch.no_grad():
            for p in k.parameters:
                if p.grad is not None:
                    p.grad.mul_(0.5)
        k.backward(k.loss())
        k.step()

    return update


CLIP = {"clip": True, "clip_place": "after_backward", "clip_kind": "per_parameter"}
CLIP_AT_ONCE = {**CLIP, "clip_kind": "foreach"}
P = 8


def scaled(kind="per_parameter", needless=False, avoidable=False, factor="float", parameters=P):
    return {"scale_pass": {"kind": kind, "place": "after_backward", "count": parameters, "calls_per_update": 1, "factor": factor},
            "scale_needless": needless, "scale_avoidable": avoidable}


def same(n):
    return {"accumulation": n, "micro_batches": n}


REMAINDER = {"active": 3, "accumulation": None, "micro_batches": None, "by_step": [4, 4, 2]}
ALIKE = {"params": None}

LOOPS = [
    Written("gradients-centralized", plain(centralize)),
    Written("gradients-centralized-subtracted", plain(centralize_subtracted, 2), **same(2)),
    Written("gradients-noise", plain(noise)),
    Written("gradients-sign", plain(sign, make=torch.optim.SGD)),
    Written("gradients-not-a-number", plain(not_a_number)),
    Written("gradients-by-layer", plain(by_layer), facts=scaled()),
    Written("gradients-trust-ratio", plain(trust_ratio, make=torch.optim.SGD), facts=CLIP),
    Written("gradients-value", plain(clip_value(True)), facts=CLIP_AT_ONCE),
    Written("gradients-value-loop", plain(clip_value(False), 4), **same(4), facts=CLIP),
    Written("gradients-value-hand", plain(clamp_by_hand), facts=CLIP),
    Written("gradients-einsum", plain(einsum_norm), facts=CLIP),
    Written("gradients-matmul", plain(matmul_norm), facts=CLIP),
    Written("gradients-total-norm", plain(get_total_norm), facts=CLIP_AT_ONCE),
    Written("gradients-infinity-norm", plain(infinity_norm, 2), **same(2), facts=CLIP_AT_ONCE),
    Written("gradients-first-norm", plain(first_norm), facts=CLIP),
    Written("gradients-out-of-place", plain(out_of_place), facts=CLIP),
    Written("gradients-foreach-by-hand", plain(foreach_by_hand), facts=CLIP_AT_ONCE),
    Written("gradients-adaptive", plain(adaptive), facts=CLIP),
    Written("gradients-adaptive-in-place", plain(adaptive_in_place), facts=CLIP),
    Written("gradients-logged-by-layer", plain(logged_by_layer)),
    Written("gradients-histograms", plain(histograms, 2), **same(2)),
    Written("gradients-clip-in-hook", pre_hook, facts={"clip": True, "clips": {"clip in_optimizer": 3}}),
    Written("gradients-hooks-scale", tensor_hooks(lambda g: g * 0.5)),
    Written("gradients-hooks-clamp", tensor_hooks(lambda g: g.clamp(-0.1, 0.1))),
    Written("weights-lerp", averaged("lerp")),
    Written("weights-mul", averaged("mul")),
    Written("weights-copy", averaged("copy")),
    Written("weights-half", averaged("half")),
    Written("weights-swa", averaged("swa")),
    Written("weights-ema", averaged("ema")),
    Written("weights-teacher", averaged("teacher")),
    Written("weights-lookahead", lookahead, active=4),
    Written("passes-fgsm", adversarial("fgsm"), **same(2)),
    Written("passes-fgsm-model", adversarial("fgsm-model"), **same(2)),
    Written("passes-fgm", adversarial("fgm"), **same(2)),
    Written("passes-pgd", adversarial("pgd")),
    Written("passes-freelb", adversarial("freelb"), **same(3)),
    Written("passes-trades", adversarial("trades")),
    Written("passes-retained-between", retained_between(), accumulation=2),
    Written("passes-retained-between3", retained_between(heads=3, middle=True), accumulation=3),
    Written("passes-cut-at-features", cut_at_features),
    Written("passes-bptt-each", bptt(True), updates=3, facts=CLIP_AT_ONCE | {"clips": {"clip after_backward": 9}}),
    Written("passes-bptt-all", bptt(False), **same(3)),
    Written("passes-private", private, **same(4), facts={"clips": {"clip after_backward": 3, "clip between_micro_batches": 9}}),
    Written("passes-surgery", surgery, accumulation=2),
    Written("passes-maml", maml, **same(2)),
    Written("passes-reptile", reptile, updates=3),
    Written("passes-cached", cached, **same(3)),
    Written("passes-esam", esam(), **same(2)),
    Written("passes-esam-half", esam(True), **same(2)),
    Written("passes-extragradient", extragradient, updates=2),
    Written("passes-remainder", remainder("count"), **REMAINDER),
    Written("passes-remainder-tokens", remainder("tokens"), **REMAINDER),
    Written("scaler-clip", scaler(True), facts=CLIP_AT_ONCE | {"unscale": True}),
    Written("scaler-clip-accum2", scaler(True, 2), **same(2), facts=CLIP_AT_ONCE | {"unscale": True}),
    Written("scaler-clip-skipped", scaler(True, skip=3), active=4, accumulation=None, micro_batches=None, by_step=[1, 2, 1], facts={
        "optimizer_steps": 3, "clip": True, "clips": {"clip after_backward": 3, "clip between_micro_batches": 1,
                                                      "unscale after_backward": 4}}),
    Written("scaler-by-hand", dynamic_scale, facts=scaled(factor="tensor")),
    Written("actor-ppo-joint", ppo("joint"), updates=2, facts=CLIP_AT_ONCE | {"clips": {"clip after_backward": 6}}),
    Written("actor-ppo-apart", ppo("apart"), accumulation=2, micro_batches=1, note="the trunk; of both heads one"),
    Written("actor-ppo-three", ppo("three")),
    Written("actor-td3", td3, facts={"optimizer_steps": 6, **ALIKE}, active=4, accumulation=1),
    Written("actor-dqn", dqn(False)),
    Written("actor-dqn-value", dqn(True), facts=CLIP_AT_ONCE),
    Written("gan2-shared", gan("shared"), updates=2),
    Written("gan2-vae", gan("vae"), updates=2, facts=ALIKE),
    Written("gan2-bi", gan("bi"), updates=2, optimizers=(("Adam", 1), ("SGD", 1))),
    Written("gan2-r1", gan("r1"), updates=2),
    Written("gan2-least-squares", gan("ls"), updates=2),
    Written("several-distill", distill),
    Written("several-independent", independent(False), updates=2, facts=ALIKE),
    Written("several-independent-same", independent(True), updates=2, facts=ALIKE),
    Written("several-alternating", alternating, active=4),
    Written("several-sparse", sparse),
    Written("several-muon", own_optimizers, **same(4), facts=CLIP_AT_ONCE),
    Written("closure-rmsprop-logged", closure_clipped_scaled, facts=CLIP_AT_ONCE),
    Written("closure-lbfgs-penalty", lbfgs(None), **same(3)),
    Written("beside-evaluation", evaluating("after"), **same(2)),
    Written("beside-evaluation-between", evaluating("between"), **same(2)),
    Written("beside-saliency", evaluating("gradients"), **same(2)),
    Written("checkpointed-reentrant", checkpointed(True), **same(3), facts=ALIKE),
    Written("checkpointed-clip", checkpointed(False, True), **same(3), facts=CLIP_AT_ONCE),
    Written("depth-dropped", dropped, **same(2), facts=ALIKE),
    Written("views-byol", twins("byol")),
    Written("views-simclr", twins("simclr")),
    Written("views-moco", twins("moco")),
    Written("views-vicreg", twins("vicreg")),
    Written("views-mixed-up", mixed_up),
    Written("views-consistent", consistent),
    Written("gradients-decay", momentum_in_gradients, note="by 0.5 before the first backward"),
]
