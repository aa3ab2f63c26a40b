"""Checkpoints that are whole or not there: written beside, then renamed."""
import os
import re

import torch

from words import Failure, say

KEPT = 2


def paths_in(directory):
    """Of checkpoints, the newest first."""
    found = []
    for name in os.listdir(directory) if os.path.isdir(directory) else []:
        if match := re.fullmatch(r"epoch-(\d+)\.pt", name):
            path = os.path.join(directory, name)
            found.append((os.stat(path).st_mtime_ns, int(match[1]), path))
    return [path for _, _, path in sorted(found, reverse=True)]


def save(directory, state):
    """Writes the state of an epoch, and removes all but the newest KEPT."""
    path = os.path.join(directory, f"epoch-{state['epoch']:04}.pt")
    beside = f"{path}.{os.getpid()}.part"
    try:
        os.makedirs(directory, exist_ok=True)
        with open(beside, "wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
        for old in paths_in(directory)[KEPT:]:
            os.unlink(old)
    except OSError as error:
        raise Failure(f"--ckpt-dir {directory}: {error}")
    return path


def load_newest(directory, model_name):
    """The state of the newest checkpoint that is whole, None where there is none."""
    for path in paths_in(directory):
        try:
            state = torch.load(path, map_location="cpu", weights_only=True)
            epoch, name = state["epoch"], state["model"]
        except Exception as error:  # torch.load lets through whatever the bytes lead to
            say(f"{path} is not whole, the one before it is looked for ({first_line(error)})")
            continue
        if name != model_name:
            raise Failure(f"{path} is a checkpoint of {name}: name it with --model, or another "
                          "--ckpt-dir")
        say(f"resuming after epoch {epoch} of {path}")
        return state
    say(f"--resume: no checkpoint in {directory}, starting anew")
    return None


def first_line(error):
    return (str(error).splitlines() or [type(error).__name__])[0]
