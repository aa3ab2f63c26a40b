"""What Oracle's `ads opctl run --dry-run --nobuild` printed of train.yaml files, one a class of difference.

`MUSTER_RECORD=1 make test-ads-peer` writes the .out files anew; without it the original is held against them.
"""
import os

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "dry_runs")
NAMES = sorted(name.removesuffix(".yaml") for name in os.listdir(FOLDER) if name.endswith(".yaml"))
OF_UNKNOWN_KEYS = {"aliases_are_shown", "keys_that_are_no_texts", "shape_details_of_the_service"}


def path(name, kind):
    return os.path.join(FOLDER, f"{name}.{kind}")


def read(name, kind):
    with open(path(name, kind), encoding="utf-8", newline="") as file:
        return file.read()
