"""One process for each node, which starts the node's ranks itself with mp.spawn:
DistributedDataParallel without a launcher."""
import os
import sys

import torch
import torch.multiprocessing as mp

from words import Usage, exit_code_of
from join import parse_url
from utils import Place, add_join_timeout, make_parser, positive, train_distributed


def run_rank(local_rank, args):
    place = Place(args.node_rank * args.nproc_per_node + local_rank, args.nnodes * args.nproc_per_node,
                  local_rank, args.nproc_per_node)
    sys.exit(exit_code_of(lambda: train_distributed(args, place, args.dist_url)))


def main():
    parser = make_parser(__doc__)
    add_join_timeout(parser)
    add = parser.add_argument
    add("--nnodes", type=positive, default=1)
    add("--nproc_per_node", type=positive, help="default: one for each GPU, one where there is none")
    add("--node_rank", type=int, default=0, help="of this node: 0 to nnodes - 1")
    add("--dist-url", default="env://", metavar="URL",
        help="where the ranks meet: tcp://HOST:PORT of node 0, env:// for that from MASTER_ADDR and "
             "MASTER_PORT, or file:///PATH on a disk that all nodes share")
    args = parser.parse_args()
    if not 0 <= args.node_rank < args.nnodes:
        raise Usage(f"--node_rank={args.node_rank} is none of the {args.nnodes} nodes 0 to {args.nnodes - 1}")
    if args.nproc_per_node is None:
        args.nproc_per_node = max(1, 0 if args.no_cuda else torch.cuda.device_count())
    if args.nnodes * args.nproc_per_node > 1:
        parse_url(args.dist_url, os.environ)
    try:
        mp.spawn(run_rank, args=(args,), nprocs=args.nproc_per_node)
    except mp.ProcessExitedException as error:
        # Its own line is on the screen already.
        sys.exit(error.exit_code if error.exit_code > 0 else 128 - error.exit_code)


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
