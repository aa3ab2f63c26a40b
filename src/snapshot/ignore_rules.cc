#include "snapshot/ignore_rules.h"

#include <fnmatch.h>

#include "base/strings.h"

namespace snapshot {
namespace {

// Like fnmatch, and "**" stands for any number of folders.
bool Matches(const std::string& pattern, const std::string& path) {
  const size_t stars = pattern.find("**");
  if (stars == std::string::npos) {
    return ::fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME) == 0;
  }
  const std::string head = pattern.substr(0, stars);
  std::string tail = pattern.substr(stars + 2);
  const bool is_of_folders = tail.starts_with('/');
  if (is_of_folders) tail.erase(0, 1);
  for (size_t end = 0; end <= path.size(); ++end) {
    const bool is_boundary = end == 0 || end == path.size() || path[end - 1] == '/';
    const bool ends_head = is_of_folders ? is_boundary : true;
    if (!ends_head) continue;
    const std::string rest = path.substr(end);
    const bool is_whole = tail.empty() ? end == path.size() || !is_of_folders : Matches(tail, rest);
    if (!is_whole) continue;
    // What `head` and "**" stand for together.
    const std::string first = path.substr(0, end);
    if (head.empty() || ::fnmatch((head + "*").c_str(), first.c_str(), 0) == 0) return true;
  }
  return false;
}

}  // namespace

IgnoreRules::IgnoreRules(std::string_view text) {
  for (const std::string& raw : base::Split(text, '\n')) {
    std::string_view line = base::Trim(raw);
    if (line.empty() || line.front() == '#') continue;
    Rule rule;
    rule.is_kept = line.front() == '!';
    if (rule.is_kept) line.remove_prefix(1);
    while (line.ends_with('/')) {
      rule.is_of_folders = true;
      line.remove_suffix(1);
    }
    rule.is_of_any_name = line.find('/') == std::string_view::npos;
    if (line.starts_with('/')) line.remove_prefix(1);
    if (line.empty()) continue;
    rule.pattern = line;
    rules_.push_back(std::move(rule));
  }
}

bool IgnoreRules::Ignores(std::string_view path, bool is_folder) const {
  const std::string whole(path);
  const std::string name(path.substr(path.rfind('/') + 1));
  bool is_ignored = false;
  for (const Rule& rule : rules_) {
    if (rule.is_of_folders && !is_folder) continue;
    if (Matches(rule.pattern, rule.is_of_any_name ? name : whole)) is_ignored = !rule.is_kept;
  }
  return is_ignored;
}

}  // namespace snapshot
