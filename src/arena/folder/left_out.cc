#include "arena/folder/left_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "arena/folder/run_note.h"
#include "base/folder.h"
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
std::string LeftOut(fs::path path, const std::string& root, const std::string& code) {
  std::error_code failed;
  for (; !path.empty() && *path.begin() != ".."; path = path.parent_path()) {
    if (!fs::exists(fs::path(root) / path, failed)) continue;
    return fs::exists(fs::path(code) / path, failed) ? "" : path.string();
  }
  return "";
}

// "pkg/_C" of "No module named 'pkg._C'" and of "cannot import name '_C' from 'pkg' (...)".
std::string ModuleIn(std::string_view line) {
  const auto after = [line](std::string_view words) {
    const size_t at = line.find(words);
    if (at == std::string_view::npos) return std::string();
    const std::string_view rest = line.substr(at + words.size());
    return std::string(rest.substr(0, rest.find('\'')));
  };
  std::string module = after("No module named '");
  const std::string name = after("cannot import name '");
  if (!name.empty()) module = after("' from '") + "." + name;
  std::replace(module.begin(), module.end(), '.', '/');
  return module;
}

// Its source, package or compiled extensions.
std::vector<std::string> FilesOfModule(const std::string& root, const fs::path& module) {
  std::vector<std::string> files = {module.string() + ".py", (module / "__init__.py").string()};
  const std::string stem = module.filename().string() + ".";
  for (const std::string& name :
       base::EntriesOf((fs::path(root) / module.parent_path()).string())) {
    if (name.starts_with(stem) && name.ends_with(".so")) {
      files.push_back((module.parent_path() / name).string());
    }
  }
  return files;
}

std::string Normal(const fs::path& path) {
  std::string normal = path.lexically_normal().string();
  if (normal.ends_with('/')) normal.pop_back();
  return normal == "." ? "" : normal;
}

// Of one run.
class Missed {
 public:
  Missed(const RunNote& note, std::string code) : note_(note), code_(std::move(code)) {}

  std::string AdviceOnPath(const std::string& named) const {
    std::string path;
    if (named.starts_with(code_ + "/")) {
      path = Normal(named.substr(code_.size() + 1));
    } else if (!named.starts_with('/')) {
      path = Normal(fs::path(note_.inside) / named);
    }
    const std::string lacking = LeftOut(path, note_.root, code_);
    return lacking.empty() ? "" : Advice(lacking, path, ", or name it by its absolute path");
  }

  std::string AdviceOnModule(const std::string& module) const {
    if (module.starts_with('/')) return "";
    for (const std::string& folder : {note_.inside, std::string(), std::string("src")}) {
      for (const std::string& file : FilesOfModule(note_.root, fs::path(folder) / module)) {
        if (LeftOut(file, note_.root, code_) == file) return Advice(file, file, "");
      }
    }
    return "";
  }

 private:
  std::string Advice(const std::string& lacking, const std::string& path,
                     std::string_view otherwise) const {
    std::error_code failed;
    const bool is_git = fs::exists(note_.root + "/.git", failed);
    std::string reason = snapshot::ReasonLeftOut({note_.root, note_.inside, is_git}, path);
    if (reason.empty()) {
      reason = fmt::format("{} leaves it out, or it is newer", snapshot::IgnoreFile(is_git));
    }
    return fmt::format(
        "{} is in {}, but not in the job's copy of it: {}. Run in the folder itself by --live{}.",
        base::ShellQuote(lacking), base::ShellQuote(note_.root), reason, otherwise);
  }

  const RunNote& note_;
  const std::string code_;
};

}  // namespace

std::string AdviceOnLeftOut(const std::string& run_folder, std::string_view line) {
  const auto note = run_folder.empty() ? std::nullopt : NoteIn(run_folder);
  const std::string code = CodePathIn(run_folder);
  std::error_code failed;
  if (!note || note->snapshot.empty() || !fs::is_directory(code, failed)) return "";
  const Missed missed(*note, code);
  const std::string module = ModuleIn(line);
  if (!module.empty()) return missed.AdviceOnModule(module);
  for (const std::string& path : PathsIn(line)) {
    std::string advice = missed.AdviceOnPath(path);
    if (!advice.empty()) return advice;
  }
  return "";
}

}  // namespace arena
