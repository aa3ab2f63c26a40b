// Why a job failed, by rules: no model, no network, no guess.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/evidence.h"

namespace answers {

enum class Advice { kFixFirst, kRetry, kRetryElsewhere, kStop, kNone };
std::string_view NameOf(Advice advice);  // "fix-first"

// How certain the class is. kHigh: a fact decides it; kMedium: a fact decides it, but may have
// another cause; kLow: there are only symptoms.
enum class Confidence { kLow, kMedium, kHigh };
std::string_view NameOf(Confidence confidence);

inline constexpr std::string_view kUnknown = "unknown";

struct Verdict {
  std::string kind;            // "cuda-out-of-memory"; kUnknown: the evidence does not decide it
  std::string title;           // in words: "the GPU has no memory left"
  std::optional<size_t> rank;  // who failed first: an index into Evidence::ranks
  std::string line;            // the line that decides it, as it was written
  // The innermost frame of the user's own code; "" and 0 when no traceback names one.
  std::string file, function;
  int file_line = 0;
  std::vector<Fact> evidence;
  // How earlier attempts ended, and what other ranks did because of it.
  std::vector<Fact> consequences;
  Advice advice = Advice::kNone;
  std::string advice_text;
  Confidence confidence = Confidence::kLow;
  std::vector<std::string> missing;  // witnesses that would have helped: "the log of rank 3"
};

// Pure. An earlier failure wins against a later one, and a mere consequence (a peer's closed
// connection, a SIGTERM of ours) wins against nothing.
Verdict Explain(const Evidence& evidence);

// "rank 1 (pt-worker-0)"
std::string NameOf(const Rank& rank);

// One screen for people, in lines that fit `width` columns (at least 40); with `has_all`, all
// evidence.
inline constexpr size_t kUsualWidth = 98;
std::string Render(const Verdict& verdict, const Evidence& evidence, bool has_all,
                   size_t width = kUsualWidth);

}  // namespace answers
