"""The paths of the tree and its programs, and the environment of trainings. MUSTER_BINARY and MUSTER_LAUNCH_BINARY name other programs
than those of build/."""
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BINARY = os.environ.get("MUSTER_BINARY", os.path.join(ROOT, "build", "muster"))
LAUNCHER = os.environ.get("MUSTER_LAUNCH_BINARY", os.path.join(os.path.dirname(BINARY), "muster-launch"))
# OpenMP's threads wait asleep. By default they wait busily, and where several tests train at once, most of all processors' time is
# such waiting: an epoch of examples/mnist-pytorch in two threads takes 80 s of it instead of 16.
TRAINING = {"OMP_WAIT_POLICY": "passive"}
# Pods have an environment of their own. Two threads each, which meet after each small step and wait for the busiest processor, take
# minutes beside other tests; one takes 10 s.
ONE_THREAD = "--env=OMP_NUM_THREADS=1"
