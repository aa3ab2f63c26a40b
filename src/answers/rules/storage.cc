#include "answers/rule.h"

namespace answers {

std::vector<Rule> StorageRules() {
  return {
      {.kind = "quota",
       .title = "the user's disk quota is used up",
       .advice = Advice::kFixFirst,
       .advice_text =
           "Delete something, write elsewhere, or ask for a larger quota: the disk itself "
           "may have space.",
       .exceptions = {"[Errno 122]", "Disk quota exceeded"},
       .lines = {"Disk quota exceeded"}},
      {.kind = "disk-full",
       .title = "the disk is full",
       .advice = Advice::kFixFirst,
       .advice_text =
           "Free space on the file system that the error names, or write elsewhere: fewer "
           "checkpoints, logs, caches.",
       .exceptions = {"[Errno 28] No space left on device", "No space left on device",
                      "database or disk is full",
                      "OSError: Not enough disk space. Needed: ", "NoSpaceLeftError"},
       .lines = {": No space left on device"},
       .witnesses = {" is full: ", " has no inodes left, of "},
       .overrules = {kUnknown, "checkpoint-write"}},
      {.kind = "read-only",
       .title = "the file system is read-only",
       .advice = Advice::kFixFirst,
       .advice_text =
           "Write to a folder that is mounted for writing. A disk that became read-only by "
           "itself has failed: look at the kernel's log.",
       .exceptions = {"[Errno 30] Read-only file system"},
       .lines = {": Read-only file system"}},
      {.kind = "permission",
       .title = "the job may not use a file",
       .advice = Advice::kFixFirst,
       .advice_text = "Check who owns it, its mode, and the user that the job runs as.",
       .exceptions = {"^PermissionError", "[Errno 13] Permission denied",
                      "[Errno 1] Operation not permitted",
                      "Error while serializing: *message: \"Permission denied\"",
                      "The server socket has failed to listen*name: EACCES",
                      "(errno: 13 - Permission denied)", "Error: *ermission denied",
                      ": Permission denied", "Permission denied [", "^Permission denied",
                      "filesystem error: *ermission denied", "Error: *Errno 13"},
       .lines = {"cannot create directory '*': Permission denied",
                 "cannot open '*': Permission denied", "sh: *: Permission denied",
                 "execve(): *: Permission denied", "exec: *: permission denied",
                 "can't open file '*': [Errno 13] Permission denied"}},
      {.kind = "input-output",
       .title = "a device or file server failed to read or write",
       .advice = Advice::kRetryElsewhere,
       .advice_text = "Look at the kernel's log of the machine and at the file server.",
       .exceptions = {"Input/output error", "Stale file handle", "Stale NFS file handle",
                      "Transport endpoint is not connected",
                      "Cannot send after transport endpoint shutdown", "[Errno 112] Host is down",
                      "Remote I/O error"},
       .lines = {"I/O error, dev ", "nfs: server * not responding, timed out"},
       .witnesses = {"I/O error, dev ", "EXT4-fs error (device ", "metadata I/O error in",
                     "nfs: server * not responding", "nfs: server * timed out"},
       .overrules = {kUnknown, "read-only", "checkpoint-write"}},
  };
}

}  // namespace answers
