// Reads the stacks of a Python process's threads: the dump of Python's faulthandler, which the
// start-up hook makes the process write (warm/python/stacks.py).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/traceback.h"

namespace answers {

// Views into the dump.
struct ThreadStack {
  std::string_view name;      // "" before Python 3.14
  bool is_main = false;       // the signalled thread, which is the main thread
  std::vector<Frame> frames;  // the innermost first; empty for a thread without Python code
};

// The last complete dump in `text`, the main thread first. Empty if there is none.
std::vector<ThreadStack> ReadStacks(std::string_view text);

// The threads of the last crash that faulthandler has noted in `text`, the main thread first, and
// how it died: "Segmentation fault". Nullopt if there was none.
struct Crash {
  std::string_view how;
  std::vector<ThreadStack> threads;
};
std::optional<Crash> ReadCrash(std::string_view text);

// `Aborted in all_reduce, called at File "/home/me/train.py", line 11 in <module>`: of the thread
// that crashed if it ran Python, else of the main thread. "" if neither did.
std::string Say(const Crash& crash);
// The frame of the user's code that Say has named; one without a file if it has named none.
Frame FrameIn(std::string_view said);

// "loader.py:31": the file name without its folder.
std::string PlaceOf(const Frame& frame);

// What the main thread is doing, judged by its frames.
struct Doing {
  enum class Kind {
    kSilent,     // no frames
    kOwn,        // anything else
    kWaiting,    // waiting for other ranks in a collective, a rendezvous or a transfer
    kSaving,     // saving or loading a checkpoint
    kCompiling,  // in torch.compile
    kDebugging,  // at the prompt of a debugger
  };
  Kind kind = Kind::kSilent;
  std::string what;    // of kWaiting: "all_reduce", "backward", "init_process_group"
  std::string where;   // the innermost frame of the user's code, else of any: "train.py:88"
  std::string inner;   // what that frame has called: "get (queues.py:113)"; "" if it is not Python
  Frame own;           // the frame of `where`; its file is empty when there is none
  bool polls = false;  // it waits by looking again and again, as torch 1.13 does in new groups
};

Doing WhatItDoes(const std::vector<Frame>& frames);

// Lists identical stacks once, with their ranks. The smallest group comes first, because the odd
// rank is what one looks for.
struct RankStack {
  std::string name;  // "rank 1", "base-worker-0"
  std::string dump;  // "" if there is none
  std::string why;   // why there is none
};
std::string RenderStacks(const std::vector<RankStack>& ranks, bool has_all_threads);

}  // namespace answers
