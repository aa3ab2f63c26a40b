def muster_unseen(function):
    """Its frame is not the user's, in a stack or a traceback."""
    if hasattr(function.__code__, "replace"):
        function.__code__ = function.__code__.replace(co_filename="<muster>")
    return function


# Where this process is, for whoever asks: on a signal, faulthandler writes the stack of the main
# thread, which receives it, into a file of this process, without the interpreter's help, so that it
# works even in a hang. On another signal it writes those of all threads. It reads frames that may
# change meanwhile, which crashes the process: only a process whose threads sleep is sent these two.
# One whose main thread is at work is sent one of two others, which Python handles between two
# instructions.
def muster_stacks():
    import os
    import sys
    folder = os.environ.get("MUSTER_STACKS", "off")
    if folder == "off" or getattr(sys, "_muster_stacks", None) == os.getpid():
        return

    files = []

    def begin():
        sys._muster_stacks = os.getpid()
        file = open("%s/%d" % (folder, os.getpid()), "ab", 0)
        parent = 0 if sys._muster_first == os.getpid() else os.getppid()
        words = [os.environ.get(name, "-") for name in ("RANK", "WORLD_SIZE")]
        file.write(("rank=%s world=%s parent=%d\n" % (words[0], words[1], parent)).encode())
        faulthandler.register(_signal.SIGRTMAX - 2, file, all_threads=False)
        faulthandler.register(_signal.SIGRTMAX - 3, file)
        files[:] = [file]
        if sys._muster_crashes:
            faulthandler.enable(file)
            sys._muster_crashes = True

    def begin_again():
        try:
            begin()
        except Exception:
            pass

    def answer(number, frame):
        try:
            faulthandler.dump_traceback(files[0], number == _signal.SIGRTMAX - 5)
        except Exception:
            pass

    def decides(function):
        def decided(*args, **kwargs):
            result = function(*args, **kwargs)
            sys._muster_crashes = False
            return result

        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(decided, name, getattr(function, name))
        decided.__wrapped__ = function
        return muster_unseen(decided)

    try:
        import _signal
        import faulthandler
        sys._muster_first = os.getpid()
        if not os.path.isdir(folder):
            os.makedirs(folder, 0o700)
        # A crash leaves the stacks of its end there, too, also in forks, unless the program has its
        # own place for them, or wants none.
        sys._muster_crashes = not faulthandler.is_enabled()
        faulthandler.enable = decides(faulthandler.enable)
        faulthandler.disable = decides(faulthandler.disable)
        begin()
        for number in (_signal.SIGRTMAX - 4, _signal.SIGRTMAX - 5):
            _signal.signal(number, muster_unseen(answer))
            _signal.siginterrupt(number, False)
        os.register_at_fork(after_in_child=begin_again)
    except Exception:  # a witness is never a reason to fail
        pass
