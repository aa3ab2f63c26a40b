#include "local/store/store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <future>
#include <map>

#include "base/fd.h"
#include "base/file.h"
#include "local/store/sqlite.h"

namespace {
std::atomic<int> failing_syncs{0};
}

// SQLite's, instead of the C library's: a disk that fails so many times.
extern "C" int fdatasync(int fd) {
  if (failing_syncs > 0 && failing_syncs-- > 0) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fdatasync, fd));
}

namespace local::store {
namespace {

class TempDir {
 public:
  TempDir() {
    char path[] = "/tmp/muster-store-XXXXXX";
    path_ = ::mkdtemp(path);
  }
  ~TempDir() { (void)base::RemoveTree(path_); }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

text::Json Object(const std::string& name, int64_t value) {
  return text::Object{
      {"metadata", text::Object{{"name", name}, {"namespace", "default"}, {"uid", "uid-" + name}}},
      {"value", value}};
}

Key PodKey(const std::string& name) { return {"pods", "default", name}; }

Mutation Put(const std::string& name, int64_t value) {
  return {PodKey(name), [name, value](View&, std::optional<Record>) -> base::Result<Next> {
            return Next{Next::Action::kPut, Object(name, value), {}};
          }};
}

Mutation Delete(const std::string& name) {
  return {PodKey(name), [](View&, std::optional<Record> current) -> base::Result<Next> {
            if (!current) return base::Fail(base::Code::kNotFound, "gone");
            return Next{Next::Action::kDelete, nullptr, {}};
          }};
}

// Waits for the outcome.
base::Result<Outcome> Write(Store& store, Mutation mutation) {
  std::promise<base::Result<Outcome>> promise;
  store.Submit(std::move(mutation),
               [&](base::Result<Outcome> outcome) { promise.set_value(std::move(outcome)); });
  return promise.get_future().get();
}

std::vector<base::Result<Outcome>> WriteAll(Store& store, std::vector<Mutation> mutations) {
  std::vector<std::promise<base::Result<Outcome>>> promises(mutations.size());
  std::vector<std::pair<Mutation, Store::Done>> jobs;
  for (size_t i = 0; i < mutations.size(); ++i) {
    jobs.emplace_back(std::move(mutations[i]), [&promises, i](base::Result<Outcome> outcome) {
      promises[i].set_value(std::move(outcome));
    });
  }
  store.SubmitAll(std::move(jobs));
  std::vector<base::Result<Outcome>> outcomes;
  for (auto& promise : promises) outcomes.push_back(promise.get_future().get());
  return outcomes;
}

std::unique_ptr<Store> OpenStore(const std::string& path, Store::Options options = {}) {
  auto store = Store::Open(path, std::move(options));
  EXPECT_TRUE(store) << store.error().message;
  return std::move(*store);
}

std::vector<std::string> Names(Store& store, const ListQuery& query) {
  std::vector<std::string> names;
  const auto version = store.List(query, [&](const Row& row) {
    names.emplace_back(row.name);
    return true;
  });
  EXPECT_TRUE(version);
  return names;
}

std::string NextName(ListCursor& cursor) {
  const auto row = cursor.Next();
  EXPECT_TRUE(row);
  return row && *row ? std::string((*row)->name) : "";
}

// What a watch has delivered; waits without polling.
class Seen {
 public:
  WatchCallback Callback() {
    return [this](std::span<const EventPtr> events, int64_t version) {
      const std::lock_guard lock(mutex_);
      events_.insert(events_.end(), events.begin(), events.end());
      version_ = version;
      changed_.notify_all();
    };
  }
  std::vector<EventPtr> UpTo(int64_t version) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30), [&] { return version_ >= version; });
    EXPECT_GE(version_, version);
    return events_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<EventPtr> events_;
  int64_t version_ = 0;
};

TEST(Store, GivesAnObjectAsAReaderOfItsTextGetsIt) {
  const TempDir dir;
  const auto store = OpenStore(dir.File("db"));
  std::vector<text::Json> received;
  const auto subscription =
      store->Watch("pods", "", 1, [&received](std::span<const EventPtr> events, int64_t) {
        for (const EventPtr& event : events) received.push_back(*event->object.lock());
      });
  ASSERT_TRUE(subscription);
  for (const text::Json& value :
       {text::Json(1.0), text::Json(uint64_t{7}), text::Json("\xff"), text::Json("\xc3\xa9"),
        text::Json(text::Array{1, "a", nullptr}), text::Json(2.5)}) {
    Mutation put = Put("p", 0);
    put.apply = [&value](View&, std::optional<Record>) -> base::Result<Next> {
      text::Json object = Object("p", 0);
      text::Set(object, {"value"}, value);
      return Next{Next::Action::kPut, std::move(object), {}};
    };
    const auto outcome = Write(*store, std::move(put));
    ASSERT_TRUE(outcome && outcome->object);
    const auto read = text::ParseJson(*outcome->json);
    ASSERT_TRUE(read);
    EXPECT_EQ(*outcome->object, *read);
    EXPECT_EQ(text::Find(*outcome->object, {"value"})->kind(),
              text::Find(*read, {"value"})->kind());
  }
  // Watchers learn of the deletion after its answer, and of the last change before it.
  ASSERT_TRUE(Write(*store, Delete("p")));
  ASSERT_GE(received.size(), 6U);
  EXPECT_EQ(text::ToJson(*text::Find(received[0], {"value"})), "1");
  EXPECT_TRUE(text::Find(received[0], {"value"})->is_int64());
}

TEST(Store, RemembersWhichPodsWereDeleted) {
  const TempDir dir;
  {
    const auto store = OpenStore(dir.File("db"));
    ASSERT_TRUE(Write(*store, Put("a", 1)));
    ASSERT_TRUE(Write(*store, Put("b", 1)));
    ASSERT_TRUE(Write(*store, Delete("b")));
  }
  const auto store = OpenStore(dir.File("db"));
  EXPECT_EQ(*store->FateOf("uid-a"), Fate::kStored);
  EXPECT_EQ(*store->FateOf("uid-b"), Fate::kDeleted);
  EXPECT_EQ(*store->FateOf("uid-c"), Fate::kUnknown);
}

TEST(Store, KeepsWhatWasWrittenInAPrivateFile) {
  const TempDir dir;
  int64_t version = 0;
  {
    auto store = OpenStore(dir.File("db"));
    const auto outcome = Write(*store, Put("a", 1));
    ASSERT_TRUE(outcome);
    version = outcome->version;
    EXPECT_NE(outcome->json->find("\"resourceVersion\":\"" + std::to_string(version) + "\""),
              std::string::npos);
    for (const char* suffix : {"", "-wal", "-shm"}) {
      struct stat info{};
      ASSERT_EQ(::stat((dir.File("db") + suffix).c_str(), &info), 0);
      EXPECT_EQ(info.st_mode & 0777, 0600U) << suffix;
    }
  }
  auto store = OpenStore(dir.File("db"));
  const auto json = store->Get(PodKey("a"));
  ASSERT_TRUE(json);
  EXPECT_NE(json->find("\"value\":1"), std::string::npos);
  EXPECT_EQ(Write(*store, Put("b", 1))->version, version + 1);
  EXPECT_EQ(store->Get(PodKey("c")).error().code, base::Code::kNotFound);
}

TEST(Store, RefusesTheFileOfANewerMuster) {
  const TempDir dir;
  {
    auto store = OpenStore(dir.File("db"));
  }
  {
    auto database = Database::Open(dir.File("db"));
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->Execute("PRAGMA user_version=99"));
  }
  const auto store = Store::Open(dir.File("db"));
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, base::Code::kInvalidArgument);
}

TEST(Store, SaysWhichFileCannotBeOpened) {
  const auto store = Store::Open("/nonexistent/db");
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, base::Code::kNotFound);
  EXPECT_NE(store.error().message.find("/nonexistent/db"), std::string::npos);
}

TEST(Store, AMutationSeesTheStateAndDecides) {
  const TempDir dir;
  auto store = OpenStore(dir.File("db"));
  const int64_t first = Write(*store, Put("a", 1))->version;
  const Mutation expect_version{
      PodKey("a"), [first](View&, std::optional<Record> current) -> base::Result<Next> {
        if (current->version != first) return base::Fail(base::Code::kConflict, "stale");
        return Next{Next::Action::kPut, Object("a", 2), {}};
      }};
  EXPECT_TRUE(Write(*store, expect_version));
  EXPECT_EQ(Write(*store, expect_version).error().code, base::Code::kConflict);

  const auto nothing =
      Write(*store,
            {PodKey("a"), [](View&, std::optional<Record>) { return base::Result<Next>(Next{}); }});
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing->version, first + 1);
  EXPECT_NE(nothing->json->find("\"value\":2"), std::string::npos);
}

TEST(Store, AFailingMutationLeavesItsGroupAlone) {
  const TempDir dir;
  auto store = OpenStore(dir.File("db"));
  const int64_t before = *store->Version();
  Mutation fails = Put("b", 1);
  fails.apply = [](View&, std::optional<Record>) -> base::Result<Next> {
    Next next{Next::Action::kPut, Object("b", 1), {}};
    next.then.push_back({PodKey("c"), [](View&, std::optional<Record>) -> base::Result<Next> {
                           return base::Fail(base::Code::kInvalidArgument, "no");
                         }});
    return next;
  };
  EXPECT_EQ(Write(*store, fails).error().message, "no");  // in a transaction of its own
  EXPECT_EQ(*store->Version(), before);
  const auto outcomes = WriteAll(*store, {Put("a", 1), fails, Put("d", 1)});
  ASSERT_TRUE(outcomes[0] && outcomes[2]);
  EXPECT_EQ(outcomes[1].error().message, "no");
  EXPECT_EQ(outcomes[2]->version, outcomes[0]->version + 1);
  EXPECT_EQ(Names(*store, {.resource = "pods"}), (std::vector<std::string>{"a", "d"}));
}

TEST(Store, ADryRunLeavesNothingBehind) {
  const TempDir dir;
  auto store = OpenStore(dir.File("db"));
  const int64_t before = *store->Version();
  Mutation dry = Put("a", 1);
  dry.dry_run = true;
  const auto outcome = Write(*store, dry);
  ASSERT_TRUE(outcome);
  EXPECT_NE(outcome->json, nullptr);
  EXPECT_EQ(*store->Version(), before);
  EXPECT_FALSE(store->Get(PodKey("a")));
  EXPECT_EQ(text::Find(*text::ParseJson(*outcome->json), {"metadata", "resourceVersion"}), nullptr);
}

TEST(Store, ADryRunOfAChangeKeepsTheVersion) {
  const TempDir dir;
  auto store = OpenStore(dir.File("db"));
  const auto written = Write(*store, Put("a", 1));
  ASSERT_TRUE(written);
  ASSERT_TRUE(Write(*store, Put("b", 1)));
  Mutation dry = Put("a", 2);
  dry.dry_run = true;
  const auto outcome = Write(*store, dry);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->version, written->version);
  const text::Json object = *text::ParseJson(*outcome->json);
  EXPECT_EQ(text::GetString(object, {"metadata", "resourceVersion"}),
            std::to_string(written->version));
  EXPECT_NE(*outcome->json, *written->json);
}

Mutation Once(std::string id, Mutation mutation) {
  mutation.id = std::move(id);
  return mutation;
}

TEST(Store, AWriteThatComesTwiceIsDoneOnceAndAnsweredAsTheFirstTime) {
  const TempDir dir;
  auto store = OpenStore(dir.File("db"));
  const auto first = Write(*store, Once("w1", Put("a", 1)));
  ASSERT_TRUE(first);
  ASSERT_TRUE(Write(*store, Put("a", 2)));
  store = nullptr;
  store = OpenStore(dir.File("db"));  // as a later daemon does
  const auto again = Write(*store, Once("w1", Put("a", 1)));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again->json, *first->json);
  EXPECT_EQ(again->version, first->version);
  EXPECT_NE(store->Get(PodKey("a"))->find("\"value\":2"), std::string::npos);

  const auto deleted = Write(*store, Once("w2", Delete("a")));
  ASSERT_TRUE(deleted);
  const auto deleted_again = Write(*store, Once("w2", Delete("a")));
  ASSERT_TRUE(deleted_again);
  EXPECT_EQ(deleted_again->action, Next::Action::kDelete);
  EXPECT_EQ(*deleted_again->json, *deleted->json);
}

TEST(Store, ARefusedOrDryWriteIsNotRemembered) {
  const TempDir dir;
  const auto store = OpenStore(dir.File("db"));
  EXPECT_FALSE(Write(*store, Once("w1", Delete("a"))));
  Mutation dry = Once("w2", Put("a", 1));
  dry.dry_run = true;
  ASSERT_TRUE(Write(*store, std::move(dry)));
  EXPECT_FALSE(store->Get(PodKey("a")));
  ASSERT_TRUE(Write(*store, Once("w2", Put("a", 1))));
  EXPECT_TRUE(Write(*store, Once("w1", Delete("a"))));
}

TEST(Store, SoManyWritesAreRememberedAndNoMore) {
  const TempDir dir;
  const auto store = OpenStore(dir.File("db"));
  std::vector<Mutation> mutations;
  for (int64_t i = 0; i <= kRememberedWrites; ++i) {
    mutations.push_back(Once(std::to_string(i), Put("a", i)));
  }
  for (const auto& outcome : WriteAll(*store, std::move(mutations))) ASSERT_TRUE(outcome);
  const int64_t version = *store->Version();
  ASSERT_TRUE(Write(*store, Once("1", Put("a", 1))));
  EXPECT_EQ(*store->Version(), version);
  ASSERT_TRUE(Write(*store, Once("0", Put("a", 0))));
  EXPECT_EQ(*store->Version(), version + 1);
}

TEST(Store, WhatFollowsFromADeletionIsOneWriteWithIt) {
  const TempDir dir;
  auto store = OpenStore(dir.File("db"));
  text::Json owned = Object("child", 1);
  text::Set(owned, {"metadata", "ownerReferences"},
            text::Array{text::Object{{"uid", "other"}},
                        text::Object{{"uid", "uid-parent"}, {"controller", true}}});
  ASSERT_TRUE(Write(*store, Put("parent", 1)));
  ASSERT_TRUE(Write(*store, {PodKey("child"), [&](View&, std::optional<Record>) {
                               return base::Result<Next>(Next{Next::Action::kPut, owned, {}});
                             }}));
  EXPECT_EQ(Names(*store, {.resource = "pods", .owner = "uid-parent"}),
            std::vector<std::string>{"child"});
  Seen seen;
  const auto watch = store->Watch("pods", "", *store->Version(), seen.Callback());
  const auto outcome =
      Write(*store, {PodKey("parent"), [](View& view, std::optional<Record> current) {
                       Next next{Next::Action::kDelete, nullptr, {}};
                       const auto keys = view.OwnedBy(current->uid);
                       for (const Key& key : *keys) next.then.push_back(Delete(key.name));
                       return base::Result<Next>(std::move(next));
                     }});
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(Names(*store, {.resource = "pods"}).empty());
  const auto events = seen.UpTo(outcome->version + 1);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0]->key.name, "parent");
  EXPECT_EQ(events[1]->key.name, "child");
  EXPECT_EQ(events[1]->type, Event::Type::kDeleted);
}

TEST(Store, ListsByNamespaceJobAndPosition) {
  const TempDir dir;
  auto store = OpenStore(dir.File("db"));
  for (const auto& [ns, name] : std::vector<std::pair<std::string, std::string>>{
           {"b", "x"}, {"a", "y"}, {"a", "x"}, {"b", "a"}}) {
    text::Json object = Object(name, 1);
    text::Set(object,
              {"metadata", "labels", name == "x" ? "release" : "training.kubeflow.org/job-name"},
              "job");
    ASSERT_TRUE(Write(*store, {{"pods", ns, name}, [object](View&, std::optional<Record>) {
                                 return base::Result<Next>(Next{Next::Action::kPut, object, {}});
                               }}));
  }
  EXPECT_EQ(Names(*store, {.resource = "pods"}), (std::vector<std::string>{"x", "y", "a", "x"}));
  EXPECT_EQ(Names(*store, {.resource = "pods", .namespace_name = "b"}),
            (std::vector<std::string>{"a", "x"}));
  EXPECT_EQ(Names(*store, {.resource = "pods", .after = {"a", "y"}}),
            (std::vector<std::string>{"a", "x"}));
  EXPECT_EQ(Names(*store, {.resource = "pods", .namespace_name = "b", .after = {"b", "a"}}),
            (std::vector<std::string>{"x"}));
  EXPECT_EQ(Names(*store, {.resource = "pods", .namespace_name = "b", .after = {"a", "z"}}),
            (std::vector<std::string>{"a", "x"}));
  EXPECT_EQ(Names(*store, {.resource = "pods", .release = "job"}),
            (std::vector<std::string>{"x", "x"}));
  EXPECT_EQ(Names(*store, {.resource = "pods", .namespace_name = "a", .job = "job"}),
            (std::vector<std::string>{"x", "y"}));
  EXPECT_TRUE(Names(*store, {.resource = "services"}).empty());
  EXPECT_EQ(*store->Count({.resource = "pods", .namespace_name = "a"}), 2);
}

TEST(Store, AWatchReplaysWhatHappenedSinceAndThenFollows) {
  const TempDir dir;
  auto store = OpenStore(dir.File("db"));
  const int64_t start = Write(*store, Put("a", 1))->version;
  ASSERT_TRUE(Write(*store, Put("a", 2)));
  ASSERT_TRUE(Write(*store, Delete("a")));
  Seen seen;
  const auto watch = store->Watch("pods", "default", start, seen.Callback());
  ASSERT_TRUE(watch);
  Seen other;
  const auto elsewhere = store->Watch("pods", "elsewhere", start, other.Callback());
  const int64_t last = Write(*store, Put("a", 3))->version;
  const auto events = seen.UpTo(last);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0]->type, Event::Type::kModified);
  EXPECT_EQ(events[1]->type, Event::Type::kDeleted);
  EXPECT_EQ(events[2]->type, Event::Type::kAdded);
  EXPECT_TRUE(other.UpTo(last).empty());
}

TEST(Store, AWatchFromBeforeMemoryIsExpired) {
  const TempDir dir;
  {
    auto store = OpenStore(dir.File("db"));
    ASSERT_TRUE(Write(*store, Put("a", 1)));
  }
  auto store = OpenStore(dir.File("db"));
  const int64_t now = *store->Version();
  const auto nothing = [](std::span<const EventPtr>, int64_t) {};
  EXPECT_EQ(store->Watch("pods", "", now - 1, nothing).error().code, base::Code::kExpired);
  EXPECT_EQ(store->Watch("pods", "", now + 1, nothing).error().code, base::Code::kExpired);
  EXPECT_TRUE(store->Watch("pods", "", now, nothing));

  std::vector<Mutation> many(kMaxHistoryEvents + 1, Put("a", 1));
  WriteAll(*store, many);
  ASSERT_TRUE(Write(*store, Put("a", 1)));  // once it returns, the others are published
  EXPECT_EQ(store->Watch("pods", "", now, nothing).error().code, base::Code::kExpired);
}

TEST(Store, TheHistoryIsBoundedInBytes) {
  History history(0);
  auto event = std::make_shared<Event>();
  event->json = std::make_shared<const std::string>(kMaxHistoryBytes / 2, 'x');
  for (int64_t version = 1; version <= 3; ++version) {
    auto copy = std::make_shared<Event>(*event);
    copy->version = version;
    history.Publish({copy}, version);
  }
  const auto nothing = [](std::span<const EventPtr>, int64_t) {};
  EXPECT_FALSE(history.Watch("", "", 1, nothing));
  EXPECT_TRUE(history.Watch("", "", 2, nothing));
}

TEST(Store, EveryWatcherSeesOneOrderWhileManyThreadsWrite) {
  const TempDir dir;
  auto store = OpenStore(dir.File("db"));
  const int64_t start = *store->Version();
  constexpr int kThreads = 4;
  constexpr int kWrites = 50;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kWrites; ++i) {
        EXPECT_TRUE(Write(*store, Put("p" + std::to_string(t), i)));
        EXPECT_TRUE(store->Get(PodKey("p" + std::to_string(t))));
      }
    });
  }
  Seen seen;
  const auto watch = store->Watch("pods", "", start, seen.Callback());
  for (std::thread& thread : threads) thread.join();
  const auto events = seen.UpTo(start + kThreads * kWrites);
  ASSERT_EQ(events.size(), static_cast<size_t>(kThreads * kWrites));
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i]->version, start + 1 + static_cast<int64_t>(i));
  }
}

TEST(Store, AWatcherMayEndItsWatchFromTheCallback) {
  const TempDir dir;
  auto store = OpenStore(dir.File("db"));
  std::unique_ptr<Subscription> subscription;
  int calls = 0;
  std::promise<void> called;
  auto watch = store->Watch("pods", "", *store->Version(), [&](std::span<const EventPtr>, int64_t) {
    if (++calls == 1) {
      subscription.reset();
      called.set_value();
    }
  });
  ASSERT_TRUE(watch);
  subscription = std::move(*watch);
  ASSERT_TRUE(Write(*store, Put("a", 1)));
  called.get_future().get();
  ASSERT_TRUE(Write(*store, Put("a", 2)));
  store.reset();
  EXPECT_EQ(calls, 1);
}

TEST(Store, AFullDiskRefusesWritesAndRecovers) {
  const TempDir dir;
  auto store = OpenStore(dir.File("db"), {.max_bytes = 256 << 10, .on_commit = {}});
  const auto big = [](const std::string& name) {
    return Mutation{PodKey(name), [name](View&, std::optional<Record>) -> base::Result<Next> {
                      text::Json object = Object(name, 1);
                      text::Set(object, {"data"}, text::Json(std::string(16 << 10, 'x')));
                      return Next{Next::Action::kPut, object, {}};
                    }};
  };
  std::vector<Mutation> group;
  for (int i = 0; i < 40; ++i) group.push_back(big("p" + std::to_string(i)));
  const auto outcomes = WriteAll(*store, group);
  std::vector<std::string> written;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i]) {
      written.push_back("p" + std::to_string(i));
    } else {
      EXPECT_EQ(outcomes[i].error().code, base::Code::kExhausted);
      EXPECT_NE(outcomes[i].error().message.find("no space left"), std::string::npos);
    }
  }
  ASSERT_GT(written.size(), 5U);
  ASSERT_LT(written.size(), 20U);
  EXPECT_EQ(*store->Count({.resource = "pods"}), static_cast<int64_t>(written.size()));
  EXPECT_FALSE(Write(*store, big("more")));
  EXPECT_TRUE(Write(*store, Delete(written.front())));
  EXPECT_TRUE(Write(*store, Delete(written.back())));
  EXPECT_TRUE(Write(*store, big("more")));
}

// The child acknowledges each write through a pipe and is killed at an arbitrary moment.
void WriteUntilKilled(const std::string& path, int acknowledgements) {
  auto store = Store::Open(path);
  if (!store) ::_exit(1);
  for (int round = 0;; ++round) {
    std::vector<std::pair<Mutation, Store::Done>> jobs;
    for (int i = 0; i < 8; ++i) {
      const std::string name = "r" + std::to_string(round) + "-" + std::to_string(i);
      jobs.emplace_back(Put(name, round), [name, acknowledgements](base::Result<Outcome> outcome) {
        const std::string line = name + "\n";
        if (outcome && ::write(acknowledgements, line.data(), line.size()) < 0) ::_exit(1);
      });
    }
    std::promise<void> done;
    jobs.emplace_back(Put("last", round), [&](base::Result<Outcome>) { done.set_value(); });
    (*store)->SubmitAll(std::move(jobs));
    done.get_future().get();
  }
}

TEST(Store, AWriteThatWasRefusedByAFailingDiskIsNotThereAfterAKill) {
  const TempDir dir;
  const auto store = OpenStore(dir.File("a.db"));
  ASSERT_TRUE(Write(*store, Put("first", 1)));
  failing_syncs = 1;
  EXPECT_FALSE(Write(*store, Put("refused", 1)));
  EXPECT_EQ(failing_syncs, 0);
  // What a kill leaves.
  for (const char* const suffix : {"", "-wal"}) {
    std::filesystem::copy_file(dir.File("a.db") + suffix, dir.File("b.db") + suffix);
  }
  EXPECT_EQ(Names(*OpenStore(dir.File("b.db")), {.resource = "pods"}),
            std::vector<std::string>{"first"});
}

TEST(Store, NothingAcknowledgedIsLostByAKill) {
  const TempDir dir;
  std::vector<std::string> acknowledged;
  int64_t version = 0;
  for (int kill_after : {1, 7, 40, 123}) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      WriteUntilKilled(dir.File("db"), ends[1]);
      ::_exit(0);
    }
    base::Fd reader(ends[0]);
    ::close(ends[1]);
    std::string text;
    char buffer[4096];
    bool is_killed = false;
    while (true) {
      const ssize_t count = ::read(reader.get(), buffer, sizeof buffer);
      ASSERT_GE(count, 0);
      if (count == 0) break;
      text.append(buffer, static_cast<size_t>(count));
      if (!is_killed && std::count(text.begin(), text.end(), '\n') >= kill_after) {
        ::kill(child, SIGKILL);
        is_killed = true;
      }
    }
    ::waitpid(child, nullptr, 0);
    for (size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
      acknowledged.push_back(text.substr(at, end - at));
    }
    auto store = OpenStore(dir.File("db"));
    EXPECT_GE(acknowledged.size(), static_cast<size_t>(kill_after));
    for (const std::string& name : acknowledged) EXPECT_TRUE(store->Get(PodKey(name))) << name;
    EXPECT_GT(*store->Version(), version);
    version = *store->Version();
  }
}

TEST(Store, ACursorKeepsItsSnapshotAndOthersTheirConnections) {
  const TempDir dir;
  const auto store = OpenStore(dir.File("s.db"));
  for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(Write(*store, Put(name, 1)));
  std::vector<std::unique_ptr<ListCursor>> cursors;
  for (size_t i = 0; i < 3 * kMaxReaders; ++i) {
    auto cursor = store->OpenList({.resource = "pods"});
    ASSERT_TRUE(cursor);
    EXPECT_EQ(NextName(**cursor), "a");
    (*cursor)->StayLong();
    cursors.push_back(std::move(*cursor));
  }
  const int64_t version = cursors.front()->version();
  ASSERT_TRUE(Write(*store, Delete("b")));
  EXPECT_EQ(Names(*store, {.resource = "pods"}), (std::vector<std::string>{"a", "c"}));
  for (const auto& cursor : cursors) {
    EXPECT_EQ(NextName(*cursor), "b");
    EXPECT_EQ(NextName(*cursor), "c");
    EXPECT_EQ(NextName(*cursor), "");
    EXPECT_EQ(cursor->version(), version);
  }
  cursors.clear();
  EXPECT_EQ(Names(*store, {.resource = "pods"}), (std::vector<std::string>{"a", "c"}));
}

}  // namespace
}  // namespace local::store
