#include "answers/log/attempt.h"

#include <algorithm>

#include "base/strings.h"

namespace answers {
namespace {

constexpr std::string_view kAttemptFolder = "attempt_";

std::string_view RunOf(std::string_view path) { return path.substr(0, path.find(kAttemptFolder)); }

}  // namespace

int TakeAttempt(std::string& path) {
  const size_t at = path.find(kAttemptFolder);
  if (at == std::string::npos || (at > 0 && path[at - 1] != '/')) return 0;
  const size_t end = path.find('/', at);
  if (end == std::string::npos) return 0;
  const auto number = base::ParseInt(
      std::string_view(path).substr(at + kAttemptFolder.size(), end - at - kAttemptFolder.size()));
  if (!number || *number < 0 || *number > 10'000) return 0;
  path.erase(at, end + 1 - at);
  return static_cast<int>(*number);
}

LastAttempts::LastAttempts(const std::vector<std::string_view>& paths) {
  for (const std::string_view path : paths) {
    std::string rest(path);
    const int attempt = TakeAttempt(rest);
    if (rest == path) continue;
    const auto [run, is_new] = last_.try_emplace(std::string(RunOf(path)), attempt);
    run->second = std::max(run->second, attempt);
  }
}

bool LastAttempts::IsEarlier(std::string_view path) const {
  std::string rest(path);
  const int attempt = TakeAttempt(rest);
  const auto run = last_.find(RunOf(path));
  return rest != path && run != last_.end() && attempt < run->second;
}

}  // namespace answers
