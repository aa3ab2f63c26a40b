#include "answers/stall/stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/strings.h"

namespace answers {
namespace {

constexpr std::string_view kFatal = "Fatal Python error: ";
constexpr std::string_view kOrder = " (most recent call first):";
constexpr std::string_view kOnly = "Stack";

// Reads "Current thread 0x00007f12 [name] (most recent call first):", or "Stack (most recent call
// first):", if only that thread was asked for. Returns false if the line is not a header.
bool ReadHeader(std::string_view line, ThreadStack& stack) {
  if (!line.ends_with(kOrder)) return false;
  const bool is_only = line.size() == kOnly.size() + kOrder.size() && line.starts_with(kOnly);
  stack.is_main = is_only || line.starts_with("Current thread 0x");
  if (!stack.is_main && !line.starts_with("Thread 0x")) return false;
  const size_t open = line.find(" [");
  const size_t close = line.rfind(']');
  if (open != std::string_view::npos && close != std::string_view::npos && close > open + 2) {
    stack.name = line.substr(open + 2, close - open - 2);
  }
  return true;
}

bool Holds(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [text](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

// Whether the frame is the user's own, even if torch is installed in one of the user's folders.
bool IsOwn(const Frame& frame) {
  return frame.IsUsers() &&
         !Holds(frame.file, {"torch/distributed/", "torch/nn/", "torch/autograd/", "torch/utils/",
                             "torch/_tensor.py", "torch/_dynamo/", "torch/_inductor/",
                             "torch/serialization.py", "torch/cuda/"});
}

// Whether the function stands between a program and what it called.
bool IsWrapper(std::string_view function) {
  static constexpr auto kWrappers = std::to_array<std::string_view>(
      {"wrapper", "inner", "_call_impl", "_wrapped_call_impl", "decorate_context", "_fn",
       "decorate_autocast", "__call__", "_run_ddp_forward"});
  return std::find(kWrappers.begin(), kWrappers.end(), function) != kWrappers.end();
}

// Returns what a frame waits for if no frame below it is active; "" if it does not wait for a rank.
std::string WaitOf(const Frame& frame) {
  if (Holds(frame.file, {"torch/nn/parallel/distributed.py"})) {
    return frame.function == "__init__" ? "DistributedDataParallel()"
                                        : "DistributedDataParallel." + std::string(frame.function);
  }
  if (Holds(frame.file, {"torch/distributed/"}) && !IsWrapper(frame.function)) {
    return std::string(frame.function);
  }
  if (Holds(frame.file, {"torch/autograd/__init__.py", "torch/_tensor.py"}) &&
      Holds(frame.function, {"backward"})) {
    return "backward";
  }
  if (Holds(frame.file, {"torch/cuda/"}) && frame.function == "synchronize") return "synchronize";
  return "";
}

std::string Named(const Frame& frame) {
  return fmt::format("{} ({})", frame.function, PlaceOf(frame));
}

Doing::Kind KindOf(const Frame& frame) {
  if (Holds(frame.file, {"torch/serialization.py", "torch/distributed/checkpoint/"})) {
    return Doing::Kind::kSaving;
  }
  if (Holds(frame.file, {"torch/_inductor/", "torch/_dynamo/", "torch/_functorch/"})) {
    return Doing::Kind::kCompiling;
  }
  if (frame.file.ends_with("/pdb.py") || frame.file.ends_with("/bdb.py") ||
      Holds(frame.file, {"/debugpy/", "/pydevd"})) {
    return Doing::Kind::kDebugging;
  }
  return Doing::Kind::kOwn;
}

std::string Render(const std::vector<ThreadStack>& stacks, bool has_all_threads) {
  std::string text;
  for (const ThreadStack& stack : stacks) {
    if (!stack.is_main && !has_all_threads) continue;
    if (has_all_threads) {
      text += stack.is_main        ? "  main thread\n"
              : stack.name.empty() ? "  another thread\n"
                                   : fmt::format("  thread {}\n", stack.name);
    }
    if (stack.frames.empty()) text += "    no Python frame\n";
    for (const Frame& frame : stack.frames) {
      text += fmt::format("  {} {}  {}:{}\n", IsOwn(frame) ? '>' : ' ', frame.function, frame.file,
                          frame.line);
    }
  }
  return text;
}

// Returns the threads of the last complete dump, in its order.
std::vector<ThreadStack> ReadThreads(std::string_view text) {
  std::vector<ThreadStack> stacks;
  ThreadStack* open = nullptr;
  // A thread may still be writing, so that a last line without a newline is left out.
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    if (end == std::string_view::npos) break;
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    // Python escapes characters that are not ASCII; no other bytes may reach a terminal.
    if (std::any_of(line.begin(), line.end(), [](char c) { return c < ' ' || c > '~'; })) continue;
    ThreadStack stack;
    if (ReadHeader(line, stack)) {
      // Every dump has one current thread, which need not come first.
      const bool is_again = stack.is_main && std::any_of(stacks.begin(), stacks.end(),
                                                         [](auto& each) { return each.is_main; });
      if (is_again) stacks.clear();
      open = &stacks.emplace_back(stack);
    } else if (line.starts_with("  File \"") && open != nullptr) {
      const Frame frame = ReadFrame(line);
      const bool is_ours = frame.file == "<muster>";  // warm/python/meeting.py
      if (!frame.file.empty() && !is_ours) open->frames.push_back(frame);
    } else {
      open = nullptr;
    }
  }
  return stacks;
}

}  // namespace

std::vector<ThreadStack> ReadStacks(std::string_view text) {
  std::vector<ThreadStack> stacks = ReadThreads(text);
  std::stable_partition(stacks.begin(), stacks.end(), [](auto& stack) { return stack.is_main; });
  if (stacks.empty() || !stacks[0].is_main) return {};
  return stacks;
}

std::optional<Crash> ReadCrash(std::string_view text) {
  const size_t at = text.rfind(kFatal);
  if (at == std::string_view::npos) return std::nullopt;
  Crash crash;
  text.remove_prefix(at + kFatal.size());
  crash.how = text.substr(0, text.find('\n'));
  crash.threads = ReadThreads(text.substr(crash.how.size()));
  // The thread that crashed may be one that Python does not know; it lists the main thread last.
  const auto current = std::find_if(crash.threads.begin(), crash.threads.end(), [](auto& thread) {
    return thread.is_main && !thread.frames.empty();
  });
  if (!crash.threads.empty()) {
    const auto first = current == crash.threads.end() ? crash.threads.end() - 1 : current;
    std::rotate(crash.threads.begin(), first, first + 1);
  }
  return crash;
}

std::string Say(const Crash& crash) {
  if (crash.threads.empty() || crash.threads[0].frames.empty()) return "";
  const Doing doing = WhatItDoes(crash.threads[0].frames);
  if (doing.own.file.empty()) return fmt::format("{} at {}", crash.how, doing.where);
  const std::string& call = doing.kind == Doing::Kind::kWaiting ? doing.what : doing.inner;
  return fmt::format("{}{} File \"{}\", line {} in {}", crash.how,
                     call.empty() ? " at" : fmt::format(" in {}, called at", call), doing.own.file,
                     doing.own.line, doing.own.function);
}

Frame FrameIn(std::string_view said) {
  const size_t at = said.find(" File \"");
  return at == std::string_view::npos || at == 0 ? Frame{} : ReadFrame(said.substr(at));
}

std::string PlaceOf(const Frame& frame) {
  const size_t slash = frame.file.rfind('/');
  return fmt::format("{}:{}",
                     slash == std::string_view::npos ? frame.file : frame.file.substr(slash + 1),
                     frame.line);
}

Doing WhatItDoes(const std::vector<Frame>& frames) {
  Doing doing;
  if (frames.empty()) return doing;
  doing.kind = Doing::Kind::kOwn;
  const auto own = std::find_if(frames.begin(), frames.end(), IsOwn);
  for (auto frame = frames.begin(); frame != own; ++frame) {
    // An import: it calls no other rank, and compiles or saves nothing.
    if (frame->function == "<module>") {
      doing.kind = Doing::Kind::kOwn;
      doing.what.clear();
      continue;
    }
    if (doing.kind == Doing::Kind::kOwn) doing.kind = KindOf(*frame);
    doing.polls = doing.polls || frame->function == "_store_based_barrier";
    // The outermost frame is the function that the program called.
    std::string wait = WaitOf(*frame);
    if (!wait.empty()) doing.what = std::move(wait);
  }
  if (doing.kind == Doing::Kind::kOwn && !doing.what.empty()) doing.kind = Doing::Kind::kWaiting;
  if (own == frames.end()) {
    doing.where = PlaceOf(frames[0]);
    return doing;
  }
  doing.own = *own;
  doing.where = PlaceOf(*own);
  if (own != frames.begin()) doing.inner = Named(*(own - 1));
  return doing;
}

std::string RenderStacks(const std::vector<RankStack>& ranks, bool has_all_threads) {
  // What they print, and their names.
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const RankStack& rank : ranks) {
    const auto stacks = ReadStacks(rank.dump);
    std::string stack =
        stacks.empty() ? fmt::format("  {}\n", rank.why) : Render(stacks, has_all_threads);
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& each) { return each.first == stack; });
    if (group == groups.end()) {
      group = groups.insert(groups.end(), {std::move(stack), {}});
    }
    group->second.push_back(rank.name);
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  std::string text;
  for (const auto& [stack, names] : groups) {
    if (!text.empty()) text += '\n';
    text += fmt::format("{}\n{}", base::Join(names, ", "), stack);
  }
  return text;
}

}  // namespace answers
