#include "local/server/streams/pod_log.h"

#include <gtest/gtest.h>

#include "local/server/testing/test_server.h"

namespace local::server {
namespace {

using text::GetString;

// Answers with what it was told to, at once, and remembers what it was asked.
class FakeLogSource : public LogSource {
 public:
  void Open(const text::Json& pod, const LogRequest& request,
            std::shared_ptr<LogSink> sink) override {
    pod_name = GetString(pod, {"metadata", "name"});
    asked = request;
    if (is_silent) {
      kept = sink;
      return;
    }
    if (!text.empty()) sink->Write(text);
    sink->Finish(status);
  }

  std::string text = "hello\n";
  base::Status status;
  bool is_silent = false;
  std::string pod_name;
  LogRequest asked;
  std::shared_ptr<LogSink> kept;
};

class PodLog : public testing::Test {
 protected:
  PodLog() : server_(OptionsFor(source_)) {}

  static ApiServer::Options OptionsFor(FakeLogSource& source) {
    ApiServer::Options options;
    options.log_source = &source;
    return options;
  }
  void MakePod(const std::vector<std::string>& containers, const std::string& status = "") {
    text::Json pod = PodObject("p");
    text::Array list;
    for (const std::string& name : containers) {
      list.push_back(text::Object{{"name", name}, {"image", "i"}});
    }
    text::Set(pod, {"spec", "containers"}, list);
    text::Set(pod, {"spec", "initContainers"},
              text::Array{text::Object{{"name", "init-code"}, {"image", "i"}}});
    server_.Expect(201, "POST", kPodsPath, pod);
    server_.Expect(201, "POST", kPodsPath + std::string("/p/binding"),
                   *text::ParseJson(R"({"target":{"name":"here"}})"));
    if (!status.empty()) {
      server_.Patch(200, kPodsPath + std::string("/p/status"),
                    text::Object{{"status", *text::ParseJson(status)}});
    }
  }
  net::HttpResponse Log(const std::string& query) {
    return server_.Send("GET", kPodsPath + std::string("/p/log") + query);
  }

  FakeLogSource source_;
  TestServer server_;
};

TEST_F(PodLog, TakesTheOnlyContainer) {
  MakePod({"main"});
  const auto response = Log("");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "hello\n");
  EXPECT_EQ(net::FindHeader(response.headers, "Content-Type"), "text/plain");
  EXPECT_EQ(source_.pod_name, "p");
  EXPECT_EQ(source_.asked.container, "main");
}

TEST_F(PodLog, PrefersTheContainerThatTrains) {
  MakePod({"sidecar", "pytorch"});
  Log("");
  EXPECT_EQ(source_.asked.container, "pytorch");
  Log("?container=init-code");
  EXPECT_EQ(source_.asked.container, "init-code");
}

TEST_F(PodLog, PassesTheOptionsOn) {
  MakePod({"main"}, R"({"containerStatuses":[{"name":"main","restartCount":1}]})");
  Log("?follow=true&timestamps=true&previous=true&tailLines=5&limitBytes=7&sinceSeconds=10");
  EXPECT_TRUE(source_.asked.follow);
  EXPECT_TRUE(source_.asked.timestamps);
  EXPECT_TRUE(source_.asked.previous);
  EXPECT_EQ(source_.asked.tail_lines, 5);
  EXPECT_EQ(source_.asked.limit_bytes, 7);
  EXPECT_EQ(source_.asked.since, server_.clock.Now() - std::chrono::seconds(10));
  Log("?sinceTime=2026-07-30T09:00:00Z");
  EXPECT_EQ(source_.asked.since, *base::ParseRfc3339("2026-07-30T09:00:00Z"));
}

TEST_F(PodLog, RefusesInKubernetesWords) {
  MakePod(
      {"a", "b"},
      R"({"containerStatuses":[{"name":"a","state":{"waiting":{"reason":"ContainerCreating"}}}]})");
  const struct {
    const char* query;
    int status;
    const char* message;
  } cases[] = {
      {"", 400,
       "a container name must be specified for pod p, choose one of: [a b] or one of the init "
       "containers: [init-code]"},
      {"?container=x", 400, "container x is not valid for pod p"},
      {"?container=a", 400, "container \"a\" in pod \"p\" is waiting to start: ContainerCreating"},
      {"?container=a&previous=true", 400,
       "previous terminated container \"a\" in pod \"p\" not found"},
      {"?container=b&tailLines=-1", 422,
       "PodLogOptions \"p\" is invalid: tailLines: Invalid value: -1: must be greater than or "
       "equal "
       "to 0"},
      {"?container=b&tailLines=x", 400, nullptr},
      {"?container=b&sinceSeconds=0", 422, nullptr},
      {"?container=b&limitBytes=0", 422, nullptr},
      {"?container=b&sinceTime=yesterday", 400, nullptr},
      {"?container=b&sinceSeconds=1&sinceTime=2026-07-30T09:00:00Z", 422, nullptr},
  };
  for (const auto& c : cases) {
    const auto response = Log(c.query);
    EXPECT_EQ(response.status, c.status) << c.query;
    const auto status = text::ParseJson(response.body);
    ASSERT_TRUE(status) << response.body;
    if (c.message != nullptr) {
      EXPECT_EQ(GetString(*status, {"message"}), c.message);
    }
  }
  EXPECT_EQ(server_.Send("GET", kPodsPath + std::string("/none/log")).status, 404);
  EXPECT_EQ(server_.Send("POST", kPodsPath + std::string("/p/log")).status, 405);
}

TEST_F(PodLog, ASourceThatHasNoLogRefuses) {
  MakePod({"main"});
  source_.text = "";
  source_.status = base::Fail(base::Code::kNotFound, "the log of p is gone");
  const auto response = Log("");
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(GetString(*text::ParseJson(response.body), {"message"}), "the log of p is gone");
  source_.text = "some\n";
  EXPECT_EQ(Log("").body, "some\nthe log of p is gone\n");
}

TEST_F(PodLog, AFollowedLogThatIsSilentBeginsAllTheSame) {
  MakePod({"main"});
  source_.is_silent = true;
  const auto responder = server_.Open("GET", kPodsPath + std::string("/p/log?follow=true"));
  server_.timers->Fire(std::chrono::milliseconds(50));
  source_.kept->Write("late\n");
  source_.kept->Finish({});
  EXPECT_EQ(responder->Wait().status, 200);
  EXPECT_EQ(responder->Wait().body, "late\n");
  EXPECT_TRUE(source_.kept->IsClosed());
}

TEST_F(PodLog, APodWithoutANodeHasAnEmptyLog) {
  server_.Expect(201, "POST", kPodsPath, PodObject("p"));
  const auto response = Log("");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "");
}

}  // namespace
}  // namespace local::server
