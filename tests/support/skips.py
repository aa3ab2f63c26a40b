"""Which tests a machine may leave out. Any other skip is something that could not be installed: it is named at the end, and fails
the run in CI. Called with the JUnit file of a ctest run, it does for ctest what tests/conftest.py does for pytest."""
import os
import re
import sys
import xml.etree.ElementTree

# How the reason begins of each skip that a machine of CI may have.
EXPECTED = (
    "ssh wants its user to have a name",
    "no torch 2.15",  # 3 GB
    "no PyTorch with Kineto",  # the same
    "makes an image of 1.7 GB",  # make soak
    "a user namespace wants one thread; the sanitizer has its own",
    "this kernel does not say where a process sleeps",  # gVisor's
)
# What the tests of an ordinary user cannot do. They say what root could.
FOR_ROOT = re.compile(r"\bneeds root\b|\bonly root\b|\bfor root only\b")


def is_expected(reason):
    return reason.startswith(EXPECTED) or bool(os.geteuid() and FOR_ROOT.search(reason))


def left_out_of_ctest(path):
    """A line for each unexpected skip: the test's name and GTEST_SKIP's reason."""
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        if case.find("skipped") is None:
            continue
        said = re.search(r": Skipped\n(.*)", case.findtext("system-out") or "")
        reason = said[1] if said else case.find("skipped").get("message", "")
        if not is_expected(reason):
            yield f"{case.get('name')}: {reason}"


if __name__ == "__main__":
    left_out = list(left_out_of_ctest(sys.argv[1]))
    if left_out:
        print("==> not tested on this machine:", *left_out, sep="\n")
    sys.exit(bool(left_out and os.environ.get("CI")))
