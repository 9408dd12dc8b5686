"""Loops that do something to their gradients by hand: clip, scale, average and clear them in ways of their own."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

from harness import Written

CLASSES, INPUTS, HIDDEN, BATCH = 5, 7, 12, 6
FACTOR = 0.37  # that of no count and no decay


class Net(nn.Module):
    """Three layers, of which two are alike: 6 parameters."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(INPUTS, HIDDEN)
        self.second = nn.Linear(HIDDEN, HIDDEN)
        self.last = nn.Linear(HIDDEN, CLASSES)

    def forward(self, x):
        return self.last(F.relu(self.second(F.relu(self.first(x)))))


def loop(after, reduction="mean", before_backward=None, accum=1, zero="first", wrap=None, optimizer="sgd"):
    """build() of a loop that does after(run, parameters, labels) between backward and step. zero is where gradients are cleared:
    first, last, model (by the model), never, early (between backward and step) or early_in_place."""

    def build(run):
        model = Net()
        core = wrap(run, model) if wrap else model
        parameters = list(model.parameters())
        run.trains(parameters)
        kind = {"sgd": torch.optim.SGD, "adamw": torch.optim.AdamW}[optimizer]
        stepper = kind(parameters, lr=1e-2)
        data = [(run.randn(BATCH, INPUTS), torch.randint(CLASSES, (BATCH,), generator=run.generator)) for _ in range(accum)]
        for number, (_, y) in enumerate(data):
            y[number % BATCH] = -100

        def update(number):
            if zero == "first":
                stepper.zero_grad()
            if zero == "model":
                model.zero_grad()
            for x, y in data:
                loss = F.cross_entropy(core(x), y, reduction=reduction)
                run.count("forward")
                if before_backward:
                    loss = before_backward(loss, y)
                loss.backward()
                run.count("backward")
            if after:
                with torch.no_grad():
                    after(run, parameters, [y for _, y in data])
            if zero.startswith("early"):
                stepper.zero_grad(set_to_none=zero == "early")
            stepper.step()
            run.count("step " + type(stepper).__name__)
            if zero == "last":
                stepper.zero_grad()
            if zero == "in_place":
                stepper.zero_grad(set_to_none=False)

        return update

    return build


def count(labels):
    return sum((y != -100).sum() for y in labels)


# Clipping by hand: the norm.

def squares(parameters):
    return torch.sqrt(sum(p.grad.pow(2).sum() for p in parameters))


def products(parameters):
    return sum((p.grad * p.grad).sum() for p in parameters) ** 0.5


def dots(parameters):
    return sum(torch.dot(p.grad.flatten(), p.grad.flatten()) for p in parameters).sqrt()


def vdots(parameters):
    return torch.stack([torch.vdot(p.grad.view(-1), p.grad.view(-1)) for p in parameters]).sum().sqrt()


def stacked(parameters):
    return torch.stack([p.grad.norm() for p in parameters]).norm()


def vector_norms(parameters):
    return torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(p.grad) for p in parameters]))


def flat(parameters):
    return torch.cat([p.grad.flatten() for p in parameters]).norm()


def flat_squares(parameters):
    return torch.cat([p.grad.view(-1) for p in parameters]).square().sum().sqrt()


def largest(parameters):
    return torch.stack([p.grad.abs().max() for p in parameters]).max()


def items(parameters):
    return sum(p.grad.pow(2).sum().item() for p in parameters) ** 0.5


def norm_items(parameters):
    return sum(p.grad.norm(2).item() ** 2 for p in parameters) ** 0.5


def multiply(parameters, factor):
    for p in parameters:
        p.grad.mul_(factor)


def clip(norm, how="clamp", limit=0.01):
    """Clips by hand. The limit is low, so that every step clips."""

    def after(run, parameters, labels):
        total = norm(parameters)
        coefficient = limit / (total + 1e-6)
        run.count("clip")
        if how == "clamp":
            multiply(parameters, coefficient.clamp(max=1.0))
        elif how == "if":
            if coefficient < 1:
                multiply(parameters, coefficient)
        elif how == "foreach":
            torch._foreach_mul_([p.grad for p in parameters], coefficient)
        elif how == "divide":
            if total > limit:
                for p in parameters:
                    p.grad.div_(total / limit)
        elif how == "assign":
            for p in parameters:
                p.grad *= min(1.0, float(coefficient))

    return after


CLIPPED = {"clip": True, "clip_place": "after_backward", "clip_kind": "per_parameter"}
CLIPPED_AT_ONCE = {**CLIPPED, "clip_kind": "foreach"}


def clips(name, norm, how="clamp", facts=CLIPPED, **options):
    return Written("clip-" + name, loop(clip(norm, how), **options), facts=facts)


def clip_with_count_read(run, parameters, labels):
    """The count is read for the log; it is no factor."""
    total = squares(parameters)
    run.append("tokens", count(labels).item())
    run.count("clip")
    multiply(parameters, torch.clamp(0.01 / (total + 1e-6), max=1.0))


def clip_each_module(run, parameters, labels):
    for at in range(0, len(parameters), 2):
        nn.utils.clip_grad_norm_(parameters[at:at + 2], 0.01)
    run.count("clip")


def clip_each_parameter(run, parameters, labels):
    for p in parameters:
        nn.utils.clip_grad_norm_(p, 0.01)
    run.count("clip")


def clip_each_by_hand(run, parameters, labels):
    for p in parameters:
        norm = p.grad.pow(2).sum().sqrt()
        if norm > 0.001:
            p.grad.mul_(0.001 / norm)
    run.count("clip")


def clip_adaptive(run, parameters, labels):
    """Adaptive gradient clipping: each gradient by the norm of its weights."""
    for p in parameters:
        norm, most = p.grad.norm(), 0.001 * p.norm().clamp(min=1e-3)
        p.grad.mul_((most / norm.clamp(min=1e-6)).clamp(max=1.0))
    run.count("clip")


def clip_and_decay(run, parameters, labels):
    nn.utils.clip_grad_norm_(parameters, 0.01)
    run.count("clip")
    for p in parameters:
        p.mul_(1 - 1e-2 * 0.1)


def clip_and_decay_by_hand(run, parameters, labels):
    """Both factors are numbers of the program, and both passes aten::mul_."""
    coefficient = min(1.0, 0.01 / (norm_items(parameters) + 1e-6))
    for p in parameters:
        p.grad.mul_(coefficient)
    run.count("clip")
    for p in parameters:
        p.mul_(1 - 1e-2 * 0.1)


def clip_and_decay_in_turn(run, parameters, labels):
    coefficient = 0.01 / (squares(parameters) + 1e-6)
    for p in parameters:
        p.grad.mul_(coefficient)
        p.mul_(1 - 1e-2 * 0.1)
    run.count("clip")


# Scaling.

def scaled(kind, needless=False, avoidable=False, factor="float", parameters=6, calls=1):
    return {"scale_pass": {"kind": kind, "place": "after_backward", "count": parameters, "calls_per_update": calls, "factor": factor},
            "scale_needless": needless, "scale_avoidable": avoidable}


def by_group(run, parameters, labels):
    """The last layer learns with a tenth, as with discriminative learning rates."""
    for group, factor in ((parameters[:4], FACTOR), (parameters[4:], FACTOR / 10)):
        multiply(group, factor)


def by_group_foreach(run, parameters, labels):
    for group, factor in ((parameters[:4], FACTOR), (parameters[4:], FACTOR / 10)):
        torch._foreach_mul_([p.grad for p in group], factor)


def unscale(factor, foreach=False):
    def after(run, parameters, labels):
        if foreach:
            torch._foreach_mul_([p.grad for p in parameters], factor)
        else:
            multiply(parameters, factor)

    return after


def unscale_divided(run, parameters, labels):
    for p in parameters:
        p.grad.div_(1024)


def unscale_by_tensor(run, parameters, labels):
    multiply(parameters, 1 / torch.tensor(1024.0))


def divide_by_count(run, parameters, labels):
    n = count(labels)
    for p in parameters:
        p.grad.div_(n)


def multiply_by_inverse(run, parameters, labels):
    multiply(parameters, 1.0 / count(labels))


def multiply_by_float(run, parameters, labels):
    multiply(parameters, 1.0 / count(labels).item())


def foreach_divide_by_count(run, parameters, labels):
    torch._foreach_div_([p.grad for p in parameters], count(labels))


def divide_by_float_count(run, parameters, labels):
    """The count is a float tensor, as of a mask that weighs."""
    n = torch.zeros(())
    for y in labels:
        n += (y != -100).float().sum()
    for p in parameters:
        p.grad.div_(n)


def divide_then_multiply(run, parameters, labels):
    n = count(labels)
    for p in parameters:
        p.grad.div_(n)
    for p in parameters:
        p.grad.mul_(2)


def divide_and_multiply(run, parameters, labels):
    n = count(labels)
    for p in parameters:
        p.grad.div_(n).mul_(torch.tensor(FACTOR))


def divide_then_multiply_foreach(run, parameters, labels):
    gradients = [p.grad for p in parameters]
    torch._foreach_div_(gradients, count(labels))
    torch._foreach_mul_(gradients, FACTOR)


def weight_norm(run, parameters, labels):
    run.append("norm", torch.stack([p.norm() for p in parameters]).norm().item())


def weight_squares(run, parameters, labels):
    run.append("norm", sum(p.pow(2).sum() for p in parameters).sqrt().item())


def gradient_norm(run, parameters, labels):
    run.append("norm", stacked(parameters).item())


# Averages over ranks.

def average_async(run, parameters, labels):
    works = [dist.all_reduce(p.grad, async_op=True) for p in parameters]
    for work, p in zip(works, parameters):
        work.wait()
        p.grad.div_(run.world)


def average_async_multiplied(run, parameters, labels):
    works = [dist.all_reduce(p.grad, async_op=True) for p in parameters]
    for work in works:
        work.wait()
    multiply(parameters, 1 / run.world)


def average_async_foreach(run, parameters, labels):
    works = [dist.all_reduce(p.grad, async_op=True) for p in parameters]
    for work in works:
        work.wait()
    torch._foreach_div_([p.grad for p in parameters], run.world)


def average_then_divide(run, parameters, labels):
    for p in parameters:
        dist.all_reduce(p.grad)
    for p in parameters:
        p.grad /= run.world


def scale_async(run, parameters, labels):
    """Sums over ranks, divided by the tokens of all ranks."""
    n = count(labels)
    dist.all_reduce(n)
    works = [dist.all_reduce(p.grad, async_op=True) for p in parameters]
    for work, p in zip(works, parameters):
        work.wait()
        p.grad.div_(n)


def hooked(run, model):
    """All-reduces begin in hooks; the loop waits after backward and divides."""
    works = []
    for p in model.parameters():
        p.register_post_accumulate_grad_hook(lambda p: works.append((dist.all_reduce(p.grad, async_op=True), p)))
    run.works = works
    return model


def average_hooked(run, parameters, labels):
    for work, p in run.works:
        work.wait()
        p.grad.div_(run.world)
    run.works.clear()


def averages(name, after, kind="per_parameter", collectives=6, **options):
    facts = {"sync": "every_micro_batch", "gradient_collectives_per_micro_batch": [collectives],
             "average_pass": {"kind": kind, "place": "after_backward"}}
    return Written("average2-" + name, loop(after, **options), world=2, facts={**facts, "wrapper": "manual"})


NEEDLESS = dict(needless=True, avoidable=True)
LOOPS = [
    clips("squares", squares),
    clips("squares-if", squares, "if"),
    clips("squares-foreach", squares, "foreach", CLIPPED_AT_ONCE),
    clips("products-divided", products, "divide"),
    clips("dots", dots),
    clips("vdots-if", vdots, "if"),
    clips("stacked-if", stacked, "if"),
    clips("vector-norms-foreach", vector_norms, "foreach", CLIPPED_AT_ONCE),
    clips("flat-if", flat, "if"),
    clips("flat-squares", flat_squares, "if"),
    clips("largest", largest, "if"),
    clips("items", items, "assign"),
    clips("norm-items", norm_items, "assign"),
    clips("squares-model-zero", squares, "if", zero="model"),
    Written("clip-squares-accum4", loop(clip(squares, "if"), accum=4, before_backward=lambda loss, y: loss / 4), accumulation=4,
            micro_batches=4, facts=CLIPPED),
    Written("clip-squares-count-read", loop(clip_with_count_read), facts=CLIPPED),
    Written("clip-each-module", loop(clip_each_module), facts=CLIPPED_AT_ONCE),
    Written("clip-each-parameter", loop(clip_each_parameter), facts=CLIPPED_AT_ONCE),
    Written("clip-each-by-hand", loop(clip_each_by_hand), facts=CLIPPED),
    Written("clip-adaptive", loop(clip_adaptive), facts=CLIPPED),
    Written("clip-and-decay", loop(clip_and_decay), facts={**CLIPPED_AT_ONCE, "weight_decay_decoy": True}),
    Written("clip-and-decay-by-hand", loop(clip_and_decay_by_hand), facts={**CLIPPED, "weight_decay_decoy": True}),
    Written("clip-and-decay-in-turn", loop(clip_and_decay_in_turn), facts={**CLIPPED, "weight_decay_decoy": True}),
    Written("scale-by-group", loop(by_group), facts=scaled("per_parameter")),
    Written("scale-by-group-foreach", loop(by_group_foreach), facts=scaled("per_parameter"), note="two calls, of two factors"),
    Written("scale-static", loop(unscale(1 / 1024), before_backward=lambda loss, y: loss * 1024), facts=scaled("per_parameter")),
    Written("scale-static-foreach", loop(unscale(1 / 1024, True), before_backward=lambda loss, y: loss * 1024), facts=scaled("foreach")),
    Written("scale-static-divided", loop(unscale_divided, before_backward=lambda loss, y: loss * 1024), facts=scaled("per_parameter")),
    Written("scale-static-tensor", loop(unscale_by_tensor, before_backward=lambda loss, y: loss * 1024), facts=scaled("per_parameter", factor="tensor")),
    Written("scale-count-divided", loop(divide_by_count, "sum"), facts=scaled("per_parameter", **NEEDLESS, factor="tensor"), planted=("GS001",)),
    Written("scale-count-inverse", loop(multiply_by_inverse, "sum"), facts=scaled("per_parameter", **NEEDLESS, factor="tensor"), planted=("GS001",)),
    Written("scale-count-float", loop(multiply_by_float, "sum"), facts=scaled("per_parameter", **NEEDLESS), planted=("GS001",)),
    Written("scale-count-foreach", loop(foreach_divide_by_count, "sum"), facts=scaled("foreach", **NEEDLESS, factor="tensor"), planted=("GS001",)),
    Written("scale-count-of-floats", loop(divide_by_float_count, "sum"), facts=scaled("per_parameter", **NEEDLESS, factor="tensor"), planted=("GS001",)),
    Written("scale-twice", loop(divide_then_multiply, "sum"), facts={**scaled("per_parameter", factor="tensor", **NEEDLESS, calls=2)},
            planted=("GS001", "GS005")),
    Written("scale-twice-in-turn", loop(divide_and_multiply, "sum"), facts=scaled("per_parameter", factor="tensor", **NEEDLESS, calls=2),
            planted=("GS001", "GS005")),
    Written("scale-twice-foreach", loop(divide_then_multiply_foreach, "sum"), facts=scaled("foreach", factor="tensor", **NEEDLESS, calls=2),
            planted=("GS001", "GS005")),
    Written("norm-of-weights", loop(weight_norm)),
    Written("norm-of-weights-squares", loop(weight_squares)),
    Written("norm-logged", loop(gradient_norm)),
    Written("zero-never", loop(None, zero="never"), planted=("GS008",)),
    Written("zero-never-clip", loop(clip(stacked), zero="never"), facts=CLIPPED, planted=("GS008",)),
    Written("zero-never-accum2", loop(None, zero="never", accum=2), accumulation=2, micro_batches=2, planted=("GS008",)),
    Written("zero-early", loop(None, zero="early", optimizer="adamw"), planted=("GS008",)),
    Written("zero-early-in-place", loop(None, zero="early_in_place"), planted=("GS008",)),
    Written("zero-by-model", loop(None, zero="model")),
    Written("zero-in-place", loop(None, zero="in_place")),
    averages("async", average_async),
    averages("async-multiplied", average_async_multiplied),
    averages("async-foreach", average_async_foreach, "foreach"),
    averages("then-divided", average_then_divide),
    averages("hooked", average_hooked, wrap=hooked),
    Written("average2-none-scale-async", loop(scale_async, "sum"), world=2, planted=("GS002",), facts={
        **scaled("per_parameter", avoidable=True, factor="tensor"), "wrapper": "manual", "sync": "every_micro_batch",
        "gradient_collectives_per_micro_batch": [6], "token_all_reduce": {"present": True, "where": "before_scale", "count_per_step": 1}}),
]
