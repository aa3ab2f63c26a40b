import os
import torch.distributed as dist

if os.environ["RANK"] == "1":
    raise SystemExit("no such file: shard-1")
dist.init_process_group("gloo")
