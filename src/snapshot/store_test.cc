#include "snapshot/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <map>

#include "base/digest/hmac.h"
#include "base/file.h"
#include "base/strings.h"

// In place of the C library's.
namespace {
std::function<int()> on_sync;  // of a snapshot's files; each test's own
}  // namespace
extern "C" int syncfs(int /*fd*/) noexcept { return on_sync ? on_sync() : 0; }
extern "C" int fsync(int fd) {
  const std::string path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd));
  const bool is_of_it =
      path.find("/objects/") != std::string::npos || path.find("/copy/") != std::string::npos;
  return on_sync && is_of_it ? on_sync() : 0;
}

namespace snapshot {
namespace {

namespace fs = std::filesystem;

class SnapshotTest : public testing::Test {
 protected:
  SnapshotTest() {
    char name[] = "/tmp/muster-snapshot-XXXXXX";
    folder_ = ::mkdtemp(name);
    root_ = folder_ + "/code";
    fs::create_directory(root_);
    environment_.Set("XDG_STATE_HOME", folder_ + "/state");
    environment_.Set("HOME", folder_);
    environment_.Set("GIT_CONFIG_NOSYSTEM", "1");
    environment_.Set("PATH", "/usr/bin:/bin");
  }
  ~SnapshotTest() override { fs::remove_all(folder_); }

  void Write(const std::string& path, std::string_view content, unsigned mode = 0644) {
    fs::create_directories(fs::path(root_ + "/" + path).parent_path());
    ASSERT_TRUE(base::WriteFileAtomic(root_ + "/" + path, content, mode, base::Durability::kNone));
  }
  // Makes it older than the time within which a change may go unnoticed.
  void Age(const std::string& path) {
    const timespec times[] = {{1000, 0}, {1000, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (root_ + "/" + path).c_str(), times, 0), 0);
  }
  base::Result<Listing> List(ListLimits limits = {}) {
    auto folder = FindFolder(root_, environment_);
    if (!folder) return base::Fail(folder.error());
    return ListFolder(*folder, limits, environment_);
  }
  std::string Names() {
    const auto entries = List();
    if (!entries) return entries.error().message;
    std::string names;
    for (const Entry& entry : entries->entries) names += entry.path + " ";
    for (const std::string& path : entries->unfetched) names += "without " + path + " ";
    for (const std::string& path : entries->pointers) names += "pointer " + path + " ";
    return names;
  }
  Snapshot Take() {
    const auto taken = Store(folder_ + "/store").Take(root_, List()->entries);
    EXPECT_TRUE(taken) << taken.error().message;
    return taken ? *taken : Snapshot();
  }
  void Git(const std::string& args) {
    ASSERT_EQ(::system(("git -C " + root_ +
                        " -c user.name=a -c user.email=a@b -c "
                        "init.defaultBranch=main " +
                        args + " >/dev/null 2>&1")
                           .c_str()),
              0);
  }

  std::string folder_, root_;
  base::Environment environment_;
};

TEST_F(SnapshotTest, ASnapshotIsOnDiskBeforeItIsListed) {
  Write("train.py", "x");
  Age("train.py");
  int syncs = 0;
  on_sync = [&] {
    ++syncs;
    EXPECT_FALSE(fs::is_empty(folder_ + "/store/objects"));
    EXPECT_TRUE(fs::is_empty(folder_ + "/store/lists"));
    return 0;
  };
  const Snapshot taken = Take();
  EXPECT_EQ(syncs, 1);
  EXPECT_EQ(Take().hash, taken.hash);
  EXPECT_EQ(syncs, 1) << "nothing is new";
  // As after a taker that was killed before it wrote the list: the file may not be on disk.
  fs::remove_all(folder_ + "/store/lists");
  fs::remove_all(folder_ + "/store/seen");
  Take();
  EXPECT_EQ(syncs, 2);
  on_sync = nullptr;
}

TEST_F(SnapshotTest, ManyFilesAreOnDiskAtOnce) {
  constexpr int kMany = 100;
  for (int i = 0; i < kMany; ++i) Write(fmt::format("{}.py", i), fmt::format("x = {}", i));
  int syncs = 0;
  on_sync = [&syncs] {
    ++syncs;
    return 0;
  };
  const Snapshot taken = Take();
  EXPECT_EQ(syncs, 1);
  ASSERT_TRUE(Store(folder_ + "/store").WriteTo(taken, folder_ + "/copy"));
  EXPECT_EQ(syncs, 2);
  on_sync = nullptr;
}

TEST_F(SnapshotTest, ACopyIsOnDiskBeforeAnybodyIsNotified) {
  Write("train.py", "x");
  const Snapshot taken = Take();
  bool is_copied = false;
  on_sync = [&] {
    is_copied = fs::exists(folder_ + "/copy/train.py");
    return 0;
  };
  ASSERT_TRUE(Store(folder_ + "/store").WriteTo(taken, folder_ + "/copy"));
  on_sync = nullptr;
  EXPECT_TRUE(is_copied);
}

TEST_F(SnapshotTest, ADiskThatDoesNotTakeItLeavesNoSnapshotAndNoCopy) {
  Write("train.py", "x");
  on_sync = [] {
    errno = EIO;
    return -1;
  };
  const auto refused = Store(folder_ + "/store").Take(root_, List()->entries);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("sync " + folder_ + "/store"), std::string::npos)
      << refused.error().message;
  EXPECT_TRUE(fs::is_empty(folder_ + "/store/lists"));
  for (const auto& each : fs::recursive_directory_iterator(folder_ + "/store/objects")) {
    EXPECT_TRUE(each.is_directory()) << each.path();
  }
  on_sync = nullptr;
  const Snapshot taken = Take();
  on_sync = [] {
    errno = ENOSPC;
    return -1;
  };
  const base::Status copied = Store(folder_ + "/store").WriteTo(taken, folder_ + "/copy");
  on_sync = nullptr;
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code, base::Code::kExhausted) << copied.error().message;
  EXPECT_FALSE(fs::exists(folder_ + "/copy"));
}

TEST_F(SnapshotTest, AFolderWithoutGitIsAllButWhatIsMade) {
  Write("train.py", "x");
  Write("pkg/a.py", "y");
  Write("__pycache__/a.pyc", "z");
  Write("env/pyvenv.cfg", "");
  Write("env/lib/torch.py", "big");
  Write("other/conda-meta/history", "");
  Write("other/lib/torch.py", "big");
  Write("out/a.ckpt", "z");
  Write(".musterignore", "*.ckpt\n");
  EXPECT_EQ(Names(), ".musterignore pkg/a.py train.py ");
}

TEST_F(SnapshotTest, AGitWorkTreeIsWhatGitDoesNotIgnore) {
  Write("train.py", "x");
  Write("gone.py", "x");
  Write("a.log", "x");
  Write(".gitignore", "*.log\n");
  Git("init -q");
  Git("add -A");
  Git("commit -qm x");
  Write("new name.py", "x");
  Write("train.py", "changed");
  fs::remove(root_ + "/gone.py");
  EXPECT_EQ(Names(), ".gitignore new name.py train.py ");
  fs::create_directory(root_ + "/sub");
  const auto folder = FindFolder(root_ + "/sub", environment_);
  ASSERT_TRUE(folder) << folder.error().message;
  EXPECT_EQ(folder->root, fs::canonical(root_).string());
  EXPECT_EQ(folder->inside, "sub");
  const auto state = ReadGitState(*folder, environment_);
  ASSERT_TRUE(state) << state.error().message;
  EXPECT_EQ(state->commit.size(), 40U);
  EXPECT_EQ(state->changes, 3);
  EXPECT_NE(state->diff.find("\n+changed\n"), std::string::npos) << state->diff;
  EXPECT_NE(state->diff.find("\ndeleted file mode 100644\n"), std::string::npos) << state->diff;
  EXPECT_EQ(state->diff.find("new name.py"), std::string::npos) << "git does not track it";
}

TEST_F(SnapshotTest, RepositoriesInAWorkTreeAreTakenAsTheyAre) {
  const auto make = [&](const std::string& name) {
    Write(name + "/kept.py", "x");
    Write(name + "/.gitignore", "*.log\n");
    for (const char* args : {" init -q", " add -A", " commit -qm x"}) Git("-C " + name + args);
  };
  make("../lib");
  Git("init -q");
  Git("-c protocol.file.allow=always submodule add ../lib lib");
  Git("commit -qm x");
  EXPECT_EQ(Names(), ".gitmodules lib/.gitignore lib/kept.py ");
  // As they are now, not as they were committed; each ignores by its own rules.
  Write("lib/kept.py", "changed");
  Write("lib/new.py", "x");
  Write("lib/a.log", "x");
  Git("-C lib config diff.external false");  // its output would be no diff
  make("own");
  Write("own/a.log", "x");
  EXPECT_EQ(Names(),
            ".gitmodules lib/.gitignore lib/kept.py lib/new.py own/.gitignore own/kept.py ");
  const auto state = ReadGitState(*FindFolder(root_, environment_), environment_);
  ASSERT_TRUE(state) << state.error().message;
  EXPECT_NE(state->diff.find("\n--- a/lib/kept.py\n"), std::string::npos) << state->diff;
  EXPECT_NE(state->diff.find("\n+changed"), std::string::npos) << state->diff;
  Write("train.py", "x");
  Git("add train.py");
  Git("commit -qm x");
  fs::remove(root_ + "/train.py");
  Write("train.py/inside", "x");
  EXPECT_EQ(Names().find("without"), std::string::npos) << "a folder in place of a file";
  fs::remove_all(root_ + "/train.py");
  Git("submodule deinit -f lib");
  EXPECT_EQ(Names(), ".gitmodules own/.gitignore own/kept.py without lib ");
}

TEST_F(SnapshotTest, FilesThatLfsHasNotFetchedAreNamed) {
  Git("init -q");
  Write("a.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 3\n");
  Write("b.bin", "fetched");
  EXPECT_EQ(Names(), "a.bin b.bin ");
  Write("models/.gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
  EXPECT_EQ(Names(), "a.bin b.bin models/.gitattributes pointer a.bin ");
}

TEST_F(SnapshotTest, ALargeFileIsKeptInParts) {
  std::string content(40 << 20, 'x');
  content.back() = 'y';
  Write("large", content);
  Write("again", content);
  const Snapshot taken = Take();
  ASSERT_EQ(taken.files.size(), 2u);
  EXPECT_EQ(taken.files[0].hash, base::Hex(base::Sha256(content)));
  EXPECT_EQ(taken.files[0].hash, taken.files[1].hash);
  EXPECT_EQ(taken.files[0].size, 40 << 20);
  ASSERT_TRUE(Store(folder_ + "/store").WriteTo(taken, folder_ + "/copy"));
  EXPECT_EQ(*base::ReadFile(folder_ + "/copy/large"), content);
  EXPECT_TRUE(fs::is_empty(folder_ + "/store/objects/new"));
}

TEST_F(SnapshotTest, AWorkTreeWithoutACommitHasNone) {
  Write("train.py", "x");
  Git("init -q");
  const auto state = ReadGitState(*FindFolder(root_, environment_), environment_);
  ASSERT_TRUE(state) << state.error().message;
  EXPECT_EQ(state->commit, "");
  EXPECT_EQ(state->changes, 1);
}

TEST_F(SnapshotTest, MustersOwnStateIsNobodysCode) {
  environment_.Set("XDG_STATE_HOME", root_ + "/state");
  Write("a.py", "x");
  Write("state/muster/snapshots/lists/x", "x");
  EXPECT_EQ(Names(), "a.py ");
  Git("init -q");
  EXPECT_EQ(Names(), "a.py ");
}

TEST_F(SnapshotTest, ALinkThatLeavesTheFolderLeadsToTheSamePlaceFromACopy) {
  Write("a/b.py", "x");
  const auto link = [this](const std::string& target, const std::string& path) {
    fs::create_symlink(target, root_ + "/" + path);
  };
  link("../a/b.py", "a/inside");
  link("../../data", "a/outside");
  link("/mnt/data", "data");
  link(root_ + "/a/b.py", "absolute");
  link("../" + fs::path(root_).filename().string() + "/a/b.py", "back");
  link(root_ + "/a/b.py", "a/absolute");
  link(".", "itself");
  link(root_, "whole");
  const auto listing = List();
  ASSERT_TRUE(listing) << listing.error().message;
  std::map<std::string, std::string> links;
  for (const Entry& entry : listing->entries) {
    if (!entry.link.empty()) links[entry.path] = entry.link;
  }
  EXPECT_EQ(links, (std::map<std::string, std::string>{{"a/absolute", "b.py"},
                                                       {"a/inside", "../a/b.py"},
                                                       {"a/outside", folder_ + "/data"},
                                                       {"absolute", "a/b.py"},
                                                       {"back", "a/b.py"},
                                                       {"data", "/mnt/data"},
                                                       {"itself", "."},
                                                       {"whole", "."}}));
  EXPECT_EQ(listing->outside,
            (std::vector<std::string>{"a/outside -> " + folder_ + "/data", "data -> /mnt/data"}));
}

TEST_F(SnapshotTest, ACopyIsNotWrittenThroughALink) {
  Write("a/b.py", "x");
  fs::create_directory(folder_ + "/out");
  fs::create_symlink(folder_ + "/out", root_ + "/link");
  Snapshot taken = Take();
  File through = taken.files.front();
  through.path = "link/b.py";
  taken.files.push_back(through);
  EXPECT_FALSE(Store(folder_ + "/store").WriteTo(taken, folder_ + "/copy"));
  EXPECT_TRUE(fs::is_empty(folder_ + "/out"));
}

TEST_F(SnapshotTest, TooMuchIsRefusedWithTheLargestFiles) {
  Write("small.py", "x");
  Write("large.bin", std::string(3'000'000, 'x'));
  const auto entries = List({2'000'000, 100});
  ASSERT_FALSE(entries);
  EXPECT_EQ(entries.error().code, base::Code::kExhausted);
  EXPECT_NE(entries.error().message.find("holds 3 MB; its largest files are large.bin (3 MB)"),
            std::string::npos)
      << entries.error().message;
  EXPECT_FALSE(List({0, 1}));
  EXPECT_TRUE(List({0, 0}));
}

TEST_F(SnapshotTest, WhatIsWrittenOutIsWhatWasTaken) {
  Write("run.sh", "#!/bin/sh\n", 0755);
  Write("a/b/data", std::string("\0x", 2));
  Write("empty", "");
  fs::create_symlink("b/data", root_ + "/a/link");
  const Snapshot taken = Take();
  EXPECT_EQ(taken.files.size(), 4U);
  Write("empty", "changed after it was taken");
  const Store store(folder_ + "/store");
  ASSERT_TRUE(store.WriteTo(taken, folder_ + "/copy"));
  EXPECT_EQ(*base::ReadFile(folder_ + "/copy/a/b/data"), std::string("\0x", 2));
  EXPECT_EQ(*base::ReadFile(folder_ + "/copy/empty"), "");
  EXPECT_EQ(fs::read_symlink(folder_ + "/copy/a/link"), "b/data");
  struct stat info{};
  ASSERT_EQ(::stat((folder_ + "/copy/run.sh").c_str(), &info), 0);
  EXPECT_NE(info.st_mode & S_IXUSR, 0U);
  EXPECT_NE(info.st_mode & S_IWUSR, 0U);
}

TEST_F(SnapshotTest, ManyFilesAreWrittenWholeOrNotAtAll) {
  for (int i = 0; i < 700; ++i) {
    Write(fmt::format("{}/{}.py", i % 7, i), fmt::format("number = {}", i));
  }
  const Snapshot taken = Take();
  const Store store(folder_ + "/store");
  ASSERT_TRUE(store.WriteTo(taken, folder_ + "/out"));
  for (int i = 0; i < 700; ++i) {
    EXPECT_EQ(base::ReadFile(fmt::format("{}/out/{}/{}.py", folder_, i % 7, i)).value_or(""),
              fmt::format("number = {}", i));
  }
  // A missing file, whichever thread reads it.
  for (const size_t at : {size_t{0}, taken.files.size() - 1}) {
    Snapshot torn = taken;
    torn.files[at].hash = std::string(64, '0');
    EXPECT_FALSE(store.WriteTo(torn, folder_ + "/torn"));
    EXPECT_FALSE(fs::exists(folder_ + "/torn"));
  }
}

TEST_F(SnapshotTest, EqualTreesAreOneSnapshot) {
  Write("a.py", "x");
  const Snapshot first = Take();
  EXPECT_EQ(Take().hash, first.hash);
  Write("a.py", "y");
  EXPECT_NE(Take().hash, first.hash);
  Write("a.py", "x");
  EXPECT_EQ(Take().hash, first.hash);
  Write("a.py", "x", 0755);
  EXPECT_NE(Take().hash, first.hash);
  const auto read = Store(folder_ + "/store").Read(first.hash);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->files.at(0).path, "a.py");
  EXPECT_EQ(Store(folder_ + "/store").Read("../../etc").error().code, base::Code::kNotFound);
}

TEST_F(SnapshotTest, AChangeThatKeepsSizeAndTimeIsSeen) {
  Write("a.py", "1");
  Age("a.py");
  const Snapshot first = Take();
  Write("a.py", "2");
  Age("a.py");  // the inode and the change time differ
  EXPECT_NE(Take().hash, first.hash);
}

TEST_F(SnapshotTest, AFileThatIsGoneFromTheStoreIsReadAgain) {
  Write("a.py", "1");
  const Snapshot first = Take();
  const std::string& hash = first.files.at(0).hash;
  fs::remove(folder_ + "/store/objects/" + hash.substr(0, 2) + "/" + hash.substr(2));
  EXPECT_EQ(Take().hash, first.hash);
  EXPECT_TRUE(Store(folder_ + "/store").WriteTo(first, folder_ + "/copy"));
}

TEST_F(SnapshotTest, AStoreThatLostAFileIsWholeAfterTheNextTry) {
  Write("a.py", "1");
  const timespec old[] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (root_ + "/a.py").c_str(), old, 0), 0);
  const Snapshot first = Take();
  // As if it had been read long after its last change.
  const std::string seen = folder_ + "/store/seen/" + base::Md5Hex(root_);
  const Entry entry = List()->entries.front();
  const auto nanoseconds = [](const timespec& time) {
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  };
  const std::string& hash = first.files.at(0).hash;
  const std::string line =
      fmt::format("{} {} {} {}\t{}\ta.py", entry.info.st_size, nanoseconds(entry.info.st_mtim),
                  nanoseconds(entry.info.st_ctim), entry.info.st_ino, hash);
  ASSERT_TRUE(base::WriteFileAtomic(seen, line + '\0', 0600, base::Durability::kNone));
  fs::remove(folder_ + "/store/objects/" + hash.substr(0, 2) + "/" + hash.substr(2));
  const Store store(folder_ + "/store");
  EXPECT_FALSE(store.WriteTo(Take(), folder_ + "/copy"));
  EXPECT_TRUE(store.WriteTo(Take(), folder_ + "/copy"));
}

TEST_F(SnapshotTest, PruneKeepsWhatIsNamed) {
  Write("a.py", "1");
  const Snapshot first = Take();
  Write("b.py", "2");
  const Snapshot second = Take();
  Store store(folder_ + "/store");
  store.Prune({first.hash}, std::chrono::hours(1));
  EXPECT_TRUE(store.Read(second.hash));
  store.Prune({first.hash}, base::Duration(0));
  EXPECT_FALSE(store.Read(second.hash));
  EXPECT_TRUE(store.WriteTo(first, folder_ + "/copy"));
  EXPECT_FALSE(store.WriteTo(second, folder_ + "/copy2"));
  EXPECT_FALSE(fs::exists(folder_ + "/copy2"));
}

}  // namespace
}  // namespace snapshot
