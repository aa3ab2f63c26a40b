#include "base/environment.h"

#include <unistd.h>

extern char** environ;

namespace base {

Environment Environment::OfProcess() {
  std::map<std::string, std::string> values;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    values.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return Environment(std::move(values));
}

std::optional<std::string> Environment::Get(std::string_view name) const {
  const auto found = values_.find(std::string(name));
  if (found == values_.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

std::vector<std::string> Environment::AsList() const {
  std::vector<std::string> list;
  list.reserve(values_.size());
  for (const auto& [name, value] : values_) list.push_back(name + "=" + value);
  return list;
}

std::string Environment::GetOr(std::string_view name, std::string_view otherwise) const {
  return Get(name).value_or(std::string(otherwise));
}

}  // namespace base
