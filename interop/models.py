"""Losses and gradients of small networks, and updates of optimizers, in float64, computed by PyTorch, for the tests of the trainer's models.

  python interop/models.py > reference/testdata/models.json

Nothing here is shared with the trainer: the networks are written from their papers' and authors' definitions. Weights are
made by a formula that the test repeats. Of each gradient a few elements, the largest magnitude and a weighted sum are kept.
"""

import json
import math

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)


def draw(index, i):
    """Element i of parameter index, in [-0.5, 0.5)."""
    return ((i * 7919 + index * 104729 + 12345) % 1009) / 1009 - 0.5


def value(name, index, i):
    v = draw(index, i)
    if "norm" in name or "ln_" in name and name.endswith("weight"):
        return 1 + 0.2 * v
    return 0.2 * v if name.endswith("bias") else 0.8 * v


def parameter(name, index, shape):
    n = math.prod(shape)
    return torch.tensor([value(name, index, i) for i in range(n)]).reshape(shape).requires_grad_()


def rotate(x, theta):
    """x: rows x heads x positions x size, neighbouring elements as complex numbers."""
    size, length = x.shape[-1], x.shape[-2]
    frequencies = theta ** (-torch.arange(0, size, 2) / size)
    turns = torch.polar(torch.ones(length, size // 2), torch.outer(torch.arange(length).double(), frequencies))
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * turns).flatten(-2)


def heads(x, n):
    return x.view(x.shape[0], x.shape[1], n, -1).transpose(1, 2)


def llama(c, p, tokens):
    x = F.embedding(tokens, p["tok_embeddings.weight"])
    for i in range(c["layers"]):
        w = lambda name: p[f"layers.{i}.{name}.weight"]
        h = F.rms_norm(x, (c["width"],), w("attention_norm"), 1e-5)
        q = rotate(heads(h @ w("attention.wq").T, c["heads"]), c["theta"])
        k = rotate(heads(h @ w("attention.wk").T, c["kv_heads"]), c["theta"])
        v = heads(h @ w("attention.wv").T, c["kv_heads"])
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + a.transpose(1, 2).reshape(x.shape) @ w("attention.wo").T
        h = F.rms_norm(x, (c["width"],), w("ffn_norm"), 1e-5)
        x = x + (F.silu(h @ w("feed_forward.w1").T) * (h @ w("feed_forward.w3").T)) @ w("feed_forward.w2").T
    x = F.rms_norm(x, (c["width"],), p["norm.weight"], 1e-5)
    return x @ p.get("output.weight", p["tok_embeddings.weight"]).T


def llama_shapes(c):
    d, f, kv = c["width"], c["hidden"], c["width"] // c["heads"] * c["kv_heads"]
    yield "tok_embeddings.weight", (c["vocabulary"], d)
    for i in range(c["layers"]):
        for name, shape in [("attention.wq", (d, d)), ("attention.wk", (kv, d)), ("attention.wv", (kv, d)),
                            ("attention.wo", (d, d)), ("feed_forward.w1", (f, d)), ("feed_forward.w2", (d, f)),
                            ("feed_forward.w3", (f, d)), ("attention_norm", (d,)), ("ffn_norm", (d,))]:
            yield f"layers.{i}.{name}.weight", shape
    yield "norm.weight", (d,)
    if not c["tied"]:
        yield "output.weight", (c["vocabulary"], d)


def gpt2(c, p, tokens):
    x = F.embedding(tokens, p["transformer.wte.weight"]) + p["transformer.wpe.weight"][: tokens.shape[1]]
    for i in range(c["layers"]):
        linear = lambda x, name: F.linear(x, p[f"transformer.h.{i}.{name}.weight"], p[f"transformer.h.{i}.{name}.bias"])
        norm = lambda x, name: F.layer_norm(x, (c["width"],), p[f"transformer.h.{i}.{name}.weight"],
                                            p[f"transformer.h.{i}.{name}.bias"], 1e-5)
        q, k, v = (heads(part, c["heads"]) for part in linear(norm(x, "ln_1"), "attn.c_attn").split(c["width"], dim=2))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + linear(a.transpose(1, 2).reshape(x.shape), "attn.c_proj")
        x = x + linear(F.gelu(linear(norm(x, "ln_2"), "mlp.c_fc"), approximate="tanh"), "mlp.c_proj")
    x = F.layer_norm(x, (c["width"],), p["transformer.ln_f.weight"], p["transformer.ln_f.bias"], 1e-5)
    return x @ p["transformer.wte.weight"].T


def gpt2_shapes(c):
    d, f = c["width"], 4 * c["width"]
    yield "transformer.wte.weight", (c["vocabulary"], d)
    yield "transformer.wpe.weight", (c["context"], d)
    for i in range(c["layers"]):
        for name, shape in [("ln_1.weight", (d,)), ("ln_1.bias", (d,)), ("attn.c_attn.weight", (3 * d, d)),
                            ("attn.c_attn.bias", (3 * d,)), ("attn.c_proj.weight", (d, d)), ("attn.c_proj.bias", (d,)),
                            ("ln_2.weight", (d,)), ("ln_2.bias", (d,)), ("mlp.c_fc.weight", (f, d)), ("mlp.c_fc.bias", (f,)),
                            ("mlp.c_proj.weight", (d, f)), ("mlp.c_proj.bias", (d,))]:
            yield f"transformer.h.{i}.{name}", shape
    yield "transformer.ln_f.weight", (d,)
    yield "transformer.ln_f.bias", (d,)


def batch(c):
    rows = [[(5 * r + 3 * t + t * t) % c["vocabulary"] for t in range(c["length"])] for r in range(c["rows"])]
    targets = [row[1:] + [-100] for row in rows]
    targets[1][2] = -100
    return rows, targets


def run(c):
    forward, shapes = {"llama": (llama, llama_shapes), "gpt2": (gpt2, gpt2_shapes)}[c["model"]]
    p = {name: parameter(name, k, shape) for k, (name, shape) in enumerate(shapes(c))}
    rows, targets = batch(c)
    logits = forward(c, p, torch.tensor(rows))
    loss = F.cross_entropy(logits.flatten(0, 1), torch.tensor(targets).flatten())
    loss.backward()
    gradients = []
    for k, (name, tensor) in enumerate(p.items()):
        g = tensor.grad.flatten()
        gradients.append({"name": name, "shape": list(tensor.shape), "max": g.abs().max().item(),
                          "sum": sum(v * draw(k + 1, i) for i, v in enumerate(g.tolist())),
                          "some": g[:: max(1, len(g) // 4)].tolist()})
    return c | {"loss": loss.item(), "gradients": gradients}


def scaled(theta, size, factor):
    """The frequencies of Llama 3.1, after apply_scaling of llama-models."""
    result = []
    for f in (theta ** (-torch.arange(0, size, 2) / size)).tolist():
        wave = 2 * math.pi / f
        if wave < 8192 / 4:
            result.append(f)
        elif wave > 8192 / 1:
            result.append(f / factor)
        else:
            smooth = (8192 / wave - 1) / (4 - 1)
            result.append((1 - smooth) * f / factor + smooth * f)
    return result


def dist_adam(p, g, s, lr, decay, beta1=0.9, beta2=0.95, eps=1e-8):
    """As in modded-nanogpt, where the second moment's correction is applied to the quotient."""
    s["t"] = s.get("t", 0) + 1
    m, v = s.setdefault("m", torch.zeros_like(p)), s.setdefault("v", torch.zeros_like(p))
    p.mul_(1 - lr * decay)
    m.mul_(beta1).add_(g, alpha=1 - beta1)
    v.mul_(beta2).addcmul_(g, g, value=1 - beta2)
    p.sub_(m / (v.sqrt() + eps) * (lr * math.sqrt(1 - beta2 ** s["t"]) / (1 - beta1 ** s["t"])))


def muon(p, g, s, lr, decay, momentum=0.95):
    """By singular values instead of products of matrices: the iteration is a polynomial of each."""
    m = s.setdefault("m", torch.zeros_like(p))
    m.copy_(momentum * m + (1 - momentum) * g)
    u, values, v = torch.linalg.svd(momentum * m + (1 - momentum) * g, full_matrices=False)
    values = values / values.norm().clamp(min=1e-7)
    for _ in range(5):
        values = 3.4445 * values - 4.7750 * values ** 3 + 2.0315 * values ** 5
    p.mul_(1 - lr * decay)
    p.sub_(u @ torch.diag(values) @ v * (lr * math.sqrt(max(1, p.shape[0] / p.shape[1]))))


def updated(name, shape, steps=3):
    """A parameter after some updates; the gradients are drawn, too."""
    step = {"dist-adam": dist_adam, "muon": muon}[name]
    n, state = math.prod(shape), {}
    p = torch.tensor([draw(0, i) for i in range(n)]).reshape(shape)
    for k in range(steps):
        step(p, torch.tensor([draw(k + 1, i) for i in range(n)]).reshape(shape), state, lr=0.1, decay=0.2)
    return {"name": name, "shape": shape, "steps": steps, "values": p.flatten().tolist()}


if __name__ == "__main__":
    small = {"rows": 2, "length": 6, "vocabulary": 11, "width": 16, "heads": 4}
    runs = [
        run({"model": "llama", "layers": 2, "kv_heads": 2, "hidden": 20, "theta": 500000.0, "tied": False} | small),
        run({"model": "llama", "layers": 1, "kv_heads": 1, "hidden": 12, "theta": 10000.0, "tied": True} | small),
        run({"model": "gpt2", "layers": 1, "context": 9, "tied": True} | small),
    ]
    frequencies = {"llama-3.1-8b": scaled(500000.0, 128, 8)[::4], "llama-3.2-1b": scaled(500000.0, 64, 32)[::4]}
    updates = [updated("dist-adam", (3, 4)), updated("muon", (3, 5)), updated("muon", (5, 3)), updated("muon", (4, 4))]
    print('{"torch": %s, "frequencies": %s,' % (json.dumps(torch.__version__), json.dumps(frequencies)))
    print('"updates": [\n%s],' % ",\n".join(map(json.dumps, updates)))
    print('"runs": [\n%s]}' % ",\n".join(json.dumps(r).replace('{"name"', '\n{"name"') for r in runs))
