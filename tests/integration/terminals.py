"""A program on a terminal of its own, as in a window."""
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time


class Terminal:
    def __init__(self, command, env, cwd, rows=24, columns=80):
        self._master, slave = pty.openpty()
        self.resize(rows, columns)
        self._before = termios.tcgetattr(slave)
        self._slave = slave

        def take_terminal():
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        self._process = subprocess.Popen(command, env=env, cwd=cwd, stdin=slave, stdout=slave,
                                         stderr=slave, start_new_session=True,
                                         preexec_fn=take_terminal)
        self._text = b""

    def resize(self, rows, columns):
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self._master, text.encode())

    def expect(self, wanted, timeout=60):
        """Reads until `wanted` comes."""
        deadline = time.monotonic() + timeout
        while wanted.encode() not in self._text:
            ready, _, _ = select.select([self._master], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"no {wanted!r} in {self._text!r}"
            self._text += os.read(self._master, 65536)
        self._text = self._text.partition(wanted.encode())[2]

    def end(self):
        """The exit code; the terminal is as it was."""
        code = self._process.wait(timeout=60)
        assert termios.tcgetattr(self._slave) == self._before, "the terminal is not as it was"
        return code

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._master)
        os.close(self._slave)
