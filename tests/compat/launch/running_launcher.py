"""muster-launch as a program: started, watched and, whatever happens, ended."""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from places import LAUNCHER, TRAINING
import waiting


class Launcher:
    """Runs the launcher in a folder of its own; every process that it started carries a mark."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="muster-launch-test-", dir="/tmp")
        self.mark = os.path.basename(self.folder)
        os.mkdir(self.path("tmp"))
        self.env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": self.folder, "LANG": "C.UTF-8",
                    "TMPDIR": self.path("tmp"), "PYTHON_EXEC": sys.executable,
                    "MUSTER_TEST_MARK": self.mark, **TRAINING}
        self.started = []

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def script(self, text, name="main.py"):
        with open(self.path(name), "w") as file:
            file.write(text)
        os.chmod(self.path(name), 0o755)
        return self.path(name)

    def start(self, *args, env=None, argv0=None, **options):
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                   "stderr": subprocess.PIPE, "text": True, "cwd": self.folder, **options}
        process = subprocess.Popen([argv0 or LAUNCHER, *map(str, args)], executable=LAUNCHER,
                                   env={**self.env, **(env or {})}, **options)
        self.started.append(process)
        return process

    def run(self, *args, code=0, env=None, **options):
        process = self.start(*args, env=env, **options)
        process.out, process.err = process.communicate(timeout=waiting.PATIENCE)
        if code is not None:
            assert process.returncode == code, f"{process.out}\n{process.err}"
        return process

    def processes(self):
        """Of this test, the launcher's own two included; zombies are not counted."""
        found = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    is_ours = f"MUSTER_TEST_MARK={self.mark}\0".encode() in file.read()
                with open(f"/proc/{entry}/stat") as file:
                    is_ours = is_ours and file.read().rsplit(")", 1)[1].split()[0] != "Z"
            except OSError:
                continue
            if is_ours:
                found.append(int(entry))
        return found

    def await_none_left(self):
        self.await_true(lambda: not self.processes(), "processes are left")

    @staticmethod
    def await_true(claim, what):
        waiting.await_true(claim, what)

    def await_file(self, *parts):
        return waiting.await_file(self.path(*parts))

    def await_line(self, process, text):
        """Reads stdout up to the line that holds `text`."""
        while line := process.stdout.readline():
            if text in line:
                return line
        raise AssertionError(f"no {text!r}: {process.stderr.read()}")

    def agent(self, process):
        """The pid of the launcher's second process."""
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
            return int(file.read().split()[0])

    def close(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.communicate()
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):  # it may be leaving
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)
