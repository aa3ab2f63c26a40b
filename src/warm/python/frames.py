# Where the main thread of a rank stands, read from its memory: a fork has its interpreter where its
# parent has it. How CPython lays out frames differs from release to release, and is looked up in
# this very process, whose frames are known. Where that fails, nothing is said.
import ctypes
import os
import struct
import sys

POINTER = ctypes.sizeof(ctypes.c_void_p)
TAGS = 3  # of references, from 3.14 on
FRAME_WORDS = 16
CODE_WORDS = 40
THREAD_WORDS = 64
MOST_FRAMES = 100
LONGEST_TEXT = 4096


class Unknown(Exception):
    """Of a layout, or of a process that went on while it was read."""


def words_at(memory, address, count):
    try:
        return struct.unpack("%dP" % count, os.pread(memory, count * POINTER, address))
    except (OSError, OverflowError, struct.error):
        raise Unknown()


def index_of(words, value):
    found = [at for at, word in enumerate(words) if word & ~TAGS == value]
    if not found:
        raise Unknown()
    return found[0]


def base_of(memory, frame):
    """What the interpreter runs: the frame object itself up to 3.10, then what it points to."""
    if sys.version_info < (3, 11):
        return id(frame)
    for word in words_at(memory, id(frame), 6)[2:]:
        try:
            if word > 4096:
                index_of(words_at(memory, word, FRAME_WORDS), id(frame.f_code))
                return word
        except Unknown:
            pass
    raise Unknown()


class Layout:
    def __init__(self):
        thread_of = ctypes.pythonapi.PyThreadState_Get
        thread_of.restype = ctypes.c_void_p
        self.thread = thread_of()
        memory = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            self.find_code(memory)
            self.find_frame(memory)
            self.find_current(memory)
            own = self.frames(memory)
        finally:
            os.close(memory)
        if [name for name, _, _ in own[:3]] != ["words_at", "frames", "__init__"]:
            raise Unknown()

    def find_code(self, memory):
        codes = [function.__code__ for function in (words_at, Layout.find_code, Layout.frames)]
        parts = [os.pread(memory, CODE_WORDS * POINTER, id(code)) for code in codes]

        def common(value_of, form="P"):
            for at in range(2 * POINTER, CODE_WORDS * POINTER, struct.calcsize(form)):
                if all(struct.unpack_from(form, part, at)[0] == value_of(code)
                       for code, part in zip(codes, parts)):
                    return at
            raise Unknown()
        self.name = common(lambda code: id(code.co_name))
        self.filename = common(lambda code: id(code.co_filename))
        self.first_line = common(lambda code: code.co_firstlineno, "i")
        try:
            self.lines = common(lambda code: id(code.co_linetable))
        except (AttributeError, Unknown):
            self.lines = None

    def find_frame(self, memory):
        # The innermost one goes on meanwhile.
        self.compare_frames(memory, sys._getframe())

    def compare_frames(self, memory, frame):
        callers = [frame, frame.f_back]
        bases = [base_of(memory, each) for each in callers]
        both = [words_at(memory, base, FRAME_WORDS) for base in bases]
        self.code = index_of(both[0], id(callers[0].f_code))
        self.back = index_of(both[0], bases[1])
        # A pointer into the code, or behind it by what all are behind.
        distances = [[word - id(each.f_code) - each.f_lasti for word in words]
                     for each, words in zip(callers, both)]
        self.last = [(at, first) for at, (first, second) in enumerate(zip(*distances))
                     if first == second and 0 < first < 1024]

    def find_current(self, memory):
        """From the thread: at once, or by way of a structure that stands for a call from C."""
        base = base_of(memory, sys._getframe())
        words = struct.unpack("%dP" % THREAD_WORDS,
                              os.pread(memory, THREAD_WORDS * POINTER, self.thread))
        if base in words:
            self.way = (words.index(base),)
            return
        for at, word in enumerate(words):
            try:
                pair = struct.unpack("2P", os.pread(memory, 2 * POINTER, word))
            except (OSError, OverflowError, struct.error):
                continue
            if base in pair:
                self.way = (at, pair.index(base))
                return
        raise Unknown()

    def frames(self, memory):
        """Name, file and line or "?", the innermost first."""
        at = self.thread
        for step in self.way:
            at, = words_at(memory, at + step * POINTER, 1)
        found = []
        while at & ~TAGS and len(found) < MOST_FRAMES:
            words = words_at(memory, at & ~TAGS, FRAME_WORDS)
            # Calls from C may have one without code.
            if words_at(memory, words[self.code] & ~TAGS, 2)[1] == id(type(dump.__code__)):
                found.append(self.describe(memory, words))
            at = words[self.back]
        return [frame for frame in found if frame[1] != "<shim>"]

    def describe(self, memory, words):
        code = words[self.code] & ~TAGS
        text = [text_at(memory, words_at(memory, code + at, 1)[0])
                for at in (self.name, self.filename)]
        try:
            return text[0], text[1], self.line_of(memory, code, words)
        except (Unknown, AttributeError, ValueError, IndexError):
            return text[0], text[1], "?"

    def line_of(self, memory, code, words):
        at, distance = self.last[0]
        last = words[at] - code - distance
        first = struct.unpack("i", os.pread(memory, 4, code + self.first_line))[0]
        table = words_at(memory, code + self.lines, 1)[0]
        size = words_at(memory, table + 2 * POINTER, 1)[0]
        if size > 1 << 20:
            raise Unknown()
        data = os.pread(memory, size, table + bytes.__basicsize__ - 1)
        again = (lambda: 0).__code__.replace(co_linetable=data, co_firstlineno=first)
        return [line for begin, end, line in again.co_lines() if begin <= last < end][0]


def text_at(memory, address):
    """ASCII alone."""
    size = words_at(memory, address + 2 * POINTER, 1)[0]
    if size > LONGEST_TEXT:
        raise Unknown()
    data = os.pread(memory, size + 1, address + sys.getsizeof("") - 1)
    if len(data) != size + 1 or data[-1] != 0 or not all(32 <= byte < 127 for byte in data[:-1]):
        raise Unknown()
    return data[:-1].decode()


def dump(pid):
    """As py-spy prints it; "" when nothing can be said."""
    try:
        memory = os.open("/proc/%d/mem" % pid, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        lines = ["    %s (%s:%s)" % frame for frame in Layout().frames(memory)]
    except (Unknown, OSError):
        return ""
    finally:
        os.close(memory)
    return "\n".join(['Thread %d: "MainThread"' % pid] + lines)
