#include "witness/stall_word.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/file.h"
#include "text/json.h"

namespace witness {
namespace {

using Kind = answers::Stall::Kind;

constexpr size_t kLongestWord = 64 << 10;
constexpr int64_t kMostRanks = 1 << 20;
// A launcher looks once a second, on a busy machine less often.
constexpr std::chrono::seconds kFresh{10};

std::string PathIn(const std::string& folder, pid_t first_rank) {
  return fmt::format("{}/stall-{}", folder, first_rank);
}

// Nullopt if it is no list of ranks.
std::optional<std::vector<int>> RanksAt(const text::Json& word, std::string_view key) {
  const text::Array* const items = text::FindArray(word, {key});
  if (items == nullptr) return std::nullopt;
  std::vector<int> ranks;
  for (const text::Json& item : *items) {
    const auto rank = text::GetInt(item, {});
    if (!rank || *rank < 0 || *rank >= kMostRanks) return std::nullopt;
    ranks.push_back(static_cast<int>(*rank));
  }
  return ranks;
}

// It is shown on terminals.
bool IsPlain(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

}  // namespace

std::string FormatStallWord(const StallWord& word) {
  text::Object object;
  if (const auto& stall = word.stall) {
    object = {{"kind", answers::NameOf(stall->kind)},
              {"since", std::chrono::nanoseconds(stall->since.time_since_epoch()).count()},
              {"waiting", text::Array(stall->waiting.begin(), stall->waiting.end())},
              {"missing", text::Array(stall->missing.begin(), stall->missing.end())},
              {"text", stall->text}};
  }
  return text::ToJson(object);
}

std::optional<StallWord> ParseStallWord(std::string_view text,
                                        std::chrono::steady_clock::time_point now) {
  const auto word = text::ParseJson(text);
  if (!word || !word->is_object()) return std::nullopt;
  if (word->get_object().empty()) return StallWord{};
  answers::Stall stall;
  const std::string_view kind = text::GetString(*word, {"kind"});
  if (kind == answers::NameOf(Kind::kWaiting)) {
    stall.kind = Kind::kWaiting;
  } else if (kind != answers::NameOf(Kind::kStalled)) {
    return std::nullopt;
  }
  const auto since = text::GetInt(*word, {"since"});
  if (!since || *since < 0) return std::nullopt;
  stall.since += std::chrono::nanoseconds(*since);
  auto waiting = RanksAt(*word, "waiting");
  auto missing = RanksAt(*word, "missing");
  stall.text = text::GetString(*word, {"text"});
  if (stall.since > now || !waiting || !missing || stall.text.empty() || !IsPlain(stall.text)) {
    return std::nullopt;
  }
  stall.waiting = *std::move(waiting);
  stall.missing = *std::move(missing);
  return StallWord{std::move(stall)};
}

StallTeller::StallTeller(std::string folder, pid_t first_rank)
    : folder_(std::move(folder)), path_(PathIn(folder_, first_rank)) {}

StallTeller::~StallTeller() { ::unlink(path_.c_str()); }

void StallTeller::Tell(const StallWord& word) {
  std::string text = FormatStallWord(word);
  if (text == told_ && ::utimensat(AT_FDCWD, path_.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) == 0) {
    return;
  }
  const bool is_told = base::MakeDirs(folder_, 0700) &&
                       base::WriteFileAtomic(path_, text, 0600, base::Durability::kNone);
  told_ = is_told ? std::move(text) : "";
}

std::optional<StallWord> HearStall(const std::string& folder, pid_t first_rank,
                                   base::Clock& clock) {
  const base::Fd fd(::open(PathIn(folder, first_rank).c_str(),
                           O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW));
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  // In whole seconds: a program may give the file any time, and nanoseconds would overflow.
  const int64_t now =
      std::chrono::duration_cast<std::chrono::seconds>(clock.Now().time_since_epoch()).count();
  const int64_t told = info.st_mtim.tv_sec;
  if (told < now - kFresh.count() || told > now + kFresh.count()) return std::nullopt;
  std::string text(kLongestWord + 1, '\0');
  const ssize_t count = ::pread(fd.get(), text.data(), text.size(), 0);
  if (count < 0 || static_cast<size_t>(count) > kLongestWord) return std::nullopt;
  text.resize(static_cast<size_t>(count));
  return ParseStallWord(text, clock.Steady());
}

}  // namespace witness
