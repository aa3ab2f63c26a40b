#include <fmt/format.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>

#include "ads/storage/object_storage.h"
#include "ads/storage/shared_file_system.h"
#include "base/file.h"
#include "process/inotify.h"

namespace ads {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFileScheme = "file://";
constexpr size_t kMaxObjectBytes = 64 << 20;

class FolderStorage : public ObjectStorage {
 public:
  explicit FolderStorage(std::string folder) : folder_(std::move(folder)) {}

  base::Status Put(const std::string& name, std::string_view content) override {
    TRY(MakeParent(name));
    return base::WriteFileAtomic(PathOf(name), content, 0644, base::Durability::kNone);
  }
  base::Result<std::string> Get(const std::string& name) override {
    return base::ReadFile(PathOf(name), kMaxObjectBytes);
  }
  base::Result<base::Time> ModifiedAt(const std::string& name) override {
    struct stat info{};
    if (::stat(PathOf(name).c_str(), &info) != 0)
      return base::Fail(base::Errno(errno, PathOf(name)));
    return base::Time(std::chrono::seconds(info.st_mtim.tv_sec) +
                      std::chrono::microseconds(info.st_mtim.tv_nsec / 1000));
  }
  base::Status Remove(const std::string& name) override {
    if (::unlink(PathOf(name).c_str()) == 0 || errno == ENOENT) return {};
    return base::Fail(base::Errno(errno, fmt::format("remove {}", PathOf(name))));
  }
  base::Result<std::vector<std::string>> List(const std::string& prefix) override;
  base::Status PutFile(const std::string& name, const std::string& path) override {
    TRY(MakeParent(name));
    return CopyFile(path, PathOf(name));
  }
  base::Status GetFile(const std::string& name, const std::string& path) override {
    TRY(base::MakeDirs(base::DirectoryOf(path), 0755));
    return CopyFile(PathOf(name), path);
  }
  std::string UriOf(const std::string& name) const override {
    return std::string(kFileScheme) + PathOf(name);
  }
  int ChangesFd() override;
  void DrainChanges() override {
    if (changes_) (void)changes_->Read();
  }

 private:
  std::string PathOf(const std::string& name) const { return folder_ + "/" + name; }
  base::Status MakeParent(const std::string& name) const {
    return base::MakeDirs(base::DirectoryOf(PathOf(name)), 0755);
  }
  static base::Status CopyFile(const std::string& from, const std::string& to);

  const std::string folder_;
  bool has_asked_ = false;
  std::optional<process::Inotify> changes_;
};

// First to a temporary file beside it, so that nobody reads a part of it.
base::Status FolderStorage::CopyFile(const std::string& from, const std::string& to) {
  const std::string part = fmt::format("{}.part-{}", to, ::getpid());
  std::error_code error;
  fs::copy_file(from, part, fs::copy_options::overwrite_existing, error);
  if (!error) fs::rename(part, to, error);
  if (!error) return {};
  base::Error failure = base::Errno(error.value(), fmt::format("copy {} to {}", from, to));
  fs::remove(part, error);
  return base::Fail(std::move(failure));
}

base::Result<std::vector<std::string>> FolderStorage::List(const std::string& prefix) {
  std::vector<std::string> names;
  std::error_code error;
  fs::recursive_directory_iterator at(folder_, fs::directory_options::skip_permission_denied,
                                      error);
  if (error) {
    if (error.value() == ENOENT) return names;
    return base::Fail(base::Errno(error.value(), folder_));
  }
  for (; at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (!at->is_regular_file(error)) continue;
    std::string name = at->path().string().substr(folder_.size() + 1);
    if (name.starts_with(prefix)) names.push_back(std::move(name));
  }
  // If it cannot continue, the iterator is at its end too.
  if (error) return base::Fail(base::Errno(error.value(), folder_));
  std::sort(names.begin(), names.end());
  return names;
}

int FolderStorage::ChangesFd() {
  if (!has_asked_) {
    has_asked_ = true;
    if (!base::MakeDirs(folder_, 0755) || IsOnSharedFileSystem(folder_)) return -1;
    auto changes = process::Inotify::Create();
    if (!changes) return -1;
    if (!changes->Watch(folder_, IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE)) return -1;
    changes_ = std::move(*changes);
  }
  return changes_ ? changes_->fd() : -1;
}

}  // namespace

base::Result<std::unique_ptr<ObjectStorage>> OpenFolder(const std::string& uri) {
  std::string folder =
      uri.starts_with(kFileScheme) ? uri.substr(kFileScheme.size()) : std::string(uri);
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  if (!folder.starts_with('/')) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("\"{}\" is not a folder: file:///path or oci://bucket@namespace/"
                                  "prefix is wanted",
                                  uri));
  }
  return std::unique_ptr<ObjectStorage>(std::make_unique<FolderStorage>(std::move(folder)));
}

}  // namespace ads
