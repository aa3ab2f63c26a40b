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

// Whether it may tell why a program failed, which ones of a GPU or its link do.
enum class Telling { kNothing, kOfMemory, kOfPrograms, kOfDisks, kOfGpus };
Telling WhatItTells(std::string_view text);

// Of a record of a kill by the out-of-memory killer, or of a program's fault: whose; nullopt of
// others.
std::optional<int> PidIn(std::string_view text);

// A pod's program, as records may be about it.
struct Program {
  std::string_view cgroup;  // a part of its cgroup's path that no other has: the pod's uid
  int pid = 0;
  std::string_view words;  // its last ones: they may name a pid of a child that was killed
};

// Of each text, whether it is about the program. One that names no process is: a disk's failure is
// everybody's.
std::vector<bool> AreAbout(const Program& program, const std::vector<std::string_view>& texts);

}  // namespace witness
