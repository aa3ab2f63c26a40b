"""Trains a small convolutional network on handwritten digits with DistributedDataParallel.

Started once per rank with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set, as the PyTorchJob
operator, torchrun and muster do; alone, it trains on one process.
"""
import argparse
import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import BatchSampler, DistributedSampler, SequentialSampler

import digits
from events import EventWriter

HERE = os.path.dirname(os.path.abspath(__file__))
WORLD_SIZE = int(os.environ.get("WORLD_SIZE", 1))
RANK = int(os.environ.get("RANK", 0))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 10, kernel_size=5, stride=2)
        self.conv2 = nn.Conv2d(10, 20, kernel_size=3)
        self.fc1 = nn.Linear(500, 50)
        self.fc2 = nn.Linear(50, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(F.max_pool2d(self.conv2(x), 2))
        x = F.relu(self.fc1(x.flatten(1)))
        return F.log_softmax(self.fc2(x), dim=1)


def batches(data, sampler, size, device):
    for indices in BatchSampler(sampler, size, drop_last=False):
        rows = [data[index] for index in indices]
        images = torch.stack([row[0] for row in rows])
        yield images.to(device), torch.stack([row[1] for row in rows]).to(device)


def train(args, model, device, data, optimizer, epoch, writer):
    model.train()
    sampler = DistributedSampler(data, num_replicas=WORLD_SIZE, rank=RANK, seed=args.seed)
    sampler.set_epoch(epoch)
    steps = -(-len(sampler) // args.batch_size)
    for step, (images, target) in enumerate(batches(data, sampler, args.batch_size, device)):
        optimizer.zero_grad()
        loss = F.nll_loss(model(images), target)
        loss.backward()
        optimizer.step()
        if step % args.log_interval == 0:
            print("Train Epoch: {} [{}/{} ({:.0f}%)]\tloss={:.4f}".format(
                epoch, step * args.batch_size, len(sampler), 100.0 * step / steps, loss.item()),
                flush=True)
            if writer:
                writer.scalar("loss", loss.item(), (epoch - 1) * steps + step)


def test(args, model, device, data, epoch, writer):
    model.eval()
    correct = 0
    with torch.no_grad():
        for images, target in batches(data, SequentialSampler(data), args.test_batch_size, device):
            correct += model(images).argmax(dim=1).eq(target).sum().item()
    accuracy = correct / len(data)
    print("\naccuracy={:.4f}\n".format(accuracy), flush=True)
    if writer:
        writer.scalar("accuracy", accuracy, epoch)


def parse_args():
    parser = argparse.ArgumentParser(description="Distributed training on handwritten digits")
    parser.add_argument("--backend", choices=("gloo", "nccl", "mpi"), default="gloo")
    parser.add_argument("--batch-size", type=int, default=64, help="images per step and rank")
    parser.add_argument("--data", default=HERE, help="folder with MNIST's IDX files, if there is one")
    parser.add_argument("--dir", default=os.path.join(HERE, "logs"), help="TensorBoard events go here")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--log-interval", type=int, default=10, help="steps between two lines")
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--momentum", type=float, default=0.5)
    parser.add_argument("--no-cuda", action="store_true", help="train on the CPU")
    parser.add_argument("--save-model", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--test-batch-size", type=int, default=1000)
    return parser.parse_args()


def choose_device(args):
    """CUDA where it is wanted and there, else the CPU; says which, and why, in one line."""
    if args.no_cuda or not torch.cuda.is_available():
        why = "--no-cuda" if args.no_cuda else "no CUDA device here"
        nccl = args.backend == "nccl"
        print(f"Using CPU ({why})" + (", gloo instead of nccl" if nccl else ""), flush=True)
        if nccl:
            args.backend = "gloo"
        return torch.device("cpu")
    print("Using CUDA", flush=True)
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)) % torch.cuda.device_count())


def main():
    args = parse_args()
    print(f"WORLD_SIZE: {WORLD_SIZE}, CURRENT_RANK: {RANK}", flush=True)
    print(f"args: {args}", flush=True)
    torch.manual_seed(args.seed)
    device = choose_device(args)
    if WORLD_SIZE > 1:
        print(f"Using distributed PyTorch with {args.backend} backend", flush=True)
        dist.init_process_group(args.backend)

    train_data, test_data = digits.load(args.data, WORLD_SIZE)
    model = Net().to(device)
    if WORLD_SIZE > 1:
        model = nn.parallel.DistributedDataParallel(
            model, device_ids=[device.index] if device.type == "cuda" else None)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=args.momentum)

    writer = EventWriter(args.dir) if RANK == 0 else None
    for epoch in range(1, args.epochs + 1):
        train(args, model, device, train_data, optimizer, epoch, writer)
        test(args, model, device, test_data, epoch, writer)
    if args.save_model and RANK == 0:
        torch.save(getattr(model, "module", model).state_dict(), os.path.join(args.dir, "mnist_cnn.pt"))
    if writer:
        writer.close()
    if WORLD_SIZE > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
