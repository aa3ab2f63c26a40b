"""One of the processes that a launcher started (torch.distributed.launch, torchrun, muster launch), or
a PyTorchJob whose pods are one process each: DistributedDataParallel by RANK and WORLD_SIZE."""
import os
import sys

from words import exit_code_of
from utils import add_join_timeout, make_parser, place_from_environment, train_distributed


def main():
    parser = make_parser(__doc__)
    add_join_timeout(parser)
    parser.add_argument("--local_rank", "--local-rank", type=int, metavar="RANK",
                        help="from launchers that do not set LOCAL_RANK")
    args = parser.parse_args()
    train_distributed(args, place_from_environment(os.environ, args.local_rank), "env://")


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
