"""A torch.profiler without PyTorch, and a program that stands for gaprof."""

import enum
import os
import stat
import sys
import types

Action = enum.Enum("Action", "NONE WARMUP RECORD RECORD_AND_SAVE")


def schedule(*, wait, warmup, active, repeat=0, skip_first=0):
    """As torch.profiler.schedule."""
    assert active > 0

    def action(step):
        step -= skip_first
        length = wait + warmup + active
        if step < 0 or repeat > 0 and step // length >= repeat:
            return Action.NONE
        at = step % length
        if at < wait:
            return Action.NONE
        if at < wait + warmup:
            return Action.WARMUP
        return Action.RECORD_AND_SAVE if at == length - 1 else Action.RECORD

    return action


class Profile:
    """As torch.profiler.profile: what it calls and when. fail is the name of a method that raises."""

    fail = ""
    made = []

    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, **options):
        self.check("init")
        self.schedule, self.ready, self.options = schedule or (lambda step: Action.RECORD), on_trace_ready, options
        self.step_num, self.current_action, self.stopped = 0, self.schedule(0), False
        Profile.made.append(self)

    def check(self, what):
        if Profile.fail == what:
            raise RuntimeError("PyTorch was built without kineto: " + what)

    def start(self):
        self.check("start")

    def step(self):
        self.check("step")
        saved = self.current_action == Action.RECORD_AND_SAVE
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        if saved and self.ready:
            self.ready(self)

    def stop(self):
        self.check("stop")
        self.stopped = True
        if self.current_action.name.startswith("RECORD") and self.ready:
            self.ready(self)

    def export_chrome_trace(self, path):
        if Profile.fail == "disk":
            with open(path, "wb"):
                pass
            return
        self.check("export")
        with open(path, "w") as file:
            file.write('{"traceEvents": []}' + " " * 40)


def install():
    """Puts the fake in the place of torch."""
    torch, profiler = types.ModuleType("torch"), types.ModuleType("torch.profiler")
    profiler.profile, profiler.schedule, profiler.supported_activities = Profile, schedule, lambda: ["CPU"]
    torch.profiler = profiler
    Profile.fail, Profile.made = "", []
    return {"torch": torch, "torch.profiler": profiler}


PROGRAM = """#!{python}
import sys
open({log!r}, "a").write(" ".join(sys.argv[1:]) + "\\n")
{body}
for a in sys.argv:
    if a.startswith("text="):
        open(a[5:], "w").write("gaprof 0\\nVERDICT  it works\\nWHY      it is a test\\n\\nmore")
"""


def program(folder, body=""):
    """A gaprof that notes its arguments in the file called.txt and writes a report."""
    path = os.path.join(folder, "gaprof.py")
    with open(path, "w") as file:
        file.write(PROGRAM.format(python=sys.executable, log=os.path.join(folder, "called.txt"), body=body))
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return path


class Tensor:
    """Labels, as far as they are counted."""

    def __init__(self, rows):
        self.rows, self._version = rows, 0

    def __getitem__(self, key):
        return Tensor([row[1:] for row in self.rows])

    def ne(self, value):
        return Tensor([[x != value for x in row] for row in self.rows])

    def sum(self):
        return sum(map(sum, self.rows))
