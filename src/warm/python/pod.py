# How a keeper enters a pod (resident.py): its forks are then where an exec in the pod would be.
import ctypes
import os

from muster_warm_rank import Refused, libc

NAMESPACES = ("user", "mnt", "uts")
PR_SET_DUMPABLE = 4
CAPABILITY_VERSION_3 = 0x20080522


def place():
    """The same answer as PlaceInside of warm/key.cc."""
    links = [os.readlink("/proc/self/ns/" + name) for name in NAMESPACES]
    with open("/proc/self/status") as file:
        lines = [line for line in file if line.startswith(("Groups:", "Cap"))]
    return "\n".join(links + [os.readlink("/proc/self/root"), ""]) + "".join(lines)


def is_own(fd, name):
    ours, theirs = os.stat("/proc/self/ns/" + name), os.fstat(fd)
    return (ours.st_dev, ours.st_ino) == (theirs.st_dev, theirs.st_ino)


def keep_rights(wanted):
    """Of the rights that come with a user namespace, an exec keeps what its user has there."""
    masks = {line.partition(":")[0]: int(line.partition(":")[2], 16)
             for line in wanted.splitlines() if line.startswith("Cap")}
    words = [masks[name] >> shift & 0xffffffff
             for shift in (0, 32) for name in ("CapEff", "CapPrm", "CapInh")]
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    if libc.capset(header, (ctypes.c_uint32 * 6)(*words)):
        raise OSError(ctypes.get_errno(), "capset: " + os.strerror(ctypes.get_errno()))


def enter(wanted, fds):
    """`wanted`: the place of the pod's process whose namespaces these are."""
    for fd, name in zip(fds, NAMESPACES):  # whoever is in the first one may enter the others
        if not is_own(fd, name) and libc.setns(fd, 0):
            number = ctypes.get_errno()
            raise OSError(number, "enter the pod's %s namespace: %s" % (name, os.strerror(number)))
    if place() != wanted:
        keep_rights(wanted)
        # Rights that came with the namespace made our own files in /proc root's.
        libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
    if place() != wanted:
        raise Refused("a fork would have other rights in the pod")
