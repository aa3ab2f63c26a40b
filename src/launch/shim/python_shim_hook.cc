#include <fmt/format.h>

#include "launch/shim/python_shim.h"
#include "text/json.h"
#include "warm/key.h"

namespace launch {
namespace {

// Runs at each start of Python, so it imports only modules that are loaded already.
constexpr std::string_view kHook =
    R"python(# Written by muster: python -m torch.distributed.run and .launch start muster-launch, also for
# programs that call them as functions.
# MUSTER_PYTHON_SHIM=off turns it off; so does muster python-shim remove.
import os
import sys

_LAUNCHER = {launcher}
_MODULES = {{"torch.distributed.run": "torchrun",
            "torch.distributed.launch": "torch.distributed.launch"}}


def _words():
    words = getattr(sys, "orig_argv", None)  # 3.10 and later
    if words is None:
        with open("/proc/self/cmdline", "rb") as file:
            words = [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]
    return words


def _module(words):
    """The module of -m and the words after it; None for everything else that Python can run."""
    at = 1
    while at < len(words):
        word = words[at]
        at += 1
        if word == "-":
            return None
        if word == "--" or not word.startswith("-"):
            return _script(words[at - (word != "--"):])
        if word.startswith("--"):
            at += word == "--check-hash-based-pycs"
            continue
        for index, letter in enumerate(word[1:], 1):
            attached = word[index + 1:]
            if letter == "c":
                return None
            if letter == "m":
                if attached:
                    return attached, words[at:]
                return (words[at], words[at + 1:]) if at < len(words) else None
            if letter in "WX":
                at += not attached
                break
    return None


def _script(words):
    """For `python $(which torchrun)`: torchrun is a program here, which Python cannot read."""
    try:
        is_launcher = bool(words) and os.path.samefile(words[0], _LAUNCHER)
    except OSError:
        is_launcher = False
    return ("torch.distributed.run", words[1:]) if is_launcher else None


def _command(name, words):
    python = [] if os.environ.get("PYTHON_EXEC") else ["--python=" + sys.executable]
    return [name, *python, *words]


def _hand_over():
    if os.environ.get("MUSTER_PYTHON_SHIM") == "off" or not os.access(_LAUNCHER, os.X_OK):
        return
    found = _module(_words())
    if found is not None and found[0] in _MODULES:
        os.execv(_LAUNCHER, _command(_MODULES[found[0]], found[1]))
    sys.meta_path.insert(0, _Finder)


class _Finder:
    """Starts the launcher in programs that import torch.distributed.run and call it: accelerate,
    fabric, notebooks."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != "torch.distributed.run":
            return None
        sys.meta_path.remove(cls)
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)  # old ones have none
            spec = find and find(name, path, target)
            if spec:
                break
        else:
            return None
        execute = getattr(spec.loader, "exec_module", None)

        def exec_module(module):
            execute(module)
            module.run = _run_of(module)
        if execute is not None:
            spec.loader.exec_module = exec_module
        return spec


def _run_of(module):
    def run(args):
        """torch.distributed.run.run, by muster-launch: returns when the job has ended well."""
        failed = _launch(_words_of(module.get_args_parser(), args))
        if failed:
            raise _error(args, *failed)
    run.__wrapped__ = module.run
    return run


def _words_of(parser, args):
    """The command line that gives these args."""
    words = []
    for action in parser._actions:
        value = getattr(args, action.dest, None)
        if not action.option_strings or value is None or value == action.default:
            continue
        if action.nargs == 0:
            words += [action.option_strings[-1]] if value else []
        elif str(value) != str(action.default):
            if isinstance(value, list):
                value = ",".join(part.replace(",", ",,") for part in value)
            words.append("%s=%s" % (action.option_strings[-1], value))
    of_launch = hasattr(args, "use_env") and not args.use_env
    script = [args.training_script, *map(str, args.training_script_args)]
    return _command("torch.distributed.launch" if of_launch else "torchrun", words + script)


def _launch(words):
    """Exit code and its failures (one may know nothing); None when all went well."""
    import ctypes
    import shutil
    import signal
    import subprocess
    import tempfile
    import threading
    libc, own = ctypes.CDLL(None), os.getpid()

    def end_with_us():
        libc.prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
        if os.getppid() != own:
            os._exit(1)

    came = []

    def pass_on(number, frame):
        came.append(number)
        # Ctrl-C reaches everything in the foreground of a terminal by itself.
        if number != signal.SIGINT or not _is_in_foreground():
            process.send_signal(number)

    report = os.environ.get("PET_FAILURE_FILE")
    folder = None if report else tempfile.mkdtemp(prefix="muster-launch-")
    if folder is not None:  # stays when there is something to read
        report = os.path.join(folder, "failure.json")
        words.insert(1, "--failure-file=" + report)
    process = subprocess.Popen(words, executable=_LAUNCHER, preexec_fn=end_with_us)
    before = {{}}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:
                before[number] = signal.signal(number, pass_on)
    try:
        code = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    failures = _failures(report) if code else []
    if folder is not None and not failures:
        shutil.rmtree(folder, ignore_errors=True)
    for number in came[:1]:
        os.kill(own, number)
    return (code, failures) if code else None


def _is_in_foreground():
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    finally:
        os.close(terminal)


def _failures(report):
    import json
    try:
        with open(report) as file:
            return json.load(file)["failures"]
    except (OSError, ValueError, KeyError):
        return []


def _error(args, code, failures):
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError, ProcessFailure
    of_ranks = {{one["rank"]: ProcessFailure(one["local_rank"], one["pid"], one["exit_code"],
                                            one.get("error_file") or "<N/A>")
                for one in failures if one.get("rank") is not None}}
    if of_ranks:
        return ChildFailedError(args.training_script, of_ranks)
    return RuntimeError("muster-launch ended with exit code %d; it said above why" % code)


try:
    _hand_over()
except OSError:
    pass
)python";

// Only one sitecustomize is imported, the first on sys.path: ours then runs the next one.
constexpr std::string_view kChain = R"python(

def _next():
    import _frozen_importlib_external as finders
    here = os.path.dirname(os.path.abspath(__file__))
    others = [path for path in sys.path if os.path.abspath(path or ".") != here]
    spec = finders.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        module = type(sys)("sitecustomize")
        module.__spec__, module.__loader__, module.__file__ = spec, spec.loader, spec.origin
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


_next()
)python";

// Leaves no trace that the program could see.
constexpr std::string_view kStacksBegin =
    R"python(# Written by muster launch: its ranks can say where they stand.
import os
import sys


def _hide():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if path != here]
    others = os.environ.get("PYTHONPATH", "").partition(":")[2]
    if others:
        os.environ["PYTHONPATH"] = others
    else:
        os.environ.pop("PYTHONPATH", None)


_hide()
)python";

constexpr std::string_view kWitnessesEnd =
    "\n\nmuster_stacks()\nmuster_recorder(muster_meeting, muster_unseen)\n";

std::string Witnesses() {
  return fmt::format("{}\n\n{}\n\n{}{}", warm::kWarmStacks, warm::kWarmMeeting, warm::kWarmRecorder,
                     kWitnessesEnd);
}

}  // namespace

bool IsHandedOver(std::string_view module) {
  return module == "torch.distributed.run" || module == "torch.distributed.launch";
}

std::string HookText(std::string_view launcher, bool chains) {
  std::string text =
      fmt::format(fmt::runtime(kHook), fmt::arg("launcher", text::QuoteJson(launcher)));
  if (chains) text += fmt::format("\n\n{}{}", Witnesses(), kChain);
  return text;
}

std::string StacksHookText() {
  return fmt::format("{}\n\n{}{}", kStacksBegin, Witnesses(), kChain);
}

}  // namespace launch
