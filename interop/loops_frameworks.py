"""Loops that are not written here: those of transformers, accelerate, Lightning, DeepSpeed and torchtitan, each clean and with a planted fault."""

import contextlib
import logging
import os
import sys
import tempfile
import types
import warnings

import torch
import torch.nn.functional as F
from torch import nn

from harness import Written

WIDTH, OUTPUTS, BATCH, TURNS = 16, 8, 4, 5


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(WIDTH, 24), nn.GELU(), nn.LayerNorm(24), nn.Linear(24, OUTPUTS))

    def forward(self, x):
        return self.body(x)


class Rows(torch.utils.data.Dataset):
    """As many rows as the turns need."""

    def __init__(self, run, rows):
        self.x = run.randn(rows, WIDTH)
        self.y = torch.randint(OUTPUTS, (rows,), generator=run.generator)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"x": self.x[i], "labels": self.y[i]}


def quiet():
    warnings.simplefilter("ignore")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    for name in ("transformers", "accelerate", "lightning", "lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)


# transformers


class Scored(Net):
    """A model as transformers.Trainer wants it, which counts its forward passes."""

    def __init__(self, run):
        super().__init__()
        self.run = run

    def forward(self, x, labels):
        self.run.count("forward")
        self.run.tokens = (labels != -100).sum()
        logits = super().forward(x)
        return {"loss": F.cross_entropy(logits, labels), "logits": logits}


def llama(run):
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(vocab_size=61, hidden_size=WIDTH, intermediate_size=24, num_hidden_layers=1, num_attention_heads=2,
                         max_position_embeddings=8, use_cache=False, tie_word_embeddings=False)
    return LlamaForCausalLM(config)


class Tokens(Rows):
    def __init__(self, run, rows):
        self.x = torch.randint(61, (rows, 8), generator=run.generator)

    def __getitem__(self, i):
        labels = self.x[i].clone()
        labels[: i % 5] = -100
        return {"input_ids": self.x[i], "labels": labels}


def trainer(accum=1, model=Scored, rows=Rows, fault=None, **arguments):
    def build(run):
        quiet()
        import transformers

        transformers.logging.set_verbosity_error()
        core = model(run)
        run.trains(core.parameters())

        class Turns(transformers.TrainerCallback):
            def __init__(self, turned):
                self.turned = turned

            def on_step_end(self, args, state, control, **_):
                run.count("step AdamW")
                self.turned()

            def on_substep_end(self, args, state, control, **_):
                if fault == "zero":
                    core.zero_grad()

            def on_pre_optimizer_step(self, args, state, control, **_):
                if fault == "scale":
                    for p in core.parameters():
                        p.grad *= 1 / run.tokens

        def whole(turned):
            with tempfile.TemporaryDirectory() as folder:
                options = transformers.TrainingArguments(
                    output_dir=folder, per_device_train_batch_size=BATCH, gradient_accumulation_steps=accum, max_steps=TURNS,
                    use_cpu=True, report_to=[], save_strategy="no", logging_strategy="no", disable_tqdm=True, remove_unused_columns=False,
                    dataloader_num_workers=0, **arguments)
                transformers.Trainer(core, options, train_dataset=rows(run, BATCH * accum * TURNS), callbacks=[Turns(turned)]).train()

        return whole

    return build


# accelerate


def accelerated(accum=1, clip=False, fault=None):
    def build(run):
        quiet()
        from accelerate import Accelerator
        from accelerate.state import AcceleratorState, GradientState, PartialState

        for state in (AcceleratorState, GradientState, PartialState):
            state._reset_state()
        model = Net()
        run.trains(model.parameters())
        accelerator = Accelerator(cpu=True, gradient_accumulation_steps=accum)
        loader = torch.utils.data.DataLoader(Rows(run, BATCH * accum * TURNS * run.world), batch_size=BATCH)
        wrapped, optimizer, loader = accelerator.prepare(model, torch.optim.AdamW(model.parameters(), lr=1e-3), loader)

        def whole(turned):
            for batch in loader:
                with accelerator.accumulate(wrapped):
                    loss = F.cross_entropy(wrapped(batch["x"]), batch["labels"])
                    run.count("forward")
                    accelerator.backward(loss)
                    run.count("backward")
                    if accelerator.sync_gradients and clip:
                        accelerator.clip_grad_norm_(wrapped.parameters(), 1.0)
                    if accelerator.sync_gradients and fault == "scale":
                        tokens = (batch["labels"] != -100).sum()
                        for p in model.parameters():
                            p.grad *= 1 / tokens
                    optimizer.step()
                    optimizer.zero_grad()
                    if fault == "zero":
                        model.zero_grad()
                if accelerator.sync_gradients:
                    run.count("step AdamW")
                    turned()

        def without(turned):
            """The fault: the loop counts for itself, and so every backward reduces."""
            for number, batch in enumerate(loader):
                loss = F.cross_entropy(wrapped(batch["x"]), batch["labels"]) / accum
                run.count("forward")
                accelerator.backward(loss * accum)
                run.count("backward")
                if number % accum == accum - 1:
                    optimizer.step()
                    optimizer.zero_grad()
                    run.count("step AdamW")
                    turned()

        if fault == "no accumulate":
            accelerator.gradient_accumulation_steps = 1
            return without
        return whole

    return build


# Lightning


def lightning(accum=1, manual=False, fault=None, **arguments):
    def build(run):
        quiet()
        import lightning as L

        class Module(L.LightningModule):
            def __init__(self):
                super().__init__()
                self.net = Net()
                self.automatic_optimization = not manual

            def loss(self, batch):
                run.count("forward")
                run.tokens = (batch["labels"] != -100).sum()
                return F.cross_entropy(self.net(batch["x"]), batch["labels"])

            def training_step(self, batch, index):
                if not manual:
                    return self.loss(batch)
                optimizer = self.optimizers()
                if index % accum == 0 or fault == "zero":
                    optimizer.zero_grad()
                self.manual_backward(self.loss(batch) / accum)
                if index % accum == accum - 1:
                    if fault == "scale":
                        self.scale()
                    self.clip_gradients(optimizer, gradient_clip_val=1.0, gradient_clip_algorithm="norm")
                    optimizer.step()
                return None

            def scale(self):
                for p in self.parameters():
                    p.grad *= 1 / run.tokens

            def on_after_backward(self):
                if not manual and fault == "zero":
                    self.zero_grad()

            def on_before_optimizer_step(self, optimizer):
                if not manual and fault == "scale":
                    self.scale()

            def configure_optimizers(self):
                return torch.optim.AdamW(self.parameters(), lr=1e-3)

        module = Module()
        run.trains(module.parameters())

        def whole(turned):
            class Turns(L.Callback):
                def on_train_batch_end(self, trainer, *_):
                    index = _[-1]
                    if index % accum == accum - 1:
                        run.count("step AdamW")
                        turned()

            options = {} if manual else {"accumulate_grad_batches": accum}
            L.Trainer(
                accelerator="cpu", devices=1, max_epochs=1, limit_train_batches=accum * TURNS, logger=False, enable_checkpointing=False,
                enable_progress_bar=False, enable_model_summary=False, barebones=False, callbacks=[Turns()], **options, **arguments,
            ).fit(module, torch.utils.data.DataLoader(Rows(run, BATCH * accum * TURNS), batch_size=BATCH))

        return whole

    return build


# DeepSpeed


def deepspeed(stage, accum=2, fault=None):
    """fault: zero clears gradients before each micro-batch; sum runs one backward pass over the losses of two."""

    def build(run):
        quiet()
        os.environ.update(DS_ACCELERATOR="cpu", LOCAL_RANK=str(run.rank), LOCAL_SIZE=str(run.world))
        import deepspeed

        logging.getLogger("DeepSpeed").setLevel(logging.ERROR)
        model = Net()
        run.trains(model.parameters())
        engine, *_ = deepspeed.initialize(
            model=model, model_parameters=model.parameters(), optimizer=torch.optim.AdamW(model.parameters(), lr=1e-3),
            config={"train_micro_batch_size_per_gpu": BATCH, "gradient_accumulation_steps": accum, "zero_optimization": {"stage": stage},
                    "zero_allow_untested_optimizer": True, "gradient_clipping": 1.0, "steps_per_print": 10**9})
        batches = [{k: v for k, v in Rows(run, BATCH)[:BATCH].items()} for _ in range(accum)]

        def update(number):
            if fault == "sum":
                engine.backward(sum(F.cross_entropy(engine(batch["x"]), batch["labels"]) / 2 for batch in batches * 2))
                run.count("forward", 2)
                run.count("backward")
                engine.step()
            for batch in batches if fault != "sum" else ():
                if fault == "zero":
                    model.zero_grad(set_to_none=False)
                loss = F.cross_entropy(engine(batch["x"]), batch["labels"])
                run.count("forward")
                engine.backward(loss)
                run.count("backward")
                engine.step()
            run.count("step AdamW")

        return update

    return build


# torchtitan


class Absent(types.ModuleType):
    """A module that torchtitan imports and no loop on a CPU runs: kernels in Triton, data sets, TensorBoard."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


ABSENT = ("torchtitan.distributed.minimal_async_ep.kernels", "datasets", "datasets.distributed", "torch.utils.tensorboard")


def titan(accum=1, fault=None):
    """Trainer.train_step of torchtitan, with its loss and its optimizers; the model is ours, on two ranks in FSDP as in its parallelize.
    fault: zero clears before each micro-batch; scale adds up losses and divides the gradients by the count."""

    def build(run):
        quiet()
        for name in ABSENT:
            sys.modules.setdefault(name, Absent(name))
        from torchtitan.components.loss import CrossEntropyLoss
        from torchtitan.components.optimizer import OptimizersContainer, ParamGroupConfig
        from torchtitan.trainer import Trainer

        logging.getLogger().setLevel(logging.ERROR)
        model, mesh = Net(), None
        if run.world > 1:
            from torch.distributed.device_mesh import init_device_mesh
            from torch.distributed.fsdp import fully_shard

            mesh = init_device_mesh("cpu", (run.world,))
            fully_shard(model.body[0], mesh=mesh)
            fully_shard(model, mesh=mesh)
        run.trains(model.parameters())

        class Counting(Trainer):
            def _forward_backward_body(self, inputs, labels, count, extra):
                if fault == "zero":
                    self.optimizers.zero_grad()
                run.count("forward")
                loss = super()._forward_backward_body(inputs, labels, torch.ones_like(count) if fault == "scale" else count, extra)
                run.count("backward")
                self.left -= 1
                if fault == "scale" and self.left % accum == 0:
                    with torch.no_grad():
                        for p in model.parameters():
                            p.grad.div_(count)
                return loss

        loop, left = Counting.__new__(Counting), types.SimpleNamespace
        nothing = lambda *_, **__: None  # noqa: E731
        loop.left, loop.step, loop.ntokens_seen, loop.device = 0, 0, 0, torch.device("cpu")
        loop.config = left(
            training=left(disable_cuda_graphs=True, max_norm=0.01), parallelism=left(spmd_backend="partial_dtensor"))
        loop.parallel_dims = left(
            dp_enabled=mesh is not None, dp_cp_enabled=mesh is not None, pp_enabled=False, cp_enabled=False, ep_enabled=False,
            get_mesh=lambda _: mesh, get_optional_mesh=nothing)
        loop.model_parts, loop.model_config = [model], None
        loop.gradient_accumulation_steps, loop.num_pipeline_parallel_microbatches = accum, 1
        loop.loss_fn = CrossEntropyLoss(CrossEntropyLoss.Config())
        group = ParamGroupConfig(pattern=".*", optimizer_name="AdamW", optimizer_kwargs={"lr": 1e-3})
        loop.optimizers = OptimizersContainer(OptimizersContainer.Config(param_groups=[group], implementation="foreach"), model_parts=[model])
        loop.lr_schedulers = left(get_metrics=dict, step=nothing)
        loop.metrics_processor = left(should_log=lambda step: run.world == 1, log=nothing)
        loop.checkpointer = left(maybe_wait_for_staging=nothing)
        loop.train_context, loop.fwd_bwd_fn = contextlib.nullcontext, loop._forward_backward_body
        rows = Tokens(run, BATCH)

        def batches():
            while True:
                yield {"input": run.randn(BATCH, 8, WIDTH)}, rows.x % OUTPUTS

        data = batches()

        def update(number):
            loop.train_step(data)
            run.count("step OptimizersContainer")

        return update

    return build


CLIPPED = {"clip": True, "clip_place": "after_backward", "clip_kind": "foreach"}


def scaled(parameters, needless):
    return {"scale_pass": {"kind": "per_parameter", "place": "after_backward", "count": parameters, "calls_per_update": 1, "factor": "tensor"},
            "scale_needless": needless, "scale_avoidable": True}


def framework(name, module, build, accum=1, **more):
    return Written("framework-" + name, build, accumulation=accum, micro_batches=accum, drives=True, needs=(module,),
                   optimizers=(("AdamW", accum),), **more)


def ddp(*per_micro_batch):
    last = len(per_micro_batch) > 1 and not any(per_micro_batch[:-1])
    return {"wrapper": "ddp", "sync": "last_micro_batch" if last else "every_micro_batch",
            "gradient_collectives_per_micro_batch": list(per_micro_batch), "average_pass": {"kind": "reducer", "place": "in_backward"}}


def by_zero(*per_micro_batch):
    return ddp(*per_micro_batch) | CLIPPED | {
        "wrapper": "deepspeed", "clip_tensors": 1, "average_pass": {"kind": "flat", "place": "after_backward"}}  # this rank's shard, flat


def by_titan(name, build, accum=1, facts=CLIPPED, **more):
    return Written("framework-torchtitan" + name, build, accumulation=accum, micro_batches=accum, needs=("torchtitan",), facts=facts, **more)


P = 6
SHARDED = CLIPPED | {"wrapper": "fsdp2", "sync": "every_micro_batch", "gradient_collectives_per_micro_batch": [2, 2],
                     "token_all_reduce": {"present": True, "where": "before_forward", "count_per_step": 1}}
LOOPS = [
    framework("trainer", "transformers", trainer(), facts=CLIPPED),
    # Without a norm to clip at transformers clips at infinity, for the norm in the log: the pass is there all the same.
    framework("trainer-accum4", "transformers", trainer(4, max_grad_norm=0), 4, facts=CLIPPED),
    framework("trainer-accum4-zero", "transformers", trainer(4, fault="zero", max_grad_norm=0), 4, facts=CLIPPED, planted=("GS007",)),
    framework("trainer-scale", "transformers", trainer(fault="scale"), facts=CLIPPED | scaled(P, True), planted=("GS001",)),
    framework("trainer-llama-accum2", "transformers", trainer(2, llama, Tokens), 2, facts=CLIPPED),
    framework("accelerate-accum4", "accelerate", accelerated(4, clip=True), 4, facts=CLIPPED),
    framework("accelerate-zero", "accelerate", accelerated(4, fault="zero"), 4, planted=("GS007",)),
    framework("accelerate-scale", "accelerate", accelerated(fault="scale"), facts=scaled(P, True), planted=("GS001",)),
    framework("accelerate-ddp2", "accelerate", accelerated(2), 2, world=2, facts=ddp(0, 1)),
    framework("accelerate-ddp2-sync-every", "accelerate", accelerated(2, fault="no accumulate"), 2, world=2, facts=ddp(1, 1), planted=("AC001",)),
    framework("lightning", "lightning", lightning()),
    framework("lightning-accum2-clip", "lightning", lightning(2, gradient_clip_val=1.0), 2, facts=CLIPPED),
    framework("lightning-zero", "lightning", lightning(2, fault="zero"), 2, planted=("GS007",)),
    framework("lightning-scale", "lightning", lightning(fault="scale"), facts=scaled(P, True), planted=("GS001",)),
    framework("lightning-manual", "lightning", lightning(4, True), 4, facts=CLIPPED),
    framework("lightning-manual-zero", "lightning", lightning(4, True, "zero"), 4, facts=CLIPPED, planted=("GS007",)),
    Written("framework-deepspeed2-zero1", deepspeed(1), world=2, accumulation=2, micro_batches=2, needs=("deepspeed",), facts=by_zero(0, 1)),
    Written("framework-deepspeed2-zero2", deepspeed(2), world=2, accumulation=2, micro_batches=2, needs=("deepspeed",), facts=by_zero(1, 1),
            planted=("AC001",)),
    Written("framework-deepspeed2-zero1-zero", deepspeed(1, fault="zero"), world=2, accumulation=2, micro_batches=2, needs=("deepspeed",),
            facts=by_zero(0, 1), planted=("GS007",)),
    Written("framework-deepspeed2-zero2-sum", deepspeed(2, 1, fault="sum"), world=2, micro_batches=2, needs=("deepspeed",),
            facts=by_zero(1), planted=("AC005",)),
    by_titan("", titan(2), 2),
    by_titan("-zero", titan(2, "zero"), 2, planted=("GS007",)),
    by_titan("-scale", titan(fault="scale"), facts=CLIPPED | scaled(P, True), planted=("GS001",)),
    by_titan("2", titan(2), 2, world=2, facts=SHARDED, planted=("AC004",)),
]
