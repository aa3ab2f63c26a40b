#include <gtest/gtest.h>

#include "ads/oci/data_science.h"
#include "ads/oci/log_search.h"
#include "ads/oci/testing/fake_client.h"

namespace ads::oci {
namespace {

const base::Time kStart{std::chrono::seconds(2'000'000'000)};

// A log with a record per millisecond, and the service's limits.
net::HttpResponse SearchLines(const net::HttpRequest& request, int64_t count) {
  const auto body = text::ParseJson(request.body);
  const auto from = *base::ParseRfc3339(text::GetString(*body, {"timeStart"}));
  const auto to = *base::ParseRfc3339(text::GetString(*body, {"timeEnd"}));
  text::Array results;
  for (int64_t i = 0; i < count; ++i) {
    const base::Time at = kStart + std::chrono::milliseconds(i);
    if (at < from || at > to) continue;
    results.push_back(text::Object{
        {"data",
         text::Object{{"logContent",
                       text::Object{{"id", std::to_string(i)},
                                    {"time", base::FormatRfc3339Micro(at)},
                                    {"data", text::Object{{"message", std::to_string(i)}}}}}}}});
    if (results.size() > 2 * kMaxLogHits) {
      return Answer(400, R"({"code":"InvalidParameter","message":"search result is too large"})");
    }
    if (results.size() > kMaxLogHits) results.resize(kMaxLogHits + 1);
  }
  if (results.size() > kMaxLogHits) results.resize(kMaxLogHits);
  return Answer(200, text::ToJson(text::Object{{"results", std::move(results)}}));
}

TEST(CreateJobRun, HasTheRequestedNameIfTheAnswerHasNone) {
  const auto name_after = [](const char* answer) {
    FakeService service([&](const net::HttpRequest&) { return Answer(200, answer); },
                        Service::kDataScience);
    const auto run =
        DataScience(service.api).CreateJobRun(text::Object{{"displayName", "worker_0"}});
    return run ? run->name : run.error().message;
  };
  EXPECT_EQ(name_after(R"({"id": "ocid1.run"})"), "worker_0");
  EXPECT_EQ(name_after(R"({"id": "ocid1.run", "displayName": "other"})"), "other");
}

TEST(SearchLog, HalvesAWindowThatHoldsTooMuch) {
  constexpr int64_t kCount = 4500;
  FakeService service([](const net::HttpRequest& request) { return SearchLines(request, kCount); },
                      Service::kLogging);
  const auto lines = SearchLog(service.api, {"c", "g", "l"}, "ocid1.run", kStart,
                               kStart + std::chrono::minutes(2));
  ASSERT_TRUE(lines) << lines.error().message;
  ASSERT_EQ(lines->size(), static_cast<size_t>(kCount));
  for (size_t i = 0; i < lines->size(); ++i) EXPECT_EQ((*lines)[i].message, std::to_string(i));
}

TEST(SearchLog, AsksForTheRunInTheLog) {
  FakeService service([](const net::HttpRequest& request) { return SearchLines(request, 0); },
                      Service::kLogging);
  ASSERT_TRUE(SearchLog(service.api, {"c", "g", "l"}, "ocid1.run", kStart - std::chrono::hours(999),
                        kStart));
  // The service looks through 14 days at a time.
  ASSERT_EQ(service.requests.size(), 3U);
  EXPECT_EQ(text::GetString(*text::ParseJson(service.requests[2].body), {"timeStart"}),
            "2033-04-06T12:33:20.000Z");
  EXPECT_EQ(service.requests[0].target, "/20190909/search?limit=1000");
  const auto body = text::ParseJson(service.requests[0].body);
  EXPECT_EQ(text::GetString(*body, {"searchQuery"}),
            "SEARCH \"c/g/l\" | WHERE source = '*ocid1.run' | SORT BY datetime DESC");
  EXPECT_EQ(text::GetString(*body, {"timeStart"}), "2033-05-04T03:33:20.000Z");
  EXPECT_EQ(text::GetString(*body, {"timeEnd"}), "2033-05-18T03:33:20.000Z");
}

TEST(GroupOfLog, IsTheOneThatHasIt) {
  FakeService service([](const net::HttpRequest& request) {
    if (request.target == "/20200531/logGroups?compartmentId=c") {
      return Answer(200, R"([{"id":"g1"},{"id":"g2"}])");
    }
    if (request.target == "/20200531/logGroups/g2/logs/l") {
      return Answer(200, R"({"compartmentId":"c2"})");
    }
    return Answer(404, "{}");
  });
  EXPECT_EQ(*GroupOfLog(service.api, "c", "l"), "g2");
  EXPECT_EQ(GroupOfLog(service.api, "c", "m").error().code, base::Code::kNotFound);
}

TEST(DataScience, ListsRunsOldestFirst) {
  FakeService service([](const net::HttpRequest& request) {
    EXPECT_EQ(request.target, "/20190101/jobRuns?jobId=j&compartmentId=c");
    return Answer(200,
                  R"([{"id":"b","timeAccepted":"2026-01-02T00:00:00Z"},
                      {"id":"a","timeAccepted":"2026-01-01T00:00:00.5+00:00"}])");
  });
  const auto runs = DataScience(service.api).ListJobRuns("j", "c");
  ASSERT_TRUE(runs);
  ASSERT_EQ(runs->size(), 2U);
  EXPECT_EQ((*runs)[0].id, "a");
}

TEST(DataScience, ReadsARun) {
  const auto value = text::ParseJson(
      R"({"id":"r","jobId":"j","displayName":"n","compartmentId":"c","projectId":"p",
          "lifecycleState":"FAILED","lifecycleDetails":"exit code 3","timeStarted":null,
          "logDetails":{"logId":"l","logGroupId":"g"},
          "jobConfigurationOverrideDetails":{"environmentVariables":{"RANK":"1"}}})");
  const JobRun run = ReadJobRun(*value);
  EXPECT_EQ(run.name, "n");
  EXPECT_EQ(run.details, "exit code 3");
  EXPECT_FALSE(run.started);
  EXPECT_EQ(run.log_id, "l");
  EXPECT_EQ(text::GetString(run.environment, {"RANK"}), "1");
  EXPECT_EQ(ReadJobRun(text::Json(nullptr)).id, "");
}

TEST(KindOfOcid, IsItsSecondPart) {
  EXPECT_EQ(KindOfOcid("ocid1.datasciencejobrun.oc1.iad.x"), "datasciencejobrun");
  EXPECT_EQ(KindOfOcid("foo"), "");
  EXPECT_EQ(KindOfOcid("ocid1.x"), "");
}

}  // namespace
}  // namespace ads::oci
