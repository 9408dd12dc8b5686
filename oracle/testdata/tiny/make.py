#!/usr/bin/env python3
"""Writes the two cases of this folder: what training loops over two tiny models must give.

Nothing of gaprof is used, and nothing of a framework: only Python's decimal numbers of 60
digits. Gradients are central differences of the loss with a step of 1e-18, whose error is
far below the last digit of a float64, so no backward pass is written down here that could
repeat a mistake of another one. The formulas are those of PyTorch's documentation:

  AdamW  p *= 1 - lr*wd;  m = b1 m + (1-b1) g;  v = b2 v + (1-b2) g^2
         p -= lr / (1-b1^t) * m / (sqrt(v) / sqrt(1-b2^t) + eps)
  SGD    g += wd p;  p -= lr g
  clip   coef = min(1, max_norm / (norm + 1e-6)), norm over all gradients

eps and the decay of weights are large, so that an optimizer that leaves one of them out, or
adds eps before the root or before the correction, is off in the first digits. Sizes are odd,
so that shards of two ranks are not equally long.
"""
import json
import os
from decimal import Decimal as D, getcontext

getcontext().prec = 60
STEP = D(10) ** -18
PI = D("3.14159265358979323846264338327950288419716939937510582097494459")
IGNORE = -100
HERE = os.path.dirname(os.path.abspath(__file__))


class Numbers:
    """Small pseudo-random integers: a linear congruence, the same everywhere."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 1103515245 + 12345) % 2**31
        return (self.state >> 8) % n


def matmul(rows, weight, out, inner, bias=None):
    """rows W^T + b; weight is flat, [out, in]."""
    result = []
    for row in rows:
        line = []
        for o in range(out):
            s = bias[o] if bias else D(0)
            for i in range(inner):
                s += row[i] * weight[o * inner + i]
            line.append(s)
        result.append(line)
    return result


def gelu(x):
    inner = (2 / PI).sqrt() * (x + D("0.044715") * x**3)
    e = (2 * inner).exp()
    return x * (1 + (e - 1) / (e + 1)) / 2


def norm(row, w, b):
    n = len(row)
    mean = sum(row) / n
    var = sum((x - mean) ** 2 for x in row) / n
    root = (var + D("1e-5")).sqrt()
    return [(x - mean) / root * w[i] + b[i] for i, x in enumerate(row)]


def mlp(p, c, tokens):
    e = [p["tok.weight"][t * c["D"]:(t + 1) * c["D"]] for t in tokens]
    h = matmul(e, p["fc1.weight"], c["F"], c["D"], p["fc1.bias"])
    h = [[gelu(x) for x in row] for row in h]
    return matmul(h, p["fc2.weight"], c["V"], c["F"], p["fc2.bias"])


def attention(p, c, name, x):
    width, heads = c["D"], c["H"]
    size = width // heads
    h = [norm(row, p[name + "ln1.weight"], p[name + "ln1.bias"]) for row in x]
    q, k, v = (matmul(h, p[name + w + ".weight"], width, width) for w in ("wq", "wk", "wv"))
    mixed = [[D(0)] * width for _ in x]
    for head in range(heads):
        columns = range(head * size, (head + 1) * size)
        for i in range(len(x)):
            scores = [(sum(q[i][d] * k[j][d] for d in columns) / D(size).sqrt()).exp() for j in range(i + 1)]
            total = sum(scores)
            for j, s in enumerate(scores):
                for d in columns:
                    mixed[i][d] += s / total * v[j][d]
    out = matmul(mixed, p[name + "wo.weight"], width, width)
    return [[a + b for a, b in zip(*rows)] for rows in zip(x, out)]


def transformer(p, c, tokens):
    width = c["D"]
    x = [[p["tok.weight"][t * width + d] + p["pos.weight"][at * width + d] for d in range(width)]
         for at, t in enumerate(tokens)]
    for layer in range(c["L"]):
        name = f"blocks.{layer}."
        x = attention(p, c, name, x)
        h = [norm(row, p[name + "ln2.weight"], p[name + "ln2.bias"]) for row in x]
        h = matmul(h, p[name + "fc1.weight"], c["F"], width, p[name + "fc1.bias"])
        h = [[gelu(v) for v in row] for row in h]
        h = matmul(h, p[name + "fc2.weight"], width, c["F"], p[name + "fc2.bias"])
        x = [[a + b for a, b in zip(*rows)] for rows in zip(x, h)]
    x = [norm(row, p["lnf.weight"], p["lnf.bias"]) for row in x]
    return matmul(x, p["head.weight"], c["V"], width)


def loss_sum(model, p, c, batch):
    """Cross entropy, summed over the targets that count."""
    total = D(0)
    for tokens, targets in zip(batch["tokens"], batch["targets"]):
        if all(t == IGNORE for t in targets):
            continue
        for row, target in zip(model(p, c, tokens), targets):
            if target != IGNORE:
                total += sum(x.exp() for x in row).ln() - row[target]
    return total


def gradient(p, loss):
    """Central differences of loss, a function of parameters, by parameter."""
    grads = {}
    for name in p:
        column = []
        for i, value in enumerate(p[name]):
            p[name][i] = value + STEP
            above = loss(p)
            p[name][i] = value - STEP
            below = loss(p)
            p[name][i] = value
            column.append((above - below) / (2 * STEP))
        grads[name] = column
    return grads


def combine(micro, coeff):
    out = {}
    for grads, by in zip(sum(micro, []), sum(coeff, [])):
        for name, g in grads.items():
            before = out.get(name, [D(0)] * len(g))
            out[name] = [a + by * b for a, b in zip(before, g)]
    return out


def flat(grads):
    return [x for g in grads.values() for x in g]


def length(list):
    return sum(x * x for x in list).sqrt()


def coefficients(name, n, ranks, steps):
    """The weight of each micro-batch's summed loss in the gradient of a loop."""
    total = sum(map(sum, n))
    first = sum(row[0] for row in n)
    last = lambda r, j: D(1) / total if j == steps - 1 else D(0)
    table = {
        "torchtune_1917_merged": lambda r, j: D(1) / (total * ranks),
        "torchtune_2543": lambda r, j: D(1) / (total * ranks),
        "tnt_1049_literal": lambda r, j: D(1) / (total * ranks),
        "per_rank_mean": lambda r, j: D(1) / (ranks * sum(n[r])),
        "per_rank_sum": lambda r, j: D(1) / sum(n[r]),
        "micro_mean_of_means": lambda r, j: D(1) / (ranks * steps * n[r][j]),
        "micro_mean_of_means_no_sync": lambda r, j: D(1) / (ranks * steps * n[r][j]),
        "micro_mean_no_rescale": lambda r, j: D(1) / (ranks * n[r][j]),
        "tnt_pre1049": lambda r, j: D(1) / (ranks * steps),
        "unnormalized_sum": lambda r, j: D(1),
        "ddp_sum_hook_sync_every_microbatch": lambda r, j: D(ranks) ** (steps - 1 - j) / total,
        "nathan_az_literal": last,
        "zero_grad_each_microbatch": last,
        "scale_each_microbatch_ema": lambda r, j: D(steps) ** (j - steps) / total,
        "accum1_scaled": lambda r, j: D(1) / first if j == 0 else D(0),
        "accum1_loss_prescaled": lambda r, j: D(1) / first if j == 0 else D(0),
        "accum1_skip_naive_distributed": lambda r, j: D(1) / (ranks * n[r][0]) if j == 0 else D(0),
    }
    of = table.get(name, lambda r, j: D(1) / total)
    return [[of(r, j) for j in range(steps)] for r in range(ranks)]


RIGHT = ["torchtune_2172", "torchtune_1917_draft_no_sync_world", "sum_reduce_no_sync", "nathan_az_fixed",
         "titan_2206", "tnt_1049_world", "torchtune_2172_preshift_count"]
OTHERS = ["torchtune_1917_merged", "torchtune_2543", "tnt_1049_literal", "per_rank_mean", "per_rank_sum",
          "micro_mean_of_means", "micro_mean_of_means_no_sync", "micro_mean_no_rescale", "tnt_pre1049",
          "unnormalized_sum", "ddp_sum_hook_sync_every_microbatch", "nathan_az_literal",
          "zero_grad_each_microbatch", "scale_each_microbatch_ema", "accum1_scaled", "accum1_loss_prescaled",
          "accum1_skip_naive_distributed"]
UNLOGGED = {"unnormalized_sum", "scale_each_microbatch_ema", "zero_grad_each_microbatch", "accum1_scaled",
            "accum1_loss_prescaled", "accum1_skip_naive_distributed"}


def logged(name, losses, n, ranks, steps):
    """What a loop logs as its loss."""
    means = sum(l / k for l, k in zip(sum(losses, []), sum(n, [])))
    whole = sum(sum(losses, []))
    if name in UNLOGGED:
        return None
    if name in ("per_rank_mean", "per_rank_sum"):
        return sum(losses[0]) / sum(n[0])
    if name.startswith("micro_mean_of_means"):
        return means / (ranks * steps)
    if name == "micro_mean_no_rescale":
        return means / ranks
    if name == "tnt_pre1049":
        return whole / (ranks * steps)
    return whole / sum(map(sum, n))


def first_adamw(g):
    """The direction of AdamW's first update: m and v corrected are g and g^2."""
    return [x / (abs(x) + D("1e-8")) for x in g]


def versus(grads, right, name):
    got, want = flat(grads), flat(right)
    off = [a - b for a, b in zip(got, want)]
    a, b = first_adamw(got), first_adamw(want)
    return {
        "reference": name,
        "norm_ratio": length(got) / length(want),
        "cosine": sum(x * y for x, y in zip(got, want)) / length(got) / length(want),
        "max_rel": max(map(abs, off)) / max(map(abs, want)),
        "rel_l2": length(off) / length(want),
        "adamw_first_update_rel_l2": length([x - y for x, y in zip(a, b)]) / length(b),
    }


def adamw(p, g, state, t, o):
    for name in p:
        m, v = state.setdefault(name, ([D(0)] * len(p[name]), [D(0)] * len(p[name])))
        for i, x in enumerate(g[name]):
            p[name][i] *= 1 - o["lr"] * o["weight_decay"]
            m[i] = o["beta1"] * m[i] + (1 - o["beta1"]) * x
            v[i] = o["beta2"] * v[i] + (1 - o["beta2"]) * x * x
            root = v[i].sqrt() / (1 - o["beta2"] ** t).sqrt() + o["eps"]
            p[name][i] -= o["lr"] / (1 - o["beta1"] ** t) * m[i] / root


def sgd(p, g, state, t, o):
    for name in p:
        p[name] = [x - o["lr"] * (d + o["weight_decay"] * x) for x, d in zip(p[name], g[name])]


def trajectory(update, p, loss, o):
    p = {name: list(values) for name, values in p.items()}
    state, losses, norms = {}, [], []
    for t in range(1, o["steps"] + 1):
        losses.append(loss(p))
        g = gradient(p, loss)
        norms.append(length(flat(g)))
        update(p, g, state, t, o)
    return {"loss_before_step": losses, "grad_norm": norms, "params_after": p}


def plain(x):
    """Decimals as the nearest float64, everything else as it is."""
    if isinstance(x, D):
        return float(x)
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, list):
        return [plain(v) for v in x]
    return x


def write(name, value):
    with open(os.path.join(HERE, name), "w") as f:
        f.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(plain(v))}" for k, v in value.items()) + "\n}\n")


def batches(c, counts, random):
    data = []
    for row in counts:
        line = []
        for n in row:
            tokens, labels, targets = [], [], []
            for b in range(c["B"]):
                valid = min(n, c["T"])
                n -= valid
                text = [random.below(c["V"]) for _ in range(c["T"] + 1)]
                tokens.append(text[:c["T"]])
                targets.append([text[t + 1] if t < valid else IGNORE for t in range(c["T"])])
                # Labels are targets before the shift: as many count, since none is first.
                labels.append([IGNORE] + targets[-1][:-1] if valid < c["T"] else text[1:])
            count = sum(t != IGNORE for row in targets for t in row)
            line.append({"tokens": tokens, "labels": labels, "targets": targets,
                         "n_valid": count, "n_preshift": count})
        data.append(line)
    return data


def case(name, model, kind, config, params, counts):
    random = Numbers(len(name))
    ranks, steps = len(counts), len(counts[0])
    weights = {}
    for p, shape in params:
        numel = 1
        for d in shape:
            numel *= d
        one = ".ln" in p or p.startswith("ln")
        center = 64 if one and p.endswith("weight") else 0
        weights[p] = [D(center + random.below(97) - 48) / 64 for _ in range(numel)]
    data = batches(config, counts, random)
    total = sum(map(sum, counts))
    head = {"schema": "gaprof-oracle/1", "case": name, "model": kind,
            "config": dict(config, ln_eps=1e-05, gelu="tanh", ignore_index=IGNORE, tied_head=False),
            "world_size": ranks, "accumulation_steps": steps, "total_valid_tokens": total,
            "param_order": [{"name": p, "shape": shape} for p, shape in params]}
    write(name + "_inputs.json", dict(head, kind="inputs", weights=weights, data=data))

    losses = [[loss_sum(model, weights, config, b) for b in row] for row in data]
    grads = [[gradient(weights, lambda p, b=b: loss_sum(model, p, config, b)) for b in row] for row in data]
    micro = [[{"n_valid": counts[r][j], "n_preshift": counts[r][j], "loss_sum": losses[r][j],
               "loss_mean": losses[r][j] / counts[r][j], "grad_l2": length(flat(grads[r][j])),
               "grads": grads[r][j]} for j in range(steps)] for r in range(ranks)]
    variants = {}
    of = lambda v: combine(grads, coefficients(v, counts, ranks, steps))
    for v in RIGHT + OTHERS:
        g, right = of(v), "accum1_scaled" if v.startswith("accum1") else "torchtune_2172"
        variants[v] = {"coeff": coefficients(v, counts, ranks, steps), "grad_l2": length(flat(g)),
                       "loop_logged_loss": logged(v, losses, counts, ranks, steps),
                       "vs_correct": versus(g, of(right), right)}
        if v in RIGHT[1:] or v == "accum1_loss_prescaled":
            variants[v]["multiple_of"] = {"variant": right, "factor": 1}
        else:
            variants[v]["grads"] = g
    per_rank = [sum(l) / sum(n) for l, n in zip(losses, counts)]
    whole = lambda p: sum(loss_sum(model, p, config, b) for row in data for b in row) / total
    long = length(flat(of("torchtune_2172")))
    max_norm = D(round(float(long) * 0.4, 2))
    optimizers = {
        "adamw": {"lr": D("0.03125"), "beta1": D("0.875"), "beta2": D("0.96875"), "eps": D("0.0078125"),
                  "weight_decay": D("0.25"), "steps": 3},
        "sgd": {"lr": D("0.125"), "weight_decay": D("0.25"), "steps": 2}}
    write(name + "_expected_f64.json", dict(
        head, kind="expected", dtype="f64", micro=micro, variants=variants,
        losses={"global_mean": sum(sum(losses, [])) / total, "per_rank_mean": per_rank,
                "mean_of_rank_means": sum(per_rank) / ranks, "sum_of_rank_means": sum(per_rank),
                "mean_of_micro_means_skip_empty":
                    sum(l / n for l, n in zip(sum(losses, []), sum(counts, []))) / (ranks * steps)},
        clip={"max_norm": D(float(max_norm)), "total_norm": long,
              "coef": min(D(1), D(float(max_norm)) / (long + D("1e-6")))},
        trajectory={"adamw": trajectory(adamw, weights, whole, optimizers["adamw"]),
                    "sgd": trajectory(sgd, weights, whole, optimizers["sgd"])},
        optimizers=optimizers))


def main():
    case("mlp", mlp, "mlp", {"V": 7, "D": 3, "F": 5, "T": 3, "B": 2},
         [["tok.weight", [7, 3]], ["fc1.weight", [5, 3]], ["fc1.bias", [5]],
          ["fc2.weight", [7, 5]], ["fc2.bias", [7]]], [[5, 1, 3], [2, 6, 4]])
    block = [[name, shape] for name, shape in [
        ["ln1.weight", [4]], ["ln1.bias", [4]], ["wq.weight", [4, 4]], ["wk.weight", [4, 4]],
        ["wv.weight", [4, 4]], ["wo.weight", [4, 4]], ["ln2.weight", [4]], ["ln2.bias", [4]],
        ["fc1.weight", [3, 4]], ["fc1.bias", [3]], ["fc2.weight", [4, 3]], ["fc2.bias", [4]]]]
    case("transformer", transformer, "transformer", {"V": 5, "D": 4, "H": 2, "L": 1, "F": 3, "T": 3, "B": 2},
         [["tok.weight", [5, 4]], ["pos.weight", [3, 4]]] + [["blocks.0." + n, s] for n, s in block] +
         [["lnf.weight", [4]], ["lnf.bias", [4]], ["head.weight", [5, 4]]], [[6, 2, 4], [1, 3, 5]])


main()
