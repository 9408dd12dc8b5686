"""Runs the recipes of docs/recording.md as they stand there, each around a small model on the cpu, and has gaprof read what they record.

    interop/recording.py GAPROF [NAME]...

A recipe is a block of Python with `<!-- run: NAME -->` before it; what it needs beside the page is in SETTINGS. One whose packages are
missing is skipped by name. Exits with 1 where a recipe fails, or its trace does not have six updates of two micro-batches.
"""

import glob
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "recording.md")

LOOP = """
import torch
rank = 0
torch.set_num_threads(1)
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.AdamW(model.parameters())
loader = [[torch.randn(8, 64) for _ in range(2)] for _ in range(12)]

def train_step(micro_batches):
    for x in micro_batches:
        (model(x).pow(2).mean() / 2).backward()
    optimizer.step()
    optimizer.zero_grad()
"""

TRANSFORMERS = """
import torch, transformers
config = transformers.GPT2Config(n_layer=2, n_head=2, n_embd=32, vocab_size=97, n_positions=32)
rows = [{"input_ids": torch.arange(16) % 97, "labels": torch.arange(16) % 97} for _ in range(64)]
arguments = transformers.TrainingArguments(output_dir="out", per_device_train_batch_size=2, gradient_accumulation_steps=2, max_steps=12,
                                           report_to=[], save_strategy="no", use_cpu=True, disable_tqdm=True, logging_strategy="no")
trainer = transformers.Trainer(transformers.GPT2LMHeadModel(config), arguments, train_dataset=rows)
"""

LIGHTNING = """
import lightning, torch

class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(64, 64)

    def training_step(self, batch, index):
        return self.layer(batch[0]).pow(2).mean()

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())

module = Module()
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(64, 64)), batch_size=2)
options = dict(accelerator="cpu", accumulate_grad_batches=2, logger=False, enable_checkpointing=False, enable_progress_bar=False,
               enable_model_summary=False)
"""

UPDATES = 6  # that each recipe records

# By name: the module it needs, and what stands before it.
SETTINGS = {"loop": ("torch", LOOP), "transformers": ("transformers", TRANSFORMERS), "lightning": ("lightning", LIGHTNING)}


def recipes():
    """Returns the blocks of the page by their names."""
    with open(PAGE, encoding="utf-8") as page:
        return dict(re.findall(r"<!-- run: (\w+) -->\n```python\n(.*?)^```$", page.read(), re.M | re.S))


def run(gaprof, name, code):
    """Runs a recipe in a folder of its own and returns what is wrong with what it recorded, "" if nothing."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "recipe.py"), "w", encoding="utf-8") as script:
            script.write(SETTINGS[name][1] + "\n" + code)
        done = subprocess.run([sys.executable, "-W", "ignore", "recipe.py"], cwd=folder, capture_output=True, text=True, check=False,
                              env={**os.environ, "KINETO_LOG_LEVEL": "5", "OMP_NUM_THREADS": "1"})
        if done.returncode:
            return done.stderr[-2000:]
        traces = glob.glob(os.path.join(folder, "**", "*.json*"), recursive=True)
        traces = [t for t in traces if "out" not in os.path.relpath(t, folder).split(os.sep)[:1]]
        if len(traces) != 1:
            return f"it wrote {traces}"
        read = subprocess.run([gaprof, "analyze", traces[0], "-q", "--format", "json"], capture_output=True, text=True, check=False)
        if read.returncode:
            return read.stderr
        report = json.loads(read.stdout)
        found = len(report["steps"]), report["accumulation_steps"]
        return "" if found == (UPDATES, 2) else f"updates and micro-batches are {found}"


def main():
    """Runs the recipes that are named, or all."""
    gaprof, names = os.path.abspath(sys.argv[1]), sys.argv[2:]
    found, failed = recipes(), []
    if sorted(found) != sorted(SETTINGS):
        sys.exit(f"recording: the page has {sorted(found)}, and settings are for {sorted(SETTINGS)}")
    for name, code in found.items():
        needs = SETTINGS[name][0]
        if names and name not in names:
            continue
        if importlib.util.find_spec(needs) is None:
            print(f"recording: SKIPPED {name}: no {needs}")
            continue
        wrong = run(gaprof, name, code)
        print(f"recording: {name}: {wrong or 'ok'}")
        failed += [name] if wrong else []
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
