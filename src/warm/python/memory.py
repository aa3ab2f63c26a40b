# Memory of a resident interpreter (resident.py), arranged so that forks of it are cheap.
import ctypes
import errno

HUGE_PAGE = 2 << 20
MADV_COLLAPSE = 25


def is_forbidden():
    """Huge pages, by who runs this machine."""
    try:
        with open("/sys/kernel/mm/transparent_hugepage/enabled") as file:
            return "[never]" in file.read()
    except OSError:
        return True


class HugePages:
    """What the interpreter has allocated, a huge page at a time: a fork copies one entry for each
    instead of 512. Takes a second in all, in steps of some milliseconds."""

    def __init__(self, libc):
        self.madvise = libc.madvise
        self.madvise.argtypes = [ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]
        self.left = []
        if is_forbidden():
            return
        with open("/proc/self/maps") as file:
            for line in file:
                words = line.split()
                if words[1].startswith("rw") and (len(words) < 6 or words[5] == "[heap]"):
                    low, high = (int(word, 16) for word in words[0].split("-"))
                    self.left += range(-(-low // HUGE_PAGE) * HUGE_PAGE, high - HUGE_PAGE + 1,
                                       HUGE_PAGE)

    def take_one(self):
        # EINVAL: nothing is there yet, or the kernel is older than 6.1.
        failed = self.madvise(self.left.pop(), HUGE_PAGE, MADV_COLLAPSE) != 0
        if failed and ctypes.get_errno() != errno.EINVAL:
            self.left.clear()
