// A stretch of a run's time in which a look at its ranks' stacks has found them waiting: an
// estimate, from looks every few seconds.
#pragma once

#include <optional>
#include <string_view>

#include "runs/progress/step_mark.h"

namespace runs {

struct WaitSpan {
  enum class Kind { kRendezvous, kData, kSave, kLoad };
  Millis begin = 0;
  Millis end = 0;
  Kind kind = Kind::kData;
};

// "rendezvous", "data", "save", "load".
constexpr std::string_view NameOf(WaitSpan::Kind kind) {
  constexpr std::string_view kNames[] = {"rendezvous", "data", "save", "load"};
  return kNames[static_cast<size_t>(kind)];
}

constexpr std::optional<WaitSpan::Kind> WaitKindOf(std::string_view name) {
  for (const auto kind : {WaitSpan::Kind::kRendezvous, WaitSpan::Kind::kData, WaitSpan::Kind::kSave,
                          WaitSpan::Kind::kLoad}) {
    if (NameOf(kind) == name) return kind;
  }
  return std::nullopt;
}

}  // namespace runs
