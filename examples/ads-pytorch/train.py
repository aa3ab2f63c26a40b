"""Trains a small convolutional network on CIFAR-10 with DistributedDataParallel.

Started once for each process with MASTER_ADDR, MASTER_PORT, WORLD_SIZE, RANK and LOCAL_RANK set, as
`opctl` does; alone, it trains in one process.
"""
import argparse
import datetime
import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

import cifar


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 3)
        self.conv2 = nn.Conv2d(32, 64, 3)
        self.conv3 = nn.Conv2d(64, 128, 3)
        self.pool = nn.MaxPool2d(2, 2)
        self.dropout = nn.Dropout(0.2)
        self.fc1 = nn.Linear(128 * 6 * 6, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, len(cifar.CLASSES))

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = self.pool(F.relu(self.conv2(x)))
        x = self.pool(F.relu(self.conv3(x)))
        x = self.dropout(F.relu(self.fc1(x.flatten(1))))
        return self.fc3(F.relu(self.fc2(x)))


def train_epoch(model, loader, optimizer, epoch, device, rank, print_freq):
    model.train()
    running_loss = 0.0
    for step, (images, labels) in enumerate(loader):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
        if step % print_freq == 0:
            print("Rank %d: [%d, %5d] loss: %.3f"
                  % (rank, epoch + 1, step + 1, running_loss / (print_freq if step else 1)), flush=True)
            running_loss = 0.0


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    right = torch.zeros(len(cifar.CLASSES))
    count = torch.zeros(len(cifar.CLASSES))
    for images, labels in loader:
        hit = model(images.to(device)).argmax(1).cpu() == labels
        right += torch.bincount(labels[hit], minlength=len(right))
        count += torch.bincount(labels, minlength=len(count))
    print("Accuracy of the network on the %d test images: %d %%"
          % (count.sum(), 100 * right.sum() / count.sum()))
    for name, good, of in zip(cifar.CLASSES, right, count.clamp(min=1)):
        print("Accuracy of %5s : %2d %%" % (name, 100 * good / of))


def profiler(sync_dir):
    """Writes a trace for TensorBoard below the folder that is synced; see README.md."""
    return torch.profiler.profile(
        schedule=torch.profiler.schedule(wait=1, warmup=1, active=3, repeat=1),
        on_trace_ready=torch.profiler.tensorboard_trace_handler(os.path.join(sync_dir, "logs")))


class Stepping:
    """A loader that tells a profiler of each step."""

    def __init__(self, loader, prof):
        self.loader, self.prof = loader, prof

    def __iter__(self):
        for batch in self.loader:
            yield batch
            self.prof.step()


def main(args):
    world_size = int(os.environ.get("WORLD_SIZE", 1))
    rank = int(os.environ.get("RANK", 0))
    local_rank = int(os.environ.get("LOCAL_RANK", 0))
    is_distributed = world_size > 1
    has_cuda = torch.cuda.is_available()
    print("CUDA is available." if has_cuda else "CUDA is not available.", flush=True)
    device = torch.device("cuda", local_rank) if has_cuda else torch.device("cpu")
    if has_cuda:
        torch.cuda.set_device(device)
    if is_distributed:
        dist.init_process_group(args.backend, timeout=datetime.timedelta(minutes=args.timeout))

    train_set, test_set, source = cifar.load(args.data_dir)
    if rank == 0:
        print(f"Data: {source}, {len(train_set)} images to train on, {len(test_set)} to test", flush=True)
    sampler = DistributedSampler(train_set) if is_distributed else None
    train_loader = DataLoader(train_set, args.batch_size, shuffle=sampler is None, sampler=sampler,
                              num_workers=args.workers)
    test_loader = DataLoader(test_set, args.batch_size, num_workers=args.workers)

    torch.manual_seed(0)
    model = Net().to(device)
    trained = model
    if is_distributed:
        trained = nn.parallel.DistributedDataParallel(model, [local_rank] if has_cuda else None)
    optimizer = torch.optim.SGD(model.parameters(), args.learning_rate, args.momentum)

    prof = profiler(os.environ.get("OCI__SYNC_DIR", args.output_dir)) if args.profile else None
    if prof:
        prof.start()
    for epoch in range(args.epochs):
        print("Rank %d: Starting epoch %d" % (rank, epoch), flush=True)
        if sampler:
            sampler.set_epoch(epoch)
        loader = Stepping(train_loader, prof) if prof else train_loader
        train_epoch(trained, loader, optimizer, epoch, device, rank, args.print_freq)
    if prof:
        prof.stop()
    print("Rank %d: Finished Training" % rank, flush=True)

    if rank == 0:
        os.makedirs(args.output_dir, exist_ok=True)
        torch.save(model.state_dict(), os.path.join(args.output_dir, "cifar_net.pt"))
        evaluate(model, test_loader, device)
    if is_distributed:
        dist.barrier()
        dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", help="folder of CIFAR-10; without it a small set is drawn")
    parser.add_argument("--epochs", default=10, type=int)
    parser.add_argument("--batch-size", default=16, type=int, help="of each process")
    parser.add_argument("--workers", default=2, type=int, help="loading processes of each process")
    parser.add_argument("--learning-rate", default=0.001, type=float)
    parser.add_argument("--momentum", default=0.9, type=float)
    parser.add_argument("--output-dir", default="outputs", help="where cifar_net.pt goes")
    parser.add_argument("--print-freq", default=200, type=int, help="steps between two lines")
    parser.add_argument("--backend", default="gloo", help="gloo, nccl or mpi")
    parser.add_argument("--timeout", default=30, type=int, help="minutes to wait for the others")
    parser.add_argument("--profile", action="store_true", help="trace some steps for TensorBoard")
    main(parser.parse_args())
