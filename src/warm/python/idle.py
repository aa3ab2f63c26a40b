# Idle resident interpreters (resident.py) of one folder: only a few of them are kept, and not in
# too much memory. Each that becomes idle asks the oldest ones to leave.
import os
import signal

SHARE = 8  # what is idle holds at most one part in so many of the machine's memory
ASK = signal.SIGURG  # ignored by whoever does not expect it


def memory_of(pid):
    """Bytes that are free when it has gone."""
    with open("/proc/%d/status" % pid) as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("RssAnon:")) << 10


class Idle:
    """The interpreter of this process among them. A lock file holds the pid of one that is idle, since
    the file was written."""

    def __init__(self, lock, kept):
        self.lock, self.kept = lock, kept
        self.is_asked = False  # to leave
        signal.signal(ASK, self.ask)

    def ask(self, *ignored):
        self.is_asked = True

    def begin(self):
        self.write(b"%d" % os.getpid())
        self.ask_the_oldest()

    def end(self):
        self.write(b"")

    def write(self, text):
        try:
            file = os.open(self.lock, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
        except OSError:
            return  # whoever removed it wants no others
        os.write(file, text)
        os.close(file)

    def ask_the_oldest(self):
        found = sorted(self.all())
        room = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // SHARE
        memory = sum(size for _, _, size in found)
        while len(found) > 1 and (len(found) > self.kept or memory > room):
            _, pid, size = found.pop(0)
            memory -= size
            try:
                os.kill(pid, ASK)
            except ProcessLookupError:
                pass

    def all(self):
        """When it became idle, pid and memory of each."""
        folder = os.path.dirname(self.lock)
        for name in os.listdir(folder):
            key, end = os.path.splitext(name)
            if end != ".lock":
                continue
            try:
                with open(os.path.join(folder, name), "rb") as file:
                    since, pid = os.fstat(file.fileno()).st_mtime_ns, int(file.read() or 0)
                with open("/proc/%d/cmdline" % pid, "rb") as file:
                    if os.fsencode("/muster-warm/" + key) in file.read().split(b"\0"):
                        yield since, pid, memory_of(pid)
            except (OSError, ValueError):
                continue  # it left without a word
