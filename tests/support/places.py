"""Where the tree and its programs are; MUSTER_BINARY and MUSTER_LAUNCH_BINARY name others than those of build/."""
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BINARY = os.environ.get("MUSTER_BINARY", os.path.join(ROOT, "build", "muster"))
LAUNCHER = os.environ.get("MUSTER_LAUNCH_BINARY", os.path.join(os.path.dirname(BINARY), "muster-launch"))
