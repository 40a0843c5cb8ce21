#!/usr/bin/env python3
"""How much of a weight that embedding and head share is alive in backward, in multiples of it.

Needs PyTorch alone (measured with 2.8.0 on a CPU): `python3 tools/measure_tied.py`. Prints, for a shared and for two separate
weights, the largest sum of live bytes over one step and the allocations of the weight's size on the way. A shared weight peaks at 3:
the head's gradient waits for the embedding's, and autograd writes their sum to a third place.
"""

import json
import os
import tempfile

import torch
from torch import nn
from torch.nn import functional
from torch.profiler import ProfilerActivity, profile

VOCABULARY, WIDTH, TOKENS = 50_000, 256, 64


def peak(shared: bool, dtype: torch.dtype) -> tuple[float, list[tuple[float, float]]]:
    """Peak of live bytes over one step in units of the weight, and (allocation, live after it) of its size."""
    embedding = nn.Embedding(VOCABULARY, WIDTH, dtype=dtype)
    middle = nn.Linear(WIDTH, WIDTH, dtype=dtype)
    head = nn.Linear(WIDTH, VOCABULARY, bias=False, dtype=dtype)
    if shared:
        head.weight = embedding.weight
    ids, labels = torch.randint(0, VOCABULARY, (2, TOKENS))
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        logits = head(torch.tanh(middle(embedding(ids)))).float()
        functional.cross_entropy(logits, labels).backward()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        profiler.export_chrome_trace(path)
        with open(path, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
    unit = VOCABULARY * WIDTH * embedding.weight.element_size()
    live, highest, large = 0, 0, []
    for event in sorted((e for e in events if e.get("name") == "[memory]"), key=lambda e: e["ts"]):
        change = event["args"]["Bytes"]
        live += change
        highest = max(highest, live)
        if abs(change) > 0.9 * unit:
            large.append((round(change / unit, 2), round(live / unit, 2)))
    return round(highest / unit, 2), large


if __name__ == "__main__":
    for dtype in (torch.float32, torch.bfloat16):
        for shared in (False, True):
            print("shared" if shared else "separate", dtype, *peak(shared, dtype))
