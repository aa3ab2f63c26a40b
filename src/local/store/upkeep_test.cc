#include "local/store/upkeep.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <future>

#include "base/fd.h"
#include "base/file.h"
#include "local/store/sqlite.h"
#include "local/store/store.h"

namespace local::store {
namespace {

class UpkeepTest : public testing::Test {
 protected:
  UpkeepTest() { EXPECT_NE(::mkdtemp(folder_.data()), nullptr); }
  ~UpkeepTest() override { EXPECT_TRUE(base::RemoveTree(folder_)); }

  std::string File(const std::string& name) const { return folder_ + "/" + name; }
  std::unique_ptr<Store> Open(const std::string& name) {
    auto store = Store::Open(File(name));
    EXPECT_TRUE(store) << store.error().message;
    return store ? std::move(*store) : nullptr;
  }
  static void Submit(Store& store, const std::string& name, Next next) {
    std::promise<bool> done;
    Mutation mutation;
    mutation.key = {"pods", "default", name};
    mutation.apply = [next](View&, std::optional<Record>) -> base::Result<Next> { return next; };
    store.Submit(std::move(mutation),
                 [&](base::Result<Outcome> outcome) { done.set_value(outcome.has_value()); });
    EXPECT_TRUE(done.get_future().get());
  }
  static void Put(Store& store, const std::string& name, size_t bytes = 10) {
    Submit(store, name,
           {Next::Action::kPut,
            text::Object{{"metadata", {{"name", name}, {"uid", "uid-" + name}}},
                         {"text", std::string(bytes, 'x')}},
            {}});
  }
  static void Delete(Store& store, const std::string& name) {
    Submit(store, name, {Next::Action::kDelete, nullptr, {}});
  }
  static bool Has(Store& store, const std::string& name) {
    return store.Get({"pods", "default", name}).has_value();
  }
  off_t SizeOf(const std::string& name) const {
    struct stat info{};
    return ::stat(File(name).c_str(), &info) == 0 ? info.st_size : -1;
  }
  void Flip(const std::string& name, off_t from, off_t to) const {
    const base::Fd fd(::open(File(name).c_str(), O_RDWR | O_CLOEXEC));
    for (off_t at = from; at < to; at += 37) {
      const char wrong = '\x5a';
      EXPECT_EQ(::pwrite(fd.get(), &wrong, 1, at), 1);
    }
  }

  std::string folder_ = testing::TempDir() + "upkeep-XXXXXX";
};

TEST_F(UpkeepTest, ABackupIsMadeBesideTheWriterAndOnlyWhenSomethingHasChanged) {
  const auto store = Open("db");
  Put(*store, "a");
  const auto first = BackUp(File("db"), File("backup"));
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_TRUE(*first);
  EXPECT_FALSE(*BackUp(File("db"), File("backup")));
  Put(*store, "b");
  EXPECT_TRUE(*BackUp(File("db"), File("backup")));
  EXPECT_TRUE(Check(File("backup")));
  const auto copy = Open("backup");
  EXPECT_TRUE(Has(*copy, "a") && Has(*copy, "b"));
}

TEST_F(UpkeepTest, WhatIsRestoredGoesOnAboveEveryVersionThatWasGivenOut) {
  int64_t last = 0;
  {
    const auto store = Open("db");
    Put(*store, "a");
    ASSERT_TRUE(BackUp(File("db"), File("backup")));
    for (int i = 0; i < 20; ++i) Put(*store, "later-" + std::to_string(i));
    last = *store->Version();
  }
  for (const char* suffix : {"", "-wal", "-shm"}) ::unlink((File("db") + suffix).c_str());
  const auto restored = RestoreFrom(File("backup"), File("db"));
  ASSERT_TRUE(restored) << restored.error().message;
  const auto store = Open("db");
  EXPECT_TRUE(Has(*store, "a"));
  EXPECT_FALSE(Has(*store, "later-0"));
  EXPECT_GT(*store->Version(), last);
}

TEST_F(UpkeepTest, DamagedPagesAreFoundAndReplaceNoBackup) {
  {
    const auto store = Open("db");
    for (int i = 0; i < 200; ++i) Put(*store, "pod-" + std::to_string(i), 1000);
    EXPECT_TRUE(WasLeftOpen(File("db")));
    ASSERT_TRUE(BackUp(File("db"), File("backup")));
    Put(*store, "more");
  }
  EXPECT_FALSE(WasLeftOpen(File("db")));
  EXPECT_TRUE(Check(File("db")));
  Flip("db", 8192, SizeOf("db"));
  const auto checked = Check(File("db"));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message.find('\n'), std::string::npos);
  EXPECT_FALSE(BackUp(File("db"), File("backup")));
  EXPECT_TRUE(Check(File("backup")));
  EXPECT_FALSE(RestoreFrom(File("db"), File("other")));
}

TEST_F(UpkeepTest, TheConnectionThatCheckedTheStoreReadsItFurther) {
  std::optional<Database> reader;
  {
    const auto before = Open("db");
    Put(*before, "a");
    auto checked = Check(File("db"));
    ASSERT_TRUE(checked) << checked.error().message;
    reader = std::move(*checked);
    ASSERT_TRUE(reader);
  }
  EXPECT_TRUE(WasLeftOpen(File("db")));
  {
    Store::Options options;
    options.reader = std::move(reader);
    auto store = Store::Open(File("db"), std::move(options));
    ASSERT_TRUE(store) << store.error().message;
    Put(**store, "b");
    EXPECT_TRUE(Has(**store, "a"));
    EXPECT_TRUE(Has(**store, "b"));
  }
  EXPECT_FALSE(WasLeftOpen(File("db"))) << "whoever closes last has to empty the log";
}

TEST_F(UpkeepTest, AnObjectThatIsNoJsonIsDamage) {
  {
    const auto store = Open("db");
    Put(*store, "a");
  }
  {
    auto database = Database::Open(File("db"));
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->Execute("UPDATE objects SET json='{\"metadata\"'"));
  }
  EXPECT_FALSE(Check(File("db")));
}

TEST_F(UpkeepTest, SpaceOfWhatWasDeletedIsGivenBack) {
  const auto store = Open("db");
  for (int i = 0; i < 100; ++i) Put(*store, "pod-" + std::to_string(i), 200'000);
  for (int i = 0; i < 100; ++i) Delete(*store, "pod-" + std::to_string(i));
  const auto given = GiveBackSpace(File("db"));
  ASSERT_TRUE(given) << given.error().message;
  EXPECT_GT(*given, 10 << 20);
  EXPECT_LT(SizeOf("db"), 2 << 20);
  Put(*store, "after");
  EXPECT_TRUE(Has(*store, "after"));
}

TEST_F(UpkeepTest, AFileOfBeforeLearnsToGiveSpaceBack) {
  {
    const auto store = Open("db");
    Put(*store, "a");
  }
  {
    auto database = Database::Open(File("db"));
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->Execute("PRAGMA auto_vacuum=NONE; VACUUM"));
  }
  const auto store = Open("db");
  EXPECT_TRUE(Has(*store, "a"));
  for (int i = 0; i < 100; ++i) Put(*store, "pod-" + std::to_string(i), 200'000);
  for (int i = 0; i < 100; ++i) Delete(*store, "pod-" + std::to_string(i));
  EXPECT_GT(*GiveBackSpace(File("db")), 10 << 20);
}

TEST_F(UpkeepTest, ForgetsTheDeletedButThoseThatAreKept) {
  const auto store = Open("db");
  for (const char* name : {"a", "b"}) Put(*store, name);
  for (const char* name : {"a", "b"}) Delete(*store, name);
  ASSERT_TRUE(ForgetDeleted(File("db"), [](std::string_view uid) { return uid == "uid-a"; }));
  EXPECT_EQ(*store->FateOf("uid-a"), Fate::kDeleted);
  EXPECT_EQ(*store->FateOf("uid-b"), Fate::kUnknown);
}

}  // namespace
}  // namespace local::store
