#include "base/colour.h"

#include <unistd.h>

#include <atomic>

#include "base/environment.h"

namespace base {
namespace {

std::atomic<Colour> g_colour{Colour::kAuto};

bool IsWanted() {
  static const bool is_wanted = [] {
    const Environment environment = Environment::OfProcess();
    return !environment.Get("NO_COLOR") && environment.GetOr("TERM", "") != "dumb";
  }();
  return is_wanted;
}

}  // namespace

void SetColour(Colour colour) { g_colour.store(colour, std::memory_order_relaxed); }

bool HasColour(int fd) {
  switch (g_colour.load(std::memory_order_relaxed)) {
    case Colour::kAlways:
      return true;
    case Colour::kNever:
      return false;
    case Colour::kAuto:
      break;
  }
  return ::isatty(fd) == 1 && IsWanted();
}

}  // namespace base
