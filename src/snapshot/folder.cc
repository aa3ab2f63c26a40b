#include "snapshot/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>

#include "base/fd.h"
#include "base/file.h"
#include "base/strings.h"
#include "process/program_output.h"
#include "snapshot/ignore_rules.h"

namespace snapshot {
namespace {

using base::Code;
using base::Fail;

constexpr const char* kIgnoreFile = ".musterignore";
constexpr size_t kMaxIgnoreBytes = 1 << 20;
constexpr size_t kShownFiles = 5;
constexpr off_t kShownBytes = 1'000'000;
// As git LFS specifies it (spec.md in its repository).
constexpr std::string_view kPointer = "version https://git-lfs.github.com/spec/v1\n";
constexpr off_t kMaxPointer = 1024;

std::string Joined(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

std::string_view NameOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool IsThere(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0;
}

// Whether a folder is in a git work tree, by the files that git looks for.
bool IsBelowGit(std::string path) {
  while (true) {
    if (IsThere(path + "/.git")) return true;
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos || path.empty()) return false;
    path.resize(slash);
  }
}

// Runs git in `folder`. kInvalidArgument with git's last line when it fails.
base::Result<std::string> AskGit(const std::string& folder, std::vector<std::string> args,
                                 const base::Environment& environment) {
  std::vector<std::string> argv = {"git", "-C", folder};
  argv.insert(argv.end(), args.begin(), args.end());
  TRY_ASSIGN(process::ProgramOutput answer, process::OutputOf(argv, environment));
  if (answer.exit_code == 0) return std::move(answer.out);
  const std::vector<std::string> lines = base::Split(base::Trim(answer.err), '\n');
  return Fail(Code::kInvalidArgument,
              fmt::format("git in {}: {}", folder, lines.empty() ? "failed" : lines.front()));
}

// "" for a folder that may be code.
std::string_view WhatIsGenerated(const std::string& name, const std::string& path) {
  if (name == ".git") return "git's own folder";
  if (name == "__pycache__") return "Python's cache";
  if (IsThere(path + "/pyvenv.cfg")) return "a virtual environment";
  return IsThere(path + "/conda-meta/history") ? "a conda environment" : "";
}

std::vector<std::string> SplitAtNul(std::string_view text) {
  std::vector<std::string> parts = base::Split(text, '\0');
  std::erase(parts, "");
  return parts;
}

// Collects entries, and stops at the limits.
class Lister {
 public:
  Lister(const Folder& folder, const ListLimits& limits, const base::Environment& environment)
      : root_(folder.root),
        state_(environment.StateDir()),
        is_above_state_(state_.starts_with(root_)),
        limits_(limits),
        environment_(environment),
        root_fd_(::open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

  base::Result<Listing> List(bool is_git) {
    if (is_git) {
      TRY(ListGit(""));
    } else {
      auto text = base::ReadFile(root_ + "/" + kIgnoreFile, kMaxIgnoreBytes);
      if (!text && text.error().code != Code::kNotFound) return Fail(text.error());
      const IgnoreRules rules(text ? *text : "");
      TRY(Walk("", rules));
    }
    TRY(CheckSize());
    std::ranges::sort(entries_, {}, &Entry::path);
    std::vector<std::string> pointers = is_git ? LfsPointers() : std::vector<std::string>();
    std::ranges::sort(outside_);
    return Listing{std::move(entries_), std::move(unfetched_), std::move(pointers),
                   std::move(outside_)};
  }

 private:
  base::Status ListGit(const std::string& inside) {
    TRY_ASSIGN(
        const std::string listed,
        AskGit(Joined(root_, inside),
               {"ls-files", "-z", "--cached", "--others", "--exclude-standard"}, environment_));
    std::vector<std::string> names = SplitAtNul(listed);
    std::error_code ignored;
    // A file in conflict is listed once for each of its versions.
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    for (std::string& name : names) {
      while (name.ends_with('/')) name.pop_back();  // a repository in the work tree
      const std::string path = Joined(inside, name);
      struct stat info{};
      if (::fstatat(root_fd_.get(), path.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) continue;  // tracked, but deleted
        return Fail(base::Errno(errno, "look at " + path));
      }
      if (!S_ISDIR(info.st_mode)) {
        TRY(Add(path, info));
      } else if (IsThere(root_ + "/" + path + "/.git")) {
        TRY(ListGit(path));  // a submodule, or another repository
      } else if (std::filesystem::is_empty(root_ + "/" + path, ignored)) {
        // Otherwise a folder stands where a file was, and git lists its files.
        unfetched_.push_back(path);
      }
    }
    return {};
  }

  // Files are read only if git's attributes name the filter of LFS.
  std::vector<std::string> LfsPointers() const {
    const bool has_filter = std::ranges::any_of(entries_, [this](const Entry& entry) {
      if (NameOf(entry.path) != ".gitattributes") return false;
      const auto text = base::ReadFile(root_ + "/" + entry.path, kMaxIgnoreBytes);
      return text && text->find("filter=lfs") != std::string::npos;
    });
    std::vector<std::string> pointers;
    if (!has_filter) return pointers;
    for (const Entry& entry : entries_) {
      if (!S_ISREG(entry.info.st_mode) || entry.info.st_size >= kMaxPointer) continue;
      const auto text = base::ReadFile(root_ + "/" + entry.path, kMaxPointer);
      if (text && text->starts_with(kPointer)) pointers.push_back(entry.path);
    }
    return pointers;
  }

  base::Status Walk(const std::string& inside, const IgnoreRules& rules) {
    const std::string folder = inside.empty() ? root_ : root_ + "/" + inside;
    const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), ::closedir);
    if (!dir) return Fail(base::Errno(errno, "open " + folder));
    while (const dirent* const entry = ::readdir(dir.get())) {
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      const std::string path = Joined(inside, name);
      struct stat info{};
      if (::lstat((root_ + "/" + path).c_str(), &info) != 0) {
        if (errno == ENOENT) continue;
        return Fail(base::Errno(errno, "look at " + path));
      }
      if (rules.Ignores(path, S_ISDIR(info.st_mode))) continue;
      if (!S_ISDIR(info.st_mode)) {
        TRY(Add(path, info));
      } else if (!IsLeftOut(name, root_ + "/" + path)) {
        TRY(Walk(path, rules));
      }
    }
    return {};
  }

  bool IsLeftOut(const std::string& name, const std::string& path) const {
    return !WhatIsGenerated(name, path).empty() || path == state_;
  }

  base::Status Add(const std::string& path, const struct stat& info) {
    // The work tree may be the whole home folder, which contains the state folder.
    if (is_above_state_ && (root_ + "/" + path).starts_with(state_ + "/")) return {};
    Entry entry{path, info, ""};
    if (S_ISLNK(info.st_mode)) {
      TRY(ReadLink(entry));
    } else if (!S_ISREG(info.st_mode)) {
      return {};  // sockets and pipes are not code
    } else {
      // No need to ask the kernel about one's own files.
      const bool is_own = info.st_uid == user_ && (info.st_mode & S_IRUSR) != 0;
      if (!is_own && ::access((root_ + "/" + path).c_str(), R_OK) != 0) {
        return Fail(base::Errno(errno, "read " + path));
      }
      bytes_ += info.st_size;
    }
    entries_.push_back(std::move(entry));
    if (limits_.files > 0 && static_cast<int64_t>(entries_.size()) > limits_.files) {
      return Fail(Code::kExhausted, fmt::format("{} has more than {} files", root_, limits_.files));
    }
    return {};
  }

  base::Status ReadLink(Entry& entry) {
    namespace fs = std::filesystem;
    std::error_code failed;
    const fs::path written = fs::read_symlink(root_ + "/" + entry.path, failed);
    if (failed) return Fail(base::Errno(failed.value(), "read link " + entry.path));
    entry.link = written.string();
    const fs::path folder = fs::path(entry.path).parent_path();
    const fs::path within = (folder / written).lexically_normal();
    if (within.is_relative() && *within.begin() != "..") return {};
    const fs::path target = (fs::path(root_) / within).lexically_normal();
    const fs::path inside = target.lexically_relative(root_);
    if (!inside.empty() && *inside.begin() != "..") {
      entry.link = inside.lexically_relative(folder.empty() ? fs::path(".") : folder).string();
    } else {
      entry.link = target.string();
      outside_.push_back(entry.path + " -> " + entry.link);
    }
    return {};
  }

  base::Status CheckSize() {
    if (limits_.bytes <= 0 || bytes_ <= limits_.bytes) return {};
    std::vector<const Entry*> largest;
    for (const Entry& entry : entries_) {
      if (S_ISREG(entry.info.st_mode) && entry.info.st_size >= kShownBytes) {
        largest.push_back(&entry);
      }
    }
    const size_t shown = std::min(kShownFiles, largest.size());
    std::partial_sort(
        largest.begin(), largest.begin() + static_cast<ptrdiff_t>(shown), largest.end(),
        [](const Entry* a, const Entry* b) { return a->info.st_size > b->info.st_size; });
    std::string names;
    for (size_t i = 0; i < shown; ++i) {
      names += fmt::format("{}{} ({} MB)", i == 0 ? "" : ", ", largest[i]->path,
                           largest[i]->info.st_size / 1'000'000);
    }
    return Fail(Code::kExhausted,
                fmt::format("{} holds {} MB{}{}", root_, bytes_ / 1'000'000,
                            names.empty() ? "" : "; its largest files are ", names));
  }

  const std::string root_, state_;
  const bool is_above_state_;  // the root was resolved, and so is the home folder
  const ListLimits limits_;
  const uid_t user_ = ::geteuid();
  const base::Environment& environment_;
  const base::Fd root_fd_;
  std::vector<Entry> entries_;
  std::vector<std::string> unfetched_, outside_;
  int64_t bytes_ = 0;
};

struct Submodule {
  std::string path, commit;  // in the folder; that its repository's HEAD has
};

// Reads a line of `git status --porcelain=v2`: "1 .M S.M. 160000 160000 160000 COMMIT COMMIT PATH".
std::optional<Submodule> ChangedSubmodule(const std::string& line) {
  const std::vector<std::string> fields = base::Split(line, ' ');
  constexpr size_t kState = 2, kCommit = 6, kPath = 8;
  if (fields.size() <= kPath || fields[0] != "1" || !fields[kState].starts_with('S')) {
    return std::nullopt;
  }
  size_t at = 0;
  for (size_t i = 0; i < kPath; ++i) at += fields[i].size() + 1;
  return Submodule{line.substr(at), fields[kCommit]};
}

// The changes since a commit, without programs that the user has named for it.
base::Result<std::string> DiffOf(const std::string& repository, const std::string& prefix,
                                 const std::string& commit, const base::Environment& environment) {
  return AskGit(repository,
                {"diff", "--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/" + prefix,
                 "--dst-prefix=b/" + prefix, commit},
                environment);
}

}  // namespace

base::Result<Folder> FindFolder(const std::string& path, const base::Environment& environment) {
  std::error_code failed;
  const std::string whole = std::filesystem::canonical(path, failed).string();
  if (failed || !std::filesystem::is_directory(whole, failed)) {
    return Fail(Code::kNotFound,
                fmt::format("{}: {}", path, failed ? failed.message() : "not a folder"));
  }
  Folder folder{whole, "", false};
  if (!IsBelowGit(whole)) return folder;
  auto root = AskGit(whole, {"rev-parse", "--show-toplevel"}, environment);
  // Without git, or in the .git folder itself, it is an ordinary folder.
  if (!root && root.error().code == Code::kNotFound) return folder;
  if (!root) {
    const bool is_anothers = root.error().message.find("dubious ownership") != std::string::npos;
    root.error().message +=
        is_anothers ? fmt::format("; `git config --global --add safe.directory {}` trusts it",
                                  base::ShellQuote(whole))
                    : "; repair its .git, or remove it to take the folder as it is";
    return Fail(root.error());
  }
  folder.root = base::Trim(*root);
  folder.is_git = true;
  if (whole.starts_with(folder.root + "/")) folder.inside = whole.substr(folder.root.size() + 1);
  return folder;
}

std::string ReasonLeftOut(const Folder& folder, const std::string& path) {
  for (size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1)) {
    const std::string above = path.substr(0, end);
    const std::string name = above.substr(above.rfind('/') + 1);
    const std::string_view what = WhatIsGenerated(name, folder.root + "/" + above);
    // A work tree has what git lists.
    if (what.empty() || (folder.is_git && name != ".git")) continue;
    return fmt::format("{} is {}", above, what);
  }
  return "";
}

base::Result<GitState> ReadGitState(const Folder& folder, const base::Environment& environment) {
  GitState state;
  if (!folder.is_git) return state;
  TRY_ASSIGN(const std::string status, AskGit(folder.root,
                                              {"status", "--porcelain=v2", "--branch", "-z",
                                               "--untracked-files=all", "--no-renames"},
                                              environment));
  constexpr std::string_view kCommit = "# branch.oid ";
  bool has_tracked = false;  // changes
  std::vector<Submodule> submodules;
  for (const std::string& line : SplitAtNul(status)) {
    if (line.starts_with(kCommit)) state.commit = line.substr(kCommit.size());
    if (line.starts_with("# ")) continue;
    ++state.changes;
    if (auto submodule = ChangedSubmodule(line)) submodules.push_back(*std::move(submodule));
    has_tracked = has_tracked || !line.starts_with("? ");
  }
  if (state.commit == "(initial)") state.commit.clear();
  if (!has_tracked || state.commit.empty()) return state;
  // A run does not depend on it: a partial clone may have to fetch what changed.
  auto diff = DiffOf(folder.root, "", "HEAD", environment);
  if (!diff) return state;
  state.diff = *std::move(diff);
  for (const Submodule& each : submodules) {
    const auto its =
        DiffOf(folder.root + "/" + each.path, each.path + "/", each.commit, environment);
    if (its) state.diff += *its;
  }
  if (state.diff.size() > kMaxDiff) {
    state.diff.resize(state.diff.rfind('\n', kMaxDiff) + 1);
    state.diff += "(the rest is not kept)\n";
  }
  return state;
}

base::Result<Listing> ListFolder(const Folder& folder, const ListLimits& limits,
                                 const base::Environment& environment) {
  return Lister(folder, limits, environment).List(folder.is_git);
}

}  // namespace snapshot
