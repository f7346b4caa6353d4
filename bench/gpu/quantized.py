"""What bitsandbytes keeps in fewer bits: the state of an optimizer, the weights of a frozen model."""

from __future__ import annotations

import torch

from budget_step import quantized
from case import case
from workload import DEVICE, GPT_TRAINING, LENGTH, adamw, gpt, llama_config, plain_step, sized, tokens


def stepped(after, *batch):
    model = gpt()
    if not after:
        return plain_step(model, adamw(model), *tokens(*batch))
    from bitsandbytes.optim import AdamW8bit

    return plain_step(model, AdamW8bit(model.parameters(), lr=1e-4), *tokens(*batch))


@case("adamw-8bit", what="training step of a small batch, `AdamW` → `AdamW8bit`: the state makes the peak",
      setup="GPT 12 layers × 768, 32 000 words, batch 1 × 128, fp32, AdamW", rounds=5)
def small_batch(after):
    return stepped(after, 1, sized(128, 8))


@case("adamw-8bit", what="training step of a large batch, where the activations make most of it", setup=GPT_TRAINING)
def large_batch(after):
    return stepped(after)


@case("kbit-checkpointing-kwargs", what='training step of LoRA, `gradient_checkpointing_kwargs={"use_reentrant": False}` '
      "added", setup="Llama 12 layers × 1024 in NF4, 32 000 words, batch 4 × 1024, bf16 autocast, LoRA of rank 16, AdamW",
      rounds=5)
def prepared(after):
    return lora_step(after, llama_config(), 4, LENGTH)


@case("kbit-checkpointing-kwargs", what="training step of LoRA on a model of 7B",
      setup="Llama 32 layers × 4096 in NF4, 32 000 words, batch 4 × 2048, bf16 autocast, LoRA of rank 16, AdamW",
      warmup=2, steps=5)
def prepared_large(after):
    large = llama_config(num_hidden_layers=sized(32, 2), hidden_size=sized(4096, 64), intermediate_size=sized(11008, 128),
                         num_attention_heads=sized(32, 4), num_key_value_heads=sized(32, 4))
    return lora_step(after, large, 4, sized(2048, 16))


def lora_step(after, config, *batch):
    from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
    from transformers import LlamaForCausalLM

    with torch.device("meta"):
        model = LlamaForCausalLM._from_config(config, dtype=torch.bfloat16)
    model = quantized(model, DEVICE)
    model.is_loaded_in_4bit = True
    if after:
        model = prepare_model_for_kbit_training(model, gradient_checkpointing_kwargs={"use_reentrant": False})
    else:
        model = prepare_model_for_kbit_training(model)
    model = get_peft_model(model, LoraConfig(r=16, target_modules=["q_proj", "v_proj"])).train()
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-4)
    x, _ = tokens(*batch)

    def step():
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            loss = model(input_ids=x, labels=x).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()

    return step
