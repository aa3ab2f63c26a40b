// The kernel's log, record by record, as /dev/kmsg gives it
// (Documentation/ABI/testing/dev-kmsg):
//
//   4,1234,98765432,-;Out of memory: Killed process 42 (python3) total-vm:...
//    SUBSYSTEM=memory
//
// Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace witness {

struct KernelRecord {
  std::chrono::microseconds at{};  // since boot
  std::string text;
};

// Lines that are not records are left out.
std::vector<KernelRecord> ReadKernelLog(std::string_view text);

// What a record is about, which decides whether it may explain a failure; records about a GPU or
// its link can do so only if the program has GPUs.
enum class KernelTopic { kNone, kMemory, kPrograms, kDisks, kGpus };
KernelTopic TopicOf(std::string_view text);

// The pid in a record about a kill by the out-of-memory killer, or about a program's fault; nullopt
// for other records.
std::optional<int> PidIn(std::string_view text);

// The facts about a pod's program by which records are matched.
struct Program {
  std::string_view cgroup;  // a part of its cgroup's path that no other cgroup has: the pod's uid
  int pid = 0;
  std::string_view words;  // the last lines of its output: they may name the pid of a killed child
};

// For each text, whether it is about the program. A text that names no process counts, because a
// disk's failure may concern everybody.
std::vector<bool> AreAbout(const Program& program, const std::vector<std::string_view>& texts);

}  // namespace witness
