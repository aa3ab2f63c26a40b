#include <gtest/gtest.h>

#include "cluster/client.h"
#include "cluster/testing/fake_server.h"
#include "text/projection.h"

namespace cluster {
namespace {

using Type = WatchEvent::Type;

struct WatchTest : testing::Test {
  std::unique_ptr<Watch> Open(ListOptions options = {}) {
    auto watch = client.OpenWatch(api::kPods, options);
    EXPECT_TRUE(watch) << watch.error().message;
    return watch ? std::move(*watch) : nullptr;
  }

  FakeServer server;
  Client client{server.Connect()};
};

std::string Event(std::string_view type, std::string_view name) {
  return std::string(R"({"type":")").append(type) + R"(","object":{"metadata":{"name":")" +
         std::string(name) + "\"}}}\n";
}

TEST_F(WatchTest, AsksForWhatItIsToldTo) {
  server.QueueWhole("");
  Open({.namespace_name = "team",
        .label_selector = "a",
        .resource_version = "5",
        .timeout_seconds = 300});
  EXPECT_EQ(server.Line(0),
            "GET /api/v1/namespaces/team/pods?labelSelector=a&watch=true&allowWatchBookmarks=true"
            "&resourceVersion=5&timeoutSeconds=300");
}

TEST_F(WatchTest, GivesEachEventOfAStreamThatIsCutAnywhere) {
  const std::string all = Event("ADDED", "a") + "\n" + Event("MODIFIED", "b") +
                          Event("DELETED", "c") + Event("BOOKMARK", "d");
  size_t round = 0;
  for (size_t step : {size_t{1}, size_t{7}, all.size()}) {
    server.QueueStream();
    const auto watch = Open();
    const auto stream = server.Stream(round++);
    std::thread writer([&] {
      for (size_t at = 0; at < all.size(); at += step) stream->Write(all.substr(at, step));
      stream->Finish();
    });
    for (const auto& [type, name] : {std::pair{Type::kAdded, "a"},
                                     {Type::kModified, "b"},
                                     {Type::kDeleted, "c"},
                                     {Type::kBookmark, "d"}}) {
      const auto event = watch->Next();
      ASSERT_TRUE(event) << event.error().message;
      ASSERT_TRUE(event->has_value());
      EXPECT_EQ((*event)->type, type);
      EXPECT_EQ(text::GetString((*event)->object, {"metadata", "name"}), name);
    }
    const auto end = watch->Next();
    ASSERT_TRUE(end);
    EXPECT_FALSE(end->has_value());
    writer.join();
  }
}

TEST_F(WatchTest, ReadsOfAnObjectWhatItsReaderWants) {
  ListOptions names;
  names.read = [](std::string_view object) {
    static const text::Projection kName{{"metadata", "name"}};
    return text::ParsePart(object, kName);
  };
  server.QueueWhole(R"({"object":{"metadata":{"name":"a","uid":"u"},"spec":{}},"type":"ADDED"})"
                    "\n"
                    R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}})"
                    "\n");
  const auto watch = Open(names);
  const auto event = watch->Next();
  ASSERT_TRUE(event && event->has_value());
  EXPECT_EQ((*event)->type, Type::kAdded);
  EXPECT_EQ(text::ToJson((*event)->object), R"({"metadata":{"name":"a"}})");
  // An error is read whole, whatever the reader wants.
  const auto error = watch->Next();
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().code, base::Code::kExpired);
  EXPECT_EQ(error.error().message, "too old");

  for (const char* broken :
       {"{]\n", "{\"type\":\"ADDED\",\"object\":{]}}\n", "{\"type\":\"ADDED\"}\n"}) {
    server.QueueWhole(broken);
    EXPECT_FALSE(Open(names)->Next()) << broken;
  }
}

TEST(WatchInThisProcess, ParsesOnlyWhatNobodyHasParsed) {
  const std::string first = Event("ADDED", "a");
  Client client(InProcessTransport([&](const net::HttpRequest&, const auto& responder) {
    const auto known = std::make_shared<const text::Json>(
        text::Object{{"metadata", text::Object{{"name", "known"}}}});
    responder->Start(200, {});
    responder->WriteLines(first + Event("MODIFIED", "b"), {{first.size(), known}});
    EXPECT_TRUE(responder->TakesParsed());
    responder->WriteLines("{\"type\":\"MODIFIED\",\"object\":null}\n", {{0, known, 1000}});
    responder->Write(Event("DELETED", "c"));
    responder->Finish();
  }));
  // A reader of texts gets them also where none came.
  ListOptions texts;
  texts.read = [](std::string_view object) { return text::ParseJson(object); };
  ListOptions values;
  for (const ListOptions* const options : {&values, &texts}) {
    const auto watch = client.OpenWatch(api::kPods, *options);
    ASSERT_TRUE(watch);
    const bool reads_text = options == &texts;
    for (const char* name : {"a", reads_text ? "b" : "known", "known", "c"}) {
      const auto event = (*watch)->Next();
      ASSERT_TRUE(event && event->has_value());
      EXPECT_EQ(text::GetString((*event)->object, {"metadata", "name"}), name);
    }
    EXPECT_FALSE((*watch)->Next()->has_value());
  }
}

TEST_F(WatchTest, ReadsMembersInWhateverOrder) {
  server.QueueWhole(R"({"type":"ADDED","object":{"metadata":{"name":"a"}},"more":[{}]})"
                    "\n"
                    R"( { "object" : {"metadata":{"name":"b"}}, "type" : "DELETED" } )"
                    "\n");
  const auto watch = Open();
  EXPECT_EQ(text::GetString((*watch->Next())->object, {"metadata", "name"}), "a");
  const auto second = watch->Next();
  ASSERT_TRUE(second && second->has_value());
  EXPECT_EQ((*second)->type, Type::kDeleted);
  EXPECT_EQ(text::GetString((*second)->object, {"metadata", "name"}), "b");
}

TEST_F(WatchTest, ReportsAVersionThatIsTooOld) {
  server.QueueWhole(R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}})"
                    "\n");
  const auto event = Open()->Next();
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().code, base::Code::kExpired);
  EXPECT_EQ(event.error().message, "too old");

  server.QueueJson(R"({"kind":"Status","reason":"Expired","message":"too old"})", 410);
  const auto watch = client.OpenWatch(api::kPods, {});
  ASSERT_FALSE(watch);
  EXPECT_EQ(watch.error().code, base::Code::kExpired);
}

TEST_F(WatchTest, ReportsAnEventThatBreaksOffOrIsNone) {
  server.QueueWhole(R"({"type":"ADDED","obj)");
  EXPECT_EQ(Open()->Next().error().code, base::Code::kUnavailable);
  server.QueueWhole("{]\n");
  EXPECT_FALSE(Open()->Next());
  server.QueueWhole(R"({"type":"NEW","object":{}})"
                    "\n");
  EXPECT_EQ(Open()->Next().error().code, base::Code::kInternal);
  server.QueueWhole(R"({"type":"ADDED"})"
                    "\n");
  EXPECT_EQ(Open()->Next().error().code, base::Code::kInternal);
}

TEST_F(WatchTest, CancelWakesNext) {
  server.QueueStream();
  const auto watch = Open();
  std::thread canceller([&] { watch->Cancel(); });
  const auto event = watch->Next();
  canceller.join();
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().code, base::Code::kCancelled);
  EXPECT_TRUE(server.Stream(0)->IsClosed());
}

}  // namespace
}  // namespace cluster
