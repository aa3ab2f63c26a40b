#include "arena/folder/local_code.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <future>

#include "api/names.h"
#include "arena/folder/run_folder.h"
#include "base/printable.h"
#include "base/strings.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

constexpr size_t kMaxArchive = 8 << 20;

std::string MegaBytes(int64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

// By the name alone: files that programs read passwords and keys from. Examples of them hold none.
bool LooksSecret(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (const char* example : {".example", ".sample", ".template", ".dist"}) {
    if (name.ends_with(example)) return false;
  }
  for (const char* secret : {".env", ".netrc", ".pypirc", "id_rsa", "id_ecdsa", "id_ed25519"}) {
    if (name == secret) return true;
  }
  return name.starts_with(".env.") || name.ends_with(".pem");
}

// "; takes .env, which looks like secrets: .musterignore keeps it out"; "" without such files.
std::string DescribeSecrets(const std::vector<snapshot::File>& files, bool is_git) {
  constexpr size_t kShown = 3;
  std::vector<std::string> names;
  for (const snapshot::File& file : files) {
    if (LooksSecret(file.path)) names.push_back(base::Printable(file.path));
  }
  if (names.empty()) return "";
  const size_t count = names.size();
  names.resize(std::min(count, kShown));
  const std::string more = count > kShown ? fmt::format(" and {} more", count - kShown) : "";
  const char* them = count == 1 ? "it" : "them";
  return fmt::format("; takes {}{}, which look{} like secrets: {} keeps {} out{}",
                     fmt::join(names, ", "), more, count == 1 ? "s" : "",
                     snapshot::IgnoreFile(is_git), them,
                     is_git ? fmt::format(", unless git tracks {}", them) : "");
}

base::Error WithAdvice(base::Error error, bool is_git) {
  const char* advice = "";
  if (error.code == Code::kExhausted) {
    advice = "; name them in {}, mount data by --data-dir, or take them all by --large";
  } else if (error.code == Code::kPermissionDenied) {
    advice = "; make it readable, or name it in {}";
  }
  error.message += fmt::format(fmt::runtime(advice), snapshot::IgnoreFile(is_git));
  return error;
}

base::Result<snapshot::Folder> FolderAt(const std::string& path,
                                        const base::Environment& environment) {
  auto found = snapshot::FindFolder(path, environment);
  if (found || path != "." || found.error().code != Code::kNotFound) return found;
  return Fail(Code::kNotFound,
              "the current folder no longer exists: change to another, or name one");
}

}  // namespace

base::Result<std::string> PackFiles(const snapshot::Snapshot& taken,
                                    const std::map<std::string, std::string>& more,
                                    const std::string& shown,
                                    const base::Environment& environment) {
  TRY_ASSIGN(std::string archive, RunFolder::Snapshots(environment).Pack(taken, more, environment));
  if (archive.size() <= kMaxArchive) return archive;
  return Fail(Code::kExhausted,
              fmt::format("{} is {} KiB when packed, and a job can carry at most {}: use "
                          "--sync-mode=git or rsync, or a volume (--data)",
                          shown, archive.size() >> 10, kMaxArchive >> 10));
}

void LocalCodeFlags::Declare(cli::FlagSet& set) {
  set.Bool(&is_large, "large", false, "permit a folder of more than 100 MB or 20,000 files");
  set.String(&earlier, "snapshot-of", "", "").Hidden();
}

base::Result<LocalCode> LocalCode::Find(const std::string& folder, const LocalCodeFlags& flags,
                                        const base::Environment& environment) {
  LocalCode code(environment);
  if (!flags.earlier.empty()) {
    auto note = NoteAt(flags.earlier);
    if (!note) {
      return Fail(Code::kNotFound, fmt::format("{} is not the note of a run", flags.earlier));
    }
    code.note_ = std::move(*note);
    code.folder_ = {code.note_.root, code.note_.inside, !code.note_.commit.empty()};
    TRY_ASSIGN(const snapshot::Snapshot kept,
               RunFolder::Snapshots(environment).Read(code.note_.snapshot));
    for (const snapshot::File& file : kept.files)
      code.listed_.entries.push_back({file.path, {}, ""});
    return code;
  }
  TRY_ASSIGN(code.folder_, FolderAt(folder, environment));
  const snapshot::ListLimits limits =
      flags.is_large ? snapshot::ListLimits{0, 0} : snapshot::ListLimits{};
  // Git walks the tree for either: one call takes half the time.
  auto git = std::async(std::launch::async, [&code, &environment] {
    return snapshot::ReadGitState(code.folder_, environment);
  });
  auto listed = snapshot::ListFolder(code.folder_, limits, environment);
  auto state = git.get();
  if (!listed) return Fail(WithAdvice(std::move(listed.error()), code.folder_.is_git));
  if (!state) return Fail(std::move(state.error()));
  code.TakeGitState(std::move(*state));
  code.listed_ = std::move(*listed);
  return code;
}

base::Result<LocalCode> LocalCode::InPlace(const std::string& folder,
                                           const base::Environment& environment) {
  LocalCode code(environment);
  TRY_ASSIGN(code.folder_, FolderAt(folder, environment));
  TRY_ASSIGN(snapshot::GitState git, snapshot::ReadGitState(code.folder_, environment));
  code.TakeGitState(std::move(git));
  return code;
}

void LocalCode::TakeGitState(snapshot::GitState git) {
  note_.commit = std::move(git.commit);
  note_.changes = git.changes;
  note_.diff = std::move(git.diff);
}

base::Status LocalCode::CheckForOtherMachine() const {
  if (listed_.outside.empty()) return {};
  return Fail(
      Code::kInvalidArgument,
      fmt::format("the link {} leads out of {}, to what other machines do not have; name it "
                  "in {}, or mount its target by --data-dir",
                  base::Printable(listed_.outside.front()), folder_.root,
                  snapshot::IgnoreFile(folder_.is_git)));
}

std::string LocalCode::Below(const std::string& root) const {
  return folder_.inside.empty() ? root : root + "/" + folder_.inside;
}

bool LocalCode::Holds(std::string_view path) const {
  return std::any_of(listed_.entries.begin(), listed_.entries.end(),
                     [path](const snapshot::Entry& entry) { return entry.path == path; });
}

base::Result<snapshot::Snapshot> LocalCode::Keep() const {
  snapshot::Store store = RunFolder::Snapshots(*environment_);
  return is_at_hand() ? store.Take(folder_.root, listed_.entries) : store.Read(note_.snapshot);
}

void LocalCode::Annotate(const snapshot::Snapshot& taken,
                         std::map<std::string, std::string>& annotations) const {
  annotations[std::string(api::kSnapshotAnnotation)] = taken.hash;
  if (!note_.commit.empty()) {
    annotations[std::string(api::kCommitAnnotation)] = note_.commit;
  }
}

// `12 files (0.3 MB) of /home/me/job, commit 3f2a91c, 3 files changed`
std::string LocalCode::Describe(const snapshot::Snapshot& taken) const {
  const size_t files = taken.files.size();
  std::string text = fmt::format("{} file{} ({}) of {}", files, files == 1 ? "" : "s",
                                 MegaBytes(taken.bytes), folder_.root);
  if (folder_.is_git) {
    text += note_.commit.empty()
                ? ", no commit yet"
                : ", commit " + note_.commit.substr(0, 7) + DescribeChanges(note_.changes);
  }
  if (!listed_.unfetched.empty()) {
    text += fmt::format("; without {}, which `git submodule update --init` fetches",
                        base::Printable(base::Join(listed_.unfetched, ", ")));
  }
  if (const size_t count = listed_.pointers.size(); count > 0) {
    text += fmt::format(
        "; {} {} only {} of git LFS: `git lfs pull` fetches the contents",
        count == 1 ? base::Printable(listed_.pointers.front()) : fmt::format("{} files", count),
        count == 1 ? "is" : "are", count == 1 ? "a pointer" : "pointers");
  }
  if (!listed_.outside.empty()) {
    const size_t more = listed_.outside.size() - 1;
    text += fmt::format("; {}{} {} out of it, and what is there is not copied",
                        base::Printable(listed_.outside.front()),
                        more == 0 ? "" : fmt::format(" and {} more", more),
                        more == 0 ? "leads" : "lead");
  }
  // Nothing keeps them out of a snapshot that is taken already.
  return is_at_hand() ? text + DescribeSecrets(taken.files, folder_.is_git) : text;
}

void LocalCode::NoteDown(RunNote& note) const {
  note.root = folder_.root;
  note.inside = folder_.inside;
  note.commit = note_.commit;
  note.changes = note_.changes;
  note.diff = note_.diff;
}

}  // namespace arena
