"""Loading, saving and what is held beside the model."""

from __future__ import annotations

import copy
import tempfile
from pathlib import Path

import torch
from torch import nn

from case import case, once
from workload import DEVICE, GPT_TRAINING, LLAMA_SETUP, adamw, gpt, llama_config, plain_step, sized, tokens

SCRATCH = Path(tempfile.gettempdir())


def big_layers():
    return nn.Sequential(*(nn.Linear(sized(8192, 16), sized(8192, 16), bias=False) for _ in range(4))).to(DEVICE)


@once("load-map-location", what="loading 1 GiB of weights and 2 GiB of AdamW state into a model and an optimizer that exist",
      setup="four linear layers of 8192 × 8192, fp32")
def loaded_to_host(after):
    path = SCRATCH / "checkpoint.pt"
    trained = big_layers()
    optimizer = adamw(trained)
    trained(torch.randn(1, sized(8192, 16), device=DEVICE)).sum().backward()
    optimizer.step()
    torch.save({"model": trained.state_dict(), "optimizer": optimizer.state_dict()}, path)
    del trained, optimizer
    model = big_layers()
    optimizer = adamw(model)

    def resume():
        checkpoint = torch.load(path, map_location="cpu") if after else torch.load(path)
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        first = model[0].weight[0, :8].detach().clone()
        path.unlink()
        return first

    return resume


@once("load-map-location", what="loading 1 GiB of weights into a model that exists, from a file that is held until the end; before: to the GPU by name",
      setup="four linear layers of 8192 × 8192, fp32")
def named_gpu_to_host(after):
    path = SCRATCH / "weights.pt"
    torch.save(big_layers().state_dict(), path)
    model = big_layers()

    def resume():
        weights = torch.load(path, map_location="cpu" if after else torch.device(DEVICE))
        model.load_state_dict(weights)
        first = model[0].weight[0, :8].detach().clone()
        path.unlink()
        return first

    return resume


@once("load-map-location", what="loading 2 GiB of AdamW state into an optimizer that exists: it takes the tensors as they are",
      setup="four linear layers of 8192 × 8192, fp32")
def state_loaded_to_host(after):
    path = SCRATCH / "optimizer.pt"
    trained = big_layers()
    optimizer = adamw(trained)
    trained(torch.randn(1, sized(8192, 16), device=DEVICE)).sum().backward()
    optimizer.step()
    torch.save(optimizer.state_dict(), path)
    del optimizer
    fresh = adamw(trained)

    def resume():
        fresh.load_state_dict(torch.load(path, map_location="cpu") if after else torch.load(path))
        path.unlink()
        return fresh.state[trained[0].weight]["exp_avg"][0, :8].clone()

    return resume


@case("best-state-cpu", what="training step beside the best weights, a copy on the GPU → on the host",
      setup=GPT_TRAINING)
def best_state_on_host(after):
    model = gpt()
    train = plain_step(model, adamw(model), *tokens())
    train()
    if after:
        best_state = {k: v.detach().cpu().clone() for k, v in model.state_dict().items()}
    else:
        best_state = copy.deepcopy(model.state_dict())

    def step(held=best_state):
        return train()

    return step


@case("best-state-cpu", what="taking the copy", setup="GPT 12 layers × 768, 32 000 words, fp32", warmup=1, steps=5)
def taking_the_copy(after):
    model = gpt()

    def copied():
        if after:
            best_state = {k: v.detach().cpu().clone() for k, v in model.state_dict().items()}
        else:
            best_state = copy.deepcopy(model.state_dict())
        return best_state["head.weight"][0, :4]

    return copied


@case("unused-buffer", what="forward of a module with a buffer that nothing reads → without it",
      setup="buffer of 10 000 × 4096, fp32", steps=5)
def idle_buffer(after):
    module, x = nn.Linear(64, 64), torch.randn(8, 64, device=DEVICE)
    if not after:
        module.register_buffer("history", torch.zeros(sized(10_000, 10), 4096))
    module.to(DEVICE)

    @torch.no_grad()
    def forward():
        return module(x)[0]

    return forward


def saved_llama(**options):
    """A model on disk, in a folder of its own."""
    from transformers import LlamaForCausalLM

    folder = tempfile.mkdtemp(prefix="memfix-")
    LlamaForCausalLM(llama_config(**options)).save_pretrained(folder)
    return folder


@once("low-cpu-mem-usage", what="`from_pretrained`, without the keyword → `low_cpu_mem_usage=True`",
      setup="Llama 12 layers × 1024, 32 000 words, fp32, from disk to the host", host=True)
def loaded_without_copy(after):
    folder = subprocess_saved()

    def load():
        from transformers import LlamaForCausalLM

        model = LlamaForCausalLM.from_pretrained(folder, **({"low_cpu_mem_usage": True} if after else {}))
        return model.lm_head.weight[0, :8]

    return load


def subprocess_saved():
    """Written by a child, so that the memory of writing it is not taken for that of loading it."""
    import os

    folder = tempfile.mkdtemp(prefix="memfix-")
    child = os.fork()
    if child == 0:
        try:
            from transformers import LlamaForCausalLM

            torch.manual_seed(0)
            LlamaForCausalLM(llama_config()).save_pretrained(folder)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    return folder


@once("transformers-dtype", what="`from_pretrained(…, torch_dtype=torch.bfloat16)` → `dtype=`",
      setup="Llama 12 layers × 1024, 32 000 words, to the GPU")
def renamed_dtype(after):
    folder = saved_llama()

    def load():
        from transformers import LlamaForCausalLM

        named = {"dtype": torch.bfloat16} if after else {"torch_dtype": torch.bfloat16}
        model = LlamaForCausalLM.from_pretrained(folder, **named).to(DEVICE)
        return [model.lm_head.weight[0, :8], float(model.dtype == torch.bfloat16)]

    return load


@case("max-memory-offload", what="forward pass of a model loaded with `device_map=\"auto\"`, all of it on the GPU → "
      "300 MiB of it at most", setup=f"{LLAMA_SETUP.replace('batch 8', 'batch 1')}, bf16, accelerate", warmup=1, steps=5)
def offloaded(after):
    from transformers import LlamaForCausalLM

    most = {0: sized(300, 10) * 2**20, "cpu": "30GB"} if after else {0: "100GB", "cpu": "30GB"}
    model = LlamaForCausalLM.from_pretrained(
        saved_llama(), dtype=torch.bfloat16, **({"device_map": "auto", "max_memory": most} if DEVICE == "cuda" else {})
    )
    x, _ = tokens(1)

    @torch.no_grad()
    def forward():
        return model(input_ids=x, use_cache=False).logits[0, 0, :16]

    return forward


@once("lazy-dataset", what="building a dataset and reading one epoch, processed at once → when asked for",
      setup="50 000 texts of 384 token ids, on the host", host=True)
def lazily_processed(after):
    texts = [f"question {index} context" for index in range(sized(50_000, 50))]

    def encode(text):
        return [(len(text) * position) % 32_000 for position in range(384)]

    class Texts(torch.utils.data.Dataset):
        def __init__(self, preprocess_all=False):
            self.dataset = texts
            self.examples = [self._process_example(text) for text in texts] if preprocess_all else None

        def _process_example(self, text):
            encoding = encode(text)
            return {"input_ids": torch.tensor(encoding), "labels": torch.tensor(encoding)}

        def __len__(self):
            return len(self.dataset)

        def __getitem__(self, index):
            if self.examples is not None:
                return self.examples[index]
            return self._process_example(self.dataset[index])

    def epoch():
        dataset = Texts(preprocess_all=not after)
        return sum(int(dataset[index]["input_ids"][1]) for index in range(len(dataset)))

    return epoch
