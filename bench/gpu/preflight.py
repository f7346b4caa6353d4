"""What torch-preflight 0.5 says about the measured runs that it can express: `python bench/gpu/preflight.py`, in an environment
with `pip install torch-preflight==0.5.0`. It is given the exact shape and number of parameters of each run, and its estimate is
taken without the CUDA context and the fragmentation that it adds, since what is measured is what is allocated."""

from __future__ import annotations

import json
import pathlib

from torch_preflight.vram.archdb import resolve
from torch_preflight.vram.costmodel import estimate
from torch_preflight.vram.types import Confidence, ModelKind, ModelProfile, OptimizerKind, PrecisionMode, RunConfig, TransformerShape

HERE = pathlib.Path(__file__).parent
PRECISION = {"fp32": PrecisionMode.FP32, "autocast": PrecisionMode.AMP, "bf16": PrecisionMode.PURE_BF16}
OPTIMIZER = {
    "adamw": OptimizerKind.ADAMW, "adamw-fused": OptimizerKind.ADAMW, "adamw-8bit": OptimizerKind.ADAM_8BIT,
    "sgd": OptimizerKind.SGD, "sgd-momentum": OptimizerKind.SGD_MOMENTUM,
}
UNGATED = ("gpt2", "gpt_neox", "opt", "bert", "roberta", "distilbert", "electra", "gptj", "phi", "bloom", "falcon", "starcoder2")
DROPS = ("gpt2", "bert", "roberta", "distilbert", "electra")
LEARNED = ("gpt2", "opt", "bert", "roberta", "distilbert", "electra")
MASKED = ("bert", "roberta", "distilbert", "electra")


def first(config: dict, *names: str) -> int | None:
    return next((config[name] for name in names if config.get(name)), None)


def profile_of(row: dict) -> ModelProfile | None:
    config, kind = row["config"], row["config"]["model_type"]
    if kind == "torchvision":
        return resolve(config["name"])
    if kind == "t5" or row["lora"] or "num_local_experts" in config or "num_experts" in config:
        return None
    heads = first(config, "num_attention_heads", "n_head", "n_heads")
    vocabulary = config.get("vocab_size", 0)
    shape = TransformerShape(
        layers=first(config, "num_hidden_layers", "n_layer", "n_layers"), hidden=first(config, "hidden_size", "n_embd", "dim"),
        heads=heads, vocab=vocabulary, kv_heads=config.get("num_key_value_heads", heads),
        intermediate=first(config, "intermediate_size", "ffn_dim", "hidden_dim") or 0,
        tied_embeddings=config.get("tie_word_embeddings", kind in LEARNED), gated_mlp=kind not in UNGATED + ("vit",),
        learned_positions=kind in LEARNED, uses_dropout=kind in DROPS, has_lm_head=vocabulary > 0 and "classes" not in row,
    )
    return ModelProfile(
        name=kind, param_count=row["parameters"], trainable_params=row["trainable"], source="formula",
        confidence=Confidence.HIGH, kind=ModelKind.TRANSFORMER, shape=shape,
    )


def said(row: dict) -> int | None:
    if row["task"] != "train" or row["padded"] or row["keeps"] or row["quantized"] or row["optimizer"] not in OPTIMIZER:
        return None
    profile = profile_of(row)
    if profile is None:
        return None
    kind = row["config"]["model_type"]
    length = (row["sequence"] // row["config"]["patch_size"]) ** 2 + 1 if kind == "vit" else row["sequence"]
    run = RunConfig(
        batch_size=row["batch"], seq_len=length, image_size=row["sequence"] if kind == "torchvision" else None,
        precision=PRECISION[row["dtype"]], optimizer=OPTIMIZER[row["optimizer"]], gradient_checkpointing=row["checkpointing"],
        flash_attention=row["attention"] == "sdpa", accumulation_steps=row["accumulated"],
    )
    found = estimate(profile, run).breakdown
    return found.total - found.cuda_context - found.fragmentation


def main() -> None:
    rows = [json.loads(line) for line in (HERE / "budget.jsonl").read_text().splitlines()]
    told = {str(row["id"]): said(row) for row in rows}
    (HERE / "preflight.json").write_text(json.dumps({key: value for key, value in told.items() if value}, indent=2) + "\n")


if __name__ == "__main__":
    main()
