#include "local/server/reads/list_stream.h"

#include <gtest/gtest.h>

#include "api/job/training_summary.h"
#include "local/server/testing/test_server.h"
#include "text/projection.h"

namespace local::server {
namespace {

constexpr const char* kMapsPath = "/api/v1/namespaces/default/configmaps";
constexpr std::chrono::milliseconds kGiven{60'000};

// Twelve objects of about 100 KB: more than two pieces.
class ListStreamTest : public testing::Test {
 protected:
  ListStreamTest() {
    for (int i = 10; i < 22; ++i) {
      server_.Expect(201, "POST", kMapsPath, MapObject("map-" + std::to_string(i)));
    }
  }

  static text::Json MapObject(const std::string& name) {
    return text::Object{
        {"apiVersion", "v1"},
        {"kind", "ConfigMap"},
        {"metadata", text::Object{{"name", name}, {"labels", text::Object{{"name", name}}}}},
        {"data", text::Object{{"x", std::string(100'000, 'x')}}}};
  }
  // A list whose peer does not read yet.
  std::shared_ptr<FakeResponder> OpenSlowly(const std::string& query = "") {
    auto responder = std::make_shared<FakeResponder>();
    responder->pending_bytes = 1 << 20;
    server_.Handle("GET", kMapsPath + query, responder);
    return responder;
  }
  static std::vector<std::string> NamesOf(const net::HttpResponse& response) {
    const auto list = text::ParseJson(response.body);
    EXPECT_TRUE(list) << response.body.substr(0, 200);
    std::vector<std::string> names;
    if (!list) return names;
    for (const text::Json& item : *text::FindArray(*list, {"items"})) {
      names.emplace_back(text::GetString(item, {"metadata", "name"}));
    }
    return names;
  }

  TestServer server_;
};

TEST_F(ListStreamTest, IsReadAsThePeerTakesIt) {
  const auto responder = OpenSlowly();
  const size_t first = responder->Now().body.size();
  EXPECT_GT(first, 400'000u);
  EXPECT_LT(first, 800'000u);
  EXPECT_FALSE(responder->IsClosed());
  // Later writes are not part of it, and other requests are answered.
  server_.Expect(200, "DELETE", Path(kMapsPath, "map-21"));
  server_.Expect(201, "POST", kMapsPath, MapObject("map-99"));
  EXPECT_EQ(NamesOf(server_.Send("GET", kMapsPath)).size(), 12u);
  responder->when_taken();
  EXPECT_FALSE(responder->IsClosed());
  responder->pending_bytes = 0;
  responder->when_taken();
  const auto names = NamesOf(responder->Wait());
  ASSERT_EQ(names.size(), 12u);
  EXPECT_EQ(names.front(), "map-10");
  EXPECT_EQ(names.back(), "map-21");
}

TEST_F(ListStreamTest, SelectsAndIsOfTheVersionThatItNames) {
  const auto before = server_.Send("GET", kMapsPath);
  const auto responder = OpenSlowly("?labelSelector=name+notin+(map-10,map-15,map-21)");
  server_.Expect(201, "POST", kMapsPath, MapObject("map-00"));
  responder->pending_bytes = 0;
  responder->when_taken();
  const auto after = responder->Wait();
  EXPECT_EQ(NamesOf(after).size(), 9u);
  const auto version = [](const net::HttpResponse& response) {
    return std::string(
        text::GetString(*text::ParseJson(response.body), {"metadata", "resourceVersion"}));
  };
  EXPECT_EQ(version(after), version(before));
}

// What cluster::Client sends for ListOptions::form.
const net::Headers kSummary = {
    {"Accept", "application/json;as=TrainingSummary;v=v1;g=muster.dev,application/json"}};

TEST_F(ListStreamTest, ASummaryHoldsThePartsThatAreShown) {
  text::Json pod = PodObject("one");
  text::Ensure(pod, {"metadata", "labels", "app"}) = "pytorchjob";
  text::Json& container = text::Find(pod, {"spec", "containers"})->get_array()[0];
  text::Ensure(container, {"command"}) = text::Array{"true"};
  server_.Expect(201, "POST", kPodsPath, pod);
  server_.Expect(201, "POST", kPodsPath, PodObject("two"));
  const auto whole = server_.Expect(200, "GET", Path(kPodsPath, "one"));
  for (const std::string query : {"", "&limit=5"}) {
    const std::string path = kPodsPath + std::string("?labelSelector=app%3Dpytorchjob") + query;
    const auto list = server_.Expect(200, "GET", path, nullptr, kSummary);
    EXPECT_EQ(text::GetString(list, {"kind"}), "PodList");
    ASSERT_EQ(text::FindArray(list, {"items"})->size(), 1u);
    EXPECT_EQ(text::FindArray(list, {"items"})->at(0),
              *text::ParsePart(text::ToJson(whole), api::SummarizedParts()));
  }
}

TEST_F(ListStreamTest, OfWhatHasNoSummaryTheWholeIsGiven) {
  EXPECT_EQ(server_.Send("GET", kMapsPath, "", kSummary).body, server_.Send("GET", kMapsPath).body);
  server_.Expect(201, "POST", kPodsPath, PodObject("one"));
  const std::string path = Path(kPodsPath, "one");
  EXPECT_EQ(server_.Send("GET", path, "", kSummary).body, server_.Send("GET", path).body);
}

TEST_F(ListStreamTest, APeerThatTakesNothingIsLeftAfterAMinute) {
  auto responder = OpenSlowly();
  const std::weak_ptr<FakeResponder> watched = responder;
  server_.timers->Fire(kGiven);
  EXPECT_FALSE(responder->IsClosed()) << "an answer that is not whole must not look whole";
  responder->when_taken();
  responder->when_taken = nullptr;
  responder.reset();
  EXPECT_TRUE(watched.expired()) << "the stream still holds it";
}

TEST_F(ListStreamTest, EndsWithThePeer) {
  auto responder = OpenSlowly();
  responder->Close();
  const std::weak_ptr<FakeResponder> watched = responder;
  responder.reset();
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(server_.timers->Count(), 0u);
}

TEST_F(ListStreamTest, ManySlowPeersLeaveTheStoreToOthers) {
  std::vector<std::shared_ptr<FakeResponder>> slow;
  for (int i = 0; i < 20; ++i) slow.push_back(OpenSlowly());
  // The lists beyond the limit were read as a whole.
  EXPECT_FALSE(slow.front()->IsClosed());
  EXPECT_TRUE(slow.back()->IsClosed());
  EXPECT_EQ(NamesOf(slow.back()->Wait()).size(), 12u);
  server_.Expect(200, "GET", Path(kMapsPath, "map-10"));
  for (const auto& responder : slow) {
    responder->pending_bytes = 0;
    if (responder->when_taken) responder->when_taken();
    EXPECT_EQ(NamesOf(responder->Wait()).size(), 12u);
    responder->when_taken = nullptr;
  }
}

}  // namespace
}  // namespace local::server
