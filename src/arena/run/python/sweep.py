"""Runs the trials of a sweep in a pod of another cluster, as muster itself does on its own machine (src/arena/run/sweep_runner.h),
with what an image with Python 3.6 has. sweep.jsonl beside this file has the trials."""
import argparse
import collections
import json
import math
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import time

from logged_scalars import scalars_below
from printed_metrics import label_of_rank, metrics_of

HERE = os.path.dirname(os.path.abspath(__file__))
DRAIN_SECONDS = 1
MAX_LINE = 64 << 10
MAX_LAST_LINE = 500
MAX_METRICS = 100
SHOWN_FAILURES = 20
# `muster show` finds the results by it. Every line of a trial stands behind a bracket.
ENDED = "trial ended: "
# A kubelet keeps the last 10 MiB of a log: results further back are printed again at the end.
RETELL_AFTER = 4 << 20
STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def label_of(trial):
    return " ".join("%s=%s" % (name, value) for name, value in trial["values"])


def allowed_cpus():
    """How many CPUs this pod may use: a limit makes them fewer than the node has."""
    cpus = len(os.sched_getaffinity(0))
    for paths in (["/sys/fs/cgroup/cpu.max"],
                  ["/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/cpu.cfs_period_us"]):
        try:
            quota, period = (int(word) for path in paths for word in open(path).read().split())
        except (OSError, ValueError):  # the other kind of cgroups, or "max"
            continue
        if quota > 0:
            cpus = min(cpus, -(-quota // period))
    return max(1, cpus)


def free_port():
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return str(made.getsockname()[1])


def kill_group(group, number):
    try:
        os.killpg(group, number)
    except OSError:  # it has ended
        pass


def provide_python():
    """Debian's images have python3 only, and trials are started by `python`."""
    if shutil.which("python") is None:
        folder = os.path.join(HERE, "bin")
        os.makedirs(folder, exist_ok=True)
        if not os.path.lexists(os.path.join(folder, "python")):
            os.symlink(sys.executable, os.path.join(folder, "python"))
        os.environ["PATH"] = os.environ.get("PATH", os.defpath) + ":" + folder


class Results:
    """The trials that ended, by index: in trials.jsonl, so that they are not run again where the files outlive the pod."""

    def __init__(self, files):
        self.by_index = {}
        self.file = open(os.path.join(files, "trials.jsonl"), "a+b", 0)
        self.file.seek(0)
        content = self.file.read()
        for line in content.split(b"\n"):
            try:
                result = json.loads(line.decode())
                self.by_index[result["index"]] = result
            except (ValueError, KeyError, TypeError):  # such as one that a crash cut short
                continue
        if content and not content.endswith(b"\n"):
            self.file.write(b"\n")

    def add(self, result):
        self.by_index[result["index"]] = result
        line = json.dumps(result).encode() + b"\n"
        while line:
            line = line[self.file.write(line):]

    def sync(self):
        os.fsync(self.file.fileno())


class Running:
    def __init__(self, trial, slot, folder):
        self.trial, self.slot, self.folder = trial, slot, folder
        self.process = self.output = None
        self.prefix = ("[%s] " % label_of(trial)).encode()
        os.makedirs(os.path.join(folder, "files"), exist_ok=True)
        self.log = open(os.path.join(folder, "log"), "ab", 0)
        self.line = b""
        self.last_line = ""
        self.metrics = {}
        self.printed_by = {}  # the lowest rank that has printed a metric
        self.started = time.time()
        self.exit_code = None
        self.drained_by = None  # when what it left behind is not waited for any longer

    def take_metrics(self, pairs):
        for name, value in pairs:
            if name in self.metrics or len(self.metrics) < MAX_METRICS:
                self.metrics[name] = value

    def take_metrics_of_line(self, line):
        """Of ranks that print the same metric the lowest counts: which one is last is by chance."""
        rank, text = label_of_rank(line)
        found = metrics_of(text)
        for name, _ in found:
            self.printed_by[name] = min(rank, self.printed_by.get(name, rank))
        self.take_metrics(pair for pair in found if self.printed_by[pair[0]] == rank)

    def result(self):
        return {"index": self.trial["index"], "values": dict(self.trial["values"]), "exitCode": self.exit_code,
                "metrics": {name: value if math.isfinite(value) else str(value) for name, value in self.metrics.items()},
                "lastLine": self.last_line, "started": int(self.started * 1000), "ended": int(time.time() * 1000)}


class Runner:
    def __init__(self, trials, files, parallel, gpus):
        self.files, self.gpus = files, gpus
        self.results = Results(files)
        self.trials = trials
        self.waiting = collections.deque(self.trials_to_run())
        self.slots = [None] * parallel
        self.by_pid = {}
        self.selector = selectors.DefaultSelector()
        self.stopped_by = None
        self.failure = None
        self.told = 0

    def trials_to_run(self):
        """The trials that have not ended; if all have, the failed ones, for the job is tried again (--retry)."""
        results = self.results.by_index
        left = [trial for trial in self.trials if trial["index"] not in results]
        return left or [trial for trial in self.trials if results[trial["index"]]["exitCode"] != 0]

    def tell(self, line):
        self.told += len(line)
        left = memoryview(line)
        while left:
            left = left[os.write(1, left):]

    def tell_results(self):
        for index in sorted(self.results.by_index):
            self.tell((ENDED + json.dumps(self.results.by_index[index]) + "\n").encode())

    def run(self):
        wakes, woken = os.pipe()
        for end in (wakes, woken):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(woken)
        for number in STOPPING + (signal.SIGCHLD,):
            signal.signal(number, lambda *_: None)
        self.selector.register(wakes, selectors.EVENT_READ)
        self.tell_results()
        self.fill()
        while any(self.slots):
            ends = [running.drained_by for running in self.slots if running and running.drained_by]
            wait = max(0, min(ends) - time.monotonic()) if ends else None
            for key, _ in self.selector.select(wait):
                if key.data:
                    self.read(key.data)
                else:
                    self.take_signals(os.read(wakes, 4096))
            for running in list(self.slots):
                if running and running.drained_by and running.drained_by <= time.monotonic():
                    self.close_output(running)
            self.fill()
        self.results.sync()

    def take_signals(self, numbers):
        for number in numbers:
            if number == signal.SIGCHLD:
                self.reap()
            elif number in STOPPING:
                self.stopped_by = number
                self.waiting.clear()
                self.kill_all(number)

    def kill_all(self, number):
        for running in self.slots:
            if running and running.exit_code is None:
                kill_group(running.process.pid, number)

    def fail(self, failure):
        """What keeps trials from being run and noted at all, as a full disk does."""
        self.failure = self.failure or failure
        self.waiting.clear()
        self.kill_all(signal.SIGTERM)

    def fill(self):
        for slot, running in enumerate(self.slots):
            if running is None and self.waiting:
                try:
                    self.begin(self.waiting.popleft(), slot)
                except OSError as failure:
                    self.fail(failure)

    def environment_of(self, trial, folder, slot):
        made = dict(os.environ, SWEEP_INDEX=str(trial["index"]), MUSTER_RUN_DIR=os.path.join(folder, "files"))
        made.update(("SWEEP_" + name.upper(), value) for name, value in trial["values"])
        # torchrun of the image takes the second pair, which is the job's.
        port = free_port()
        made.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, PET_MASTER_ADDR="127.0.0.1", PET_MASTER_PORT=port)
        if self.gpus:
            share = max(1, len(self.gpus) // len(self.slots))
            own = (self.gpus[(slot * share + i) % len(self.gpus)] for i in range(share))
            made["CUDA_VISIBLE_DEVICES"] = ",".join(own)
        return made

    def begin(self, trial, slot):
        running = Running(trial, slot, os.path.join(self.files, "trials", str(trial["index"])))
        running.output, written = os.pipe()
        os.set_blocking(running.output, False)
        try:
            running.process = subprocess.Popen(
                ["/bin/sh", "-c", trial["command"]], stdin=subprocess.DEVNULL, stdout=written, stderr=written,
                start_new_session=True, env=self.environment_of(trial, running.folder, slot))
        finally:
            os.close(written)
        self.slots[slot] = self.by_pid[running.process.pid] = running
        self.selector.register(running.output, selectors.EVENT_READ, running)

    def read(self, running):
        if running.output is None:
            return
        try:
            content = os.read(running.output, 64 << 10)
        except BlockingIOError:
            return
        if not content:
            self.close_output(running)
            return
        try:
            running.log.write(content)
        except OSError as failure:
            self.fail(failure)
        lines = (running.line + content).split(b"\n")
        for line in lines[:-1]:
            self.take_line(running, line)
        running.line = lines[-1]
        while len(running.line) >= MAX_LINE:
            self.take_line(running, running.line[:MAX_LINE])
            running.line = running.line[MAX_LINE:]

    def take_line(self, running, line):
        # Of a progress bar what stands last.
        line = line[:-1] if line.endswith(b"\r") else line
        line = line[line.rfind(b"\r") + 1:]
        self.tell(running.prefix + line + b"\n")
        text = line.decode("utf-8", "replace").strip()
        running.take_metrics_of_line(text)
        if text:
            running.last_line = text[:MAX_LAST_LINE]

    def close_output(self, running):
        running.drained_by = None
        if running.output is not None:
            self.selector.unregister(running.output)
            os.close(running.output)
            running.output = None
            if running.line:
                self.take_line(running, running.line)
                running.line = b""
        self.finish(running)

    def reap(self):
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            running = self.by_pid.pop(pid, None)
            if running is None:  # an orphan: this is the first process of the pod
                continue
            running.exit_code = 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
            running.process.returncode = running.exit_code
            # What it left behind may hold its output open.
            kill_group(pid, signal.SIGKILL)
            running.drained_by = time.monotonic() + DRAIN_SECONDS
            self.finish(running)

    def finish(self, running):
        if running.exit_code is None or running.output is not None or self.slots[running.slot] is not running:
            return
        self.slots[running.slot] = None
        running.log.close()
        # A trial that was stopped is run again.
        if self.failure or (self.stopped_by and running.exit_code != 0):
            return
        running.take_metrics(sorted(scalars_below(os.path.join(running.folder, "files")).items()))
        result = running.result()
        try:
            self.results.add(result)
        except OSError as failure:
            self.fail(failure)
            return
        self.tell((ENDED + json.dumps(result) + "\n").encode())

    def end(self):
        """Prints how the trials went; returns the exit code."""
        if self.told > RETELL_AFTER:
            self.tell_results()
        ended = [self.results.by_index[trial["index"]] for trial in self.trials if trial["index"] in self.results.by_index]
        by_index = {trial["index"]: trial for trial in self.trials}
        failed = [result for result in ended if result["exitCode"] != 0]
        lines = ["%d of %d trial%s ended, %d of them failed"
                 % (len(ended), len(self.trials), "" if len(self.trials) == 1 else "s", len(failed))]
        told = ["%s exited with code %d%s" % (label_of(by_index[result["index"]]), result["exitCode"],
                                              result["lastLine"] and ": " + result["lastLine"])
                for result in failed[:SHOWN_FAILURES]]
        lines += ["  " + failure for failure in told]
        if len(failed) > SHOWN_FAILURES:
            lines.append("  and %d more" % (len(failed) - SHOWN_FAILURES))
        # The sweep's exit code is that of the first failure, and the last line becomes the reason of the job's failure.
        if len(failed) > 1:
            lines.append("the first of them: " + told[0])
        self.tell(("\n".join(lines) + "\n").encode())
        if self.stopped_by:
            return 128 + signal.SIGTERM
        return failed[0]["exitCode"] if failed else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--parallel", type=int, default=0)
    parser.add_argument("--gpus", type=int, default=0)
    options = parser.parse_args()
    with open(os.path.join(HERE, "sweep.jsonl"), encoding="utf-8") as file:
        trials = [json.loads(line) for line in file]
    given = [gpu for gpu in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if gpu]
    gpus = given or [str(number) for number in range(options.gpus)]
    # Without a run volume: beside the code, as long as the pod is there.
    files = os.environ.get("MUSTER_RUN_DIR") or os.path.join(HERE, "files")
    try:
        os.makedirs(files, exist_ok=True)
        provide_python()
        runner = Runner(trials, files, options.parallel or len(gpus) or allowed_cpus(), gpus)
        runner.run()
        if runner.failure:
            raise runner.failure
    except OSError as failure:
        sys.exit("the sweep cannot go on: %s" % failure)
    return runner.end()


if __name__ == "__main__":
    sys.exit(main())
