"""The callbacks, driven as the trainers drive them, without any of them."""

import importlib
import sys
import types
import unittest
from unittest import mock

from fakes import Profile, Tensor
from gaprof._labels import counter
from gaprof.torchtitan import attach
from test_recording import Case

LABELS = Tensor([[5, -100, 6], [7, 8, -100]])


class Model:
    """A module with the hooks of PyTorch; forward passes are calls."""

    training, loss_type, hook = True, "ForCausalLM", None

    def register_forward_hook(self, hook, with_kwargs):
        self.hook = hook
        return types.SimpleNamespace(remove=lambda: setattr(self, "hook", None))

    def __call__(self, **kwargs):
        self.hook(self, (), kwargs, {})


def module(name, base, **attributes):
    """Imports gaprof.NAME where the trainer's package is a fake."""
    parts = base.split(".")
    modules = {".".join(parts[: n + 1]): types.ModuleType(parts[n]) for n in range(len(parts))}
    modules[base].__dict__.update(attributes)
    with mock.patch.dict(sys.modules, modules):
        sys.modules.pop("gaprof." + name, None)
        return importlib.import_module("gaprof." + name)


class Trainers(Case):
    def counted(self):
        return [(r["step"], r["micro_batch"], r["local_valid_tokens"]) for r in self.lines("tokens.jsonl")]

    def transformers(self, forwards=1, **options):
        callback = module("transformers", "transformers", TrainerCallback=object).TrainerCallback(
            self.runs, wait=1, warmup=1, active=2, **options)
        model, args = Model(), types.SimpleNamespace(torch_compile=False)
        callback.on_train_begin(args, None, None, model=model)
        for _ in range(5):
            for micro in range(2):
                for _ in range(forwards):
                    model(labels=LABELS)
                (callback.on_step_end if micro else callback.on_substep_end)(args, None, None)
        callback.on_train_end(args, None, None)
        self.assertIsNone(model.hook)
        return callback

    def test_transformers(self):
        callback = self.transformers()
        self.assertEqual(self.counted(), [(s, m, 2) for s in range(2) for m in range(2)], "labels after the first, less -100")
        self.assertIn("VERDICT", callback.verdict)

    def test_transformers_with_more_than_one_forward_pass(self):
        self.transformers(forwards=2)
        self.assertRaises(FileNotFoundError, self.counted)

    def test_transformers_when_nothing_works(self):
        for Profile.fail in ("init", "step", "export"):
            with self.assertLogs("gaprof"):
                self.transformers()
        Profile.fail = ""
        for options in ({"no_such": 1}, {"ranks": 3}):
            with self.assertLogs("gaprof"):
                self.transformers(**options)

    def lightning(self, **options):
        callback = module("lightning", "lightning.pytorch.callbacks", Callback=object).Callback(
            self.runs, wait=1, warmup=1, active=2, **options)
        trainer = types.SimpleNamespace(global_step=0)
        callback.on_train_start(trainer, None)
        for turn in range(10):
            callback.on_train_batch_start(trainer, None, {"labels": LABELS}, turn)
            trainer.global_step = (turn + 1) // 2
            callback.on_train_batch_end(trainer, None, None, None, turn)
        callback.on_train_end(trainer, None)
        return callback

    def test_lightning(self):
        callback = self.lightning()
        self.assertEqual(self.counted(), [(s, m, 4) for s in range(2) for m in range(2)])
        self.assertIn("VERDICT", callback.verdict)

    def test_lightning_with_a_counter_of_ones_own(self):
        self.lightning(tokens=lambda batch: 9)
        self.assertEqual({count for _, _, count in self.counted()}, {9})
        with self.assertLogs("gaprof") as logs:
            self.lightning(tokens=lambda batch: batch["gone"])
        self.assertEqual(len(logs.output), 1)

    def titan(self, steps=5, error=None):
        class Trainer:
            def train(trainer):
                rows = iter([({}, LABELS)] * 100)
                for step in range(steps):
                    trainer.train_step(rows)
                if error:
                    raise error

            def train_step(trainer, rows):
                next(rows), next(rows)

        trainer = Trainer()
        prof = attach(trainer, self.runs, wait=1, warmup=1, active=2)
        trainer.train()
        return prof

    def test_torchtitan(self):
        self.assertIn("VERDICT", self.titan().verdict)
        self.assertEqual(self.counted(), [(s, m, 4) for s in range(2) for m in range(2)])

    def test_torchtitan_raises_what_the_trainer_raises(self):
        error = ValueError("mine")
        with self.assertRaises(ValueError) as raised:
            self.titan(error=error)
        self.assertIs(raised.exception, error)

    def test_attaching_to_what_is_no_trainer(self):
        with self.assertLogs("gaprof"):
            attach(object(), self.runs)


class Counting(unittest.TestCase):
    def test_batches(self):
        mask = Tensor([[1, 1, 0], [1, 0, 0]])
        for batch, shifted, want in (
            ({"labels": LABELS}, False, 4), ({"labels": LABELS}, True, 2), ({"shift_labels": LABELS}, True, 4),
            ({"attention_mask": mask}, False, 3), ({"attention_mask": mask}, True, 1),
        ):
            self.assertEqual(counter(batch, shifted)(), want)
        for batch in ({}, {"labels": None}, {"labels": [1]}, (1, 2), None):
            self.assertIsNone(counter(batch))

    def test_a_batch_that_changes_is_unknown(self):
        labels = Tensor([[1]])
        count = counter({"labels": labels})
        labels._version += 1
        self.assertRaises(ValueError, count)


if __name__ == "__main__":
    unittest.main()
