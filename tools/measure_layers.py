#!/usr/bin/env python3
"""Measures the bytes that autograd keeps for one layer of a transformer, on a CPU, for many modules and shapes.

What is counted: every tensor that an operation of the layer saves for its backward (saved-tensor hooks), once per storage, whole storages.
Left out: parameters, buffers, and what comes from outside the layer (rotary cosines and sines, masks). Under autocast the 16-bit copies of
weights are counted apart. The result goes to `tests/vectors/layer_more.json`, with closed forms fitted per module, residual 0 or not at all.

    pip install torch==2.8.0 transformers==4.55.4 numpy
    python tools/measure_layers.py [--check LAYER_SAVED.json] [--only REGEX] [--out FILE]
"""
import argparse
import json
import re
from types import SimpleNamespace

import numpy
import torch
import torch.nn.functional as F
import transformers
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "autocast": torch.float32}


def key(tensor):
    """What a storage is known by. The measurement keeps every storage alive, so that no address comes twice."""
    return tensor.untyped_storage()._cdata


class WeightCasts(TorchDispatchMode):
    """Notes the storages that are copies of parameters in another type."""

    def __init__(self, parameters):
        super().__init__()
        self.parameters, self.casts = parameters, {}

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        result = op(*args, **(kwargs or {}))
        if op is torch.ops.aten._to_copy.default and key(args[0]) in self.parameters:
            self.casts[key(result)] = result
        return result


def graph_names(loss, stop=()):
    """Which node saves which packed tensor, and as what: `{handle: [(node, attribute)]}`."""
    names, seen, todo = {}, set(), [loss.grad_fn]
    while todo:
        node = todo.pop()
        if node is None or node in seen or node in stop:
            continue
        seen.add(node)
        todo += [after for after, _ in node.next_functions]
        for attribute in dir(node):
            if attribute.startswith("_saved_"):
                value = getattr(node, attribute)
                for one in value if isinstance(value, (tuple, list)) else (value,):
                    if isinstance(one, torch.Tensor):
                        names.setdefault(key(one), set()).add((node.name(), attribute[len("_saved_") :]))
    return names


def measure(layer, call, x, external=(), autocast=False):
    """The saved tensors of `call(x)`: total bytes, bytes of weight casts, whether `x` is among them, and the list."""
    outside = {key(p) for p in layer.parameters()} | {key(b) for b in layer.buffers()} | {key(t) for t in external}
    parameters = {key(p) for p in layer.parameters()}
    kept = {}

    def pack(tensor):
        kept.setdefault(key(tensor), tensor)
        return tensor

    casts = WeightCasts(parameters)
    with casts, torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            out = call(x)
    names = graph_names(out)
    result = SimpleNamespace(saved=0, casts=0, input=key(x) in kept, tensors=[])
    for storage, tensor in kept.items():
        if storage in outside:
            continue
        size = tensor.untyped_storage().nbytes()
        of = sorted(names.get(storage, ()))
        cast = storage in casts.casts
        if cast:
            result.casts += size
        else:
            result.saved += size
        name = "layer_input" if storage == key(x) else "weight_cast" if cast else "+".join(sorted({role for _, role in of}))
        result.tensors.append([name, list(tensor.shape), str(tensor.dtype)[6:], size, sorted({node for node, _ in of})])
    return result


# --- Modules as a user writes them ---------------------------------------------------------------------------


class Gpt(nn.Module):
    """A pre-LN block: fused query-key-value projection, exact GELU, explicit or scaled-dot-product attention."""

    def __init__(self, c):
        super().__init__()
        self.c = c
        self.ln1, self.ln2 = nn.LayerNorm(c.h), nn.LayerNorm(c.h)
        self.qkv, self.proj = nn.Linear(c.h, 3 * c.h), nn.Linear(c.h, c.h)
        self.up, self.down = nn.Linear(c.h, c.ffn), nn.Linear(c.ffn, c.h)
        self.drop, self.attention_drop = nn.Dropout(c.pd), nn.Dropout(c.pa)
        self.register_buffer("mask", torch.ones(c.s, c.s, dtype=torch.bool).triu(1))

    def forward(self, x):
        c = self.c
        q, k, v = (
            t.view(c.b, c.s, c.a, c.h // c.a).transpose(1, 2) for t in self.qkv(self.ln1(x)).split(c.h, dim=2)
        )
        if c.attention == "sdpa":
            y = F.scaled_dot_product_attention(q, k, v, dropout_p=c.pa, is_causal=True)
        else:
            score = (q @ k.transpose(-2, -1)) * (c.h // c.a) ** -0.5
            y = self.attention_drop(score.masked_fill(self.mask, float("-inf")).softmax(-1)) @ v
        x = x + self.drop(self.proj(y.transpose(1, 2).reshape(c.b, c.s, c.h)))
        return x + self.drop(self.down(F.gelu(self.up(self.ln2(x)))))


class Llama(nn.Module):
    """A Llama block from PyTorch's own parts: nn.RMSNorm, F.silu, scaled-dot-product attention."""

    def __init__(self, c):
        super().__init__()
        self.c = c
        self.n1, self.n2 = nn.RMSNorm(c.h), nn.RMSNorm(c.h)
        self.q, self.o = nn.Linear(c.h, c.a * c.d, bias=False), nn.Linear(c.a * c.d, c.h, bias=False)
        self.k, self.v = (nn.Linear(c.h, c.kv * c.d, bias=False) for _ in "kv")
        self.gate, self.up = (nn.Linear(c.h, c.ffn, bias=False) for _ in "gu")
        self.down = nn.Linear(c.ffn, c.h, bias=False)

    def forward(self, x, cos, sin):
        c = self.c

        def turned(t):
            one, two = t.chunk(2, dim=-1)
            return t * cos + torch.cat((-two, one), dim=-1) * sin

        y = self.n1(x)
        q, k, v = (p(y).view(c.b, c.s, -1, c.d).transpose(1, 2) for p in (self.q, self.k, self.v))
        q, k = turned(q), turned(k)
        if c.repeat:
            k, v = (t.repeat_interleave(c.a // c.kv, dim=1) for t in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=c.kv < c.a and not c.repeat)
        x = x + self.o(y.transpose(1, 2).reshape(c.b, c.s, c.a * c.d))
        y = self.n2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def rotary(c, dtype, part=1.0):
    d = int(c.d * part)
    return torch.randn(1, c.s, d).to(dtype), torch.randn(1, c.s, d).to(dtype)


def causal(c, dtype):
    return torch.full((c.s, c.s), torch.finfo(dtype).min).triu(1).to(dtype).expand(c.b, 1, c.s, c.s).contiguous()


def first(out):
    return out[0] if isinstance(out, tuple) else out


def build_gpt(c, dtype):
    layer = Gpt(c)
    return layer, layer, ()


def build_torch_layer(c, dtype):
    layer = nn.TransformerEncoderLayer(
        c.h, c.a, c.ffn, dropout=c.pd, activation="gelu", batch_first=True, norm_first=c.norm_first
    )
    return layer, layer, ()


def build_fused_llama(c, dtype):
    cos, sin = (t[None] for t in rotary(c, dtype))
    layer = Llama(c)
    return layer, lambda x: layer(x, cos, sin), (cos, sin)


def build_gpt2(c, dtype):
    from transformers.models.gpt2.modeling_gpt2 import GPT2Block, GPT2Config

    layer = GPT2Block(
        GPT2Config(
            n_embd=c.h, n_head=c.a, n_inner=c.ffn, n_positions=c.s, attn_pdrop=c.pa, resid_pdrop=c.pd,
            attn_implementation=c.attention,
        ),
        layer_idx=0,
    )  # fmt: skip
    return layer, lambda x: first(layer(x)), ()


def build_encoder(c, dtype):
    from transformers.models.bert.modeling_bert import BertConfig, BertLayer
    from transformers.models.vit.modeling_vit import ViTConfig, ViTLayer

    make, config = {"bert": (BertLayer, BertConfig), "vit": (ViTLayer, ViTConfig)}[c.family]
    layer = make(
        config(
            hidden_size=c.h, num_attention_heads=c.a, intermediate_size=c.ffn, hidden_dropout_prob=c.pd,
            attention_probs_dropout_prob=c.pa, attn_implementation=c.attention,
        )
    )  # fmt: skip
    mask = (causal(c, dtype),) if c.mask else ()
    return layer, lambda x: first(layer(x, *mask)), mask


def build_opt(c, dtype):
    from transformers.models.opt.modeling_opt import OPTConfig, OPTDecoderLayer

    layer = OPTDecoderLayer(
        OPTConfig(
            hidden_size=c.h, num_attention_heads=c.a, ffn_dim=c.ffn, dropout=c.pd, attention_dropout=c.pa,
            attn_implementation=c.attention,
        ),
        layer_idx=0,
    )  # fmt: skip
    mask = causal(c, dtype) if c.mask else None
    return layer, lambda x: first(layer(x, attention_mask=mask)), (mask,) if c.mask else ()


def build_neox(c, dtype):
    from transformers.models.gpt_neox.modeling_gpt_neox import GPTNeoXConfig, GPTNeoXLayer

    layer = GPTNeoXLayer(
        GPTNeoXConfig(
            hidden_size=c.h, num_attention_heads=c.a, intermediate_size=c.ffn, hidden_dropout=c.pd,
            attention_dropout=c.pa, use_parallel_residual=c.parallel, attn_implementation=c.attention,
        ),
        layer_idx=0,
    )  # fmt: skip
    turn = rotary(c, dtype, 0.25)
    mask = causal(c, dtype) if c.mask else None
    outside = turn + ((mask,) if c.mask else ())
    return layer, lambda x: first(layer(x, attention_mask=mask, position_embeddings=turn)), outside


def build_decoder(c, dtype):
    """Llama and its kin: the same arguments."""
    from transformers.models import gemma, llama, mistral, qwen2, qwen3

    module, name = {
        "llama": (llama.modeling_llama, "Llama"),
        "mistral": (mistral.modeling_mistral, "Mistral"),
        "qwen2": (qwen2.modeling_qwen2, "Qwen2"),
        "qwen3": (qwen3.modeling_qwen3, "Qwen3"),
        "gemma": (gemma.modeling_gemma, "Gemma"),
    }[c.family]
    config = getattr(module, name + "Config")(
        hidden_size=c.h, num_attention_heads=c.a, num_key_value_heads=c.kv, intermediate_size=c.ffn, head_dim=c.d,
        num_hidden_layers=1, attention_dropout=c.pa, attn_implementation=c.attention,
    )  # fmt: skip
    layer = getattr(module, name + "DecoderLayer")(config, layer_idx=0)
    turn = rotary(c, dtype)
    mask = causal(c, dtype) if c.mask else None
    outside = turn + ((mask,) if c.mask else ())
    return layer, lambda x: first(layer(x, attention_mask=mask, position_embeddings=turn)), outside


BUILD = {
    "gpt": build_gpt, "torch_layer": build_torch_layer, "fused_llama": build_fused_llama, "gpt2": build_gpt2,
    "bert": build_encoder, "vit": build_encoder, "opt": build_opt, "gpt_neox": build_neox,
    "llama": build_decoder, "mistral": build_decoder, "qwen2": build_decoder, "qwen3": build_decoder,
    "gemma": build_decoder,
}  # fmt: skip
BLOCK = {"gpt": "gpt", "torch_layer": "gpt", "gpt2": "gpt", "opt": "gpt", "gpt_neox": "gpt", "bert": "bert", "vit": "vit"}

# b, s, h, a, ffn: one key-value head per query head.
HEADS = [
    (1, 64, 64, 4, 256), (1, 50, 96, 6, 200), (1, 33, 128, 2, 512), (1, 128, 64, 8, 100), (1, 96, 192, 6, 768),
    (1, 72, 160, 5, 320), (1, 160, 48, 3, 144), (1, 40, 256, 16, 300),
    (2, 64, 64, 4, 256), (3, 50, 96, 6, 200), (2, 33, 128, 2, 512), (4, 128, 64, 8, 100), (2, 96, 192, 6, 768),
    (5, 72, 160, 5, 320), (2, 160, 48, 3, 144), (3, 40, 256, 16, 300),
]  # fmt: skip
# b, s, h, a, ffn, kv heads, head dim: grouped queries, one key-value head, heads wider or narrower than h / a.
GROUPED = [
    (1, 64, 64, 4, 172, 4, 16), (1, 50, 96, 6, 200, 6, 16), (2, 33, 128, 4, 344, 4, 64), (3, 96, 64, 8, 100, 8, 8),
    (1, 72, 160, 5, 320, 5, 48), (2, 160, 48, 3, 144, 3, 16), (4, 40, 128, 2, 300, 2, 32), (2, 48, 96, 12, 256, 12, 16),
    (1, 128, 64, 2, 160, 2, 64), (3, 56, 80, 10, 240, 10, 16),
    (1, 64, 64, 4, 172, 2, 16), (1, 50, 96, 6, 200, 3, 16), (2, 33, 128, 4, 344, 2, 64), (3, 96, 64, 8, 100, 2, 8),
    (1, 72, 160, 6, 320, 2, 48), (2, 160, 48, 6, 144, 3, 16), (4, 40, 128, 8, 300, 4, 32), (2, 48, 96, 12, 256, 4, 16),
    (1, 128, 64, 4, 160, 2, 64), (3, 56, 80, 10, 240, 5, 16),
    (1, 64, 64, 4, 172, 1, 16), (1, 50, 96, 6, 200, 1, 16), (2, 33, 128, 4, 344, 1, 64), (3, 96, 64, 8, 100, 1, 8),
    (1, 72, 160, 5, 320, 1, 48), (2, 160, 48, 3, 144, 1, 16), (4, 40, 128, 2, 300, 1, 32), (2, 48, 96, 12, 256, 1, 16),
    (1, 128, 64, 2, 160, 1, 64), (3, 56, 80, 10, 240, 1, 16), (1, 40, 128, 8, 300, 1, 32), (1, 160, 48, 6, 144, 1, 16),
    (1, 48, 96, 12, 256, 1, 16), (1, 33, 80, 10, 240, 1, 24), (1, 80, 112, 7, 190, 1, 8), (2, 80, 112, 7, 190, 1, 8),
    (4, 64, 64, 4, 172, 1, 16), (2, 72, 160, 6, 320, 1, 48),
]  # fmt: skip


def modules():
    """Every module that is measured: `(name, family, dtype, choices)`."""
    both, types = ("eager", "sdpa"), ("fp32", "bf16", "autocast")
    for attention in ("explicit", "sdpa"):
        for pa in (0.0, 0.1):
            for pd in (0.0, 0.1):
                for dtype in types:
                    yield f"gpt_{attention}_a{pa:g}_h{pd:g}_{dtype}", "gpt", dtype, dict(attention=attention, pa=pa, pd=pd)
    for dtype in types:
        for repeat in (False, True):
            yield f"fused_llama_{'repeat' if repeat else 'gqa'}_{dtype}", "fused_llama", dtype, dict(attention="sdpa", repeat=repeat)
        for norm_first in (True, False):
            for p in (0.0, 0.1):
                name = f"torch_layer_{'pre' if norm_first else 'post'}_p{p:g}_{dtype}"
                yield name, "torch_layer", dtype, dict(attention="sdpa", pa=p, pd=p, norm_first=norm_first)
        for attention in both:
            for p in (0.0, 0.1):
                for family in ("vit", "bert", "gpt2", "opt", "gpt_neox"):
                    yield f"hf_{family}_{attention}_p{p:g}_{dtype}", family, dtype, dict(attention=attention, pa=p, pd=p)
            for family in ("llama", "mistral", "qwen2", "qwen3", "gemma"):
                yield f"hf_{family}_{attention}_{dtype}", family, dtype, dict(attention=attention, mask=attention == "eager")
        yield f"hf_gpt2_sdpa_a0_h0.1_{dtype}", "gpt2", dtype, dict(attention="sdpa", pd=0.1)
        yield f"hf_gpt_neox_serial_sdpa_p0_{dtype}", "gpt_neox", dtype, dict(attention="sdpa", parallel=False)
        for family in ("bert", "opt"):
            yield f"hf_{family}_sdpa_mask_p0_{dtype}", family, dtype, dict(attention="sdpa", mask=True)
        for family in ("llama", "qwen3"):
            yield f"hf_{family}_sdpa_mask_{dtype}", family, dtype, dict(attention="sdpa", mask=True)


def case(family, shape, choices):
    b, s, h, a, ffn = shape[:5]
    kv, d = shape[5:] if len(shape) > 5 else (a, h // a)
    base = dict(pa=0.0, pd=0.0, mask=False, parallel=True, repeat=False, norm_first=True, attention="eager")
    return SimpleNamespace(**{**base, **choices}, family=family, b=b, s=s, h=h, a=a, ffn=ffn, kv=kv, d=d)


def run(family, dtype, c):
    """One measurement."""
    torch.manual_seed(0)
    of = DTYPES[dtype]
    layer, call, external = BUILD[family](c, of)
    layer.to(of).train()
    x = torch.randn(c.b, c.s, c.h, dtype=of, requires_grad=True)
    return measure(layer, call, x, external, dtype == "autocast")


def row(module, family, dtype, c, m):
    value = {
        "module": module, "b": c.b, "s": c.s, "h": c.h, "a": c.a, "ffn": c.ffn, "kv_heads": c.kv, "head_dim": c.d,
        "saved_bytes": m.saved, "layer_input_itself_saved": m.input,
    }  # fmt: skip
    return {**value, "weight_cast_bytes": m.casts} if dtype == "autocast" else value


# --- Closed forms --------------------------------------------------------------------------------------------

TERMS = {
    "bsh": lambda r: r["b"] * r["s"] * r["h"],
    "bsq": lambda r: r["b"] * r["s"] * r["a"] * r["head_dim"],
    "bskvd": lambda r: r["b"] * r["s"] * r["kv_heads"] * r["head_dim"],
    "bsf": lambda r: r["b"] * r["s"] * r["ffn"],
    "bass": lambda r: r["b"] * r["a"] * r["s"] ** 2,
    "bs": lambda r: r["b"] * r["s"],
    "bas": lambda r: r["b"] * r["a"] * r["s"],
    "bkvs": lambda r: r["b"] * r["kv_heads"] * r["s"],
    "bss": lambda r: r["b"] * r["s"] ** 2,
    "h": lambda r: r["h"],
    "one": lambda r: 1,
}


def fit(rows, about):
    """Coefficients with residual 0 on every row, or None. A term that says nothing of its own in these rows is left out."""
    alone = all(r["kv_heads"] == r["a"] for r in rows)
    square = all(r["head_dim"] * r["a"] == r["h"] for r in rows)
    single = all(r["kv_heads"] == 1 for r in rows)
    void = {
        "bskvd": alone,
        "bkvs": alone or single,
        "bsq": square,
        "bss": not (about["mask"] and about["autocast"]),
        "h": about["family"] != "gemma",
        "one": about["family"] != "gpt2",
    }
    names = [n for n in TERMS if not void.get(n)]
    matrix = numpy.array([[TERMS[n](r) for n in names] for r in rows], dtype=float)
    if numpy.linalg.matrix_rank(matrix) < len(names):
        return None
    found = numpy.linalg.lstsq(matrix, numpy.array([r["saved_bytes"] for r in rows], dtype=float), rcond=None)[0]
    found = [int(round(v)) for v in found]
    right = all(sum(v * TERMS[n](r) for n, v in zip(names, found)) == r["saved_bytes"] for r in rows)
    return {n: v for n, v in zip(names, found) if v} if right else None


SPLITS = [
    [("all", lambda r: True)],
    [("b=1", lambda r: r["b"] == 1), ("b>1", lambda r: r["b"] > 1)],
    [("kv=a", lambda r: r["kv_heads"] == r["a"]), ("kv<a", lambda r: r["kv_heads"] < r["a"])],
    [
        ("kv=a", lambda r: r["kv_heads"] == r["a"]),
        ("1<kv<a", lambda r: 1 < r["kv_heads"] < r["a"]),
        ("kv=1", lambda r: r["kv_heads"] == 1),
    ],
    [
        ("kv=a", lambda r: r["kv_heads"] == r["a"]),
        ("1<kv<a", lambda r: 1 < r["kv_heads"] < r["a"]),
        ("kv=1 b=1", lambda r: r["kv_heads"] == 1 and r["b"] == 1),
        ("kv=1 b>1", lambda r: r["kv_heads"] == 1 and r["b"] > 1),
    ],
]


def closed_forms(rows, about):
    """The first way to part the rows for which every part has a closed form."""
    best = {}
    for split in SPLITS:
        parts = {name: fit([r for r in rows if of(r)], about) for name, of in split if any(of(r) for r in rows)}
        if all(parts.values()):
            return parts
        if any(parts.values()):
            best = parts
    return best or None


# --- Final norm, head and loss -------------------------------------------------------------------------------

HEAD_SHAPES = [(1, 64, 64, 500), (1, 50, 96, 1000), (2, 33, 128, 700), (3, 96, 64, 311), (2, 40, 160, 2000), (4, 72, 48, 1500)]


def measure_head(family, dtype, shape):
    """Final norm, LM head and the library's own loss (labels shifted inside), with the layer's input given."""
    from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

    b, s, h, vocab = shape
    of = DTYPES[dtype]
    if family == "gpt2":
        model = GPT2LMHeadModel(GPT2Config(n_embd=h, n_head=2, n_layer=1, vocab_size=vocab, n_positions=s)).to(of)
        norm = model.transformer.ln_f
    else:
        config = LlamaConfig(hidden_size=h, num_attention_heads=2, num_hidden_layers=1, vocab_size=vocab, intermediate_size=h)
        model = LlamaForCausalLM(config).to(of)
        norm = model.model.norm
    labels = torch.randint(0, vocab, (b, s))

    def call(x):
        logits = model.lm_head(norm(x))
        return model.loss_function(logits, labels, vocab_size=vocab)

    x = torch.randn(b, s, h, dtype=of, requires_grad=True)
    m = measure(model, call, x, (labels,), dtype == "autocast")
    value = {"variant": f"hf_{family}_{dtype}", "b": b, "s": s, "h": h, "V": vocab, "saved_bytes": m.saved,
             "layer_input_itself_saved": m.input}  # fmt: skip
    return ({**value, "weight_cast_bytes": m.casts} if dtype == "autocast" else value), m


# --- Against rows measured elsewhere -------------------------------------------------------------------------

KNOWN = {
    "gpt_explicit_fp32": ("gpt", "fp32", dict(attention="explicit", pa=0.1, pd=0.1)),
    "gpt_explicit_p0_bf16": ("gpt", "bf16", dict(attention="explicit")),
    "gpt_sdpa_attnp0_fp32": ("gpt", "fp32", dict(attention="sdpa", pd=0.1)),
    "gpt_sdpa_attnp0.1_fp32": ("gpt", "fp32", dict(attention="sdpa", pa=0.1, pd=0.1)),
    "gpt_sdpa_attnp0.1_bf16": ("gpt", "bf16", dict(attention="sdpa", pa=0.1, pd=0.1)),
    "gpt_explicit_autocast_bf16": ("gpt", "autocast", dict(attention="explicit", pa=0.1, pd=0.1)),
    "hf_gpt2_eager_p0.0_fp32": ("gpt2", "fp32", dict(attention="eager")),
    "hf_gpt2_eager_p0.1_bf16": ("gpt2", "bf16", dict(attention="eager", pa=0.1, pd=0.1)),
    "hf_gpt2_sdpa_p0.1_fp32": ("gpt2", "fp32", dict(attention="sdpa", pa=0.1, pd=0.1)),
    "hf_gpt2_sdpa_p0.1_bf16": ("gpt2", "bf16", dict(attention="sdpa", pa=0.1, pd=0.1)),
    "hf_llama_eager_bf16": ("llama", "bf16", dict(attention="eager", mask=True)),
    "hf_llama_eager_fp32": ("llama", "fp32", dict(attention="eager", mask=True)),
    "hf_llama_sdpa_bf16": ("llama", "bf16", dict(attention="sdpa")),
    "hf_llama_sdpa_fp32": ("llama", "fp32", dict(attention="sdpa")),
    "hf_llama_sdpa_mha_bf16": ("llama", "bf16", dict(attention="sdpa")),
    "hf_llama_sdpa_gqa_mask_bf16": ("llama", "bf16", dict(attention="sdpa", mask=True)),
    "hf_llama_sdpa_gqa_mask_fp32": ("llama", "fp32", dict(attention="sdpa", mask=True)),
    "hf_bert_eager_p0.1_bf16": ("bert", "bf16", dict(attention="eager", pa=0.1, pd=0.1)),
    "hf_bert_eager_p0.1_fp32": ("bert", "fp32", dict(attention="eager", pa=0.1, pd=0.1)),
}


def check(path):
    """Measures the smaller rows of an earlier file again; says where they differ."""
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)["rows"]
    same = other = skipped = 0
    for r in rows:
        if r["module"] not in KNOWN or r["saved_bytes"] > 40e6:
            skipped += 1
            continue
        family, dtype, choices = KNOWN[r["module"]]
        shape = (r["b"], r["s"], r["h"], r["a"], r["ffn"], r["kv_heads"], r["h"] // r["a"])
        m = run(family, dtype, case(family, shape, choices))
        if (m.saved, m.input) == (r["saved_bytes"], r["layer_input_itself_saved"]):
            same += 1
        else:
            other += 1
            print("differs:", r, m.saved, m.input)
    print(f"{same} rows the same to the byte, {other} differ, {skipped} not tried")


# --- The file ------------------------------------------------------------------------------------------------

ABOUT = (
    "Bytes that autograd keeps for the backward of one layer, measured on a CPU with saved-tensor hooks by tools/measure_layers.py, "
    "deduplicated by storage (whole storages), parameters and buffers excluded, and so are rotary cosines and sines and masks, which come "
    "from outside the layer. Under autocast (bfloat16) the input and the parameters are float32 and weight_cast_bytes are counted apart. "
    "'gpt' is a plain pre-LN block, 'fused_llama' a block of nn.RMSNorm, F.silu and sdpa, 'torch_layer' nn.TransformerEncoderLayer, 'hf' "
    "modules are transformers' own. Closed forms reproduce all rows that were measured (`measured` per module) with residual 0; the rows "
    "here are a part of them."
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", help="measure the rows of this file again instead")
    parser.add_argument("--only", default="", help="modules whose name matches")
    parser.add_argument("--out", default="tests/vectors/layer_more.json")
    options = parser.parse_args()
    if options.check:
        return check(options.check)
    about, forms, tensors, rows = {}, {}, {}, []
    for module, family, dtype, choices in modules():
        if not re.search(options.only, module):
            continue
        mine = []
        grouped = family in ("llama", "mistral", "qwen2", "qwen3", "gemma", "fused_llama")
        for shape in GROUPED if grouped else HEADS:
            c = case(family, shape, choices)
            m = run(family, dtype, c)
            mine.append(row(module, family, dtype, c, m))
            if shape in (HEADS[9], GROUPED[12]):
                same = next((k for k, v in tensors.items() if v.get("tensors") == m.tensors), None)
                shape_of = {"b": c.b, "s": c.s, "h": c.h, "a": c.a, "ffn": c.ffn, "kv_heads": c.kv, "head_dim": c.d}
                tensors[module] = {"same_as": same} if same else {**shape_of, "tensors": m.tensors}
        about[module] = {
            "block": BLOCK.get(family, "llama"), "family": family, "attention": "sdpa" if c.attention == "sdpa" else "eager",
            "implementation": "eager" if module.startswith("hf_") else "fused",
            "param_dtype": str(DTYPES[dtype])[6:], "autocast": dtype == "autocast", "hidden_dropout": c.pd,
            "attention_dropout": c.pa, "mask": c.mask,
            "measured": len(mine),
        }  # fmt: skip
        if family == "fused_llama":
            about[module]["repeats_kv"] = c.repeat
        if family == "gpt_neox":
            about[module]["parallel_residual"] = c.parallel
        if family == "torch_layer":
            about[module]["norm_first"] = c.norm_first
        forms[module] = closed_forms(mine, about[module])
        rows += mine[:: 3 if grouped else 2]
        print(module, json.dumps(forms[module]), "input kept" if m.input else "input not kept", flush=True)
    heads, head_tensors = [], {}
    for family in ("gpt2", "llama"):
        for dtype in DTYPES:
            if not re.search(options.only, f"head_{family}_{dtype}"):
                continue
            for shape in HEAD_SHAPES:
                value, m = measure_head(family, dtype, shape)
                heads.append(value)
            head_tensors[value["variant"]] = {"b": shape[0], "s": shape[1], "h": shape[2], "V": shape[3], "tensors": m.tensors}
    terms = "bsh=b*s*h bsq=b*s*a*head_dim bskvd=b*s*kv_heads*head_dim bsf=b*s*ffn bass=b*a*s*s bs=b*s bas=b*a*s bkvs=b*kv_heads*s one=1"
    made = {"torch": torch.__version__.split("+")[0], "transformers": transformers.__version__, "device": "cpu"}
    with open(options.out, "w", encoding="utf-8") as file:
        file.write('{"about": %s,\n "made_by": %s,\n "terms": %s' % tuple(json.dumps(v) for v in (ABOUT, made, terms)))
        for name, group in (("modules", about), ("closed_forms", forms), ("saved_tensors", tensors), ("head_tensors", head_tensors)):
            inner = ",\n  ".join(f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in group.items())
            file.write(f',\n "{name}": {{\n  {inner}}}')
        for name, group in (("rows", rows), ("heads", heads)):
            inner = ",\n  ".join(json.dumps(v, separators=(",", ":")) for v in group)
            file.write(f',\n "{name}": [\n  {inner}]')
        file.write("}\n")


if __name__ == "__main__":
    main()
