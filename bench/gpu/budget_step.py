"""One training run of the budget's list: builds the model from its configuration with random weights, takes a few steps
and says what the GPU held in each phase."""

from __future__ import annotations

import contextlib
import gc

import torch
import transformers

DEVICE = "cuda"
STEPS = 4


def measure(run: dict, device: str = DEVICE, with_blocks: bool = False) -> dict:
    torch.manual_seed(1234)
    model = built(run, device)
    taken = run["optimizer"] != "none" and optimizer_of(run, model)
    batch = batch_of(run, model, device)
    gc.collect()
    if device == "cuda":
        torch.cuda.empty_cache()
    step = generation(run, model, batch) if run["task"] == "generate" else training(run, model, taken, batch)
    meter = Meter(device)
    for _ in range(STEPS):
        step(meter)
    found = {
        "parameters": sum(each.numel() for each in set(model.parameters())),
        "trainable": sum(each.numel() for each in set(model.parameters()) if each.requires_grad),
        "weights": sum(bytes_of(each) for each in [*set(model.parameters()), *model.buffers()]),
        "state": sum(bytes_of(each) for each in states(taken)) if taken else 0,
        **meter.found(),
    }
    if with_blocks and device == "cuda":
        found["blocks"] = blocks_at_peak(step)
    return found


def bytes_of(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()


def states(optimizer) -> list[torch.Tensor]:
    return [value for state in optimizer.state.values() for value in state.values() if isinstance(value, torch.Tensor)]


class Meter:
    """Peaks of the phases, the largest of all steps, and what is held between them in the last step."""

    def __init__(self, device: str):
        self.device, self.phases, self.held = device, {}, {}
        self.begin()

    def begin(self) -> None:
        if self.device == "cuda":
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()

    def end(self, phase: str) -> None:
        if self.device == "cuda":
            torch.cuda.synchronize()
            self.phases[phase] = max(self.phases.get(phase, 0), torch.cuda.max_memory_allocated())
            self.held[phase] = torch.cuda.memory_allocated()
        else:
            self.phases[phase] = self.held[phase] = 0
        self.begin()

    def found(self) -> dict:
        reserved = torch.cuda.max_memory_reserved() if self.device == "cuda" else 0
        return {"peak": max(self.phases.values()), "reserved": reserved, "phases": self.phases, "held": self.held}


def built(run: dict, device: str) -> torch.nn.Module:
    config = dict(run["config"])
    kind = config.pop("model_type")
    dtype = torch.bfloat16 if run["dtype"] == "bf16" else torch.float32
    if kind == "torchvision":
        import torchvision

        return torchvision.models.get_model(config["name"], weights=None).to(device, dtype).train()
    described = transformers.AutoConfig.for_model(kind, **config)
    maker = {
        **dict.fromkeys(("bert", "roberta", "distilbert", "electra"), transformers.AutoModelForMaskedLM),
        **dict.fromkeys(("vit", "deit"), transformers.AutoModelForImageClassification),
        "t5": transformers.AutoModelForSeq2SeqLM,
    }.get(kind, transformers.AutoModelForCausalLM)
    if "classes" in run:
        maker = transformers.AutoModelForSequenceClassification
        described.num_labels, described.pad_token_id = run["classes"], 0
    before = torch.get_default_dtype()
    with torch.device("meta" if run["quantized"] else device):
        model = maker.from_config(described, attn_implementation=run["attention"], dtype=dtype)
    torch.set_default_dtype(before)
    if run["quantized"]:
        model = quantized(model, device)
    if run["lora"]:
        model = adapted(run, model)
    if run["checkpointing"]:
        if run["lora"]:
            model.enable_input_require_grads()
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return model.eval() if run["task"] == "generate" else model.train()


def quantized(model: torch.nn.Module, device: str) -> torch.nn.Module:
    """Linear layers of the blocks in NF4 with quantised scales, as `BitsAndBytesConfig(load_in_4bit=True)` makes them."""
    import bitsandbytes

    for name, module in list(model.named_modules()):
        for key, child in list(module.named_children()):
            if not isinstance(child, torch.nn.Linear) or key == "lm_head":
                continue
            plain = torch.empty(child.weight.shape, dtype=child.weight.dtype, device=device).normal_(std=0.02)
            layer = bitsandbytes.nn.Linear4bit(
                child.in_features, child.out_features, bias=False, compute_dtype=torch.bfloat16,
                compress_statistics=True, quant_type="nf4", device="meta",
            )
            layer.weight = bitsandbytes.nn.Params4bit(
                plain, requires_grad=False, compress_statistics=True, quant_type="nf4", module=layer
            ).to(device)
            setattr(module, key, layer)
    for module in model.modules():
        for key, value in list(module._parameters.items()):
            if value is not None and value.is_meta:
                made = torch.empty(value.shape, dtype=value.dtype, device=device).normal_(std=0.02)
                module._parameters[key] = torch.nn.Parameter(made, requires_grad=False)
        if hasattr(module, "inv_freq"):
            fresh = type(module)(module.config)
            module.inv_freq, module.original_inv_freq = fresh.inv_freq.to(device), fresh.inv_freq.to(device)
    model.tie_weights()
    return model


def adapted(run: dict, model: torch.nn.Module) -> torch.nn.Module:
    import peft

    described = peft.LoraConfig(
        r=run["lora"]["rank"], lora_alpha=16, target_modules=run["lora"]["targets"],
        lora_dropout=run["lora"].get("dropout", 0.0),
        task_type="SEQ_CLS" if "classes" in run else "CAUSAL_LM",
    )
    return peft.get_peft_model(model, described)


def optimizer_of(run: dict, model: torch.nn.Module):
    trained = [each for each in model.parameters() if each.requires_grad]
    match run["optimizer"]:
        case "adamw":
            return torch.optim.AdamW(trained, lr=1e-4)
        case "adamw-fused":
            return torch.optim.AdamW(trained, lr=1e-4, fused=True)
        case "adamw-8bit":
            import bitsandbytes

            return bitsandbytes.optim.AdamW8bit(trained, lr=1e-4)
        case "sgd":
            return torch.optim.SGD(trained, lr=1e-4)
        case "sgd-momentum":
            return torch.optim.SGD(trained, lr=1e-4, momentum=0.9)
        case "adafactor":
            return transformers.Adafactor(trained)
    raise ValueError(run["optimizer"])


def batch_of(run: dict, model: torch.nn.Module, device: str) -> dict:
    config, size, length = run["config"], run["batch"], run["sequence"]
    if "num_labels" in config:
        dtype = torch.bfloat16 if run["dtype"] == "bf16" else torch.float32
        images = torch.randn(size, 3, length, length, device=device, dtype=dtype)
        return {"pixel_values": images, "labels": torch.randint(config["num_labels"], (size,), device=device)}
    if "classes" in run:
        labels = torch.randint(run["classes"], (size,), device=device)
    ids = torch.randint(10, config["vocab_size"], (size, length), device=device)
    batch = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if run["padded"]:
        batch["attention_mask"][:, -max(1, length // 8) :] = 0
    if "classes" in run:
        batch["labels"] = labels
    elif run["task"] == "train":
        batch["labels"] = ids if run["target"] is None else ids[:, : run["target"]].contiguous()
    return batch


def training(run: dict, model: torch.nn.Module, optimizer, batch: dict):
    def cast():
        if run["dtype"] != "autocast":
            return contextlib.nullcontext()
        return torch.autocast(batch["labels"].device.type, torch.bfloat16)

    kept = []

    def loss_of():
        if run["config"]["model_type"] == "torchvision":
            return torch.nn.functional.cross_entropy(model(batch["pixel_values"]), batch["labels"])
        outputs = model(**batch)
        if run["keeps"]:
            kept[:] = [outputs]
        return outputs.loss

    def step(meter: Meter) -> None:
        for _ in range(run["accumulated"]):
            meter.begin()
            with cast():
                loss = loss_of()
            meter.end("forward")
            (loss / run["accumulated"]).backward()
            meter.end("backward")
            del loss
        if run["clipped"]:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        meter.end("step")
        optimizer.zero_grad()

    return step


def generation(run: dict, model: torch.nn.Module, batch: dict):
    cast = torch.autocast(batch["input_ids"].device.type, torch.bfloat16, enabled=run["dtype"] == "autocast")

    def step(meter: Meter) -> None:
        meter.begin()
        with cast:
            model.generate(
                **batch, max_new_tokens=run["target"], min_new_tokens=run["target"], do_sample=False, pad_token_id=0
            )
        meter.end("forward")

    return step


def blocks_at_peak(step, most: int = 60) -> dict:
    """What lives at the peak of one more step, by size and by the code that asked for it."""
    meter = Meter("cuda")
    before = torch.cuda.memory_allocated()
    torch.cuda.memory._record_memory_history(context="alloc", stacks="python", max_entries=2_000_000)
    step(meter)
    events = torch.cuda.memory._snapshot()["device_traces"][0]
    torch.cuda.memory._record_memory_history(enabled=None)
    live, freed, at, peak, index = {}, 0, before, 0, 0
    for number, event in enumerate(events):
        if event["action"] == "alloc":
            at += event["size"]
        elif event["action"] == "free_completed":
            at -= event["size"]
        if at > peak:
            peak, index = at, number
    for event in events[: index + 1]:
        if event["action"] == "alloc":
            live[event["addr"]] = event
        elif event["action"] == "free_completed" and live.pop(event["addr"], None) is None:
            freed += event["size"]
    groups: dict[tuple, int] = {}
    for event in live.values():
        key = (event["size"], where(event.get("frames", [])))
        groups[key] = groups.get(key, 0) + 1
    rows = sorted(((size * count, size, count, place) for (size, place), count in groups.items()), reverse=True)
    return {"before": before - freed, "peak": peak, "rows": [row[1:] for row in rows[:most]], "last": where(events[index].get("frames", []))}


def where(frames: list[dict]) -> str:
    told = [f"{frame['filename'].rsplit('/', 1)[-1]}:{frame['line']} {frame['name']}" for frame in frames]
    plain = [words for words in told if not words.startswith(("module.py", "_ops.py", "grad_mode.py", "<"))]
    return " < ".join(plain[:3])
