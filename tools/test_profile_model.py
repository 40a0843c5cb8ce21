#!/usr/bin/env python3
"""Tries tools/profile_model.py on small models whose figures are known, and on the two demos. Needs PyTorch (and transformers for the
demos): `--install DIR` makes a virtual environment there, installs both from PyPI and runs the tests in it.

    python tools/test_profile_model.py --install /somewhere/venv [--fixtures]

`--fixtures` writes tests/fixtures anew. Not part of the ordinary tests: it downloads some gigabytes and runs for minutes.
"""
import argparse
import functools
import json
import os
import pickle
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "tests", "fixtures")
PACKAGES = ["torch==2.8.0", "transformers==4.55.4", "numpy"]
sys.path.insert(0, HERE)

B, S, H, V = 2, 16, 32, 50


def blocks_model(block, n=3):
    """Embedding, n blocks, final norm and head."""
    import torch
    from torch import nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(V, H)
            self.blocks = nn.ModuleList([block() for _ in range(n)])
            self.norm, self.head = nn.LayerNorm(H), nn.Linear(H, V, bias=False)

        def forward(self, ids):
            x = self.embedding(ids)
            for one in self.blocks:
                x = one(x)
            return self.head(self.norm(x))

    torch.manual_seed(0)
    ids = torch.randint(0, V, (B, S))
    return Model(), ids, lambda out: nn.functional.cross_entropy(out.view(-1, V), ids.view(-1))


@functools.cache
def mlp_type():
    from torch import nn

    class Block(nn.Module):
        """A pre-LN block: keeps its input, two statistics, the norm's output and the hidden activations before and after."""

        def __init__(self):
            super().__init__()
            self.norm, self.up, self.act, self.down = nn.LayerNorm(H), nn.Linear(H, 4 * H), nn.GELU(), nn.Linear(4 * H, H)

        def forward(self, x):
            return x + self.down(self.act(self.up(self.norm(x))))

    return Block


def mlp():
    return mlp_type()()


MLP_INNER = 4 * B * S * (2 + H + 8 * H)


class Profiles(unittest.TestCase):
    def profile(self, model, ids, loss, **more):
        from profile_model import profile

        done = profile(model, ids, loss_fn=loss, steps=1, **more)
        json.dumps(done)
        # The list of layers agrees with what was counted while the step ran.
        self.assertEqual([n for n in done["notes"] if "were alive" in n], [])
        return done, done["workload"]["layers"]

    def test_bytes_of_a_known_block(self):
        import torch

        model, ids, loss = blocks_model(mlp)
        before = [p.detach().clone() for p in model.parameters()]
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
        done, layers = self.profile(model, ids, loss, optimizer=optimizer)
        self.assertEqual([layer["kind"] for layer in layers], ["embedding", "block", "block", "block", "head"])
        for layer in layers[1:4]:
            self.assertTrue(layer["saves_input"])
            self.assertFalse(layer["saves_output"])
            self.assertEqual(layer["boundary_bytes"], 4 * B * S * H)
            self.assertEqual(sum(t["bytes"] for t in layer["saved"]), MLP_INNER + 4 * B * S * H)
            self.assertEqual(layer["saved"][0]["name"], "input")
            self.assertGreater(layer["forward_s"], 0)
            self.assertGreater(layer["backward_s"], 0)
            self.assertLessEqual(sum(t["recompute_s"] for t in layer["saved"]), 3 * layer["forward_s"])
        weights = 4 * sum(p.numel() for p in model.parameters())
        fixed = done["workload"]["static_bytes"]
        self.assertEqual((fixed["weights"], fixed["gradients"]), (weights, weights))
        self.assertEqual(fixed["optimizer"], 2 * weights + 4 * len(before))
        self.assertEqual((done["workload"]["batch"], done["workload"]["seq"]), (B, S))
        for a, b in zip(before, model.parameters()):
            self.assertTrue(torch.equal(a, b), "the weights stay as they are")
        self.assertEqual(optimizer.param_groups[0]["lr"], 0.1)
        self.assertEqual(done["curve"][-1][1], 0)
        self.assertEqual(max(b for _, b in done["curve"]), done["measured"]["saved_peak_bytes"])

    def test_a_block_that_saves_its_output(self):
        from torch import nn

        _, layers = self.profile(*blocks_model(lambda: nn.Sequential(nn.Linear(H, H), nn.ReLU())), layers="blocks")
        for layer in layers[1:4]:
            # The output of ReLU, which the next block's Linear keeps as its input.
            self.assertEqual((layer["saves_input"], layer["saves_output"]), (True, True))
            self.assertEqual([t["name"] for t in layer["saved"]], ["input", "output"])

    def test_frozen_embedding_and_lower_blocks(self):
        model, ids, loss = blocks_model(mlp)
        for part in (model.embedding, model.blocks[0]):
            part.requires_grad_(False)
        done, layers = self.profile(model, ids, loss)
        self.assertEqual([len(layer["saved"]) for layer in layers[:2]], [0, 0])
        self.assertEqual(sum(t["bytes"] for t in layers[2]["saved"]), MLP_INNER + 4 * B * S * H)
        self.assertEqual(layers[1]["boundary_bytes"], 4 * B * S * H)

    def test_blocks_that_are_used_twice(self):
        from torch import nn

        shared = mlp()

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.embedding, self.blocks, self.head = nn.Embedding(V, H), nn.ModuleList([shared, mlp()]), nn.Linear(H, V)

            def forward(self, ids):
                x = self.embedding(ids)
                for one in [*self.blocks, *self.blocks]:
                    x = one(x)
                return self.head(x)

        _, ids, loss = blocks_model(mlp)
        _, layers = self.profile(Model(), ids, loss)
        self.assertEqual([layer["name"] for layer in layers[1:-1]], ["blocks.0", "blocks.1"] * 2)
        self.assertEqual({sum(t["bytes"] for t in layer["saved"]) for layer in layers[1:-1]}, {MLP_INNER + 4 * B * S * H})

    def test_a_model_that_checkpoints(self):
        from torch import nn
        from torch.utils.checkpoint import checkpoint

        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = mlp()

            def forward(self, x):
                return checkpoint(self.inner, x, use_reentrant=False)

        done, layers = self.profile(*blocks_model(Block))
        self.assertEqual(len(layers), 5)
        self.assertEqual(done["measured"]["saved_bytes"], sum(t["bytes"] for layer in layers for t in layer["saved"]))

    def test_autocast(self):
        import torch

        done, layers = self.profile(*blocks_model(mlp), context=lambda: torch.autocast("cpu", torch.bfloat16))
        casts = [t for t in layers[1]["saved"] if "weight cast" in t["name"]]
        self.assertEqual(sum(t["bytes"] for t in casts), 2 * 8 * H * H)

    def test_what_cannot_be_profiled_says_why(self):
        from torch import nn

        from profile_model import profile

        model, ids, loss = blocks_model(mlp)
        with self.assertRaisesRegex(ValueError, "no repeated blocks"):
            profile(nn.Linear(H, H), ids)
        with self.assertRaisesRegex(ValueError, "not modules of the model"):
            profile(model, ids, loss, layers=[mlp()])
        model.requires_grad_(False)
        with self.assertRaisesRegex(ValueError, "needs no gradient"):
            profile(model, ids, loss)


def snapshot():
    """As `torch.cuda.memory._dump_snapshot` writes it: 512 bytes were there before, 1024 and 2048 come, 1024 goes."""
    at = {"stream": 0, "frames": []}
    trace = [
        {"action": "segment_alloc", "addr": 0, "size": 2097152, "time_us": 90, **at},
        {"action": "alloc", "addr": 0, "size": 1024, "time_us": 100, **at},
        {"action": "alloc", "addr": 1024, "size": 2048, "time_us": 110, **at},
        {"action": "free_requested", "addr": 0, "size": 1024, "time_us": 130, **at},
        {"action": "free_completed", "addr": 0, "size": 1024, "time_us": 131, **at},
    ]
    blocks = [{"size": 2048, "state": "active_allocated"}, {"size": 512, "state": "active_allocated"}, {"size": 4096, "state": "inactive"}]
    return {"segments": [{"device": 0, "blocks": blocks}], "device_traces": [trace, []]}


class Conversions(unittest.TestCase):
    def convert(self, content):
        """Of the bytes of a file."""
        from profile_model import convert

        with tempfile.NamedTemporaryFile(delete=False) as file:
            file.write(content)
        try:
            return convert(file.name)
        finally:
            os.unlink(file.name)

    def test_snapshot(self):
        done = self.convert(pickle.dumps(snapshot()))
        self.assertEqual(done["curve"], [[0.0, 512], [0.0, 1536], [1e-5, 3584], [3.1e-5, 2560]])
        self.assertEqual(done["peak_bytes"], 3584)
        self.assertEqual(done["events"], {"seen": 5, "kept": 3, "dropped": 2})

    def test_a_pickle_that_runs_code_is_refused(self):
        class Evil:
            def __reduce__(self):
                return os.system, ("touch /nonexistent/evil",)

        with self.assertRaisesRegex(ValueError, "plain data only"):
            self.convert(pickle.dumps({"device_traces": [[Evil()]]}))
        for broken in (b"", b"\x80\x04", b"nonsense", b"{}", b"[]", b'{"traceEvents": []}', pickle.dumps([1]), pickle.dumps({})):
            with self.assertRaises(ValueError):
                self.convert(broken)

    def test_profiler_exports(self):
        import torch
        from torch.profiler import ProfilerActivity

        from profile_model import convert

        model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
        x = torch.randn(16, 64)
        with torch.profiler.profile(activities=[ProfilerActivity.CPU], profile_memory=True, record_shapes=True, with_stack=True) as run:
            model(x).sum().backward()
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("trace.json", "line.json", "line.raw.json.gz")]
            run.export_chrome_trace(paths[0])
            run.export_memory_timeline(paths[1], device="cpu")
            run.export_memory_timeline(paths[2], device="cpu")
            trace, line, raw = (convert(path) for path in paths)
        # The timelines know what was there before, the trace does not.
        before = line["curve"][-1][1] - trace["curve"][-1][1]
        self.assertGreater(before, 0)
        self.assertEqual(line["peak_bytes"], trace["peak_bytes"] + before)
        self.assertEqual(raw["peak_bytes"], line["peak_bytes"])

    def test_thinning_keeps_the_extremes(self):
        from profile_model import thinned

        points = [[i, (i * 7919) % 10007] for i in range(50_000)]
        kept = thinned(points, 1000)
        self.assertLessEqual(len(kept), 1000)
        self.assertEqual(kept, sorted(kept))
        for pick in (min, max):
            self.assertIn(pick(points, key=lambda p: p[1])[1], [b for _, b in kept])
        self.assertEqual((kept[0], kept[-1]), (points[0], points[-1]))


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


class Demos(unittest.TestCase):
    """The demos' bytes do not depend on the machine: those of the fixtures come again."""

    def same(self, which):
        from profile_model import main

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "profile.json")
            self.assertEqual(main(["--demo", which, "--steps", "1", "--out", path]), 0)
            new = read(path)
        old = read(os.path.join(FIXTURES, f"profile-{which}-small.json"))

        def sizes(file):
            layers = file["workload"]["layers"]
            keys = ("name", "boundary_bytes", "output_bytes", "saves_input", "saves_output", "forward_scratch_bytes", "backward_scratch_bytes")
            return [[layer[k] for k in keys] + [[(t["name"], t["bytes"]) for t in layer["saved"]]] for layer in layers]

        self.assertEqual(sizes(new), sizes(old))
        for key in ("saved_bytes", "saved_peak_bytes", "peak_bytes"):
            self.assertEqual(new["measured"][key], old["measured"][key])
        for key in ("forward", "backward"):
            self.assertEqual(new["measured"]["peaks"][key], old["measured"]["peaks"][key])

    def test_gpt2(self):
        self.same("gpt2")

    def test_the_allocator_says_the_same(self):
        """torch.profiler counts every allocation, kernels' own among them: the same peak over the same end, to the byte."""
        import torch

        from profile_model import convert, demo, profile

        model, inputs, _ = demo("gpt2", 2, 64)
        model(**inputs).loss.backward()
        model.zero_grad()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as run:
            model(**inputs).loss.backward()
        model.zero_grad()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trace.json")
            run.export_chrome_trace(path)
            trace = convert(path)
        done = profile(model, inputs, steps=1)
        self.assertEqual(trace["peak_bytes"] - trace["curve"][-1][1], done["measured"]["peak_bytes"] - done["curve_all"][-1][1])

    def test_llama(self):
        self.same("llama")


def write_fixtures():
    """Profiles of both demos, and the memory of one step of the first by torch.profiler."""
    import torch

    from profile_model import demo, main

    for which in ("gpt2", "llama"):
        main(["--demo", which, "--out", os.path.join(FIXTURES, f"profile-{which}-small.json")])
    model, inputs, optimizer = demo("gpt2", 2, 256)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as run:
        model(**inputs).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        run.export_chrome_trace(path)
        main(["--convert", path, "--out", os.path.join(FIXTURES, "memory-gpt2-small.json")])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--install", metavar="DIR", help="make a virtual environment there and run in it")
    parser.add_argument("--fixtures", action="store_true", help="write tests/fixtures anew first")
    options, rest = parser.parse_known_args()
    if options.install:
        python = os.path.join(options.install, "bin", "python")
        if not os.path.exists(python):
            subprocess.run([sys.executable, "-m", "venv", options.install], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
        again = [python, os.path.abspath(__file__)] + ["--fixtures"] * options.fixtures + rest
        sys.exit(subprocess.run(again, check=False).returncode)
    if options.fixtures:
        write_fixtures()
    unittest.main(argv=[sys.argv[0], *rest])
