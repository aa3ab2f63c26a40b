// What a Python process says of where its threads stand: the dump of Python's faulthandler, which
// the start-up hook has it write (warm/python/stacks.py).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "answers/traceback.h"

namespace answers {

// Views into the dump.
struct ThreadStack {
  std::string_view name;      // "" before Python 3.14
  bool is_main = false;       // the thread that was asked: the hook asks the main one
  std::vector<Frame> frames;  // the innermost first; empty when it runs no Python
};

// The last whole dump within `text`: the main thread first. Empty when there is none.
std::vector<ThreadStack> ReadStacks(std::string_view text);

// "loader.py:31": the file by its name alone.
std::string PlaceOf(const Frame& frame);

// What the main thread does, by its frames.
struct Doing {
  enum class Kind {
    kSilent,     // no frames
    kOwn,        // anything about which nothing more is known
    kWaiting,    // for other ranks: in a collective, a rendezvous, a transfer
    kSaving,     // or loading a checkpoint
    kCompiling,  // torch.compile
    kDebugging,  // at the prompt of a debugger
  };
  Kind kind = Kind::kSilent;
  std::string what;   // of kWaiting: "all_reduce", "backward", "init_process_group"
  std::string where;  // the user's own innermost frame, else the innermost: "train.py:88"
  std::string inner;  // "get (queues.py:113)": what that one has called; "" when it is not Python
  Frame own;          // of `where`; its file is empty when there is none
};

Doing WhatItDoes(const std::vector<Frame>& frames);

// Ranks whose threads stand alike are said once, the smallest group first: who is different is what
// one looks for.
struct RankStack {
  std::string name;  // "rank 1", "base-worker-0"
  std::string dump;  // "" when it gave none
  std::string why;   // it gave none
};
std::string RenderStacks(const std::vector<RankStack>& ranks, bool has_all_threads);

}  // namespace answers
