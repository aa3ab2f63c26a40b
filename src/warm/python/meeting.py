# How long this rank waited for the others in torch's init_process_group: a line in a file that all
# processes of its folder share, "ranks BEGIN END" in milliseconds since 1970.
def muster_meeting():
    import functools
    import os
    import sys
    import time
    folder = os.environ.get("MUSTER_STACKS", "off")
    own = os.getpid()

    def note(began, seconds):
        try:
            if os.getpid() != own:  # a fork meets others
                return
            fd = os.open("%s/meetings" % folder, os.O_WRONLY | os.O_APPEND | os.O_CREAT
                         | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                line = "ranks %d %d\n" % (began * 1000, (began + seconds) * 1000)
                os.write(fd, line.encode())
            finally:
                os.close(fd)
        except Exception:  # a witness is never a reason to fail
            pass

    def noted(function):
        @functools.wraps(function)
        def init_process_group(*args, **kwargs):
            began, start = time.time(), time.monotonic()
            try:
                return function(*args, **kwargs)
            finally:
                note(began, time.monotonic() - start)

        # The hook's frames in a traceback: no file of a user, and no source line.
        init_process_group.__code__ = init_process_group.__code__.replace(co_filename="<muster>")
        init_process_group.muster_pid = own
        return init_process_group

    try:
        public = sys.modules["torch.distributed"]
        inner = sys.modules["torch.distributed.distributed_c10d"]
        plain = inner.init_process_group
        if getattr(plain, "muster_pid", None) == own:
            return
        inner.init_process_group = noted(plain)
        if public.init_process_group is plain:
            public.init_process_group = inner.init_process_group
    except Exception:  # a torch without it
        pass
