#!/usr/bin/env python3
"""Profiles one's own PyTorch model for Galley, or turns a memory recording of PyTorch into a curve.

    from profile_model import profile
    profile(model, batch, loss_fn=lambda out: out.loss, optimizer=optimizer, out="profile.json")

    python profile_model.py --demo gpt2 --out profile.json       # needs transformers, downloads nothing
    python profile_model.py --convert snapshot.pickle --out memory.json

One file, PyTorch alone, Python 3.9 or newer, CPU and CUDA. docs/profile.md has the two file formats and says how each figure is measured.
"""
from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import json
import pickle
import statistics
import sys
import time
import weakref

MOST_POINTS = 20_000


# --- Clock: perf_counter on a CPU, events on CUDA --------------------------------------------------------------


class Clock:
    """Instants, and the seconds between them. On CUDA an instant is an event of the current stream, read when all is done."""

    def __init__(self, device):
        import torch

        self.cuda, self.torch = device.type == "cuda", torch

    def now(self):
        if not self.cuda:
            return time.perf_counter()
        event = self.torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def sync(self):
        if self.cuda:
            self.torch.cuda.synchronize()

    def between(self, start, end):
        """Seconds; on CUDA after `sync`."""
        return start.elapsed_time(end) / 1e3 if self.cuda else end - start


# --- Which parts: before the blocks, each block, after them ----------------------------------------------------


def find_blocks(model):
    """The repeated blocks: the longest list of modules of one type. `(names, modules)`."""
    import torch

    best = ([], [])
    for name, module in model.named_modules():
        if isinstance(module, (torch.nn.ModuleList, torch.nn.Sequential)):
            blocks = list(module)
            if len(blocks) > max(1, len(best[1])) and len({type(block) for block in blocks}) == 1:
                best = ([f"{name}.{i}".lstrip(".") for i in range(len(blocks))], blocks)
    if not best[1]:
        raise ValueError("no repeated blocks found: name them with layers=[module, ...]")
    return best


def named_blocks(model, layers):
    """What `layers` means: None, the name of a list of modules, or the modules themselves."""
    if layers is None:
        return find_blocks(model)
    names = {module: name for name, module in model.named_modules()}
    if isinstance(layers, str):
        layers = list(model.get_submodule(layers))
    layers = list(layers)
    if not layers:
        raise ValueError("layers is empty")
    strange = [type(layer).__name__ for layer in layers if layer not in names]
    if strange:
        raise ValueError(f"layers that are not modules of the model: {', '.join(strange)}")
    return [names[layer] for layer in layers], layers


def tensors_in(value, depth=0):
    """Every tensor in nested tuples, lists, dicts and the library's output objects."""
    import torch

    if isinstance(value, torch.Tensor):
        yield value
    elif depth < 6:
        if isinstance(value, dict):
            value = value.values()
        if isinstance(value, (tuple, list)) or hasattr(value, "__iter__") and not isinstance(value, (str, bytes)):
            for one in value:
                yield from tensors_in(one, depth + 1)


def activations_in(value):
    """The tensors that carry the chain: those that need a gradient, else the first of floating point."""
    found = [tensor for tensor in tensors_in(value) if tensor.is_floating_point()]
    return [tensor for tensor in found if tensor.requires_grad] or found[:1]


class Parts:
    """Follows one step through its parts: hooks on the blocks, and on the gradients of what passes between them."""

    def __init__(self, blocks, clock, seen=None):
        self.blocks, self.clock, self.seen = blocks, clock, seen
        self.calls, self.marks, self.handles = [], {}, []
        self.part, self.turned, self.again = 0, False, False

    def __enter__(self):
        for block in dict.fromkeys(self.blocks):
            self.handles.append(block.register_forward_pre_hook(self.before, with_kwargs=True))
            self.handles.append(block.register_forward_hook(self.after, with_kwargs=True))
        return self

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()

    def mark(self, what, part):
        self.marks[what, part] = self.clock.now()
        if self.seen is not None:
            self.seen.mark(what, part)

    def before(self, block, args, kwargs):
        if self.turned:
            self.again = True
            return
        self.calls.append(block)
        self.part = len(self.calls)
        if self.part == 1:
            self.mark("kept", 0)
            self.mark("forward", 1)
        self.comes_in(activations_in((args, kwargs)))

    def after(self, block, args, kwargs, output):
        if self.turned:
            return
        self.mark("kept", self.part)
        # What runs between two blocks belongs to the later one, what runs after the last to the head.
        self.part = len(self.calls) + 1
        self.mark("forward", self.part)
        if self.part > len(self.blocks):
            self.comes_in(activations_in(output))

    def comes_in(self, tensors):
        """What a part takes in is what the part before puts out; when its gradient is there, the part's backward is over."""
        part = self.part
        for tensor in tensors[:1]:
            if tensor.requires_grad:
                self.handles.append(tensor.register_hook(lambda gradient: self.mark("backward done", part)))
        if self.seen is not None:
            self.seen.passes(part, tensors)

# --- Which storages: births, deaths, who saves them --------------------------------------------------------------


class Record:
    """One storage that was born in the step."""

    __slots__ = ("bytes", "part", "where", "op", "shape", "dtype", "savers", "born", "cast")

    def __init__(self, size, part, where, op, born, cast):
        self.bytes, self.part, self.where, self.op, self.born, self.cast = size, part, where, op, born, cast
        self.shape = self.dtype = None
        self.savers = set()


def make_watch():
    """The class is made when torch is there: `--convert` works without it."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Watch(TorchDispatchMode):
        """Sees every tensor that an operation makes, and when its storage dies."""

        def __init__(self, model, device, clock, old):
            super().__init__()
            self.device, self.clock = device, clock
            self.shapes = {tuple(p.shape) for p in model.parameters() if p.dim() > 1}
            self.shapes |= {shape[::-1] for shape in self.shapes}
            self.parameters = {p.untyped_storage()._cdata for p in model.parameters()}
            self.old = {t.untyped_storage()._cdata for t in old} | self.parameters
            self.live, self.events, self.ops, self.records = {}, [], [], []
            self.inputs, self.foreign = {}, {}
            self.parts, self.where, self.in_forward = None, [], True
            self.names = {module: name for name, module in model.named_modules()}

        def watch_modules(self):
            """Keeps the name of the module that runs."""
            modules = torch.nn.modules.module

            def enter(module, args):
                self.where.append(self.names.get(module, type(module).__name__))

            def leave(module, args, output):
                if self.where:
                    self.where.pop()

            return [modules.register_module_forward_pre_hook(enter), modules.register_module_forward_hook(leave)]

        def mark(self, what, part):
            self.events.append((what, part, None))

        def turn(self, loss):
            self.in_forward, self.outcome = False, self.live.get(loss.untyped_storage()._cdata)

        def passes(self, part, tensors):
            self.inputs[part] = [self.live.get(t.untyped_storage()._cdata) for t in tensors]

        def storage(self, tensor):
            if tensor.device.type != self.device.type or tensor.layout != torch.strided:
                return None
            return tensor.untyped_storage()

        def __torch_dispatch__(self, op, types, args=(), kwargs=None):
            cast, reads, writes = False, [], []
            for tensor in tensors_in((args, kwargs or {})):
                storage = self.storage(tensor)
                if storage is None:
                    continue
                if storage._cdata in self.live:
                    reads.append(self.live[storage._cdata])
                    continue
                cast |= storage._cdata in self.parameters
                if storage._cdata not in self.old:
                    # Not made by an operation that was seen; its address may come again when it is gone.
                    self.old.add(storage._cdata)
                    weakref.finalize(storage, self.old.discard, storage._cdata).atexit = False
            start = self.clock.now()
            result = op(*args, **(kwargs or {}))
            end = self.clock.now()
            name = op._schema.name.split("::")[-1]
            for tensor in tensors_in(result):
                storage = self.storage(tensor)
                if storage is None or storage._cdata in self.old or not storage.nbytes():
                    continue
                record = self.live.get(storage._cdata)
                if record is None:
                    record = self.birth(storage, name, cast and name == "_to_copy", tuple(tensor.shape))
                    writes.append(record)
                elif name.endswith("_") and record.part == self.parts.part and self.in_forward:
                    # Written in place: the last writer says best what it is.
                    record.op = name
                    writes.append(record)
            if self.in_forward:
                self.ops.append((self.parts.part, start, end, reads, writes))
            return result

        def birth(self, storage, name, cast, shape):
            part = self.parts.part if self.in_forward else None
            where = self.where[-1] if self.where and self.in_forward else ""
            record = Record(storage.nbytes(), part, where, name, len(self.records), cast)
            record.shape = shape
            self.records.append(record)
            self.live[storage._cdata] = record
            self.events.append((None, record, record.bytes))
            watch = weakref.ref(self)

            def gone(address):
                if watch() is not None:
                    watch().death(address)

            weakref.finalize(storage, gone, storage._cdata).atexit = False
            return record

        def death(self, address):
            record = self.live.pop(address, None)
            if record is not None:
                self.events.append((None, record, -record.bytes))

        def pack(self, tensor):
            storage = self.storage(tensor)
            if storage is None or not self.in_forward:
                return tensor
            record = self.live.get(storage._cdata)
            if record is None:
                if storage._cdata not in self.parameters:
                    self.foreign[storage._cdata] = storage.nbytes()
            elif storage.nbytes():
                if not record.savers:
                    record.shape, record.dtype = tuple(tensor.shape), str(tensor.dtype)[6:]
                    self.events.append(("saved", record, None))
                record.savers.add(self.parts.part)
            return tensor

    return Watch


# --- One step ----------------------------------------------------------------------------------------------------


def run_model(model, inputs):
    if isinstance(inputs, dict):
        return model(**inputs)
    return model(*inputs) if isinstance(inputs, (tuple, list)) else model(inputs)


def loss_of(output, loss_fn, notes):
    """The scalar that backward starts from."""
    if loss_fn is not None:
        return loss_fn(output)
    if getattr(output, "loss", None) is not None:
        return output.loss
    first = next(tensors_in(output))
    if first.numel() != 1:
        note = "no loss_fn and no loss in the model's output: the mean of its first tensor was used"
        if note not in notes:
            notes.append(note)
        return first.float().mean()
    return first


def take_step(model, inputs, loss_fn, optimizer, parts, context, notes):
    """Forward, backward and optimizer step, with marks at their seams."""
    parts.mark("forward", 0)
    with context():
        loss = loss_of(run_model(model, inputs), loss_fn, notes)
    parts.mark("kept", parts.part)
    if not parts.calls:
        raise ValueError("none of the layers ran in forward (of a compiled model, profile the original)")
    if not loss.requires_grad:
        raise ValueError("the loss needs no gradient: nothing to profile")
    parts.turned = True
    if parts.seen is not None:
        parts.seen.turn(loss)
    parts.mark("turn", 0)
    loss.backward()
    del loss
    parts.mark("backward done", 0)
    if optimizer is not None:
        optimizer.step()
    parts.mark("over", 0)


def times_of(marks, parts, clock, notes):
    """Forward and backward seconds per part, and those of the optimizer step."""
    count = max(part for what, part in marks if what == "forward") + 1
    starts = [marks["forward", p] for p in range(count)] + [marks["turn", 0]]
    forward = [clock.between(a, b) for a, b in zip(starts, starts[1:])]
    backward, since, waiting = [0.0] * count, marks["turn", 0], []
    for p in reversed(range(count)):
        waiting.append(p)
        done = marks.get(("backward done", p))
        if done is None:
            continue
        # Parts whose input needs no gradient have no mark of their own: they share by their forward times.
        whole = sum(forward[q] for q in waiting) or 1.0
        for q in waiting:
            backward[q] = clock.between(since, done) * forward[q] / whole
        if len(waiting) > 1 and count > 1:
            note = f"parts {waiting[-1]} to {waiting[0]} have one backward time, shared in proportion to forward"
            if note not in notes:
                notes.append(note)
        since, waiting = done, []
    return forward, [max(0.0, t) for t in backward], clock.between(since, marks["over", 0])


@contextlib.contextmanager
def still_weights(optimizer):
    """The optimizer steps with a learning rate of 0, so that the weights stay as they are."""
    groups = optimizer.param_groups if optimizer is not None else []
    rates = [group.get("lr") for group in groups]
    for group, rate in zip(groups, rates):
        if rate is not None:
            group["lr"] = rate * 0
    try:
        yield
    finally:
        for group, rate in zip(groups, rates):
            if rate is not None:
                group["lr"] = rate


def storage_bytes(tensors):
    return sum({t.untyped_storage()._cdata: t.untyped_storage().nbytes() for t in tensors}.values())


def optimizer_tensors(optimizer):
    states = optimizer.state.values() if optimizer is not None else []
    return [tensor for state in states for tensor in tensors_in(state)]


# --- The profile -------------------------------------------------------------------------------------------------


def profile(model, inputs, loss_fn=None, layers=None, optimizer=None, out=None, steps=3, context=contextlib.nullcontext,
            batch=None, seq=None):  # fmt: skip
    """Runs a few training steps of `model` and returns the profile; writes it to `out` as JSON if that is given.

    `inputs`: what the model is called with (dict, tuple or one tensor). `loss_fn(output)` gives the scalar loss; without it the output's
    own `loss` is taken. `layers`: the repeated blocks (modules, or the name of their list); found by themselves if None. `optimizer`: its
    states are counted and its step is timed; it steps with a learning rate of 0. `context`: called for a context around forward, such as
    `lambda: torch.autocast("cuda", torch.bfloat16)`. Gradients are None afterwards.
    """
    import torch

    names, blocks = named_blocks(model, layers)
    device = next(model.parameters()).device
    clock, notes = Clock(device), []
    mode = model.training
    model.train()

    def fresh():
        model.zero_grad(set_to_none=True)
        clock.sync()

    try:
        with still_weights(optimizer):
            timed = []
            for i in range(steps + 1):
                fresh()
                if clock.cuda:
                    torch.cuda.reset_peak_memory_stats()
                with Parts(blocks, clock) as parts:
                    take_step(model, inputs, loss_fn, optimizer, parts, context, notes)
                clock.sync()
                if i:  # The first warms up.
                    timed.append(times_of(parts.marks, parts, clock, notes))
            cuda_peak = torch.cuda.max_memory_allocated() if clock.cuda else None
            fresh()
            old = [*model.parameters(), *model.buffers(), *tensors_in(inputs), *optimizer_tensors(optimizer)]
            watch = make_watch()(model, device, clock, old)
            with Parts(blocks, clock, watch) as parts:
                watch.parts = parts
                handles = watch.watch_modules()
                try:
                    # Its times are not used, but for the shares of operations.
                    with watch, torch.autograd.graph.saved_tensors_hooks(watch.pack, lambda tensor: tensor):
                        take_step(model, inputs, loss_fn, optimizer, parts, context, notes)
                finally:
                    for handle in handles:
                        handle.remove()
            clock.sync()
            gradients = [p.grad for p in model.parameters() if p.grad is not None]
            watch.gradients = {id(watch.live.get(g.untyped_storage()._cdata)) for g in gradients}
            fixed = {
                "weights": storage_bytes([*model.parameters(), *model.buffers()]),
                "gradients": storage_bytes(gradients),
                "optimizer": storage_bytes(optimizer_tensors(optimizer)),
            }
    finally:
        model.zero_grad(set_to_none=True)
        model.train(mode)
    if parts.again:
        notes.append("the model checkpoints activations itself: what its blocks recompute is not among their saved tensors")
    if optimizer is None:
        notes.append("no optimizer was given: its states count as 0 bytes and its step takes no time")
    called = [names[blocks.index(block)] for block in parts.calls]
    forward, backward = ([statistics.median(t) for t in zip(*(run[k] for run in timed))] for k in (0, 1))
    layers_out = layers_of(watch, parts, called, forward, backward, clock, notes)
    if layers_out[0]["kind"] == "embedding" and not any(op[0] == 0 for op in watch.ops):
        del layers_out[0]
        notes.append("nothing runs before the first block: there is no embedding layer")
    if watch.foreign:
        size = sum(watch.foreign.values())
        notes.append(f"{size} bytes that backward reads came from outside the step (the batch, buffers, constants): not counted")
    shape = batch_shape(inputs)
    saved_now, saved, everything, peaks = curves(watch, forward, backward, timed, fixed)
    done = {
        "galley": "profile",
        "v": 1,
        "made_by": {"tool": "profile_model.py", "torch": torch.__version__.split("+")[0], "device": device_name(device)},
        "workload": {
            "kind": "profile",
            "batch": shape[0] if batch is None else batch,
            "seq": shape[1] if seq is None else seq,
            "static_bytes": fixed,
            "optimizer_s": rounded(statistics.median(r[2] for r in timed)),
            "optimizer_scratch_bytes": max(0, (peaks.get("optimizer") or 0) - sum(fixed.values())),
            "layers": layers_out,
        },
        "measured": {
            "peak_bytes": cuda_peak or max(b for _, b in everything),
            "peaks": peaks,
            "step_s": rounded(statistics.median(sum(r[0]) + sum(r[1]) + r[2] for r in timed)),
            "optimizer_s": rounded(statistics.median(r[2] for r in timed)),
            "saved_bytes": saved_now,
            "saved_peak_bytes": max(b for _, b in saved),
        },
        "curve": thinned(saved, 4000),
        "curve_all": thinned(everything, 4000),
        "notes": notes,
    }
    for name, points in (("curve", saved), ("curve_all", everything)):
        if len(done[name]) < len(points):
            notes.append(f"{name}: {len(done[name])} of {len(points)} points kept, the highest and lowest of each interval among them")
    total = sum(t["bytes"] for layer in layers_out for t in layer["saved"])
    shared = sum(b["input_bytes"] for a, b in zip(layers_out, layers_out[1:]) if a["saves_output"] and b["saves_input"])
    if layers_out[0]["saves_input"]:
        shared += layers_out[0]["input_bytes"]
    if total - shared != saved_now:
        notes.append(f"the layers list {total - shared} saved bytes, {saved_now} were alive at the end of forward")
    if out is not None:
        write(done, out)
    return done


def batch_shape(inputs):
    """Sequences and tokens: the first two dimensions of the first tensor of the batch."""
    first = next((t for t in tensors_in(inputs) if t.dim() >= 1), None)
    if first is None:
        return 1, 1
    tokens = first.shape[1] if first.dim() == 3 or first.dim() == 2 and not first.is_floating_point() else 1
    return first.shape[0], tokens


def device_name(device):
    import torch

    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def rounded(seconds):
    return round(seconds, 9)


def layers_of(watch, parts, called, forward, backward, clock, notes):
    """The list of `workload.layers`."""
    count = len(forward)
    outputs = {p: watch.inputs.get(p + 1, []) for p in range(count - 1)}
    outputs[count - 1] = [watch.outcome]
    scratch = scratch_of(watch, count)
    saved = {p: [] for p in range(count)}
    flags = {p: {"input": False, "output": False} for p in range(count)}
    moved = 0
    for record in watch.records:
        if not record.savers:
            continue
        owner = record.part
        as_input = [p for p in record.savers if p > owner and alone(watch.inputs.get(p, []), record)]
        for p in as_input:
            flags[p]["input"] = True
            saved[p].append((record, "input"))
        if owner in record.savers and alone(outputs[owner], record):
            flags[owner]["output"] = True
            saved[owner].append((record, "output"))
        elif not as_input:
            saved[owner].append((record, None))
            if owner not in record.savers:
                moved += record.bytes
    if moved:
        notes.append(f"{moved} bytes that one part makes and only later parts keep (masks, positions) are listed where they are made")
    costs = recompute_costs(watch, saved, forward, clock)
    result = []
    for p in range(count):
        kind = "embedding" if p == 0 else "head" if p == count - 1 else "block"
        inside = total(watch.inputs.get(p, []))
        listed = []
        for record, role in sorted(saved[p], key=lambda pair: pair[0].born):
            cost = 0.0 if role == "input" else costs.get(id(record), 0.0)
            listed.append({"name": role or title(record, called[p - 1] if kind == "block" else ""), "bytes": record.bytes,
                           "recompute_s": rounded(cost)})  # fmt: skip
        result.append({
            "name": called[p - 1] if kind == "block" else kind,
            "kind": kind,
            "forward_s": rounded(forward[p]),
            "backward_s": rounded(backward[p]),
            "boundary_bytes": inside,
            "input_bytes": inside,
            "output_bytes": total(outputs[p]),
            "forward_scratch_bytes": scratch[p][0],
            "backward_scratch_bytes": scratch[p][1],
            "gradient_bytes": scratch[p][2],
            "saves_input": flags[p]["input"],
            "saves_output": flags[p]["output"],
            "saved": listed,
        })  # fmt: skip
    return result


def alone(passing, record):
    """Whether `record` is all that passes there."""
    return len({id(r) for r in passing}) == 1 and passing[0] is record


def total(records):
    return sum({id(r): r.bytes for r in records if r is not None}.values())


def title(record, block):
    where = record.where
    if block and (where == block or where.startswith(block + ".")):
        where = where[len(block) + 1 :]
    what = "weight cast" if record.cast else record.op.strip("_")
    shape = "x".join(map(str, record.shape)) or "scalar"
    return f"{where}: {what} {shape} {record.dtype}" if where else f"{what} {shape} {record.dtype}"


def recompute_costs(watch, saved, forward, clock):
    """Seconds to make a saved tensor again when the others are there: the operations that lead to it from saved tensors and from the
    part's input, scaled so that all operations of a part sum to its forward time. Tensors of one operation share by their bytes."""
    seconds, sums, writers = [], {}, {}
    for i, (part, start, end, reads, writes) in enumerate(watch.ops):
        seconds.append(clock.between(start, end))
        sums[part] = sums.get(part, 0.0) + seconds[i]
        for record in writes:
            writers.setdefault(id(record), []).append(i)
    costs = {}
    for part, pairs in saved.items():
        together = {}
        for record, role in pairs:
            if role != "input" and id(record) in writers:
                together.setdefault(writers[id(record)][0], []).append(record)
        for records in together.values():
            todo, needed = list(records), set()
            while todo:
                for i in writers.get(id(todo.pop()), ()):
                    if i not in needed and watch.ops[i][0] == part:
                        needed.add(i)
                        todo += [read for read in watch.ops[i][3] if not read.savers and read.part == part]
            cost = sum(seconds[i] for i in needed) * forward[part] / (sums.get(part) or 1.0)
            size = sum(record.bytes for record in records)
            costs.update((id(record), cost * record.bytes / size) for record in records)
    return costs


def scratch_of(watch, count):
    """Per part, bytes that live in its forward and backward only, and gradients of weights that its backward leaves.

    Forward: the most that lives while it runs, less what lives when it is over. Backward: the most that lives while it runs, the
    gradients that it makes included and those of earlier parts apart, less what is saved when it starts.
    """
    waiting = on_the_way(watch, count)
    live = saved = 0
    forward, backward = [0] * count, [0] * count
    left, own = [0] * count, 0
    part, most, base, turned = 0, 0, 0, False
    for what, subject, delta in watch.events:
        if what == "forward":
            part, most = subject, live
        elif what == "kept":
            forward[subject] = max(0, most - live)
        elif what == "turn":
            turned, part, most, base = True, count - 1, live, saved
        elif what == "backward done" and turned:
            # A block whose input needs no gradient leaves its share to the next that does.
            backward[part] = max(0, most - base)
            left[part] += own
            ended, part = part, max(0, subject - 1)
            # A sum of gradients takes the place of its part that waited.
            own = -waited(waiting, part) if part != ended else 0
            most, base = live, saved
        elif what is None and (id(subject) in waiting or id(subject) in watch.gradients):
            if delta > 0:
                own += delta
                most = max(most, live + own + waited(waiting, part))
        elif what is None:
            live += delta
            most = max(most, live + (own + waited(waiting, part) if turned else 0))
            if delta < 0 and subject.savers:
                saved += delta
        elif what == "saved":
            saved += subject.bytes
    left[part] += own
    return list(zip(forward, backward, left))


def waited(waiting, part):
    """Bytes of parts of gradients that waited for `part`: while it runs they are there beside their sum."""
    return sum(record.bytes for record, end in waiting.values() if end == part)


def on_the_way(watch, count):
    """Parts of weights' gradients that wait in backward for the rest of their sum, as those of a tied embedding do: they have a
    weight's shape and outlive the backward of the part that makes them. While they wait they are the weight's gradient, not
    scratch. `{id: (record, the part in whose backward they end)}`."""
    part, born, found = None, {}, {}
    for what, subject, delta in watch.events:
        if what == "turn":
            part = count - 1
        elif what == "backward done" and part is not None:
            part = max(0, subject - 1)
        elif what is None and part is not None and delta > 0:
            born[id(subject)] = part
        elif what is None and born.get(id(subject), part) != part and subject.shape in watch.shapes:
            found[id(subject)] = (subject, part)
    return found


# --- Curves ------------------------------------------------------------------------------------------------------


def curves(watch, forward, backward, timed, fixed):
    """Saved bytes at the end of forward; two curves over the step: what is saved, and everything that lives; and the highest of the
    second in forward, backward and optimizer step. Watching slows the step
    down, so each part's events are spread evenly over the time that the part took unwatched."""
    spans = {("forward", p): t for p, t in enumerate(forward)}
    spans.update({("backward", p): t for p, t in enumerate(backward)})
    spans["optimizer", 0] = statistics.median(run[2] for run in timed)
    groups, key, turned = [], None, False
    for event in watch.events:
        what, subject, _ = event
        if what == "forward":
            groups.append((("forward", subject), []))
        elif what == "turn":
            turned = True
            groups.append((("turn", 0), []))
            groups.append((("backward", len(forward) - 1), []))
        elif what == "backward done" and turned:
            after = ("backward", subject - 1) if subject else ("optimizer", 0)
            groups.append((after, []))
        elif what in (None, "saved") and groups:
            groups[-1][1].append(event)
    at, saved, live, now = 0.0, 0, fixed["weights"] + fixed["optimizer"], 0
    saved_points, points, peaks = [[0.0, 0]], [[0.0, live]], {"forward": live, "backward": live, "optimizer": live}
    for key, events in groups:
        if key[0] == "turn":
            now = saved
            continue
        span = spans.get(key, 0.0)
        peaks[key[0]] = max(peaks[key[0]], live)
        for i, (what, subject, delta) in enumerate(events):
            t = round(at + span * (i + 1) / (len(events) + 1), 9)
            if what == "saved":
                saved += subject.bytes
                saved_points.append([t, saved])
            else:
                live += delta
                points.append([t, live])
                peaks[key[0]] = max(peaks[key[0]], live)
                if delta < 0 and subject.savers:
                    saved += delta
                    saved_points.append([t, saved])
        at += span
    for series in (saved_points, points):
        series.append([rounded(at), series[-1][1]])
    return now, saved_points, points, peaks


def thinned(points, most=MOST_POINTS):
    """At most `most` points: of each run of points the first, the lowest, the highest and the last, in their order."""
    if len(points) <= most:
        return points
    runs = max(1, most // 4)
    size = -(-len(points) // runs)
    kept = []
    for i in range(0, len(points), size):
        run = range(i, min(i + size, len(points)))
        low, high = min(run, key=lambda k: points[k][1]), max(run, key=lambda k: points[k][1])
        kept += [points[k] for k in sorted({run[0], low, high, run[-1]})]
    return kept


# --- Recordings of PyTorch ---------------------------------------------------------------------------------------


class PlainUnpickler(pickle.Unpickler):
    """Reads lists, dicts, text and numbers; a file that asks for anything else is refused."""

    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"the file asks for {module}.{name}: a memory snapshot holds plain data only")

    def persistent_load(self, pid):
        raise pickle.UnpicklingError("the file refers to objects outside itself: a memory snapshot holds plain data only")


def curve_of_snapshot(snapshot, device=None):
    """Of `torch.cuda.memory._dump_snapshot`: the allocator's trace of one device, allocated bytes over time."""
    traces = snapshot.get("device_traces") or []
    if not any(traces):
        raise ValueError("the snapshot has no trace: call torch.cuda.memory._record_memory_history() before the step")
    if device is None:
        device = max(range(len(traces)), key=lambda d: len(traces[d]))
    trace, notes = traces[device], []
    change = {"alloc": 1, "free_completed": -1}
    moves = [event for event in trace if event["action"] in change]
    if not moves:
        raise ValueError("the trace has no alloc or free events")
    timed = all("time_us" in event for event in moves)
    if not timed:
        notes.append("the snapshot has no times (PyTorch before 2.1): events are one microsecond apart")
    net = sum(change[e["action"]] * e["size"] for e in moves)
    active = sum(
        block["size"]
        for segment in snapshot.get("segments", [])
        if segment.get("device") == device
        for block in segment.get("blocks", [])
        if block.get("state", "").startswith("active")
    )
    level, lowest = 0, 0
    for event in moves:
        level += change[event["action"]] * event["size"]
        lowest = min(lowest, level)
    before = max(active - net, -lowest) if snapshot.get("segments") else -lowest
    if before:
        notes.append(f"{before} bytes were allocated before the trace began (from the segments at its end)")
    live, points = before, []
    start = moves[0]["time_us"] if timed else 0
    for i, event in enumerate(moves):
        live += change[event["action"]] * event["size"]
        points.append([round(((event["time_us"] if timed else i) - start) / 1e6, 9), live])
    points.insert(0, [0.0, before])
    return points, {"seen": len(trace), "kept": len(moves), "dropped": len(trace) - len(moves)}, {"device": f"cuda:{device}"}, notes


def curve_of_trace(trace, device=None):
    """Of a Chrome trace by torch.profiler with profile_memory=True: its memory events, `Total Allocated` over time."""
    events = trace.get("traceEvents") if isinstance(trace, dict) else trace
    if not isinstance(events, list):
        raise ValueError("neither a Chrome trace (traceEvents) nor a memory timeline")
    memory = [e for e in events if isinstance(e, dict) and e.get("name") == "[memory]" and "Total Allocated" in e.get("args", {})]
    if not memory:
        raise ValueError("the trace has no memory events: profile with profile_memory=True")
    groups = {}
    for event in memory:
        args = event["args"]
        groups.setdefault((args.get("Device Type", 0), args.get("Device Id", -1)), []).append(event)
    # Device type 1 is CUDA: a GPU's curve comes before the host's.
    pick = max(groups, key=lambda k: (k[0] == 1, len(groups[k])))
    if device is not None:
        pick = next((k for k in groups if k[0] == 1 and k[1] == device), None)
        if pick is None:
            raise ValueError(f"no memory events of cuda:{device}")
    mine = sorted(groups[pick], key=lambda e: e["ts"])
    start = mine[0]["ts"]
    points = [[round((e["ts"] - start) / 1e6, 9), int(e["args"]["Total Allocated"])] for e in mine]
    notes = []
    if pick[0] == 0:
        notes.append("host memory: what was allocated before the profiler began is not in it")
    if len(groups) > 1:
        notes.append(f"{len(memory) - len(mine)} memory events of other devices left out")
    low = min(b for _, b in points)
    if low < 0:
        points = [[t, b - low] for t, b in points]
        notes.append(f"the curve was raised by {-low} bytes: it frees memory that was allocated before the profiler began")
    events_seen = {"seen": len(memory), "kept": len(mine), "dropped": len(memory) - len(mine)}
    return points, events_seen, {"device": f"cuda:{pick[1]}" if pick[0] == 1 else "cpu"}, notes


def curve_of_timeline(timeline):
    """Of `export_memory_timeline(path.json)`: `[times in microseconds, bytes per category]`."""
    times, sizes = timeline
    # Time -1 stands for what was there before.
    known = [t for t in times if t >= 0]
    if not known:
        raise ValueError("the timeline has no times")
    points = [[max(0.0, round((t - known[0]) / 1e6, 9)), sum(row)] for t, row in zip(times, sizes)]
    return points, {"seen": len(times), "kept": len(points), "dropped": 0}, {}, ["the categories were summed"]


def curve_of_raw_timeline(timeline):
    """Of `export_memory_timeline(path.raw.json.gz)`: `[time in nanoseconds, action, bytes, category]` per event."""
    live, points, start, dropped = 0, [], None, 0
    for at, action, size, _ in timeline:
        # Actions: 1 was there before (its time is -1), 2 create, 3 a new version of the same bytes, 4 destroy.
        if action == 3:
            dropped += 1
            continue
        live += -abs(size) if action == 4 else size
        if at < 0:
            points = [[0.0, live]]
            continue
        if start is None:
            start = at
        points.append([round((at - start) / 1e9, 9), live])
    return points, {"seen": len(timeline), "kept": len(points), "dropped": dropped}, {}, ["the categories were summed"]


def convert(path, device=None):
    """Galley's curve of a recording, whichever of the four kinds it is."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    if data.lstrip()[:1] in (b"{", b"["):
        content, source = json.loads(data), "trace"
    else:
        try:
            content, source = PlainUnpickler(io.BytesIO(data)).load(), "snapshot"
        except (pickle.UnpicklingError, EOFError, ValueError, IndexError, KeyError, AttributeError) as error:
            raise ValueError(f"neither JSON nor a plain pickle: {error}") from error
    try:
        points, events, made, notes, source = curve_of(content, source, device)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"the {source} is not as PyTorch writes it: {error!r}") from error
    kept = thinned(points)
    if len(kept) < len(points):
        notes.append(f"{len(kept)} of {len(points)} points kept, the highest and lowest of each interval among them")
    return {
        "galley": "memory",
        "v": 1,
        "made_by": {"tool": "profile_model.py", "from": source, **made},
        "unit": "bytes",
        "curve": kept,
        "peak_bytes": max(b for _, b in points),
        "events": events,
        "notes": notes,
    }


def curve_of(content, source, device):
    """Points, event counts, maker, notes and kind of a recording that was read."""
    if source == "snapshot":
        if not isinstance(content, dict):
            raise ValueError("not a memory snapshot: a pickled dict with device_traces is expected")
        return *curve_of_snapshot(content, device), source
    if isinstance(content, list) and len(content) == 2 and isinstance(content[1], list) and content[1]:
        return *curve_of_timeline(content), "memory timeline"
    if isinstance(content, list) and content and isinstance(content[0], list) and len(content[0]) == 4:
        return *curve_of_raw_timeline(content), "memory timeline"
    return *curve_of_trace(content, device), source


# --- Command line ------------------------------------------------------------------------------------------------


def write(value, path):
    """Compact, one group and one layer a line."""

    def compact(part):
        return json.dumps(part, separators=(",", ":"))

    lines = []
    for key, part in value.items():
        text = compact(part)
        if key == "workload":
            head = compact({k: v for k, v in part.items() if k != "layers"})[:-1]
            text = head + ',"layers":[\n' + ",\n".join(map(compact, part["layers"])) + "]}"
        lines.append(f"{compact(key)}:{text}")
    text = "{" + ",\n".join(lines) + "}\n"
    if path == "-":
        sys.stdout.write(text)
        return
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def demo(which, batch, seq, device="cpu"):
    """A model of transformers from its configuration, with random weights and tokens: `(model, inputs, optimizer)`."""
    import torch
    import transformers

    torch.manual_seed(0)
    if which == "gpt2":
        config = transformers.GPT2Config(attn_implementation="eager")
        model = transformers.GPT2LMHeadModel(config)
    else:
        config = transformers.LlamaConfig(
            hidden_size=512, intermediate_size=1376, num_hidden_layers=8, num_attention_heads=8, num_key_value_heads=2,
            vocab_size=32000, attn_implementation="eager",
        )  # fmt: skip
        model = transformers.LlamaForCausalLM(config)
    config.use_cache = False
    ids = torch.randint(0, config.vocab_size, (batch, seq), device=device)
    model.to(device).train()
    return model, {"input_ids": ids, "labels": ids.clone()}, torch.optim.AdamW(model.parameters(), lr=1e-4)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--demo", choices=("gpt2", "llama"), help="profile a model of transformers, built from its configuration")
    what.add_argument("--convert", metavar="FILE", help="memory snapshot (pickle), profiler trace or memory timeline (JSON, also .gz)")
    parser.add_argument("--out", default="-", help="file to write; standard output without it")
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--seq", type=int, default=256)
    parser.add_argument("--steps", type=int, default=3, help="timed steps")
    parser.add_argument("--device", default=None, help="demo: cpu or cuda; convert: the number of the card")
    options = parser.parse_args(arguments)
    try:
        if options.convert:
            device = None if options.device is None else int(options.device.split(":")[-1])
            write(convert(options.convert, device), options.out)
        else:
            model, inputs, optimizer = demo(options.demo, options.batch, options.seq, options.device or "cpu")
            profile(model, inputs, optimizer=optimizer, out=options.out, steps=options.steps)
    except (ValueError, KeyError, TypeError, OSError) as error:
        print(f"profile_model.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
