#include "dashboard/strip.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace dashboard {
namespace {

constexpr std::array<std::string_view, 6> kOfRank = {
    "cpu", "memoryBytes", "ioBytesPerSecond", "quietSeconds", "gpu", "stall"};

const text::Array& ArrayIn(const text::Json& json, std::string_view name) {
  static const text::Array kNone;
  const text::Array* found = text::FindArray(json, {name});
  return found != nullptr ? *found : kNone;
}

bool IsSameGrid(const text::Json& sent, const text::Json& now) {
  const text::Array& before = ArrayIn(sent, "ranks");
  const text::Array& ranks = ArrayIn(now, "ranks");
  return text::GetInt(sent, {"from"}) == text::GetInt(now, {"from"}) &&
         text::GetInt(sent, {"step"}) == text::GetInt(now, {"step"}) &&
         std::equal(before.begin(), before.end(), ranks.begin(), ranks.end(),
                    [](const text::Json& a, const text::Json& b) {
                      return text::GetInt(a, {"rank"}) == text::GetInt(b, {"rank"});
                    });
}

// The first column that differs; nullopt when none does.
std::optional<size_t> FirstChange(const text::Array& sent, const text::Array& now) {
  std::optional<size_t> first;
  for (size_t rank = 0; rank < now.size(); ++rank) {
    for (const std::string_view name : kOfRank) {
      const text::Array& before = ArrayIn(sent[rank], name);
      const text::Array& after = ArrayIn(now[rank], name);
      const auto differ =
          std::mismatch(before.begin(), before.end(), after.begin(), after.end()).second;
      const auto at = static_cast<size_t>(differ - after.begin());
      if (before.size() == after.size() && at == after.size()) continue;
      first = std::min(first.value_or(at), at);
    }
  }
  return first;
}

}  // namespace

std::string StripNews(const std::string& key, const text::Json& sent, const text::Json& now) {
  const text::Array& ranks = ArrayIn(now, "ranks");
  size_t at = 0;
  if (sent.is_object() && IsSameGrid(sent, now)) {
    const auto change = FirstChange(ArrayIn(sent, "ranks"), ranks);
    if (!change) return "";
    at = *change;
  }
  text::Array news;
  for (const text::Json& rank : ranks) {
    text::Object of{{"rank", text::GetInt(rank, {"rank"}).value_or(0)}};
    for (const std::string_view name : kOfRank) {
      const text::Array& values = ArrayIn(rank, name);
      const size_t from = std::min(at, values.size());
      of[name] = text::Array(values.begin() + static_cast<std::ptrdiff_t>(from), values.end());
    }
    news.push_back(std::move(of));
  }
  text::Object update{{"key", key},
                      {"from", text::GetInt(now, {"from"}).value_or(0)},
                      {"step", text::GetInt(now, {"step"}).value_or(0)},
                      {"at", at},
                      {"ranks", std::move(news)}};
  if (const std::string_view source = text::GetString(now, {"source"}); !source.empty()) {
    update["source"] = source;
  }
  return text::ToJson(update);
}

}  // namespace dashboard
