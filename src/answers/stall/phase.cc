#include "answers/stall/phase.h"

#include <algorithm>
#include <string_view>

#include "answers/stall/stack.h"

namespace answers {
namespace {

bool Is(const Frame& frame, std::string_view file, std::string_view function) {
  return frame.file.find(file) != std::string_view::npos && frame.function.starts_with(function);
}

Phase PhaseOfFrame(const Frame& frame) {
  for (const std::string_view file : {"torch/serialization.py", "torch/distributed/checkpoint/"}) {
    if (Is(frame, file, "save") || Is(frame, file, "_save")) return Phase::kSave;
    if (Is(frame, file, "load") || Is(frame, file, "_load")) return Phase::kLoad;
  }
  for (const std::string_view function : {"init_process_group", "_store_based_barrier"}) {
    if (Is(frame, "torch/distributed/distributed_c10d.py", function)) return Phase::kRendezvous;
  }
  if (Is(frame, "torch/distributed/rendezvous.py", "")) return Phase::kRendezvous;
  if (Is(frame, "torch/utils/data/dataloader.py", "")) return Phase::kDataWait;
  return Phase::kNone;
}

}  // namespace

Phase PhaseOf(const std::vector<Frame>& frames) {
  for (const Frame& frame : frames) {
    if (const Phase phase = PhaseOfFrame(frame); phase != Phase::kNone) return phase;
  }
  return Phase::kNone;
}

Phase PhaseOfJob(const std::map<int, std::string>& dumps) {
  bool is_first = true, waits = false;
  for (const auto& [rank, dump] : dumps) {
    const auto stacks = ReadStacks(dump);
    if (stacks.empty()) continue;
    const std::vector<Frame>& frames = stacks.front().frames;
    const Phase phase = PhaseOf(frames);
    if (is_first) {
      if (phase != Phase::kNone) return phase;
      waits = WhatItDoes(frames).kind == Doing::Kind::kWaiting;
      is_first = false;
    } else if (waits && phase == Phase::kDataWait) {
      return phase;
    }
  }
  return Phase::kNone;
}

}  // namespace answers
