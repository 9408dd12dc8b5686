"""The trainers of transformers, Lightning and torchtitan, recorded by the package gaprof on two ranks of a CPU.

    python interop/trainers.py TRAINER FOLDER

Each rank counts its own valid tokens as the batches are made; interop/trainers.sh compares them with the log.
"""

import json
import os
import socket
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
WORLD, ACCUMULATION, STEPS = 2, 2, 8
SCHEDULE = dict(wait=1, warmup=1, active=4)
FIRST = SCHEDULE["wait"] + SCHEDULE["warmup"]


class Run:
    """What the loops of interop/loops_frameworks.py ask of a run."""

    def __init__(self, rank):
        self.rank, self.world = rank, WORLD
        self.generator = torch.Generator().manual_seed(1000 * rank)

    def trains(self, parameters):
        pass

    def count(self, what, n=1):
        pass

    def randn(self, *shape):
        return torch.randn(*shape, generator=self.generator)


class Rows(torch.utils.data.Dataset):
    """Sequences of eight tokens; the labels of row i of rank r begin at a place of its own. Row i of the data set is of the
    rank i % WORLD, and i // WORLD is its number there, as the samplers deal them out."""

    def __len__(self):
        return WORLD * ACCUMULATION * STEPS

    def ignored(self, i):
        return 1 + (i % WORLD) * 4 + (i // WORLD) % 3

    def valid(self, rank):
        """Valid labels of a rank by step and micro-batch, of rows of one."""
        rows = [8 - self.ignored(n * WORLD + rank) for n in range(ACCUMULATION * STEPS)]
        return [rows[s * ACCUMULATION:(s + 1) * ACCUMULATION] for s in range(STEPS)]

    def __getitem__(self, i):
        x = torch.randint(61, (8,), generator=torch.Generator().manual_seed(i))
        labels = x.clone()
        labels[: self.ignored(i)] = -100
        return {"input_ids": x, "labels": labels}


def with_transformers(rank, folder):
    import transformers
    from gaprof.transformers import TrainerCallback
    from loops_frameworks import llama, quiet

    quiet()
    transformers.logging.set_verbosity_error()

    class Trainer(transformers.Trainer):
        def _get_train_sampler(self, *_):
            return torch.utils.data.SequentialSampler(self.train_dataset)

    callback = TrainerCallback(folder, **SCHEDULE)
    options = transformers.TrainingArguments(
        output_dir=os.path.join(folder, "out"), per_device_train_batch_size=1, gradient_accumulation_steps=ACCUMULATION, max_steps=STEPS,
        use_cpu=True, report_to=[], save_strategy="no", logging_strategy="no", disable_tqdm=True, ddp_backend="gloo",
        average_tokens_across_devices=False)  # the planted fault: each rank divides by its own count
    Trainer(llama(Run(rank)), options, train_dataset=Rows(), callbacks=[callback]).train()
    return callback.verdict


def with_lightning(rank, folder):
    import lightning as L
    from gaprof.lightning import Callback
    from loops_frameworks import llama, quiet

    quiet()

    class Module(L.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = llama(Run(0))

        def training_step(self, batch, index):
            logits = self.net(input_ids=batch["input_ids"]).logits
            return F.cross_entropy(logits[:, :-1].flatten(0, 1), batch["labels"][:, 1:].flatten())

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=1e-3)

    callback, data = Callback(folder, shifted=True, **SCHEDULE), Rows()
    trainer = L.Trainer(
        accelerator="cpu", devices=WORLD, strategy="ddp", max_epochs=1, accumulate_grad_batches=ACCUMULATION, logger=False,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False, callbacks=[callback], use_distributed_sampler=False)
    trainer.fit(Module(), torch.utils.data.DataLoader(data, batch_size=1, sampler=in_order_of(data, rank)))
    return callback.verdict


def in_order_of(data, rank):
    return torch.utils.data.DistributedSampler(data, num_replicas=WORLD, rank=rank, shuffle=False)


def with_torchtitan(rank, folder):
    import gaprof.torchtitan
    import loops_frameworks

    update = loops_frameworks.titan(ACCUMULATION)(Run(rank))
    trainer = next(c.cell_contents for c in update.__closure__ if hasattr(c.cell_contents, "train_step"))
    rows = Rows()

    def batches():
        for n in range(len(rows) // WORLD):
            labels = rows[n * WORLD + rank]["labels"][None]
            yield {"input": torch.randn(1, 8, loops_frameworks.WIDTH)}, torch.where(labels < 0, labels, labels % loops_frameworks.OUTPUTS)

    def train():  # the loop of Trainer.train, without what needs a GPU or a data set
        data = batches()
        for _ in range(STEPS):
            trainer.train_step(data)

    trainer.train = train
    prof = gaprof.torchtitan.attach(trainer, folder, **SCHEDULE)
    trainer.train()
    return prof.verdict


def with_plain(rank, folder):
    """DDP, whose loss is the mean of each rank's micro-batches' means."""
    import gaprof
    from loops_frameworks import llama

    model = torch.nn.parallel.DistributedDataParallel(llama(Run(0)))
    optimizer, rows = torch.optim.AdamW(model.parameters(), lr=1e-3), Rows()
    with gaprof.profile(folder, **SCHEDULE) as prof:
        for step in range(STEPS):
            for micro in range(ACCUMULATION):
                row = rows[(step * ACCUMULATION + micro) * WORLD + rank]
                logits = model(input_ids=row["input_ids"][None]).logits[0]
                loss = F.cross_entropy(logits[:-1], row["labels"][1:])
                prof.tokens((row["labels"][1:] != -100).sum(), loss=loss)
                (loss / ACCUMULATION).backward()
            optimizer.step()
            optimizer.zero_grad()
            prof.step()
    return prof.verdict


def check(folder):
    """The token log against what the data set says."""
    with open(os.path.join(folder, "tokens.jsonl")) as file:
        log = [json.loads(line) for line in file]
    got = {(r["rank"], r["step"], r["micro_batch"]): r["local_valid_tokens"] for r in log}
    want = {(rank, s, m): n for rank in range(WORLD) for s, step in enumerate(Rows().valid(rank)[FIRST:FIRST + SCHEDULE["active"]])
            for m, n in enumerate(step)}
    assert got == want, f"{folder}: the token log has {got}, not {want}"


def main(rank, name, folder, port):
    torch.set_num_threads(1)
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), NODE_RANK="0", WORLD_SIZE=str(WORLD), MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    torch.manual_seed(0)
    if name != "transformers":
        dist.init_process_group("gloo")
    verdict = globals()["with_" + name](rank, folder)
    assert rank > 0 or verdict and "VERDICT" in verdict, f"{name}: no verdict"


if __name__ == "__main__":
    name, folder = sys.argv[1:]
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = str(s.getsockname()[1])
    mp.spawn(main, (name, folder, port), WORLD)
    check(folder)
