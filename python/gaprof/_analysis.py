"""What rank 0 does after the run: collects what the ranks wrote and has the program judge it."""

from __future__ import annotations

import json
import os
import subprocess
import time
from typing import Dict, List, NamedTuple, Optional, Sequence

from ._binary import find_binary
from ._guard import Guard, say
from ._window import FOLLOWED, Place, remove, write

POLL = 0.2  # seconds between two looks for the files of other ranks


class Judging(NamedTuple):
    """How the analysis goes about it."""

    ranks: Optional[Sequence[int]] = None  # those that record; None all
    wait: float = 60.0  # seconds for the files of other ranks
    time_limit: float = 300.0  # seconds for the program
    html: bool = True  # also report.html

    def of(self, world: int) -> List[int]:
        """The ranks that record."""
        return list(range(world)) if self.ranks is None else sorted({r for r in self.ranks if 0 <= r < world})


def done_file(folder: str, place: Place) -> str:
    """The file that says that a rank has written everything."""
    return os.path.join(folder, f"{place}.done")


def await_ranks(folder: str, here: Place, how: Judging, guard: Guard) -> Dict[int, dict]:
    """What each rank says it wrote; those that say nothing in time are left out. This one has written, or never will."""
    end = time.monotonic() + how.wait
    missing = how.of(here.world)
    found: Dict[int, dict] = {}
    while missing:
        for rank in list(missing):
            try:
                with open(done_file(folder, Place(rank, here.world)), encoding="utf-8") as file:
                    found[rank] = json.load(file)
                missing.remove(rank)
            except (OSError, ValueError):
                pass
        if not missing or here.rank in missing or time.monotonic() >= end:
            break
        time.sleep(POLL)
    if missing:
        named = ", ".join(map(str, missing[:8])) + (", ..." if len(missing) > 8 else "")
        guard.tell("waiting for the other ranks", f"no trace of rank {named} in {folder}")
    return found


def merge(folder: str, name: str, parts: Sequence[str], world: int) -> Optional[str]:
    """Puts the logs of the ranks into one; None where there are none."""
    path = os.path.join(folder, name)
    text = ""
    for part in parts:
        with open(os.path.join(folder, part), encoding="utf-8") as file:
            text += file.read()
    text += optimized(text, world)
    if not text:
        remove(path)
        return None
    write(path, text)
    return path


def optimized(text: str, world: int) -> str:
    """Lines with the loss that the optimizer of each step follows: the mean of what the ranks call backward() on, as DDP and
    FSDP average it. Steps that a rank says nothing of are left out."""
    sums: Dict[int, Dict[int, float]] = {}
    for line in map(json.loads, text.splitlines()):
        if FOLLOWED in line:
            sums.setdefault(line["step"], {})[line["rank"]] = line[FOLLOWED]
    return "".join(json.dumps({"step": step, "rank": rank, "optimized_loss": sum(of.values()) / world}) + "\n"
                   for step, of in sorted(sums.items()) if len(of) == world for rank in sorted(of))


def judge(folder: str, here: Place, how: Judging, guard: Guard) -> Optional[str]:
    """Analyzes a window of all ranks; returns the verdict, None if there is none."""
    found = await_ranks(folder, here, how, guard)
    traces = [os.path.join(folder, w["trace"]) for _, w in sorted(found.items()) if w.get("trace")]
    logs = {name: merge(folder, name + ".jsonl", [w[name] for _, w in sorted(found.items()) if w.get(name)], here.world)
            for name in ("tokens", "loss")}
    if not traces:
        guard.tell("the analysis", f"no rank has written a trace to {folder}")
        return None
    verdict = run(folder, traces, logs["tokens"], how)
    say(verdict)
    return verdict


def run(folder: str, traces: List[str], tokens: Optional[str], how: Judging) -> str:
    """Runs the program; returns verdict, reason and next step, and where the report is."""
    paths = traces
    if len(traces) > 50:  # a command line has an end
        names = os.path.join(folder, "traces.txt")
        write(names, "".join(os.path.abspath(t) + "\n" for t in traces))
        paths = ["@" + names]
    command = [find_binary(), "analyze", *paths, "--quiet", "--progress", "off", "--color", "never", "--force"]
    if tokens:
        command += ["--tokens", tokens]
    kinds = {"text": "report.txt", "json": "report.json"}
    if how.html:
        kinds["html"] = "report.html"
    for kind, name in kinds.items():
        command += ["--format", f"{kind}={os.path.join(folder, name)}"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=how.time_limit, env={**os.environ, "COLUMNS": "110"}, check=False)
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()[-500:]
        raise RuntimeError(f"gaprof analyze: exit code {done.returncode}: {said}")
    with open(os.path.join(folder, "report.txt"), encoding="utf-8") as file:
        text = file.read()
    return text.split("\n\n")[0].rstrip() + f"\nREPORT   {os.path.join(folder, kinds.get('html', 'report.txt'))}"
