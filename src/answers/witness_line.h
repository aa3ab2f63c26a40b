// What the machine reports about a failed program, as lines at the end of its log:
//   muster: witness: 2026-07-30T10:00:05Z kernel's log: Out of memory: Killed process 42 (python3)
// Pure. A program can print such a line, too: it deserves no more trust than the rest of its log.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "answers/evidence.h"

namespace answers {

inline constexpr std::string_view kKernelLog = "kernel's log";
inline constexpr std::string_view kFileSystem = "file system";
inline constexpr std::string_view kCgroup = "cgroup";
// Where a rank crashed: "rank 1: " and the text of Say(Crash) (stall/stack.h).
inline constexpr std::string_view kPythonsStack = "Python's stack";
inline constexpr std::string_view kLimits = "limits";  // of a program that was still running

// The beginning of the text for a witness that could not be asked: it decides nothing, and counts
// as missing.
inline constexpr std::string_view kCannotBeRead = "cannot be read: ";

// Why a container was killed, if neither its memory limit nor anybody's signal was the reason.
inline constexpr std::string_view kNoMemoryAround =
    "the kernel had no memory left, and the container had not reached a limit of its own";

std::string FormatWitness(const Fact& fact);
// Nullopt for any other line. The time is empty if the line has none.
std::optional<Fact> ReadWitness(std::string_view line);

}  // namespace answers
