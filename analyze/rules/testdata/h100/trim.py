#!/usr/bin/env python3
"""Cuts one step out of a trace of the trainer in README.md, and measures it.

    trim.py cut WHOLE.json.gz PART.json.gz
    trim.py measure PART.json.gz

cut keeps what the host does from the last update before step 11 to the end of that step,
the device events that this launched, and all metadata; no event is changed. measure adds
up, in whole nanoseconds and without gaprof, what h100_test.go wants: per kind of
communication kernel its number, the time it runs, and of that the time beside kernels
that are not communication, and beside these, copies and memsets.
"""
import gzip
import json
import sys
from decimal import Decimal


def read(path):
    with gzip.open(path, "rt") as f:
        return json.load(f)


def cut(source, target):
    d = read(source)
    events = d["traceEvents"]
    spans = [e for e in events if e.get("cat") == "user_annotation"]
    step = next(e for e in spans if e["name"] == "ProfilerStep#11")
    before = [e for e in spans if e["name"].startswith("Optimizer.step#") and e["ts"] < step["ts"]]
    start = max(e["ts"] for e in before)
    end = step["ts"] + step["dur"]
    device = ("kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation")
    host = [e for e in events if e.get("ph") == "X" and e.get("cat") not in device + ("Trace",)
            and start <= e["ts"] < end]
    launched = {e["args"]["correlation"] for e in host if "correlation" in e.get("args", {})}
    ran = [e for e in events if e.get("cat") in device[:3] and e["args"].get("correlation") in launched]
    first, last = min(e["ts"] for e in ran), max(e["ts"] + e["dur"] for e in ran)
    kept = {id(e) for e in host + ran}
    kept |= {id(e) for e in events if e.get("ph") == "M"}
    kept |= {id(e) for e in events if e.get("cat") == "ac2g" and e["id"] in launched}
    kept |= {id(e) for e in events if e.get("cat") == "gpu_user_annotation"
             and first <= e["ts"] and e["ts"] + e["dur"] <= last}
    d["traceEvents"] = [e for e in events if id(e) in kept]
    d["deviceProperties"] = d["deviceProperties"][:1]
    text = json.dumps(d, separators=(",", ":")).replace('{"ph":', '\n{"ph":')
    with open(target, "wb") as f:
        f.write(gzip.compress(text.encode(), 9, mtime=0))


def ns(text):
    return int(Decimal(str(text)) * 1000)


def union(spans):
    out = []
    for a, b in sorted(spans):
        if out and a <= out[-1][1]:
            out[-1][1] = max(out[-1][1], b)
        elif b > a:
            out.append([a, b])
    return out


def length(spans):
    return sum(b - a for a, b in spans)


def common(x, y):
    return length(x) + length(y) - length(union([tuple(s) for s in x + y]))


def measure(path):
    compute, memory, kinds = [], [], {}
    for e in read(path)["traceEvents"]:
        if e.get("cat") not in ("kernel", "gpu_memcpy", "gpu_memset"):
            continue
        span = (ns(e["ts"]), ns(e["ts"]) + ns(e["dur"]))
        if e["cat"] != "kernel":
            memory.append(span)
        elif "nccl" in e["name"]:
            kinds.setdefault(e["name"].split("_")[1], []).append(span)
        else:
            compute.append(span)
    compute, either = union(compute), union(compute + memory)
    kinds["all"] = [s for spans in kinds.values() for s in spans]
    for kind, spans in sorted(kinds.items()):
        busy = union(spans)
        print(kind, len(spans), length(busy), common(busy, compute), common(busy, either))


if sys.argv[1] == "cut":
    cut(*sys.argv[2:])
else:
    measure(sys.argv[2])
