#include "arena/folder/left_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "arena/folder/run_note.h"
#include "base/strings.h"
#include "snapshot/folder.h"

namespace arena {
namespace {

namespace fs = std::filesystem;

// What stands in quotes, and other words with a slash.
std::vector<std::string> PathsIn(std::string_view line) {
  constexpr std::string_view kQuotes = "'\"`";
  constexpr std::string_view kEnds = " \t,;()[]<>'\"`";
  std::vector<std::string> paths;
  while (!line.empty()) {
    const bool is_quoted = kQuotes.find(line[0]) != std::string_view::npos;
    const size_t end =
        is_quoted ? line.find(line[0], 1) : std::min(line.find_first_of(kEnds), line.size());
    if (is_quoted && end != std::string_view::npos) {
      paths.emplace_back(line.substr(1, end - 1));
    } else if (!is_quoted && line.substr(0, end).find('/') != std::string_view::npos) {
      const std::string_view word = line.substr(0, end);
      paths.emplace_back(word.substr(0, word.find_last_not_of(".:!?") + 1));
    }
    line.remove_prefix(is_quoted && end == std::string_view::npos ? 1
                                                                  : std::min(end + 1, line.size()));
  }
  return paths;
}

// The path, or the folder above it, that is in `root` but not in `code`; "" if there is none.
std::string LacksOf(fs::path path, const std::string& root, const std::string& code) {
  std::error_code failed;
  for (; !path.empty() && *path.begin() != ".."; path = path.parent_path()) {
    if (!fs::exists(fs::path(root) / path, failed)) continue;
    return fs::exists(fs::path(code) / path, failed) ? "" : path.string();
  }
  return "";
}

}  // namespace

std::string AdviceOnLeftOut(const std::string& run_folder, std::string_view line) {
  const auto note = run_folder.empty() ? std::nullopt : NoteIn(run_folder);
  const std::string code = run_folder + "/code";
  std::error_code failed;
  if (!note || note->snapshot.empty() || !fs::is_directory(code, failed)) return "";
  for (const std::string& named : PathsIn(line)) {
    std::string path = named;
    if (path.starts_with(code + "/")) {
      path.erase(0, code.size() + 1);
    } else if (path.starts_with('/')) {
      continue;
    } else {
      path = (fs::path(note->inside) / path).string();
    }
    path = fs::path(path).lexically_normal().string();
    if (path.ends_with('/')) path.pop_back();
    if (path.empty() || path == ".") continue;
    const std::string lacking = LacksOf(path, note->root, code);
    if (lacking.empty()) continue;
    const bool is_git = fs::exists(note->root + "/.git", failed);
    std::string reason = snapshot::ReasonLeftOut({note->root, note->inside, is_git}, path);
    if (reason.empty()) {
      reason =
          fmt::format("{} leaves it out, or it is newer", is_git ? ".gitignore" : ".musterignore");
    }
    return fmt::format(
        "{} is in {}, but not in the job's copy of it: {}. Run in the folder itself by --live, or "
        "name it by its absolute path.",
        base::ShellQuote(lacking), base::ShellQuote(note->root), reason);
  }
  return "";
}

}  // namespace arena
