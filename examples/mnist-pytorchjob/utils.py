"""What the three programs share: their flags, the choice of a device, and the training itself."""
import argparse
import os
import time
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F

import checkpoints
import images
import join
from words import Failure, Usage, say
from models import MODELS

HERE = os.path.dirname(os.path.abspath(__file__))
VARIABLES = ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "LOCAL_RANK")
TEST_BATCH = 500
LINES_OF_AN_EPOCH = 10
MOMENTUM = 0.9


@dataclass
class Place:
    """Of one process in the training."""
    rank: int = 0
    world_size: int = 1
    local_rank: int = 0
    local_world_size: int = 1


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return number


def make_parser(description):
    parser = argparse.ArgumentParser(description=description, allow_abbrev=False)
    add = parser.add_argument
    add("--epochs", type=positive, default=1)
    add("--batch-size", type=positive, default=256,
        help="images of a step, of all processes together: every shape takes the same steps")
    add("--lr", type=float, default=0.02)
    add("--seed", type=int, default=1)
    add("--model", choices=MODELS, default="resnet18")
    add("--dataset", choices=("FashionMNIST", "MNIST"), default="FashionMNIST")
    add("--data", default=os.path.join(HERE, "data"), help="directory of the IDX files")
    add("--limit", type=positive, help="train on the first LIMIT images only")
    add("--ckpt-dir", default=os.path.join(HERE, "ckpts"))
    add("--resume", action="store_true", help="go on after the newest checkpoint that is whole")
    add("--no-cuda", action="store_true", help="train on the CPU")
    return parser


def add_join_timeout(parser):
    parser.add_argument("--join-timeout", type=positive, default=300, metavar="SECONDS",
                        help="how long to wait for the other processes at the start")


def choose_device(args, place):
    """(device, backend): a GPU of its own for each process and nccl, else the CPU and gloo."""
    if args.no_cuda or not torch.cuda.is_available():
        why = "--no-cuda" if args.no_cuda else "no CUDA device here"
        if place.rank == 0:
            say(f"{why}: training on the CPU" + (", with gloo" if place.world_size > 1 else ""))
        torch.set_num_threads(max(1, torch.get_num_threads() // place.local_world_size))
        return torch.device("cpu"), "gloo"
    count = torch.cuda.device_count()
    if max(place.local_world_size, place.local_rank + 1) > count:
        raise Usage(f"--nproc_per_node={place.local_world_size} is more than the {count} GPU(s) that this "
                    "node shows (CUDA_VISIBLE_DEVICES): one process takes one GPU; lower it, or train on "
                    "the CPU with --no-cuda")
    torch.cuda.set_device(place.local_rank)
    if place.rank == 0:
        say("training with CUDA" + (" and nccl" if place.world_size > 1 else ""))
    return torch.device("cuda", place.local_rank), "nccl"


def say_place(place):
    """What this process was told, as one line: the table of docs/launch.md can be checked."""
    told = " ".join(f"{name}={os.environ.get(name, '-')}" for name in VARIABLES)
    say(f"rank {place.rank} of {place.world_size}, local rank {place.local_rank}: {told}")


def whole_number(environment, name, otherwise):
    text = environment.get(name, "")
    if not text:
        return otherwise
    if not text.isdigit():
        raise Failure(f'{name}="{text}" is not a number')
    return int(text)


def place_from_environment(environment, local_rank=None):
    """RANK and WORLD_SIZE of a launcher or a PyTorchJob; alone where there is neither."""
    place = Place(whole_number(environment, "RANK", 0), whole_number(environment, "WORLD_SIZE", 1),
                  whole_number(environment, "LOCAL_RANK", local_rank or 0),
                  whole_number(environment, "LOCAL_WORLD_SIZE", 1))
    if place.rank >= place.world_size:
        raise Failure(f"RANK={place.rank} is none of the ranks of WORLD_SIZE={place.world_size}: 0 to "
                      f"{place.world_size - 1}")
    return place


class Training:
    """One process's part of it. `store` is where the processes met, None of one alone."""

    def __init__(self, args, place, device, store=None, is_data_parallel=False):
        self.args, self.place, self.device, self.store = args, place, device, store
        torch.manual_seed(args.seed)
        self._load_data()
        model = MODELS[args.model]().to(device)
        self.optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=MOMENTUM)
        self.first_epoch = self._resume(model) if args.resume else 1
        self.model = model
        if store is not None:
            on = [device.index] if device.type == "cuda" else None
            self.model = nn.parallel.DistributedDataParallel(model, device_ids=on)
        elif is_data_parallel:
            self.model = nn.DataParallel(model)
        self.own = model

    def _load_data(self):
        args, place = self.args, self.place
        self.train_data, self.test_data, origin = images.load(args.data, args.dataset)
        if place.rank == 0:
            say(f"data: {origin}")
        if self.store is not None:
            join.agree(self.store, place.rank, "data set",
                       images.fingerprint(self.train_data, self.test_data))
        if args.limit:
            self.train_data = tuple(part[:args.limit] for part in self.train_data)
        count = len(self.train_data[1])
        if args.batch_size % place.world_size:
            raise Usage(f"--batch-size {args.batch_size} cannot be shared out evenly among "
                        f"{place.world_size} processes")
        if args.batch_size > count:
            raise Usage(f"--batch-size {args.batch_size} is more than the {count} images to train on")
        sample = self.train_data[0][:10_000].float() / 255
        self.mean, self.deviation = float(sample.mean()), float(sample.std())

    def _resume(self, model):
        """Rank 0 reads; the others have it from there, and need no disk in common."""
        state = [None]
        if self.place.rank == 0:
            state = [checkpoints.load_newest(self.args.ckpt_dir, self.args.model)]
        if self.store is not None:
            dist.broadcast_object_list(state, src=0, device=self.device)
        if state[0] is None:
            return 1
        model.load_state_dict(state[0]["weights"])
        for name, weight in model.named_parameters():
            self.optimizer.state[weight]["momentum_buffer"] = state[0]["momentum"][name].to(self.device)
        return state[0]["epoch"] + 1

    def _state(self, epoch):
        momentum = {name: self.optimizer.state[weight]["momentum_buffer"]
                    for name, weight in self.own.named_parameters()}
        return {"epoch": epoch, "model": self.args.model, "weights": dict(self.own.state_dict()),
                "momentum": momentum}

    def _batch(self, data, indices):
        pixels = data[0][indices].to(self.device).float() / 255
        return (pixels - self.mean) / self.deviation, data[1][indices].long().to(self.device)

    def _sum(self, *numbers):
        """Of all processes."""
        total = torch.tensor(numbers, dtype=torch.float64, device=self.device)
        if self.store is not None:
            dist.all_reduce(total)
        return total.tolist()

    def run(self):
        """Returns (loss, accuracy) on the test images after the last epoch."""
        args = self.args
        if self.first_epoch > args.epochs and self.place.rank == 0:
            say(f"all of --epochs {args.epochs} are done already")
        for epoch in range(self.first_epoch, args.epochs + 1):
            begun = time.monotonic()
            count = self._train(epoch)
            if self.place.rank == 0:
                took = time.monotonic() - begun
                say(f"epoch {epoch} took {took:.2f} s, {count / took:.0f} images/s")
                checkpoints.save(args.ckpt_dir, self._state(epoch))
        loss, accuracy = self._test()
        if self.place.rank == 0:
            say(f"test: loss={loss:.6f} accuracy={accuracy:.4f}")
        return loss, accuracy

    def _train(self, epoch):
        args, place = self.args, self.place
        self.model.train()
        order = torch.Generator().manual_seed(args.seed * 1_000_003 + epoch)
        shuffled = torch.randperm(len(self.train_data[1]), generator=order)
        steps = len(shuffled) // args.batch_size  # the rest of an epoch that fills no step is left
        for step in range(steps):
            # The same images for every shape; this process has its share of them.
            whole = shuffled[step * args.batch_size:(step + 1) * args.batch_size]
            pixels, labels = self._batch(self.train_data, whole[place.rank::place.world_size])
            self.optimizer.zero_grad()
            loss = F.cross_entropy(self.model(pixels), labels)
            loss.backward()
            self.optimizer.step()
            if place.rank == 0 and step % max(1, steps // LINES_OF_AN_EPOCH) == 0:
                say(f"epoch {epoch} [{step}/{steps}] loss={loss.item():.4f}")
        return steps * args.batch_size

    def _test(self):
        self.model.eval()
        loss = right = 0.0
        mine = torch.arange(self.place.rank, len(self.test_data[1]), self.place.world_size)
        with torch.no_grad():
            for indices in mine.split(TEST_BATCH):
                pixels, labels = self._batch(self.test_data, indices)
                logits = self.own(pixels)
                loss += F.cross_entropy(logits, labels, reduction="sum").item()
                right += logits.argmax(dim=1).eq(labels).sum().item()
        loss, right, count = self._sum(loss, right, len(mine))
        return loss / count, right / count


def train_distributed(args, place, url):
    """DistributedDataParallel among the processes that meet at `url`; alone, without it."""
    say_place(place)
    device, backend = choose_device(args, place)
    if place.world_size == 1:
        return Training(args, place, device).run()
    with join.group(url, place.rank, place.world_size, backend, args.join_timeout) as store:
        return Training(args, place, device, store).run()
