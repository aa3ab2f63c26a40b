"""A program on a terminal of its own, as in a window."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time


class Terminal:
    """Ends the program with its `with`; `options` are Popen's."""

    def __init__(self, command, env, cwd, rows=24, columns=80, **options):
        self.master, slave = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(slave)
        self.slave = slave

        def take_terminal():
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        self.process = subprocess.Popen(command, env=env, cwd=cwd, stdin=slave, stdout=slave,
                                         stderr=slave, start_new_session=True,
                                         preexec_fn=take_terminal, **options)
        self.text = b""

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.master, text.encode())

    def expect(self, wanted, timeout=60):
        """Reads until `wanted` comes; answers what came before it."""
        deadline = time.monotonic() + timeout
        while wanted.encode() not in self.text:
            ready, _, _ = select.select([self.master], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"no {wanted!r} in {self.text!r}"
            self.text += os.read(self.master, 65536)
        before, _, self.text = self.text.partition(wanted.encode())
        return before.decode()

    def end(self):
        """The exit code; the terminal is as it was."""
        code = self.process.wait(timeout=60)
        assert termios.tcgetattr(self.slave) == self.before, "the terminal is not as it was"
        return code

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)


def drawn(text):
    """What is left on the terminal, without colours: each line as it stands when its end comes."""
    lines = []
    for line in text.replace("\r\n", "\n").split("\n"):
        line = re.sub(r"\x1b\[[0-9;]*m", "", line)
        lines.append(re.split(r"\r|\x1b\[[KJA]", line)[-1])
    return lines
