#include "rendezvous/store/keys.h"

#include <algorithm>
#include <vector>

#include "base/strings.h"

namespace rendezvous {
namespace {

constexpr std::string_view kBarrier = "store_based_barrier_key:";
constexpr std::string_view kLastWorker = ":last_worker";
constexpr std::string_view kRank = "rank_";

bool IsNumber(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), base::IsDigit);
}

bool IsAttempt(std::string_view part) {
  return part.starts_with("attempt_") && IsNumber(part.substr(8));
}

// The parts between slashes, without empty ones and without the prefix that all keys of an attempt
// have (torch up to 2.x: /worker/attempt_0).
std::vector<std::string> PartsOf(std::string_view key) {
  std::vector<std::string> parts = base::Split(key, '/');
  std::erase(parts, "");
  if (parts.size() > 2 && parts[0] == "worker" && IsAttempt(parts[1])) {
    parts.erase(parts.begin(), parts.begin() + 2);
  }
  return parts;
}

StoreKeyName BarrierName(const std::string& key, std::string_view tail, bool is_polled) {
  StoreKeyName name;
  tail.remove_prefix(kBarrier.size());
  const bool is_last = tail.ends_with(kLastWorker);
  name.kind = is_last ? StoreKeyName::Kind::kLastArrived : StoreKeyName::Kind::kCounter;
  if (is_last) tail.remove_suffix(kLastWorker.size());
  name.meeting = is_last ? key.substr(0, key.size() - kLastWorker.size()) : key;
  // Up to 2.0 a counter, which is 1 for the default group; later the group's name.
  const std::string_view default_name = is_polled ? "1" : "0";
  if (tail != default_name && !tail.empty() && tail != "default_pg") name.group = tail;
  return name;
}

}  // namespace

StoreKeyName ParseStoreKey(std::string_view key, bool is_polled) {
  std::vector<std::string> parts = PartsOf(key);
  StoreKeyName name;
  name.meeting = key;
  if (parts.size() < 2 || parts[0] != "default_pg") return name;
  const std::string last = parts.back();
  if (last.starts_with(kBarrier)) return BarrierName(std::string(key), last, is_polled);
  parts.pop_back();
  parts.erase(parts.begin());
  const std::string_view who =
      last.starts_with(kRank) ? std::string_view(last).substr(kRank.size()) : last;
  if (!IsNumber(who) || parts.empty()) return name;
  // <group>... [<device>] [<context>]: only full meshes have the number of the context.
  const bool has_device = parts.size() > 1 && !IsNumber(parts[parts.size() - 1]);
  if (has_device) {
    name.kind = StoreKeyName::Kind::kFirstWrites;
  } else if (parts.size() > 1 && IsNumber(parts.back())) {
    name.kind = StoreKeyName::Kind::kFullMesh;
    name.group_rank = static_cast<int>(base::ParseInt(who).value_or(0));
    parts.pop_back();
  } else {
    return name;
  }
  if (parts.size() > 1 && !IsNumber(parts.back())) parts.pop_back();
  if (parts.back() != "0" || parts.size() > 1) name.group = parts.back();
  name.meeting = key.substr(0, key.rfind('/') + 1);
  return name;
}

}  // namespace rendezvous
