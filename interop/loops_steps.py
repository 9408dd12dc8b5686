"""Loops whose steps are hard to tell: closures, several backward passes or optimizers per step, steps that are left out."""

import itertools

import torch
import torch.nn.functional as F
from torch import nn

from harness import Written


def mlp(inputs=8, hidden=16, outputs=4):
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, outputs))


CLIP = {"clip": True, "clip_place": "after_backward", "clip_kind": "foreach"}


class Plain:
    """What most loops here share: a model, data, and counting."""

    def __init__(self, run, model=None):
        self.run, self.model = run, model or mlp()
        run.trains(self.model.parameters())
        self.x, self.y = run.randn(4, 8), run.randn(4, 4)

    def loss(self):
        loss = F.mse_loss(self.model(self.x), self.y)
        self.run.count("forward")
        return loss

    def backward(self, loss):
        loss.backward()
        self.run.count("backward")

    def stepped(self, optimizer):
        self.run.count("step " + type(optimizer).__name__)


# --- closures


def closure(make, clip=False, accum=1, zero="optimizer"):
    """The closure clears, runs forward and backward and clips, all inside optimizer.step, as Lightning's automatic
    optimization does: with accumulation the earlier micro-batches run outside."""

    def build(run):
        p = Plain(run)
        optimizer = make(p.model.parameters())

        def update(number):
            def one(first):
                loss = p.loss() / accum
                if first and zero != "after":
                    (optimizer if zero == "optimizer" else p.model).zero_grad()
                p.backward(loss)
                return loss

            def last():
                loss = one(accum == 1)
                if clip:
                    nn.utils.clip_grad_norm_(p.model.parameters(), 1.0, foreach=clip == "foreach")
                return loss

            for number in range(accum - 1):
                one(number == 0)
            optimizer.step(last)
            p.stepped(optimizer)
            if zero == "after":
                optimizer.zero_grad()

        return update

    return build


def closure_two(run):
    """Two optimizers, each with its closure, after one another: a GAN in a framework with closures."""
    first, second = mlp(8, 12, 8), mlp(8, 16, 4)
    run.trains(list(first.parameters()) + list(second.parameters()))
    a, b = torch.optim.AdamW(first.parameters()), torch.optim.SGD(second.parameters(), lr=0.01)
    x, y = run.randn(4, 8), run.randn(4, 4)

    def update(number):
        def one():
            loss = F.mse_loss(first(x), x)
            a.zero_grad()
            loss.backward()
            return loss

        def two():
            loss = F.mse_loss(second(x), y)
            b.zero_grad()
            loss.backward()
            return loss

        a.step(one)
        run.count("step AdamW")
        b.step(two)
        run.count("step SGD")

    return update


def lbfgs(evaluations):
    def build(run):
        p = Plain(run)
        optimizer = torch.optim.LBFGS(p.model.parameters(), lr=0.05, max_iter=evaluations, history_size=3, tolerance_grad=0,
                                      tolerance_change=0)

        def update(number):
            def again():
                optimizer.zero_grad()
                loss = p.loss()
                p.backward(loss)
                return loss

            optimizer.step(again)
            p.stepped(optimizer)

        return update

    return build


# --- several backward passes per step


class SAM(torch.optim.Optimizer):
    """Sharpness-aware minimization as it is commonly written: up to the neighbour, and from there back and down."""

    def __init__(self, params, base, rho=0.05, **options):
        super().__init__(params, dict(rho=rho, **options))
        self.base = base(self.param_groups, **options)
        self.param_groups = self.base.param_groups

    @torch.no_grad()
    def first_step(self, zero_grad=False):
        norm = torch.norm(torch.stack([p.grad.norm(p=2) for g in self.param_groups for p in g["params"]]), p=2)
        for group in self.param_groups:
            scale = group["rho"] / (norm + 1e-12)
            for p in group["params"]:
                self.state[p]["old"] = p.data.clone()
                p.add_(p.grad * scale.to(p))
        if zero_grad:
            self.zero_grad()

    @torch.no_grad()
    def second_step(self, zero_grad=False):
        for group in self.param_groups:
            for p in group["params"]:
                p.data = self.state[p]["old"]
        self.base.step()
        if zero_grad:
            self.zero_grad()

    def step(self, closure=None):
        closure = torch.enable_grad()(closure)
        self.first_step(zero_grad=True)
        closure()
        self.second_step()


def sam(way, clip=False):
    """way: methods (first_step and second_step), closure (step(closure) for the second pass), model (model.zero_grad), hand."""

    def build(run):
        p = Plain(run)
        base = torch.optim.SGD
        parameters = list(p.model.parameters())
        optimizer = base(parameters, lr=0.01, momentum=0.9) if way == "hand" else SAM(parameters, base, lr=0.01, momentum=0.9)

        def update(number):
            p.backward(p.loss())
            if clip:
                nn.utils.clip_grad_norm_(parameters, 5.0)
            if way == "methods":
                optimizer.first_step(zero_grad=True)
                p.backward(p.loss())
                optimizer.second_step(zero_grad=True)
            elif way == "closure":
                optimizer.step(lambda: p.backward(p.loss()))
                optimizer.zero_grad()
            elif way == "model":
                optimizer.first_step()
                p.model.zero_grad()
                p.backward(p.loss())
                optimizer.second_step()
                p.model.zero_grad()
            else:
                with torch.no_grad():
                    norm = torch._foreach_norm([q.grad for q in parameters])
                    norm = torch.linalg.vector_norm(torch.stack(norm))
                    moved = torch._foreach_mul([q.grad for q in parameters], 0.05 / (norm + 1e-12))
                    torch._foreach_add_(parameters, moved)
                optimizer.zero_grad()
                p.backward(p.loss())
                with torch.no_grad():
                    torch._foreach_sub_(parameters, moved)
                optimizer.step()
                optimizer.zero_grad()
            run.count("step SAM" if way == "closure" else "step SGD")

        return update

    return build


def skipped_scaler(run):
    """fp16's usual first step: the scaled loss overflows, GradScaler leaves the step out, and the loop goes on."""
    p = Plain(run)
    optimizer = torch.optim.AdamW(p.model.parameters())
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)

    def update(number):
        optimizer.zero_grad()
        loss = p.loss()
        if number == 3:
            loss = loss * float("inf")
        p.backward(scaler.scale(loss))
        scaler.step(optimizer)
        if number != 3:
            run.count("step AdamW")
        scaler.update()

    return update


def skipped_guard(way):
    """A step is left out where the norm is not a number."""

    def build(run):
        p = Plain(run)
        optimizer = torch.optim.AdamW(p.model.parameters())

        def update(number):
            if way == "model":
                p.model.zero_grad()
            p.backward(p.loss())
            norm = nn.utils.clip_grad_norm_(p.model.parameters(), 1.0) if way != "bare" else torch.ones(())
            if number == 3 or not torch.isfinite(norm):
                if way != "model":
                    optimizer.zero_grad(set_to_none=way != "in_place")
                return
            optimizer.step()
            p.stepped(optimizer)
            if way != "model":
                optimizer.zero_grad(set_to_none=way != "in_place")

        return update

    return build


def actor_critic(through, twin=False):
    """An actor's and a critic's backward, then both steps; each clears before its own backward. through: the actor's loss
    goes through the critic. twin: two critics of one shape instead."""

    def build(run):
        actor, critic = (mlp(8, 16, 1) if twin else mlp(8, 16, 4)), mlp(8, 16, 1) if twin else mlp(12, 24, 1)
        run.trains(list(actor.parameters()) + list(critic.parameters()))
        a, c = torch.optim.Adam(actor.parameters()), torch.optim.Adam(critic.parameters())
        x, taken = run.randn(4, 8), run.randn(4, 4)

        def update(number):
            a.zero_grad()
            if twin:
                F.mse_loss(actor(x), torch.ones(4, 1)).backward()
            elif through:
                (-critic(torch.cat([x, actor(x)], -1)).mean()).backward()
            else:
                value = critic(torch.cat([x, taken], -1)).detach()
                (-(torch.log_softmax(actor(x), -1)[:, :1] * value).mean()).backward()
            c.zero_grad()
            F.mse_loss(critic(x if twin else torch.cat([x, taken], -1)), torch.ones(4, 1)).backward()
            a.step()
            run.count("step Adam")
            c.step()
            run.count("step Adam")

        return update

    return build


def zero_inside(way):
    """The bug: gradients are cleared before every micro-batch."""

    def build(run):
        p = Plain(run)
        optimizer = torch.optim.AdamW(p.model.parameters())

        def update(number):
            for _ in range(4):
                if way == "model":
                    p.model.zero_grad()
                else:
                    optimizer.zero_grad(set_to_none=way != "in_place")
                p.backward(p.loss() / 4)
            optimizer.step()
            p.stepped(optimizer)

        return update

    return build


# --- several optimizers of one class


def gan(kind="adam", frozen=False, zero="optimizer"):
    """DCGAN's loop: real and fake losses of the discriminator, a backward each; then the generator through it."""

    def build(run):
        g, d = mlp(4, 16, 8), mlp(8, 16, 1)
        run.trains(list(d.parameters()) + list(g.parameters()))
        make = torch.optim.Adam if kind == "adam" else torch.optim.RMSprop
        og, od = make(g.parameters(), lr=1e-3), make(d.parameters(), lr=1e-3)
        real = run.randn(6, 8)
        name = type(og).__name__

        def update(number):
            noise = run.randn(6, 4)
            if frozen:
                d.requires_grad_(True)
            (od if zero == "optimizer" else d).zero_grad()
            F.binary_cross_entropy_with_logits(d(real), torch.ones(6, 1)).backward()
            fake = g(noise)
            F.binary_cross_entropy_with_logits(d(fake.detach()), torch.zeros(6, 1)).backward()
            od.step()
            run.count("step " + name)
            if frozen:
                d.requires_grad_(False)
            (og if zero == "optimizer" else g).zero_grad()
            F.binary_cross_entropy_with_logits(d(fake), torch.ones(6, 1)).backward()
            og.step()
            run.count("step " + name)

        return update

    return build


def gan_one_loss(run):
    """The discriminator's two losses added, one backward."""
    g, d = mlp(4, 16, 8), mlp(8, 16, 1)
    run.trains(list(d.parameters()) + list(g.parameters()))
    og, od = torch.optim.Adam(g.parameters(), lr=1e-3), torch.optim.Adam(d.parameters(), lr=1e-3)
    real = run.randn(6, 8)

    def update(number):
        fake = g(run.randn(6, 4))
        od.zero_grad()
        loss = F.binary_cross_entropy_with_logits(d(real), torch.ones(6, 1)) + \
            F.binary_cross_entropy_with_logits(d(fake.detach()), torch.zeros(6, 1))
        loss.backward()
        od.step()
        run.count("step Adam")
        og.zero_grad()
        F.binary_cross_entropy_with_logits(d(fake), torch.ones(6, 1)).backward()
        og.step()
        run.count("step Adam")

    return update


def wgan(critics, penalty):
    """The critic is trained several times for each of the generator's steps; with the gradient penalty of WGAN-GP."""

    def build(run):
        g, c = mlp(4, 16, 8), mlp(8, 16, 1)
        run.trains(list(c.parameters()) + list(g.parameters()))
        og, oc = torch.optim.RMSprop(g.parameters(), lr=1e-4), torch.optim.RMSprop(c.parameters(), lr=1e-4)
        real = run.randn(6, 8)

        def update(number):
            for _ in range(critics):
                oc.zero_grad()
                fake = g(run.randn(6, 4)).detach()
                loss = c(fake).mean() - c(real).mean()
                if penalty:
                    between = (0.3 * real + 0.7 * fake).requires_grad_()
                    slope, = torch.autograd.grad(c(between).sum(), between, create_graph=True)
                    loss = loss + 10 * ((slope.norm(2, dim=1) - 1) ** 2).mean()
                loss.backward()
                oc.step()
                run.count("step RMSprop")
                if not penalty:
                    with torch.no_grad():
                        for q in c.parameters():
                            q.clamp_(-0.05, 0.05)
            og.zero_grad()
            (-c(g(run.randn(6, 4))).mean()).backward()
            og.step()
            run.count("step RMSprop")

        return update

    return build


def sac(run):
    """Soft actor-critic: two critics of one shape in one optimizer each, an actor, a temperature; all Adam."""
    q1, q2, pi = mlp(8, 16, 1), mlp(8, 16, 1), mlp(4, 16, 4)
    t1, t2 = mlp(8, 16, 1), mlp(8, 16, 1)
    alpha = nn.Parameter(torch.zeros(1))
    run.trains(list(q1.parameters()) + list(q2.parameters()) + list(pi.parameters()) + [alpha])
    o1, o2 = torch.optim.Adam(q1.parameters()), torch.optim.Adam(q2.parameters())
    op, oa = torch.optim.Adam(pi.parameters()), torch.optim.Adam([alpha])
    s, a = run.randn(6, 4), run.randn(6, 4)

    def update(number):
        sa = torch.cat([s, a], -1)
        with torch.no_grad():
            target = torch.minimum(t1(sa), t2(sa))
        for q, o in ((q1, o1), (q2, o2)):
            o.zero_grad()
            F.mse_loss(q(sa), target).backward()
            o.step()
            run.count("step Adam")
        act = pi(s)
        both = torch.cat([s, act], -1)
        loss = (alpha.exp().detach() * act.pow(2).sum(-1, keepdim=True) - torch.minimum(q1(both), q2(both))).mean()
        op.zero_grad()
        loss.backward()
        op.step()
        run.count("step Adam")
        oa.zero_grad()
        (alpha * (act.detach().pow(2).mean() - 1)).sum().backward()
        oa.step()
        run.count("step Adam")
        with torch.no_grad():
            for t, q in itertools.chain(zip(t1.parameters(), q1.parameters()), zip(t2.parameters(), q2.parameters())):
                t.mul_(0.995).add_(q, alpha=0.005)

    return update


def sac_joint(run):
    """The critics share an optimizer and one loss; the actor's backward reaches them too, and is cleared."""
    q1, q2, pi = mlp(8, 16, 1), mlp(8, 16, 1), mlp(4, 16, 4)
    run.trains(list(q1.parameters()) + list(q2.parameters()) + list(pi.parameters()))
    oq, op = torch.optim.Adam([*q1.parameters(), *q2.parameters()]), torch.optim.Adam(pi.parameters())
    s, a, target = run.randn(6, 4), run.randn(6, 4), run.randn(6, 1)

    def update(number):
        sa = torch.cat([s, a], -1)
        loss = F.mse_loss(q1(sa), target) + F.mse_loss(q2(sa), target)
        oq.zero_grad()
        loss.backward()
        oq.step()
        run.count("step Adam")
        act = pi(s)
        both = torch.cat([s, act], -1)
        op.zero_grad()
        (act.pow(2).sum(-1, keepdim=True) - torch.minimum(q1(both), q2(both))).mean().backward()
        op.step()
        run.count("step Adam")

    return update


def two_accumulating(run):
    """Two optimizers of one class, one for the body and one for the head, two micro-batches."""
    p = Plain(run)
    parameters = list(p.model.parameters())
    both = [torch.optim.AdamW(parameters[:4]), torch.optim.AdamW(parameters[4:])]

    def update(number):
        for _ in range(2):
            p.backward(p.loss() / 2)
        for optimizer in both:
            optimizer.step()
            p.stepped(optimizer)
            optimizer.zero_grad()

    return update


# --- optimizer in backward


def in_backward(kind):
    def build(run):
        p = Plain(run)
        own = {q: kind([q], lr=1e-3) for q in p.model.parameters()}

        def hook(q):
            own[q].step()
            p.stepped(own[q])
            own[q].zero_grad()

        for q in own:
            q.register_post_accumulate_grad_hook(hook)

        def update(number):
            p.backward(p.loss())

        return update

    return build


# --- forwards that share parameters


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(8, 16)
        self.blocks = nn.ModuleList(nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 16), nn.GELU()) for _ in range(2))
        self.out = nn.Linear(16, 6)

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = x + block(x)
        return self.out(x)


def siamese(towers, loss, head=False, accum=1):
    """One encoder sees several inputs of one sample; one loss, one backward."""

    def build(run):
        encoder = Encoder()
        top = nn.Linear(6 * towers, 3) if head else None
        run.trains([*encoder.parameters(), *(top.parameters() if head else ())])
        optimizer = torch.optim.AdamW(run.parameters)
        inputs = [run.randn(4, 8) for _ in range(towers)]

        def update(number):
            optimizer.zero_grad()
            for _ in range(accum):
                outputs = [encoder(x) for x in inputs]
                if head:
                    value = F.cross_entropy(top(torch.cat(outputs, -1)), torch.tensor([0, 1, 2, 0]))
                elif loss == "triplet":
                    value = F.triplet_margin_loss(*outputs)
                elif loss == "cosine":
                    value = F.cosine_embedding_loss(outputs[0], outputs[1], torch.tensor([1, -1, 1, -1]))
                elif loss == "product":
                    value = -(outputs[0] * outputs[1]).sum(-1).mean()
                elif loss == "square":
                    d = outputs[0] - outputs[1]
                    value = (d * d).sum(-1).mean()
                elif loss == "contrastive":
                    a, b = (F.normalize(x, dim=-1) for x in outputs)
                    value = F.cross_entropy(a @ b.T / 0.1, torch.arange(4))
                else:
                    d = F.pairwise_distance(outputs[0], outputs[1])
                    t = torch.tensor([1.0, 0.0, 1.0, 0.0])
                    value = (t * d.pow(2) + (1 - t) * F.relu(1 - d).pow(2)).mean()
                run.count("forward")
                (value / accum).backward()
                run.count("backward")
            optimizer.step()
            run.count("step AdamW")

        return update

    return build


def retained(run):
    """Two losses of one forward, a backward each; the first keeps the graph."""
    body, one, two = Encoder(), nn.Linear(6, 3), nn.Linear(6, 2)
    run.trains([*body.parameters(), *one.parameters(), *two.parameters()])
    optimizer = torch.optim.AdamW(run.parameters)
    x = run.randn(4, 8)

    def update(number):
        optimizer.zero_grad()
        hidden = body(x)
        first = F.cross_entropy(one(hidden), torch.tensor([0, 1, 2, 0]))
        second = F.mse_loss(two(hidden), torch.zeros(4, 2))
        first.backward(retain_graph=True)
        second.backward()
        optimizer.step()
        run.count("step AdamW")

    return update


def sums(forwards):
    """The losses of several micro-batches, one backward: what AC005 is for."""

    def build(run):
        encoder = Encoder()
        run.trains(encoder.parameters())
        optimizer = torch.optim.AdamW(run.parameters)
        data = [(run.randn(4, 8), torch.tensor([0, 1, 2, 3])) for _ in range(forwards)]

        def update(number):
            optimizer.zero_grad()
            sum(F.cross_entropy(encoder(x), y) / forwards for x, y in data).backward()
            optimizer.step()
            run.count("step AdamW")

        return update

    return build


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=1e-2, momentum=0.9)


def adam(parameters):
    return torch.optim.AdamW(parameters, lr=1e-3)


def foreach(parameters):
    return torch.optim.AdamW(parameters, lr=1e-3, foreach=True)


TWICE = {"accumulation": 2, "micro_batches": 2}
FOUR = {"accumulation": 4, "micro_batches": 4}
LEFT_OUT = {"active": 4, "accumulation": None, "micro_batches": None, "by_step": [1, 2, 1]}
GAN = {"updates": 2, "accumulation": None, "micro_batches": None, "by_step": [2, 1] * 3}
THREE = {"optimizer_steps": 3}
EACH = {"clip": True, "clip_kind": "foreach", "clips": {"clip after_backward": 3, "clip between_micro_batches": 1}}
ALIKE = {"params": None}  # networks of the same shapes

LOOPS = [
    Written("closure-sgd", closure(sgd)),
    Written("closure-adam", closure(adam, zero="after")),
    Written("closure-adam-foreach-clip", closure(foreach, clip="foreach"), facts=CLIP),
    Written("closure-sgd-clip-loop", closure(sgd, clip="loop"), facts={**CLIP, "clip_kind": "per_parameter"}),
    Written("closure-accum4-clip", closure(adam, clip="foreach", accum=4, zero="model"), **FOUR, facts=CLIP),
    Written("closure-accum4-no-profiler-step", closure(sgd, accum=4), **FOUR, profiler_step=False),
    Written("closure-two-optimizers", closure_two, updates=2),
    Written("closure-lbfgs4", lbfgs(4), **FOUR),
    Written("closure-lbfgs-one", lbfgs(1)),
    Written("closure-whole-microseconds", closure(adam, clip="foreach"), facts=CLIP, whole_microseconds=True),
    Written("sam-methods", sam("methods"), **TWICE),
    Written("sam-closure", sam("closure"), **TWICE),
    Written("sam-model-zero", sam("model"), **TWICE),
    Written("sam-hand", sam("hand"), **TWICE),
    Written("sam-whole-microseconds", sam("methods"), **TWICE, whole_microseconds=True),
    Written("skip-scaler", skipped_scaler, **LEFT_OUT, facts={**THREE, "clips": {"unscale after_backward": 4}}),
    Written("skip-guard", skipped_guard("none"), **LEFT_OUT, facts={**THREE, **EACH}),
    Written("skip-guard-in-place", skipped_guard("in_place"), **LEFT_OUT, facts={**THREE, **EACH}),
    Written("skip-guard-model", skipped_guard("model"), **LEFT_OUT, facts={**THREE, **EACH}),
    Written("skip-guard-bare", skipped_guard("bare"), **LEFT_OUT, facts=THREE),
    Written("actor-critic", actor_critic(False)),
    Written("actor-critic-through", actor_critic(True)),
    Written("actor-critic-twin", actor_critic(False, twin=True), facts=ALIKE),
    Written("zero-inside-model", zero_inside("model"), **FOUR, planted=("GS007",)),
    Written("zero-inside-optimizer", zero_inside("optimizer"), **FOUR, planted=("GS007",)),
    Written("zero-inside-in-place", zero_inside("in_place"), **FOUR, planted=("GS007",)),
    Written("gan-adam", gan(), **GAN),
    Written("gan-adam-model-zero", gan(zero="model"), **GAN),
    Written("gan-rmsprop-frozen", gan("rmsprop", frozen=True), **GAN, facts=ALIKE),
    Written("gan-one-loss", gan_one_loss, updates=2),
    Written("wgan-clamp", wgan(3, False), updates=4),
    Written("wgan-penalty", wgan(2, True), updates=3),
    Written("sac", sac, updates=4, facts=ALIKE),
    Written("sac-joint", sac_joint, updates=2),
    Written("two-of-one-class-accum2", two_accumulating, **TWICE),
    Written("in-backward-adam", in_backward(torch.optim.AdamW)),
    Written("in-backward-adam-whole", in_backward(torch.optim.AdamW), whole_microseconds=True),
    Written("in-backward-sgd-whole", in_backward(torch.optim.SGD), whole_microseconds=True),
    Written("in-backward-adagrad-whole", in_backward(torch.optim.Adagrad), whole_microseconds=True),
    Written("siamese-distance", siamese(2, "distance")),
    Written("siamese-cosine", siamese(2, "cosine")),
    Written("siamese-product", siamese(2, "product")),
    Written("siamese-square", siamese(2, "square")),
    Written("siamese-contrastive", siamese(2, "contrastive")),
    Written("siamese-triplet", siamese(3, "triplet")),
    Written("siamese-head", siamese(2, "", head=True)),
    Written("siamese-accum2", siamese(2, "contrastive", accum=2), **TWICE),
    Written("retained-graph", retained, accumulation=2),
    Written("sum-of-losses3", sums(3), micro_batches=3, planted=("AC005",)),
]
