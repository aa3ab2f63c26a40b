import torch
import torch.distributed as dist

dist.init_process_group("gloo")
model = torch.nn.Linear(10, 1, bias=False)
torch.nn.init.zeros_(model.weight)
model = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
losses = []
for step in range(6):
    loss = (model(torch.ones(8, 10)) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
print(f"rank {dist.get_rank()} of {dist.get_world_size()}: loss {losses[0]:.3f} -> {losses[-1]:.3f}")
