"""Copies between host and GPU, and the waits that come with them."""

from __future__ import annotations

import math

import torch
from torch import nn

from case import case, once, short
from workload import DEVICE, sized

TERMS = 128


class Filter(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.sigma = nn.Parameter(torch.randn(4)), nn.Parameter(torch.ones(1))


def filters():
    return nn.ModuleList(Filter() for _ in range(TERMS)).to(DEVICE)


def differentiated(penalty, module):
    def step():
        loss = penalty()
        loss.backward()
        module.zero_grad()
        return loss.detach()

    return step


def summed(modules, constant):
    total_loss = 0.0
    count = 0
    for params in modules:
        target = constant(params.weight.device)
        loss = torch.mean((params.weight - target) ** 2)
        total_loss += loss
        count += 1
    return total_loss / count


def stacked(modules, constant):
    losses = []
    for params in modules:
        target = constant(params.weight.device)
        loss = torch.mean((params.weight - target) ** 2)
        losses.append(loss)
    return torch.stack(losses).mean()


@short("stack-losses", what="128 scalar losses against a CPU constant moved in the loop, forward and backward",
      setup="128 terms of 4 numbers, fp32")
def stacked_losses(after):
    modules = filters()

    def penalty():
        identity = torch.tensor([0.0, 1.0, 0.0, 0.0])
        return (stacked if after else summed)(modules, identity.to)

    return differentiated(penalty, modules)


@short("stack-losses", what="128 scalar losses against a constant created once on the device, forward and backward",
      setup="128 terms of 4 numbers, fp32")
def stacked_losses_on_device(after):
    modules = filters()

    def penalty():
        identity = torch.tensor([0.0, 1.0, 0.0, 0.0]).to(DEVICE)
        return (stacked if after else summed)(modules, lambda device: identity)

    return differentiated(penalty, modules)


@short("hoist-constant-tensor", what="128 scalar losses against a CPU constant moved in the loop, forward and backward",
      setup="128 terms of 4 numbers, fp32")
def hoisted_constant(after):
    modules = filters()

    def penalty():
        total = 0.0
        count = 0
        identity = torch.tensor([0.0, 1.0, 0.0, 0.0])
        for params in modules:
            coeffs = params.weight
            if after:
                identity = identity.to(coeffs.device)
                target = identity
            else:
                target = identity.to(coeffs.device)
            total = total + torch.mean((coeffs - target) ** 2)
            count += 1
        return total / max(count, 1)

    return differentiated(penalty, modules)


@short("hoist-constant-tensor", what="100 steps that each build class weights of 1000 classes on the device",
      setup="weights of 1000 classes, batch 256, fp32")
def hoisted_weights(after):
    logits, labels = torch.randn(256, 1000, device=DEVICE), torch.randint(1000, (256,), device=DEVICE)
    values = [1.0 + 0.001 * index for index in range(1000)]

    def steps():
        total = torch.zeros((), device=DEVICE)
        if after:
            weights = torch.tensor(values, device=DEVICE)
        for _ in range(100):
            if not after:
                weights = torch.tensor(values, device=DEVICE)
            total += nn.functional.cross_entropy(logits, labels, weight=weights)
        return total

    return steps


@short("device-guard", what="128 calls of a forward that moves two parameters, which are on the GPU already",
      setup="activations of 64 × 64, fp32")
def guarded_moves(after):
    modules, z = filters(), torch.randn(64, 64, device=DEVICE)

    def apply(params):
        if after:
            coeffs = params.weight
            if coeffs.device != z.device:
                coeffs = coeffs.to(z.device)
            sigma = params.sigma
            if sigma.device != z.device:
                sigma = sigma.to(z.device)
        else:
            coeffs = params.weight.to(z.device)
            sigma = params.sigma.to(z.device)
        x = torch.tanh(z / (sigma.abs() + 1e-6))
        return coeffs[0] + coeffs[1] * x + coeffs[2] * torch.sin(math.pi * x) + coeffs[3] * torch.cos(math.pi * x)

    @torch.no_grad()
    def forward():
        for params in modules:
            out = apply(params)
        return out[0, :4]

    return forward


@short("device-guard", what="the 256 moves alone", setup="parameters on the GPU already")
def guards_alone(after):
    modules = filters()
    device = next(modules.parameters()).device

    def moves():
        for params in modules:
            if after:
                coeffs = params.weight
                if coeffs.device != device:
                    coeffs = coeffs.to(device)
                sigma = params.sigma
                if sigma.device != device:
                    sigma = sigma.to(device)
            else:
                coeffs = params.weight.to(device)
                sigma = params.sigma.to(device)
        return coeffs

    return moves


@short("device-guard", what="the 256 moves alone, parameters left on the CPU", setup="parameters on the CPU")
def guards_of_host_parameters(after):
    modules = filters().cpu()

    def moves():
        for params in modules:
            if after:
                coeffs = params.weight
                if coeffs.device != torch.device(DEVICE, 0):
                    coeffs = coeffs.to(DEVICE)
                sigma = params.sigma
                if sigma.device != torch.device(DEVICE, 0):
                    sigma = sigma.to(DEVICE)
            else:
                coeffs = params.weight.to(DEVICE)
                sigma = params.sigma.to(DEVICE)
        return coeffs

    return moves


@short("factory-device", what="64 tensors of 1 MiB, `torch.zeros(…).to(device)` → `device=`", setup="fp32")
def created_on_device(after):
    def create():
        if after:
            kept = [torch.zeros(512, 512, device=DEVICE) for _ in range(64)]
        else:
            kept = [torch.zeros(512, 512).to(DEVICE) for _ in range(64)]
        return kept[-1][0]

    return create


@short("factory-device", what="forward of a pooler with a mask of its lengths", setup="states 32 × 512 × 768, fp32")
def created_mask(after):
    states = torch.randn(sized(32, 2), sized(512, 8), 768, device=DEVICE)
    lengths, score = torch.randint(1, states.size(1), (states.size(0),), device=DEVICE), nn.Linear(768, 1).to(DEVICE)

    @torch.no_grad()
    def forward():
        longest = states.size(1)
        steps = torch.arange(longest, device=states.device) if after else torch.arange(longest).to(states.device)
        mask = steps[None, :] < lengths[:, None]
        weights = score(states).squeeze(-1).masked_fill(~mask, -1e9).softmax(dim=-1)
        return (weights.unsqueeze(-1) * states).sum(dim=1)

    return forward


@once("factory-device", what="`arange(0, 100, 0.1)`, made on the host → on the GPU: the largest difference of a value",
      setup="fp32; `linspace`, `full` and an integer `arange` are the same")
def ranges_differ(after):
    def difference():
        if not after:
            return "0"
        same = [
            (torch.linspace(0, 1, 1001), torch.linspace(0, 1, 1001, device=DEVICE)),
            (torch.full((9,), 0.1), torch.full((9,), 0.1, device=DEVICE)),
            (torch.arange(1000), torch.arange(1000, device=DEVICE)),
        ]
        apart = [float((host - made.cpu()).abs().max()) for host, made in same]
        made = torch.arange(0, 100, 0.1, device=DEVICE).cpu()
        text = f"{float((made - torch.arange(0, 100, 0.1)).abs().max()):.1e}"
        return text if max(apart) == 0 else f"{text}, and the others {max(apart):.1e}"

    return difference


class Positions(nn.Module):
    def __init__(self, length, width, after):
        super().__init__()
        if after:
            self.register_buffer("table", torch.linspace(0.0, 1.0, length), persistent=False)
        else:
            self.table = torch.linspace(0.0, 1.0, length)
        self.project = nn.Linear(1, width)

    def forward(self, x):
        steps = self.table[: x.size(1)].to(x.device)
        return x + self.project(steps[:, None])


@short("register-tensor-buffer", what="128 calls of a forward that moves a table of positions",
      setup="table of 1024 numbers, activations 1 × 1024 × 64, fp32")
def registered_table(after):
    module, x = Positions(1024, 64, after).to(DEVICE), torch.randn(1, 1024, 64, device=DEVICE)

    @torch.no_grad()
    def forward():
        for _ in range(128):
            out = module(x)
        return out[0, 0]

    return forward


@case("dataset-cuda", what="16 batches of 64 samples, moved one by one in the dataset → batch by batch in the loop",
      setup="samples of 3 × 64 × 64, fp32, no workers", warmup=1, steps=5)
def moved_samples(after):
    frames = torch.randn(1024, 3, 64, 64)
    frames = frames.pin_memory() if DEVICE == "cuda" else frames

    class Frames(torch.utils.data.Dataset):
        def __len__(self):
            return len(frames)

        def __getitem__(self, index):
            return frames[index] if after else frames[index].to(DEVICE)

    loader = torch.utils.data.DataLoader(Frames(), batch_size=64)

    def epoch():
        for batch in loader:
            if after:
                batch = batch.to(DEVICE, non_blocking=True)
        return batch[0, 0, 0]

    return epoch
