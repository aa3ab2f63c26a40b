#include <fmt/format.h>

#include "launch/json.h"
#include "launch/python_shim.h"

namespace launch {
namespace {

// Runs at each start of Python: nothing is imported that is not there already.
constexpr std::string_view kHook =
    R"python(# Written by muster: python -m torch.distributed.run and .launch start muster-launch.
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
        if word in ("-", "--") or not word.startswith("-"):
            return None
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


def _hand_over():
    found = _module(_words())
    if found is None or found[0] not in _MODULES or os.environ.get("MUSTER_PYTHON_SHIM") == "off":
        return
    if os.access(_LAUNCHER, os.X_OK):
        os.execv(_LAUNCHER, [_MODULES[found[0]], "--python=" + sys.executable, *found[1]])


try:
    _hand_over()
except OSError:
    pass
)python";

// Only one sitecustomize is imported, the first on sys.path: ours lets the next one have its turn.
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

}  // namespace

bool IsHandedOver(std::string_view module) {
  return module == "torch.distributed.run" || module == "torch.distributed.launch";
}

std::string HookText(std::string_view launcher, bool chains) {
  std::string text = fmt::format(fmt::runtime(kHook), fmt::arg("launcher", JsonQuote(launcher)));
  if (chains) text += kChain;
  return text;
}

}  // namespace launch
