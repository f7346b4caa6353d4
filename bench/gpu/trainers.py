"""Settings of the Hugging Face trainer."""

from __future__ import annotations

import os
import tempfile
import warnings

import torch

from case import once
from checkpointing import WITHOUT_GRADIENT, gradient_of_block
from workload import BATCH, DEVICE, LENGTH, LLAMA_SETUP, WORDS, llama, sized

STEPS = 5


def trainer_with(model=None, **settings):
    """A trainer of a few steps over random tokens."""
    from transformers import Trainer, TrainingArguments

    rows = [{"input_ids": ids, "labels": ids} for ids in torch.randint(WORDS, (BATCH * STEPS, LENGTH))]
    defaults = {
        "output_dir": tempfile.mkdtemp(prefix="memfix-"),
        "per_device_train_batch_size": BATCH,
        "max_steps": STEPS,
        "save_strategy": "no",
        "logging_strategy": "no",
        "report_to": [],
        "disable_tqdm": True,
        "use_cpu": DEVICE == "cpu",
    }
    return Trainer(model or llama(), TrainingArguments(**(defaults | settings)), train_dataset=rows)


def trained(**settings):
    trainer = trainer_with(**settings)
    return lambda: trainer.train().training_loss


@once("enable-gradient-checkpointing", what="5 steps of `Trainer` in bf16 autocast, `gradient_checkpointing` added",
      setup=f"{LLAMA_SETUP}, AdamW")
def checkpointing_trainer(after):
    added = {"gradient_checkpointing": True, "gradient_checkpointing_kwargs": {"use_reentrant": False}}
    return trained(bf16=True, **(added if after else {}))


@once("gradient-checkpointing-kwargs", what="5 steps of `Trainer`, `gradient_checkpointing=True` without → with its kwargs",
      setup=f"{LLAMA_SETUP}, fp32, AdamW")
def checkpointing_kwargs(after):
    added = {"gradient_checkpointing_kwargs": {"use_reentrant": False}}
    return trained(gradient_checkpointing=True, **(added if after else {}))


once("gradient-checkpointing-kwargs", **WITHOUT_GRADIENT)(gradient_of_block)


@once("yaml-memory-config", what="5 steps of `Trainer` with the settings of the file: `gradient_checkpointing` and "
      "`use_cache`, off and on → on and off", setup=f"{LLAMA_SETUP}, fp32, AdamW")
def configured_by_file(after):
    model = llama()
    model.config.use_cache = not after
    return trained(model=model, gradient_checkpointing=after)


@once("legacy-training-args", what="`TrainingArguments` with the old names → the new ones", setup="constructed only")
def current_names(after):
    from transformers import TrainingArguments

    old = {"evaluation_strategy": "steps", "per_gpu_train_batch_size": 8, "no_cuda": False}
    new = {"eval_strategy": "steps", "per_device_train_batch_size": 8, "use_cpu": False}
    folder = tempfile.mkdtemp(prefix="memfix-")

    def construct():
        refused = []
        for name, value in (new if after else old).items():
            try:
                TrainingArguments(output_dir=folder, eval_steps=200, **{name: value})
            except TypeError:
                refused.append(name)
        return f"TypeError for {', '.join(refused)}" if refused else "accepted"

    return construct


@once("save-total-limit", what="checkpoints that 10 saving steps of `Trainer` leave on disk, `save_total_limit=10` → `2`",
      setup="Llama 2 layers × 64, 1000 words")
def limited_checkpoints(after):
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, vocab_size=max(WORDS, 1000)
    )
    folder = tempfile.mkdtemp(prefix="memfix-")
    trainer = trainer_with(
        LlamaForCausalLM(config).to(DEVICE),
        output_dir=folder,
        max_steps=10,
        per_device_train_batch_size=1,
        save_strategy="steps",
        save_steps=1,
        save_total_limit=2 if after else 10,
    )

    def train():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trainer.train()
        return f"{sum(name.startswith('checkpoint-') for name in os.listdir(folder))} checkpoints"

    return train


@once("eval-accumulation-steps", what="`Trainer.evaluate` with `compute_metrics` over 64 examples: logits → `argmax` first",
      setup="Llama 12 layers × 1024, 32 000 words, batch 8 × 512, fp32")
def argmax_first(after):
    return evaluated(preprocess=lambda logits, labels: logits.argmax(-1) if after else logits)


@once("eval-accumulation-steps", what="`Trainer.evaluate` with `compute_metrics` over 64 examples: as it is → `eval_accumulation_steps=1`",
      setup="Llama 12 layers × 1024, 32 000 words, batch 8 × 512, fp32")
def moved_in_between(after):
    return evaluated(**({"eval_accumulation_steps": 1} if after else {}))


def evaluated(preprocess=None, **settings):
    from transformers import Trainer, TrainingArguments

    rows = [{"input_ids": ids, "labels": ids} for ids in torch.randint(WORDS, (64, sized(512, 16)))]
    arguments = TrainingArguments(
        output_dir=tempfile.mkdtemp(prefix="memfix-"),
        per_device_eval_batch_size=8,
        report_to=[],
        disable_tqdm=True,
        use_cpu=DEVICE == "cpu",
        **settings,
    )

    def right(prediction):
        predicted = prediction.predictions
        if predicted.ndim == 3:
            predicted = predicted.argmax(-1)
        return {"right": float((predicted[:, :-1] == prediction.label_ids[:, 1:]).mean())}

    trainer = Trainer(
        llama(), arguments, eval_dataset=rows, compute_metrics=right, preprocess_logits_for_metrics=preprocess
    )

    def evaluate():
        metrics = trainer.evaluate()
        return [metrics["eval_loss"], metrics["eval_right"]]

    return evaluate
