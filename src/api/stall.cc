#include "api/stall.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/names.h"
#include "api/object.h"
#include "base/strings.h"

namespace api {
namespace {

struct StallParts {
  std::string_view kind;
  base::Time since;
  std::string_view text;
};

std::optional<StallParts> ReadStall(std::string_view note) {
  const size_t time = note.find(' ');
  const size_t text = note.find(' ', time + 1);
  if (time == std::string_view::npos || text == std::string_view::npos) return std::nullopt;
  const auto since = base::ParseRfc3339(note.substr(time + 1, text - time - 1));
  if (!since) return std::nullopt;
  return StallParts{note.substr(0, time), *since, note.substr(text + 1)};
}

}  // namespace

std::string StallNote(std::string_view kind, base::Time since, std::string_view text) {
  return fmt::format("{} {} {}", kind, base::FormatRfc3339(since), text);
}

std::string TextOfStall(std::string_view note) {
  const auto parts = ReadStall(note);
  return parts ? fmt::format("{} {}", parts->kind, parts->text) : "";
}

std::string SayStall(std::string_view note, base::Time now) {
  const auto parts = ReadStall(note);
  if (!parts) return "";
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - parts->since).count();
  return fmt::format("{} {} s: {}", parts->kind, std::max<int64_t>(0, seconds), parts->text);
}

std::optional<Stall> CurrentStall(const text::Json& job) {
  const auto parts = ReadStall(Annotation(job, kStallAnnotation));
  if (!parts) return std::nullopt;
  return Stall{std::string(parts->kind), parts->since, std::string(parts->text)};
}

std::optional<LastStall> LastStallOf(const text::Json& job) {
  if (auto stall = CurrentStall(job); stall && stall->kind != kSlowed) {
    return LastStall{std::move(*stall), std::nullopt};
  }
  const auto parts = ReadStall(Annotation(job, kLastStallAnnotation));
  if (!parts) return std::nullopt;
  const std::vector<PastStall> past = StallsOf(job, base::Time());
  if (past.empty() || past.back().begin != parts->since) return std::nullopt;
  return LastStall{{std::string(parts->kind), parts->since, std::string(parts->text)},
                   past.back().end};
}

std::string StallOf(const text::Json& job, base::Time now) {
  return SayStall(Annotation(job, kStallAnnotation), now);
}

std::string WithPastStall(std::string_view past, std::string_view note, base::Time end) {
  const auto parts = ReadStall(note);
  if (!parts || parts->kind == kSlowed) return std::string(past);
  std::vector<std::string> stalls;
  for (std::string& stall : base::Split(past, ' ')) {
    if (!stall.empty()) stalls.push_back(std::move(stall));
  }
  stalls.push_back(
      fmt::format("{}/{}", base::FormatRfc3339(parts->since), base::FormatRfc3339(end)));
  if (stalls.size() > kMostPastStalls) {
    stalls.erase(stalls.begin(), stalls.end() - kMostPastStalls);
  }
  return base::Join(stalls, " ");
}

std::vector<PastStall> StallsOf(const text::Json& job, base::Time now) {
  std::vector<PastStall> stalls;
  for (const std::string& stall : base::Split(Annotation(job, kStallsAnnotation), ' ')) {
    const size_t slash = std::min(stall.find('/'), stall.size());
    const auto begin = base::ParseRfc3339(std::string_view(stall).substr(0, slash));
    const auto end =
        base::ParseRfc3339(std::string_view(stall).substr(std::min(slash + 1, stall.size())));
    if (begin && end) stalls.push_back({*begin, *end});
  }
  const auto parts = ReadStall(Annotation(job, kStallAnnotation));
  if (parts && parts->kind != kSlowed) {
    stalls.push_back({parts->since, now});
  }
  return stalls;
}

}  // namespace api
