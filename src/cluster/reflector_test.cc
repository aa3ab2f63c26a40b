#include "cluster/reflector.h"

#include <gtest/gtest.h>

#include "cluster/testing/fake_server.h"

namespace cluster {
namespace {

// Writes down what a reflector reports: "replace a b", "added c", "modified c", "deleted c".
class Diary {
 public:
  ReflectorHandler Handler() {
    return {[this](const std::vector<text::Json>& items) {
              std::string line = "replace";
              for (const auto& item : items) line.append(" ").append(NameOf(item));
              Add(line);
            },
            [this](const WatchEvent& event) {
              static constexpr std::array kWords = {"added ", "modified ", "deleted ", "bookmark "};
              Add(kWords.at(static_cast<size_t>(event.type)) + std::string(NameOf(event.object)));
            },
            {},
            [this] { Add("history lost"); }};
  }
  // The n-th line from 0, waited for.
  std::string Line(size_t n) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kTestPatience, [&] { return lines_.size() > n; })) return "";
    return lines_[n];
  }
  size_t size() {
    const std::lock_guard lock(mutex_);
    return lines_.size();
  }

 private:
  static std::string_view NameOf(const text::Json& object) {
    return text::GetString(object, {"metadata", "name"});
  }
  void Add(std::string line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
};

std::string List(std::string_view version, const std::vector<std::string>& names) {
  std::string items;
  for (const auto& name : names) {
    items += (items.empty() ? R"({"metadata":{"name":")" : R"(,{"metadata":{"name":")") + name +
             R"("}})";
  }
  return R"({"metadata":{"resourceVersion":")" + std::string(version) + R"("},"items":[)" + items +
         "]}";
}

std::string Event(const std::string& type, const std::string& name, const std::string& version) {
  return R"({"type":")" + type + R"(","object":{"metadata":{"name":")" + name +
         R"(","resourceVersion":")" + version + "\"}}}\n";
}

constexpr const char* kTooOld =
    R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}})"
    "\n";

struct ReflectorTest : testing::Test {
  FakeServer server;
  Client client{server.Connect()};
  Diary diary;

  std::unique_ptr<Reflector> Start(ListOptions options = {}) {
    return std::make_unique<Reflector>(client, api::kPods, std::move(options), diary.Handler());
  }
};

TEST_F(ReflectorTest, ListsThenWatchesFromThere) {
  server.QueueJson(List("5", {"a", "b"}));
  server.QueueStream(Event("ADDED", "c", "6") + Event("BOOKMARK", "", "7") +
                     Event("MODIFIED", "c", "8") + Event("DELETED", "a", "9"));
  const auto reflector = Start({.namespace_name = "team", .label_selector = "x"});
  EXPECT_EQ(diary.Line(0), "replace a b");
  EXPECT_EQ(diary.Line(1), "added c");
  EXPECT_EQ(diary.Line(2), "modified c");
  EXPECT_EQ(diary.Line(3), "deleted a");
  EXPECT_EQ(server.Line(0), "GET /api/v1/namespaces/team/pods?labelSelector=x&limit=500");
  EXPECT_EQ(server.Line(1),
            "GET /api/v1/namespaces/team/pods?labelSelector=x&watch=true&allowWatchBookmarks=true"
            "&resourceVersion=5&timeoutSeconds=300");
}

TEST_F(ReflectorTest, ResumesWhereAWatchEnded) {
  server.QueueJson(List("5", {}));
  server.QueueWhole(Event("ADDED", "a", "6") + Event("BOOKMARK", "", "9"));
  server.QueueStream(Event("ADDED", "b", "10"));
  const auto reflector = Start();
  EXPECT_EQ(diary.Line(1), "added a");
  EXPECT_EQ(diary.Line(2), "added b");
  EXPECT_NE(server.Line(2).find("resourceVersion=9&"), std::string::npos);
}

TEST_F(ReflectorTest, ResumesAfterAWatchThatBroke) {
  server.QueueJson(List("5", {}));
  server.Queue([](const std::shared_ptr<net::Responder>& responder) {
    responder->Start(200, {});  // and goes away
  });
  server.QueueJson("not now", 503);
  server.QueueJson(List("9", {}));
  server.QueueStream(Event("ADDED", "b", "10"));
  const auto reflector = Start({.namespace_name = "team"});
  EXPECT_EQ(diary.Line(0), "replace");
  EXPECT_EQ(diary.Line(1), "added b");
  EXPECT_EQ(server.Line(2), "GET /api/v1/namespaces/team/pods?fieldSelector=metadata.name%3Dnone");
  EXPECT_EQ(server.Line(3), server.Line(2));
  EXPECT_NE(server.Line(4).find("resourceVersion=5&"), std::string::npos);
}

// Rights to one name do not allow a look at another.
TEST_F(ReflectorTest, AfterABrokenWatchOfOneNameItAsksForThatNameAlone) {
  server.QueueJson(List("5", {}));
  server.Queue([](const std::shared_ptr<net::Responder>& responder) {
    responder->Start(200, {});  // and goes away
  });
  server.QueueJson(List("9", {}));
  server.QueueStream(Event("ADDED", "b", "10"));
  const auto reflector = Start({.namespace_name = "team", .field_selector = "metadata.name=mine"});
  EXPECT_EQ(diary.Line(0), "replace");
  EXPECT_EQ(diary.Line(1), "added b");
  EXPECT_EQ(server.Line(2), "GET /api/v1/namespaces/team/pods?fieldSelector=metadata.name%3Dmine");
}

TEST_F(ReflectorTest, ListsAgainWhenTheServerComesBackWithAnOlderHistory) {
  server.QueueJson(List("50", {"a"}));
  server.Queue([](const std::shared_ptr<net::Responder>& responder) {
    responder->Start(200, {});  // and goes away
  });
  server.QueueJson(List("20", {}));
  server.QueueJson(List("21", {"b"}));
  // And once more, seen by an event.
  server.QueueWhole(Event("MODIFIED", "b", "4"));
  server.QueueJson(List("5", {"c"}));
  server.QueueStream(Event("ADDED", "d", "22"));
  const auto reflector = Start();
  EXPECT_EQ(diary.Line(0), "replace a");
  EXPECT_EQ(diary.Line(1), "history lost");
  EXPECT_EQ(diary.Line(2), "replace b");
  EXPECT_EQ(diary.Line(3), "history lost");
  EXPECT_EQ(diary.Line(4), "replace c");
  EXPECT_EQ(diary.Line(5), "added d");
  EXPECT_NE(server.Line(4).find("resourceVersion=21&"), std::string::npos);
  EXPECT_NE(server.Line(6).find("resourceVersion=5&"), std::string::npos);
}

TEST_F(ReflectorTest, ListsAgainWhenTheVersionIsTooOld) {
  server.QueueJson(List("5", {"a"}));
  server.QueueWhole(Event("ADDED", "b", "6"));
  server.QueueWhole(kTooOld);
  server.QueueJson(List("20", {"c"}));
  server.QueueStream(Event("DELETED", "c", "21"));
  const auto reflector = Start();
  EXPECT_EQ(diary.Line(0), "replace a");
  EXPECT_EQ(diary.Line(1), "added b");
  EXPECT_EQ(diary.Line(2), "replace c");
  EXPECT_EQ(diary.Line(3), "deleted c");
  EXPECT_EQ(server.Line(3), "GET /api/v1/pods?limit=500");
  EXPECT_NE(server.Line(4).find("resourceVersion=20&"), std::string::npos);
}

TEST_F(ReflectorTest, ListsAgainWhileWatchesEndAsTheyBegin) {
  server.QueueJson(List("5", {"a"}));
  server.QueueWhole("");
  server.QueueJson(List("9", {}));  // whether the history has gone back
  server.QueueWhole("");
  server.QueueJson(List("9", {"a", "b"}));
  server.QueueStream(Event("ADDED", "c", "10"));
  const auto reflector = Start();
  EXPECT_EQ(diary.Line(0), "replace a");
  EXPECT_EQ(diary.Line(1), "replace a b");
  EXPECT_EQ(diary.Line(2), "added c");
  EXPECT_NE(server.Line(5).find("resourceVersion=9&"), std::string::npos);
}

TEST_F(ReflectorTest, ListsAgainWhileOnlyWatchesAreNotAnswered) {
  server.QueueJson(List("5", {"a"}));
  server.QueueJson("not now", 503);
  for (int i = 0; i < 2; ++i) {
    server.QueueJson(List("9", {}));  // whether the history has gone back
    server.QueueJson("not now", 503);
  }
  server.QueueJson(List("9", {"a", "b"}));
  server.QueueStream(Event("ADDED", "c", "10"));
  const auto reflector = Start();
  EXPECT_EQ(diary.Line(1), "replace a b");
  EXPECT_EQ(diary.Line(2), "added c");
}

TEST_F(ReflectorTest, AServerThatRestartsIsNotListedAgain) {
  server.QueueJson(List("5", {"a"}));
  server.QueueWhole(Event("ADDED", "b", "6"));
  server.QueueJson("not now", 503);  // a watch
  server.QueueJson("not now", 503);  // whether the history has gone back
  server.QueueJson(List("9", {}));
  server.QueueJson("not now", 503);
  server.QueueJson(List("9", {}));
  server.QueueStream(Event("ADDED", "c", "10"));
  const auto reflector = Start();
  EXPECT_EQ(diary.Line(1), "added b");
  EXPECT_EQ(diary.Line(2), "added c");
}

TEST_F(ReflectorTest, TriesAgainWhenAListFails) {
  server.QueueJson("not now", 503);
  server.QueueJson(List("5", {"a"}));
  server.QueueStream();
  const auto reflector = Start();
  EXPECT_EQ(diary.Line(0), "replace a");
}

TEST_F(ReflectorTest, EndsAtOnceWhileItWaitsForAnEvent) {
  server.QueueJson(List("5", {}));
  server.QueueStream();
  auto reflector = Start();
  server.Request(1);
  reflector.reset();
  EXPECT_TRUE(server.Stream(0)->IsClosed());
}

TEST_F(ReflectorTest, EndsAtOnceWhileItBacksOff) {
  for (int i = 0; i < 6; ++i) server.QueueJson("not now", 503);
  const auto begin = std::chrono::steady_clock::now();
  auto reflector = Start();
  server.Request(2);  // the next pause is 800 ms at least
  reflector.reset();
  EXPECT_EQ(diary.size(), 0U);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kTestPatience);
}

TEST(Reflector, EndsAtOnceAtAnyMoment) {
  Client client(InProcessTransport(
      [](const net::HttpRequest& request, const std::shared_ptr<net::Responder>& responder) {
        if (request.target.find("watch=true") == std::string::npos) {
          return responder->Send({200, {}, List("5", {"a"})});
        }
        responder->Start(200, {});
        responder->Write(Event("ADDED", "b", "6"));
        responder->OnClose([responder] {});  // open until the reflector leaves
      }));
  Diary diary;
  for (int i = 0; i < 200; ++i) {
    const size_t before = diary.size();
    auto reflector =
        std::make_unique<Reflector>(client, api::kPods, ListOptions{}, diary.Handler());
    if (i % 3 == 1) diary.Line(before);      // as it lists
    if (i % 3 == 2) diary.Line(before + 1);  // as it watches
    reflector.reset();
  }
}

}  // namespace
}  // namespace cluster
