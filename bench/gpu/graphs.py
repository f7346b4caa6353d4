"""Graphs and outputs that are kept longer than they are needed."""

from __future__ import annotations

import contextlib

import torch
from torch import nn

from case import case
from workload import (
    BATCH,
    DEVICE,
    GPT_SETUP,
    GPT_TRAINING,
    LENGTH,
    LLAMA_SETUP,
    WIDTH,
    adamw,
    gpt,
    language_loss,
    llama,
    sized,
    tokens,
)


@case("no-grad", "volatile-variable", what="evaluation step", setup=GPT_SETUP)
def evaluation_step(after):
    model, (x, y) = gpt().eval(), tokens()

    def validate():
        logits = model(x)
        total = language_loss(logits, y).item() * y.size(0)
        correct = (logits.argmax(dim=-1) == y).sum().item()
        return [total, correct]

    return torch.no_grad()(validate) if after else validate


@case("no-grad", what="a step of evaluation, under `no_grad` → under `inference_mode`", setup=GPT_SETUP)
def inference_step(after):
    model, (x, y) = gpt().eval(), tokens()

    def validate():
        with torch.inference_mode() if after else torch.no_grad():
            return language_loss(model(x), y).item()

    return validate


@case("no-grad", what="evaluation that keeps the logits of 6 batches", setup=GPT_SETUP, warmup=1, steps=2)
def collected_logits(after):
    model, (x, _) = gpt().eval(), tokens()

    def predict():
        logits = [model(x) for _ in range(6)]
        return logits[-1][0, 0]

    return torch.no_grad()(predict) if after else predict


@case("no-grad", what="norms of the parameters, for a log", setup="GPT 12 layers × 768, fp32")
def parameter_norms(after):
    model = gpt()

    def norms():
        return [parameter.norm().item() for parameter in model.parameters()]

    return torch.no_grad()(norms) if after else norms


@case("no-grad-block", what="evaluation loop of 4 batches", setup=GPT_SETUP, warmup=1, steps=3)
def evaluation_loop(after):
    model, (x, y) = gpt().eval(), tokens()

    def evaluate():
        val_loss, correct = 0.0, 0
        with torch.no_grad() if after else contextlib.nullcontext():
            for _ in range(4):
                logits = model(x)
                val_loss += language_loss(logits, y).item()
                correct += (logits.argmax(dim=-1) == y).sum().item()
        return [val_loss, correct]

    return evaluate


@case("no-grad-block", what="evaluation loop that adds up losses with their graphs: `val_loss += loss`", setup=GPT_SETUP, warmup=1, steps=3)
def evaluation_total(after):
    model, (x, y) = gpt().eval(), tokens()

    def evaluate():
        val_loss = 0.0
        with torch.no_grad() if after else contextlib.nullcontext():
            for _ in range(4):
                val_loss += language_loss(model(x), y)
        return val_loss

    return evaluate


@case("no-grad-block", what="one forward after each step of training, held through the next", setup=GPT_TRAINING, steps=5)
def forward_after_step(after):
    model, (x, y) = gpt(), tokens()
    optimizer = adamw(model)
    held = []

    def step():
        loss = language_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        model.eval()
        with torch.no_grad() if after else contextlib.nullcontext():
            logits = model(x)
        model.train()
        # The variable keeps its value until the next round of the loop sets it.
        held[:] = [logits]
        return language_loss(logits, y).detach()

    return step


@case("no-grad-block", what="evaluation by a loop that trains where a flag says so", setup=GPT_SETUP, warmup=1, steps=3)
def flagged_evaluation(after):
    model, (x, y) = gpt().eval(), tokens()

    def evaluate(train=False):
        total = 0.0
        with torch.set_grad_enabled(bool(train)) if after else contextlib.nullcontext():
            for _ in range(4):
                logits = model(x)
                loss = language_loss(logits, y)
                if train:
                    loss.backward()
                total += loss.item()
        return total

    return evaluate


def generator(width):
    layers = [nn.ConvTranspose2d(128, width, 4, 1, 0), nn.BatchNorm2d(width), nn.ReLU()]
    for _ in range(4):
        layers += [nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.Upsample(scale_factor=2)]
    return nn.Sequential(*layers, nn.Conv2d(width, 3, 3, padding=1), nn.Tanh()).to(DEVICE)


def discriminator(width):
    layers = [nn.Conv2d(3, width, 4, 2, 1), nn.LeakyReLU(0.2)]
    for _ in range(3):
        layers += [nn.Conv2d(width, width, 4, 2, 1), nn.BatchNorm2d(width), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(width * 16, 1)).to(DEVICE)


@case(
    "no-grad-block",
    what="a step of the discriminator on `netD(netG(z).detach())`",
    setup="GAN of convolutions, 64 × 64 pixels, batch 256, fp32",
    steps=5,
)
def discriminator_step(after):
    net_g, net_d = generator(128), discriminator(128)
    optimizer = torch.optim.Adam(net_d.parameters())
    real, noise = torch.randn(256, 3, 64, 64, device=DEVICE), torch.randn(256, 128, 1, 1, device=DEVICE)
    bce, ones = nn.BCEWithLogitsLoss(), torch.ones(256, 1, device=DEVICE)

    def step():
        optimizer.zero_grad()
        loss = bce(net_d(real), ones)
        if after:
            with torch.no_grad():
                output = net_g(noise)
            score = net_d(output.detach())
        else:
            score = net_d(net_g(noise).detach())
        loss = loss + bce(score, torch.zeros_like(ones))
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


@case("frozen-teacher", what="distillation step", setup=f"teacher and student: {GPT_TRAINING}")
def distillation_step(after):
    student, teacher, (x, y) = gpt(), gpt().eval(), tokens()
    optimizer = adamw(student)

    def step():
        logits = student(x)
        with torch.no_grad() if after else contextlib.nullcontext():
            wanted = teacher(x)
        loss = language_loss(logits, y) + nn.functional.mse_loss(logits, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


@case(
    "frozen-teacher",
    what="distillation step whose targets are detached already",
    setup=f"teacher and student: {GPT_TRAINING}",
)
def detached_distillation_step(after):
    student, teacher, (x, y) = gpt(), gpt().eval(), tokens()
    optimizer = adamw(student)

    def step():
        with torch.no_grad() if after else contextlib.nullcontext():
            wanted = teacher(x)
        logits = student(x)
        loss = language_loss(logits, y) + nn.functional.mse_loss(logits, wanted.detach())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def convolutions(*channels):
    pairs = zip(channels, channels[1:])
    return nn.Sequential(*[each for pair in pairs for each in (nn.Conv2d(*pair, 3, padding=1), nn.ReLU())])


@case(
    "frozen-teacher",
    what="perceptual loss: the features of the target image only",
    setup="features of 8 convolutions of 64 channels, generator of 3, batch 16 × 3 × 256 × 256, fp32, AdamW",
)
def perceptual_step(after):
    size = sized(256, 16)
    with torch.device(DEVICE):
        features = convolutions(3, *[64] * 8).eval()
        generator = convolutions(3, 64, 64, 3)
        low, high = torch.randn(2, 16, 3, size, size)
    optimizer = adamw(generator)

    def step():
        made = features(generator(low))
        with torch.no_grad() if after else contextlib.nullcontext():
            real = features(high)
        loss = nn.functional.l1_loss(made, real)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


@case("detach-accumulated-loss", what="`total += loss` in a loop without backward", setup=GPT_SETUP, steps=5)
def total_without_backward(after):
    model, (x, y) = gpt().eval(), tokens()
    total = 0.0

    def step():
        nonlocal total
        loss = language_loss(model(x), y)
        total += loss.detach() if after else loss
        return total.detach()

    return step


@case("detach-accumulated-loss", what="`total += loss` after `loss.backward()`", setup=GPT_TRAINING)
def total_after_backward(after):
    model, (x, y) = gpt(), tokens()
    optimizer, total = adamw(model), 0.0

    def step():
        nonlocal total
        loss = language_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += loss.detach() if after else loss
        return loss.detach()

    return step


def sharpness(logits):
    """A second figure of the same output, which is not trained on."""
    return logits.logsumexp(dim=-1).square().mean()


@case("detach-accumulated-loss", what="a second metric of the output added up after backward", setup=GPT_TRAINING)
def second_metric(after):
    model, (x, y) = gpt(), tokens()
    optimizer, total = adamw(model), 0.0

    def step():
        nonlocal total
        logits = model(x)
        loss = language_loss(logits, y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += sharpness(logits).detach() if after else sharpness(logits)
        return loss.detach()

    return step


@case("detach-appended-loss", what="`losses.append(loss)` in a loop without backward", setup=GPT_SETUP, steps=5)
def appended_without_backward(after):
    model, (x, y) = gpt().eval(), tokens()
    losses = []

    def step():
        loss = language_loss(model(x), y)
        losses.append(loss.detach() if after else loss)
        return loss.detach()

    return step


@case("detach-appended-loss", what="`losses.append(loss)` after `loss.backward()`", setup=GPT_TRAINING)
def appended_after_backward(after):
    model, (x, y) = gpt(), tokens()
    optimizer, losses = adamw(model), []

    def step():
        optimizer.zero_grad()
        loss = language_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach() if after else loss)
        return loss.detach()

    return step


@case("detach-appended-loss", what="a list that keeps the logits of 6 batches", setup=GPT_SETUP, warmup=1, steps=2)
def appended_logits(after):
    model, (x, _) = gpt().eval(), tokens()

    def predict():
        kept = []
        for _ in range(6):
            logits = model(x)
            kept.append(logits.detach() if after else logits)
        return kept[-1][0, 0]

    return predict


@case("detach-logged-tensor", what="loss and a second metric kept in a dictionary", setup=GPT_TRAINING)
def history(after):
    model, (x, y) = gpt(), tokens()
    optimizer = adamw(model)
    kept = {"loss": [], "sharpness": []}

    def step():
        logits = model(x)
        loss = language_loss(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if after:
            kept["loss"].append(loss.detach())
            kept["sharpness"].append(sharpness(logits).detach())
        else:
            kept["loss"].append(loss)
            kept["sharpness"].append(sharpness(logits))
        return loss.detach()

    return step


@case("explicit-detach-item", what="`total += loss.item()` in a training step", setup=GPT_TRAINING)
def detached_item(after):
    model, (x, y) = gpt(), tokens()
    optimizer, total = adamw(model), 0.0

    def step():
        nonlocal total
        loss = language_loss(model(x), y)
        total += loss.detach().item() if after else loss.item()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()

    return step


@case("explicit-retain-graph", what="training step", setup=GPT_TRAINING)
def explicit_default(after):
    model, (x, y) = gpt(), tokens()
    optimizer = adamw(model)

    def step():
        loss = language_loss(model(x), y)
        if after:
            loss.backward(retain_graph=False)
        else:
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()

    return step


@case("retain-graph", what="training step whose graph is kept for nothing", setup=GPT_TRAINING)
def needless_retain(after):
    model, (x, y) = gpt(), tokens()
    optimizer = adamw(model)
    loss = None

    def step():
        nonlocal loss
        loss = language_loss(model(x), y)
        optimizer.zero_grad()
        if after:
            loss.backward()
        else:
            loss.backward(retain_graph=True)
        optimizer.step()
        return loss.detach()

    return step


@case("del-step-tensors", what="3 training steps in a loop", setup=GPT_TRAINING, warmup=1, steps=4)
def deleted_in_the_loop(after):
    model, (x, y) = gpt(), tokens()
    optimizer = adamw(model)

    def epoch():
        running = 0.0
        for _ in range(3):
            optimizer.zero_grad()
            outputs = model(x)
            loss = language_loss(outputs, y)
            loss.backward()
            optimizer.step()
            running += loss.item()
            if after:
                del outputs, loss
        return running

    return epoch


@case("del-step-tensors", what="3 training steps in a loop, the loss computed by the model",
      setup=f"{LLAMA_SETUP}, fp32, AdamW", warmup=1, steps=4)
def deleted_outputs_of_hugging_face(after):
    model, (x, _) = llama(), tokens()
    optimizer = adamw(model)

    def epoch():
        for _ in range(3):
            optimizer.zero_grad()
            outputs = model(input_ids=x, labels=x)
            outputs.loss.backward()
            optimizer.step()
            if after:
                del outputs

    return epoch


@case("del-step-tensors", what="evaluation step behind the loop, in the same function", setup=GPT_TRAINING)
def left_behind_the_loop(after):
    model, (x, y) = gpt(), tokens()
    optimizer = adamw(model)
    outputs = model(x)
    loss = language_loss(outputs, y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    left = () if after else (outputs, loss)

    @torch.no_grad()
    def evaluate(held=left):
        return language_loss(model(x), y).item()

    return evaluate


def kept_features(model, after):
    """The outputs of all blocks, by a forward hook."""
    features = {}

    def keep(name):
        def hook(module, inputs, output):
            features[name] = output.detach() if after else output

        return hook

    for name, block in model.blocks.named_children():
        block.register_forward_hook(keep(name))
    return features


@case("hook-detach", what="forward pass with gradients on, the outputs of all blocks stored", setup=GPT_SETUP)
def features_of_forward(after):
    model, (x, y) = gpt().eval(), tokens()
    features = kept_features(model, after)

    def step():
        loss = language_loss(model(x), y).item()
        return [loss, len(features)]

    return step


@case("hook-detach", what="training step, the outputs of all blocks stored", setup=GPT_TRAINING)
def features_of_training(after):
    model, (x, y) = gpt(), tokens()
    optimizer = adamw(model)
    features = kept_features(model, after)

    def step():
        loss = language_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return [loss.detach(), len(features)]

    return step


class RunningStatistic(nn.Module):
    def __init__(self, of, after, momentum=0.9):
        super().__init__()
        self.of, self.momentum, self.after = of, momentum, after
        self.value = torch.zeros((), device=DEVICE)

    def forward(self, features):
        seen = self.of(features).detach() if self.after else self.of(features)
        self.value = self.value * self.momentum + seen * (1 - self.momentum)
        return features


def with_statistic(of, after, backward):
    project = nn.Linear(WIDTH, WIDTH).to(DEVICE)
    statistic, x = RunningStatistic(of, after), torch.randn(BATCH * LENGTH, WIDTH, device=DEVICE)

    def step():
        loss = statistic(project(x).relu()).square().mean()
        if backward:
            loss.backward()
            project.zero_grad()
        return [loss.detach(), statistic.value.detach()]

    return step


@case("ema-detach", what="forward and backward of a module with a running maximum", setup="8192 features × 768, fp32")
def running_maximum(after):
    return with_statistic(torch.Tensor.max, after, backward=True)


@case("ema-detach", what="forward and backward of a module with a running mean, which keeps no tensor", setup="8192 features × 768, fp32")
def running_mean(after):
    return with_statistic(torch.Tensor.mean, after, backward=True)


@case("ema-detach", what="forward alone with a running mean, gradients on", setup="8192 features × 768, fp32")
def running_mean_of_forward(after):
    return with_statistic(torch.Tensor.mean, after, backward=False)


class RangeObserver(nn.Module):
    def __init__(self, after, bits=8):
        super().__init__()
        self.levels, self.after = 2**bits - 1, after
        if after:
            self.register_buffer("low", torch.zeros(1), persistent=False)
            self.register_buffer("high", torch.ones(1), persistent=False)
        else:
            self.low, self.high = torch.zeros(1, device=DEVICE), torch.ones(1, device=DEVICE)

    def forward(self, x):
        if self.after:
            with torch.no_grad():
                self.low.mul_(0.9).add_(x.min(), alpha=0.1)
                self.high.mul_(0.9).add_(x.max(), alpha=0.1)
        else:
            self.low = self.low * 0.9 + x.min() * 0.1
            self.high = self.high * 0.9 + x.max() * 0.1
        scale = max((self.high.item() - self.low.item()) / self.levels, 1e-8)
        return torch.round(x / scale) * scale


@case(
    "register-buffer-ema",
    what="forward and backward with an observer of the activations' range",
    setup="activations 8192 × 768, fp32",
)
def observed_range(after):
    project = nn.Linear(WIDTH, WIDTH).to(DEVICE)
    observer, x = RangeObserver(after).to(DEVICE), torch.randn(BATCH * LENGTH, WIDTH, device=DEVICE)

    def step():
        observer(project(x)).square().mean().backward()
        project.zero_grad()
        return [observer.low.detach(), observer.high.detach()]

    return step


@case("eval-outputs-to-cpu", what="evaluation that keeps the logits of 6 batches", setup=GPT_SETUP, warmup=1, steps=2)
def outputs_to_host(after):
    model, (x, _) = gpt().eval(), tokens()

    @torch.no_grad()
    def predict():
        preds = []
        for _ in range(6):
            logits = model(x)
            preds.append(logits.cpu() if after else logits)
        return preds[-1][0, 0]

    return predict
