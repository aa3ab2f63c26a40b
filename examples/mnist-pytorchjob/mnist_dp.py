"""One process for all GPUs of one machine: DataParallel."""
import sys

import torch

from words import exit_code_of, say
from utils import Place, Training, choose_device, make_parser


def main():
    args = make_parser(__doc__).parse_args()
    place = Place()
    device, _ = choose_device(args, place)
    if device.type == "cuda":
        say(f"DataParallel over {torch.cuda.device_count()} GPU(s)")
    Training(args, place, device, is_data_parallel=device.type == "cuda").run()


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
