#include "local/server/reads/watches.h"

#include <gtest/gtest.h>

#include "local/server/testing/test_server.h"

namespace local::server {
namespace {

using text::GetInt;
using text::GetString;

std::string Under(const char* collection, std::string_view rest) {
  return std::string(collection) + std::string(rest);
}

// "ADDED a"
std::string Brief(const text::Json& line) {
  return std::string(GetString(line, {"type"})) + " " +
         std::string(GetString(line, {"object", "metadata", "name"}));
}

void SetLabel(TestServer& server, const std::string& pod, const std::string& value) {
  server.Patch(200, Under(kPodsPath, "/" + pod),
               text::Object{{"metadata", text::Object{{"labels", text::Object{{"x", value}}}}}});
}

TEST(Watch, BeginsWithWhatExistsAndGoesOn) {
  TestServer server;
  server.Expect(201, "POST", kPodsPath, PodObject("a"));
  const auto watch = server.Open("GET", Under(kPodsPath, "?watch=true"));
  EXPECT_EQ(Brief(watch->Lines(1)[0]), "ADDED a");
  SetLabel(server, "a", "1");
  server.Expect(200, "DELETE", Under(kPodsPath, "/a"));
  server.Expect(201, "POST", "/api/v1/namespaces/kube-system/pods", PodObject("b", "kube-system"));
  server.Expect(201, "POST", kPodsPath, PodObject("c"));
  const auto lines = watch->Lines(4);
  EXPECT_EQ(Brief(lines[1]), "MODIFIED a");
  EXPECT_EQ(Brief(lines[2]), "DELETED a");
  EXPECT_EQ(Brief(lines[3]), "ADDED c");
  watch->Close();
}

TEST(Watch, ResumesFromAVersion) {
  TestServer server;
  const text::Json a = server.Expect(201, "POST", kPodsPath, PodObject("a"));
  server.Expect(201, "POST", kPodsPath, PodObject("b"));
  const auto watch =
      server.Open("GET", "/api/v1/pods?watch=1&resourceVersion=" +
                             std::string(GetString(a, {"metadata", "resourceVersion"})));
  server.Expect(201, "POST", kPodsPath, PodObject("c"));
  const auto lines = watch->Lines(2);
  EXPECT_EQ(Brief(lines[0]), "ADDED b");
  EXPECT_EQ(Brief(lines[1]), "ADDED c");
  watch->Close();
}

TEST(Watch, FromAForgottenVersionEndsWithExpired) {
  TestServer server;
  server.Expect(201, "POST", kPodsPath, PodObject("a"));
  server.Restart();
  const auto watch = server.Open("GET", "/api/v1/pods?watch=1&resourceVersion=2");
  const auto response = watch->Wait();
  EXPECT_EQ(response.status, 200);
  const auto lines = watch->Lines(1);
  EXPECT_EQ(GetString(lines[0], {"type"}), "ERROR");
  EXPECT_EQ(GetInt(lines[0], {"object", "code"}), 410);
  EXPECT_EQ(GetString(lines[0], {"object", "reason"}), "Expired");
}

TEST(Watch, ObjectsEnterAndLeaveASelection) {
  TestServer server;
  const auto watch = server.Open("GET", Under(kPodsPath, "?watch=1&labelSelector=x%3D1"));
  watch->WaitStarted();
  server.Expect(201, "POST", kPodsPath, PodObject("a"));
  SetLabel(server, "a", "1");
  server.Patch(200, Under(kPodsPath, "/a/status"),
               text::Object{{"status", text::Object{{"phase", "Running"}}}});
  SetLabel(server, "a", "2");
  SetLabel(server, "a", "1");
  server.Expect(200, "DELETE", Under(kPodsPath, "/a"));
  const auto lines = watch->Lines(5);
  EXPECT_EQ(Brief(lines[0]), "ADDED a");
  EXPECT_EQ(Brief(lines[1]), "MODIFIED a");
  EXPECT_EQ(Brief(lines[2]), "DELETED a");
  EXPECT_EQ(Brief(lines[3]), "ADDED a");
  EXPECT_EQ(Brief(lines[4]), "DELETED a");
  watch->Close();
}

TEST(Watch, WithinTheProcessAnEventIsAValueWithoutText) {
  TestServer server;
  const auto watch = server.Open("GET", Under(kPodsPath, "?watch=1"));
  watch->WaitStarted();
  watch->takes_parsed = true;
  server.Expect(201, "POST", kPodsPath, PodObject("a"));
  const auto lines = watch->Lines(1);
  EXPECT_EQ(text::ToJson(lines[0]), R"({"type":"ADDED","object":null})");
  const auto parsed = watch->Parsed();
  ASSERT_EQ(parsed.size(), 1U);
  EXPECT_EQ(GetString(*parsed[0].object, {"metadata", "name"}), "a");
  EXPECT_EQ(parsed[0].bytes, text::ToJson(*parsed[0].object).size());
  watch->Close();
}

TEST(Watch, ReportsHowFarItIsWhenOthersChange) {
  TestServer server;
  const auto watch =
      server.Open("GET", Under(kPodsPath, "?watch=1&allowWatchBookmarks=true&resourceVersion=0"));
  watch->WaitStarted();
  const text::Json job = server.Expect(201, "POST", kJobsPath, JobObject("j"));
  server.timers->Fire(kBookmarkDelay);
  const auto lines = watch->Lines(1);
  EXPECT_EQ(GetString(lines[0], {"type"}), "BOOKMARK");
  EXPECT_EQ(GetString(lines[0], {"object", "kind"}), "Pod");
  EXPECT_EQ(GetString(lines[0], {"object", "metadata", "resourceVersion"}),
            GetString(job, {"metadata", "resourceVersion"}));
  watch->Close();
  EXPECT_EQ(server.timers->Count(), 0U);
}

TEST(Watch, EndsAtItsTimeout) {
  TestServer server;
  const auto watch = server.Open("GET", Under(kPodsPath, "?watch=1&timeoutSeconds=7"));
  server.timers->Fire(std::chrono::seconds(7));
  EXPECT_EQ(watch->Wait().body, "");
  const auto endless = server.Open("GET", Under(kPodsPath, "?watch=1"));
  server.timers->Fire(kDefaultWatchTimeout);
  endless->Wait();
  EXPECT_EQ(server.timers->Count(), 0U);
}

TEST(Watch, MarksTheEndOfTheInitialEvents) {
  TestServer server;
  server.Expect(201, "POST", kPodsPath, PodObject("a"));
  const auto watch =
      server.Open("GET", Under(kPodsPath,
                               "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&"
                               "resourceVersionMatch=NotOlderThan"));
  const auto lines = watch->Lines(2);
  EXPECT_EQ(Brief(lines[0]), "ADDED a");
  EXPECT_EQ(GetString(lines[1], {"object", "metadata", "annotations", "k8s.io/initial-events-end"}),
            "true");
  watch->Close();
}

// The last line of an ended watch gives the reason.
void ExpectExpired(const net::HttpResponse& response) {
  const std::string_view body = response.body;
  const size_t end = body.find_last_of('\n', body.size() - 2);
  const auto line = text::ParseJson(end == std::string::npos ? body : body.substr(end + 1));
  ASSERT_TRUE(line) << body;
  EXPECT_EQ(GetString(*line, {"type"}), "ERROR");
  EXPECT_EQ(GetInt(*line, {"object", "code"}), 410);
}

TEST(Watch, AConsumerThatDoesNotReadIsEnded) {
  TestServer server;
  const auto watch = server.Open("GET", Under(kPodsPath, "?watch=1"));
  watch->WaitStarted();
  watch->pending_bytes = kMaxWatchBacklogBytes + 1;
  server.Expect(201, "POST", kPodsPath, PodObject("a"));
  ExpectExpired(watch->Wait());
}

// Each watch is within its own limit, but their sum is too large.
TEST(Watch, OfAllThatDoNotReadTheSlowestIsEnded) {
  TestServer server;
  std::vector<std::shared_ptr<FakeResponder>> watches;
  for (size_t i = 0; i < 6; ++i) {
    watches.push_back(server.Open("GET", "/api/v1/configmaps?watch=1"));
    watches.back()->WaitStarted();
    watches.back()->pending_bytes = (10 << 20) + i;
  }
  watches[3]->pending_bytes = kMaxWatchBacklogBytes;
  text::Json map = text::Object{{"apiVersion", "v1"},
                                {"kind", "ConfigMap"},
                                {"metadata", text::Object{{"name", "m"}}},
                                {"data", text::Object{{"x", std::string(1 << 20, 'x')}}}};
  server.Expect(201, "POST", "/api/v1/namespaces/default/configmaps", map);
  ExpectExpired(watches[3]->Wait());
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(watches[i]->IsClosed(), i == 3) << i;
    watches[i]->Close();
  }
}

TEST(Watch, ManyBeginAtOnceAndSeeTheSame) {
  TestServer server;
  for (const char* name : {"a", "b", "c"}) server.Expect(201, "POST", kPodsPath, PodObject(name));
  std::vector<std::shared_ptr<FakeResponder>> watches;
  for (int i = 0; i < 50; ++i) watches.push_back(server.Open("GET", "/api/v1/pods?watch=1"));
  for (const auto& watch : watches) EXPECT_EQ(Brief(watch->Lines(3)[2]), "ADDED c");
  server.Expect(201, "POST", kPodsPath, PodObject("d"));
  for (const auto& watch : watches) {
    EXPECT_EQ(Brief(watch->Lines(4)[3]), "ADDED d");
    watch->Close();
  }
}

TEST(Watch, RendersTableRows) {
  TestServer server;
  server.Expect(201, "POST", kJobsPath, JobObject("j"));
  const auto watch = server.Open("GET", Under(kJobsPath, "?watch=1"), "",
                                 {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
  watch->Lines(1);  // a job that is gone by then would not be reported
  server.Expect(200, "DELETE", Under(kJobsPath, "/j"));
  const auto lines = watch->Lines(2);
  EXPECT_EQ(GetString(lines[0], {"object", "kind"}), "Table");
  EXPECT_NE(text::FindArray(lines[0], {"object", "columnDefinitions"}), nullptr);
  EXPECT_EQ(text::FindArray(lines[1], {"object", "columnDefinitions"}), nullptr);
  EXPECT_EQ(text::FindArray(lines[1], {"object", "rows"})->size(), 1U);
  watch->Close();
}

TEST(Timers, RunInOrderOfTheirTime) {
  const auto timers = ThreadTimers();
  std::mutex mutex;
  std::condition_variable done;
  std::string order;
  const auto add = [&](char c) {
    return [&, c] {
      const std::lock_guard lock(mutex);
      order += c;
      done.notify_all();
    };
  };
  timers->After(std::chrono::milliseconds(20), add('b'));
  timers->After(std::chrono::milliseconds(1), add('a'));
  timers->Cancel(timers->After(std::chrono::milliseconds(5), add('x')));
  timers->After(std::chrono::milliseconds(30), add('c'));
  std::unique_lock lock(mutex);
  EXPECT_TRUE(done.wait_for(lock, std::chrono::seconds(30), [&] { return order.size() == 3; }));
  EXPECT_EQ(order, "abc");
}

}  // namespace
}  // namespace local::server
