"""The package, without PyTorch: python3 -m unittest discover -s python/tests"""

import json
import os
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]

import fakes  # noqa: E402
import gaprof  # noqa: E402
import gaprof._window  # noqa: E402
from gaprof._window import Micro, Place, lines_of, window  # noqa: E402


class Case(unittest.TestCase):
    """A folder, a fake PyTorch and a fake program."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch, self.runs = scratch.name, os.path.join(scratch.name, "runs")
        self.env = {"GAPROF_BINARY": fakes.program(self.scratch), "RANK": "0", "WORLD_SIZE": "1"}
        for patch in (mock.patch.dict(os.environ, self.env), mock.patch.dict(sys.modules, fakes.install()),
                      mock.patch("gaprof._profile.atexit")):
            patch.start()
            self.addCleanup(patch.stop)
        said = mock.patch("gaprof._analysis.say")
        self.said = said.start()
        self.addCleanup(said.stop)

    def loop(self, steps=12, folder=None, **options):
        """A loop of two micro-batches per step, whose counts are 10*step and one more."""
        with gaprof.profile(folder or self.runs, wait=2, warmup=2, active=3, **options) as prof:
            for step in range(steps):
                for micro in range(2):
                    prof.tokens(10 * step + micro, loss=0.5)
                prof.step()
        return prof

    def lines(self, name):
        with open(os.path.join(self.runs, name)) as file:
            return [json.loads(line) for line in file]

    def called(self):
        path = os.path.join(self.scratch, "called.txt")
        if not os.path.exists(path):
            return []
        with open(path) as file:
            return file.read().splitlines()


class Recording(Case):
    def test_one_rank(self):
        prof = self.loop()
        self.assertEqual(
            [(r["step"], r["rank"], r["micro_batch"], r["local_valid_tokens"], r["run_step"]) for r in self.lines("tokens.jsonl")],
            [(s, 0, m, 10 * (s + 4) + m, s + 4) for s in range(3) for m in range(2)])
        self.assertEqual({r["loss_mean"] for r in self.lines("loss.jsonl")}, {0.5})
        self.assertTrue(os.path.exists(os.path.join(self.runs, "trace-rank0of1.json.gz")))
        [call] = self.called()
        self.assertIn("trace-rank0of1.json.gz", call)
        self.assertIn("--tokens " + os.path.join(self.runs, "tokens.jsonl"), call)
        self.assertIn("VERDICT  it works\nWHY      it is a test\nREPORT", prof.verdict)
        self.assertEqual(fakes.Profile.made[0].options, {"record_shapes": True, "with_stack": False, "profile_memory": False})

    def test_windows_that_repeat(self):
        self.loop(steps=15, repeat=2)
        self.assertTrue(os.path.exists(os.path.join(self.runs, "steps-11-13", "trace-rank0of1.json.gz")))
        self.assertEqual(len(self.called()), 2)

    def test_a_second_run_leaves_nothing_of_the_first(self):
        self.loop()
        with gaprof.profile(self.runs, wait=0, warmup=1, active=1) as prof:
            for _ in range(3):
                prof.step()
        self.assertFalse(os.path.exists(os.path.join(self.runs, "tokens.jsonl")))
        self.assertNotIn("--tokens", self.called()[-1])

    def test_ranks(self):
        with mock.patch.dict(os.environ, RANK="1", WORLD_SIZE="2"):
            self.loop()
        self.assertEqual(self.called(), [], "rank 1 analyzes nothing")
        with mock.patch.dict(os.environ, RANK="0", WORLD_SIZE="2"):
            self.loop()
        [call] = self.called()
        self.assertIn("trace-rank0of2.json.gz", call)
        self.assertIn("trace-rank1of2.json.gz", call)
        self.assertEqual([r["rank"] for r in self.lines("tokens.jsonl")], [0] * 6 + [1] * 6)

    def test_a_rank_that_never_writes_is_waited_for_with_a_bound(self):
        with mock.patch.dict(os.environ, RANK="0", WORLD_SIZE="3"), self.assertLogs("gaprof") as logs:
            self.loop(wait_for_ranks=0)
        self.assertIn("no trace of rank 1, 2", logs.output[0])
        self.assertEqual(len(self.called()), 1)

    def test_only_some_ranks_record(self):
        with mock.patch.dict(os.environ, RANK="0", WORLD_SIZE="4"):
            self.loop(ranks=[1])
        self.assertFalse(os.path.exists(self.runs) and os.listdir(self.runs))
        with mock.patch.dict(os.environ, RANK="1", WORLD_SIZE="4"):
            self.loop(ranks=[1])
        self.assertEqual(len(self.called()), 1, "the first rank that records analyzes")

    def test_a_loop_that_ends_too_early(self):
        with self.assertLogs("gaprof") as logs:
            self.loop(steps=3)
        self.assertIn("ended after 3 steps, and recording begins after 4", logs.output[0])

    def test_a_profiler_of_ones_own(self):
        ready = gaprof.handler(self.runs)
        prof = fakes.Profile(schedule=fakes.schedule(wait=1, warmup=1, active=2, repeat=1), on_trace_ready=ready)
        for step in range(5):
            ready.tokens(step, step=prof.step_num)
            prof.step()
        self.assertIn("VERDICT  it works", ready.finish())
        self.assertEqual([(r["step"], r["local_valid_tokens"]) for r in self.lines("tokens.jsonl")], [(0, 2), (1, 3)])
        self.assertIsNone(ready.finish(), "once")

    def test_importing_it_imports_nothing(self):
        code = "import sys, gaprof; sys.exit(any(m in sys.modules for m in ('torch', 'numpy', 'transformers', 'lightning')))"
        subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": os.path.dirname(HERE)})


class Failures(Case):
    """None of these may reach the loop."""

    def whole(self, **options):
        with self.assertLogs("gaprof") as logs:
            self.loop(**options)
        messages = [r.getMessage() for r in logs.records]
        self.assertEqual(len(messages), len(set(messages)), "each is logged once")
        return "\n".join(messages)

    def test_each_method_of_the_profiler(self):
        for method in ("init", "start", "step", "stop", "export"):
            with self.subTest(method):
                fakes.Profile.fail = method
                self.assertIn("without kineto: " + method, self.whole(steps=12 if method != "stop" else 5))

    def test_no_torch(self):
        with mock.patch.dict(sys.modules, {"torch": None, "torch.profiler": None}):
            self.assertIn("starting the profiler", self.whole())

    def test_full_disk(self):
        fakes.Profile.fail = "disk"
        self.assertIn("is the disk full?", self.whole())
        self.assertEqual([n for n in os.listdir(self.runs) if "trace" in n], [], "half a trace is left")

    def test_no_space_for_the_logs(self):
        with mock.patch("gaprof._window.os.replace", side_effect=OSError(28, "No space left on device")):
            self.assertIn("No space left", self.whole())

    def test_a_folder_that_cannot_be_made(self):
        path = os.path.join(self.scratch, "file")
        with open(path, "w"):
            pass
        self.assertIn("Error", self.whole(folder=os.path.join(path, "runs")))

    def test_no_program(self):
        os.environ["GAPROF_BINARY"] = os.path.join(self.scratch, "gone")
        self.assertIn("the analysis: FileNotFoundError", self.whole())

    def test_a_program_that_fails(self):
        os.environ["GAPROF_BINARY"] = fakes.program(self.scratch, "sys.exit('broken')")
        self.assertIn("exit code 1: broken", self.whole())

    def test_a_program_that_hangs(self):
        hung = subprocess.TimeoutExpired("gaprof", 1)
        with mock.patch("gaprof._analysis.subprocess.run", side_effect=hung):
            self.assertIn("TimeoutExpired", self.whole())

    def test_options_that_are_none(self):
        for options in ({"active": 0}, {"no_such": 1}, {"ranks": "x"}, {"time_limit": "x"}, {"folder": 3}):
            with self.subTest(options), self.assertLogs("gaprof"):
                with gaprof.profile(**{"folder": self.runs, "wait": 0, **options}) as prof:
                    prof.step()
                    prof.tokens(1)

    def test_counts_that_are_none(self):
        with gaprof.profile(self.runs, wait=0, warmup=0, active=3) as prof:
            for count in (7, "x", lambda: 1 / 0):
                prof.tokens(count)
                prof.step()
        self.assertEqual([r["step"] for r in self.lines("tokens.jsonl")], [0], "unknown counts are left out")

    def test_an_exception_of_the_loop_passes(self):
        class Mine(Exception):
            pass

        for fail in ("", "stop", "export"):
            fakes.Profile.fail = fail
            mine = Mine()
            with self.assertRaises(Mine) as raised:
                with gaprof.profile(self.runs, wait=0, warmup=0, active=3):
                    raise mine
            self.assertIs(raised.exception, mine)
            self.assertIsNone(mine.__cause__ or mine.__context__)
        self.assertEqual(self.called(), [])
        self.assertTrue(fakes.Profile.made[0].stopped)

    def test_interrupts_pass(self):
        with self.assertRaises(KeyboardInterrupt), gaprof.profile(self.runs):
            raise KeyboardInterrupt


class Windows(unittest.TestCase):
    def test_of_the_profiler(self):
        plan = fakes.schedule(wait=1, warmup=1, active=3)
        self.assertEqual(window(plan, 5), (2, 5))
        self.assertEqual(window(plan, 10), (7, 10))
        self.assertEqual(window(plan, 4), (2, 5), "stopped in its last step")
        self.assertEqual(window(plan, 2), (2, 3))
        self.assertEqual(window(fakes.schedule(wait=0, warmup=0, active=2), 4), (2, 4), "windows that touch")

    def test_lines(self):
        counts = {4: [Micro(3), Micro(lambda: 4, float("nan"))], 5: [Micro(None)], 6: [Micro(-1)]}
        tokens, losses = lines_of(counts, (3, 7), 2)
        self.assertEqual([(t["step"], t["rank"], t["micro_batch"], t["local_valid_tokens"]) for t in tokens], [(1, 2, 0, 3), (1, 2, 1, 4)])
        self.assertEqual(losses, [])

    def test_place(self):
        for rank, world, want in (("3", "8", (3, 8)), ("8", "8", (0, 1)), ("x", "8", (0, 1)), ("", "", (0, 1))):
            with mock.patch.dict(os.environ, RANK=rank, WORLD_SIZE=world), mock.patch.dict(sys.modules, {"torch.distributed": None}):
                self.assertEqual(gaprof._window.place(), Place(*want))


if __name__ == "__main__":
    unittest.main()
