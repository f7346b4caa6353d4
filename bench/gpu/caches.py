"""What the caching allocator keeps, and what it costs to look at it or to empty it."""

from __future__ import annotations

import contextlib
import gc
import io
import os

import torch

from case import case, once, short
from workload import DEVICE, GPT_SETUP, GPT_TRAINING, LENGTH, adamw, gpt, language_loss, plain_step, sized, tokens


@once("allocator-config", what="40 training steps over batches of many lengths", setup="GPT 12 layers × 768, "
      "32 000 words, batch 8 × 128 to 1024, fp32, AdamW")
def growing_segments(after):
    if after:
        os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"
    model = gpt()
    optimizer = adamw(model)
    lengths = torch.randint(LENGTH // 8, LENGTH + 1, (40,), generator=torch.Generator().manual_seed(1)).tolist()
    batches = [tokens(length=length) for length in lengths]

    def epoch():
        return [plain_step(model, optimizer, *batch)() for batch in batches]

    return epoch


@once("allocator-config", what="`PYTORCH_CUDA_ALLOC_CONF` set after → before the first allocation on the GPU",
      setup="after `import torch` both times")
def when_it_is_set(after):
    if not after:
        torch.zeros(1, device=DEVICE)
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"
    kept = torch.zeros(sized(64, 1) * 2**20, device=DEVICE)

    def look():
        if DEVICE == "cpu":
            return "no GPU"
        grows = any(segment.get("is_expandable") for segment in torch.cuda.memory_snapshot())
        return ("effective" if grows else "silently ignored") if kept.numel() else ""

    return look


def emptied_step(*calls):
    """A training step with the calls at its end."""
    model, (x, y) = gpt(), tokens()
    optimizer = adamw(model)

    def step():
        loss = language_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        for call in calls:
            call()
        return loss.detach()

    return step


@case("empty-cache-hot-loop", what="training step with `empty_cache()` in each → without", setup=GPT_TRAINING)
def emptied_in_every_step(after):
    return emptied_step(*([] if after else [torch.cuda.empty_cache]))


@case("empty-cache-hot-loop", what="training step with `gc.collect()` and `empty_cache()` in each → without",
      setup=f"{GPT_TRAINING}; transformers is imported, which gives the collector much to look at")
def collected_in_every_step(after):
    return emptied_step(*([] if after else [gc.collect, torch.cuda.empty_cache]))


@case("periodic-cache-cleanup", what="training step in which it runs, with `empty_cache()` alone", setup=GPT_TRAINING)
def emptied_at_last(after):
    return emptied_step(*([torch.cuda.empty_cache] if after else []))


@case("periodic-cache-cleanup", what="training step in which it runs, with `gc.collect()` too",
      setup=f"{GPT_TRAINING}; transformers is imported, which gives the collector much to look at")
def collected_at_last(after):
    return emptied_step(*([gc.collect, torch.cuda.empty_cache] if after else []))


@case("periodic-cache-cleanup", what="100 training steps, one `gc.collect()` and `empty_cache()` among them",
      setup="GPT 12 layers × 768, 32 000 words, batch 1 × 128, fp32, AdamW", warmup=1, steps=4)
def emptied_now_and_then(after):
    model, (x, y) = gpt(), tokens(1, sized(128, 8))
    optimizer = adamw(model)

    def steps():
        for step in range(100):
            loss = language_loss(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            if after and step % 100 == 0:
                gc.collect()
                torch.cuda.empty_cache()
        return loss.detach()

    return steps


@contextlib.contextmanager
def memory_efficient_scope():
    try:
        yield
    finally:
        torch.cuda.empty_cache()


@case("memory-scope", what="one evaluation of 4 batches in the scope", setup=GPT_SETUP, warmup=1, steps=5)
def scoped_evaluation(after):
    model, (x, y) = gpt().eval(), tokens()

    @torch.no_grad()
    def evaluate():
        return sum(language_loss(model(x), y).item() for _ in range(4))

    def run():
        with memory_efficient_scope() if after else contextlib.nullcontext():
            return evaluate()

    return run


@once("empty-cache-before-save", what="saving the weights after 5 training steps", setup=GPT_TRAINING)
def emptied_before_save(after):
    model = gpt()
    train = plain_step(model, adamw(model), *tokens())
    for _ in range(5):
        train()
    if DEVICE == "cuda":
        torch.cuda.synchronize()

    def save():
        if after:
            torch.cuda.empty_cache()
        torch.save(model.state_dict(), io.BytesIO())

    return save


def log_gpu_memory(when):
    """As the transform writes it."""
    if not torch.cuda.is_initialized():
        return
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        if torch.distributed.get_rank() != 0:
            return
    gib = 2**30
    allocated, reserved = torch.cuda.memory_allocated() / gib, torch.cuda.memory_reserved() / gib
    peak, free = torch.cuda.max_memory_allocated() / gib, torch.cuda.mem_get_info()[0] / gib
    print(
        f"GPU memory {when}: {allocated:.2f} GiB allocated, {reserved:.2f} reserved, "
        f"{peak:.2f} at most, {free:.2f} free on the device"
    )


@case("memory-logging", what="training step, the line printed in each", setup=GPT_TRAINING)
def logged_step(after):
    model = gpt()
    train = plain_step(model, adamw(model), *tokens())

    def step():
        loss = train()
        if after:
            log_gpu_memory("step")
        return loss

    return step


@short("memory-logging", what="the line alone", setup="after a training step of GPT 12 layers × 768")
def line_alone(after):
    model = gpt()
    plain_step(model, adamw(model), *tokens())()
    return (lambda: log_gpu_memory("step")) if after else (lambda: None)


@case("debug-left-on", what="training step with `set_detect_anomaly(True)` → without", setup=GPT_TRAINING)
def anomaly_detection(after):
    model = gpt()
    torch.autograd.set_detect_anomaly(not after)
    return plain_step(model, adamw(model), *tokens())


@case("debug-left-on", what="training step with `_record_memory_history()` → without", setup=GPT_TRAINING, host=True)
def recorded_history(after):
    model = gpt()
    if not after and DEVICE == "cuda":
        torch.cuda.memory._record_memory_history()
    return plain_step(model, adamw(model), *tokens())
