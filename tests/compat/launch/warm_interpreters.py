"""The resident interpreters of a test, and what differs from run to run of a program."""
import contextlib
import os
import re
import shutil
import signal
import tempfile


class Warm:
    """One runtime folder and home for all: the imports are done once."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="muster-warm-test-", dir="/tmp")
        os.mkdir(os.path.join(self.folder, "tmp"))
        # Those that imports read.
        self.env = {"HOME": self.folder, "TMPDIR": os.path.join(self.folder, "tmp"),
                    "XDG_RUNTIME_DIR": self.folder, "OMP_NUM_THREADS": "1",
                    "MUSTER_TEST_MARK": os.path.basename(self.folder)}

    def residents(self):
        """Pids and parents of the interpreters of this folder, keepers too."""
        found = {}
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
                with open(f"/proc/{entry}/environ", "rb") as file:
                    is_ours = f"XDG_RUNTIME_DIR={self.folder}\0".encode() in file.read()
                with open(f"/proc/{entry}/stat") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if is_ours and any(word.startswith(b"/muster-warm/") for word in words[1:3]):
                if fields[0] != "Z":
                    found[int(entry)] = int(fields[1])
        return found

    def keepers(self):
        found = self.residents()
        return [pid for pid, parent in found.items() if parent in found]

    def alone(self):
        """Without keepers."""
        found = self.residents()
        return [pid for pid, parent in found.items() if parent not in found]

    def close(self):
        for pid in self.residents():
            with contextlib.suppress(ProcessLookupError):  # it may be leaving
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)


def clean(err):
    """Without what differs from run to run: pids, times, addresses, folders of logs, helpers of
    multiprocessing that are ended or have just ended; and without the modules that are imported."""
    err = re.sub(r"\nExtension modules: .*\n|[=-]{20,}|muster-launch: \d+ process\(es\) outlived .*\n", "", err)
    err = re.sub(r"\(pid: \d+\)|pid \d+|PID \d+|Thread 0x\w+|0x[0-9a-f]{6,}", "#", err)
    return re.sub(r"\d{4}-\d\d-\d\d_[\d:]+|torchelastic_\w+|none_\w+|[0-9a-f-]{36}_\w+", "#", err)
