// Which streams of a worker go where: the values of --redirects and --tee.
#pragma once

#include <map>
#include <string_view>

#include "base/result.h"

namespace launch {

// A set of streams: 0 none, 1 stdout, 2 stderr, 3 both.
class StreamSet {
 public:
  constexpr StreamSet() = default;
  constexpr explicit StreamSet(unsigned bits) : bits_(bits) {}

  constexpr bool HasStdout() const { return (bits_ & 1) != 0; }
  constexpr bool HasStderr() const { return (bits_ & 2) != 0; }
  constexpr bool HasStream(int fd) const { return fd == 1 ? HasStdout() : HasStderr(); }
  constexpr bool IsEmpty() const { return bits_ == 0; }
  constexpr StreamSet operator|(StreamSet other) const { return StreamSet(bits_ | other.bits_); }
  constexpr bool operator==(const StreamSet&) const = default;

 private:
  unsigned bits_ = 0;
};

// One set for all ranks, or one for each of some.
class StreamChoice {
 public:
  // "3", or "0:1,1:2" by local rank. kInvalidArgument otherwise (compat/torchrun.md 2.4; ranks
  // above 9 are accepted here).
  static base::Result<StreamChoice> Parse(std::string_view text);

  // A rank that the map does not name has none.
  StreamSet Of(int local_rank) const;
  bool IsEmpty() const;

 private:
  bool is_map_ = false;
  StreamSet all_;
  std::map<int, StreamSet> by_rank_;
};

}  // namespace launch
