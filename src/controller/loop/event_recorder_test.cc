#include "controller/loop/event_recorder.h"

#include <gtest/gtest.h>

#include <future>

#include "base/defer.h"
#include "base/log.h"
#include "cluster/transport.h"

namespace controller {
namespace {

// Stores what is written; answers the first write when the test says so.
class EventShelf final : public cluster::Transport {
 public:
  explicit EventShelf(std::vector<text::Json>& written) : written_(written) {}
  void LetGo() { may_answer_.set_value(); }
  void AwaitFirst() { has_come_.get_future().wait(); }

  base::Result<net::HttpResponse> Send(const net::HttpRequest& request) override {
    written_.push_back(
        text::Object{{"method", request.method}, {"event", *text::ParseJson(request.body)}});
    if (written_.size() == 1) {
      has_come_.set_value();
      may_answer_.get_future().wait();
    }
    return net::HttpResponse{201, {}, "{}"};
  }
  base::Result<std::unique_ptr<net::BodyStream>> Open(const net::HttpRequest&) override {
    return base::Fail(base::Code::kInternal, "streams are not supported");
  }

 private:
  std::vector<text::Json>& written_;
  std::promise<void> has_come_, may_answer_;
};

TEST(EventRecorder, TheSameEventThatWaitsTwiceIsOneWithItsCount) {
  base::FakeClock clock{*base::ParseRfc3339("2026-07-30T10:00:00Z")};
  std::vector<text::Json> written;
  auto shelf = std::make_unique<EventShelf>(written);
  EventShelf& door = *shelf;
  cluster::Client client(std::move(shelf));
  const text::Json job =
      text::Object{{"metadata", text::Object{{"name", "j"}, {"namespace", "n"}, {"uid", "u"}}}};
  {
    EventRecorder recorder(client, clock, "tester");
    recorder.Record(job, {false, "First", "one"});
    door.AwaitFirst();
    for (int i = 0; i < 3; ++i) recorder.Record(job, {true, "FailedCreatePod", "again"});
    recorder.Record(job, {false, "First", "one"});
    door.LetGo();
  }
  ASSERT_EQ(written.size(), 3U);
  EXPECT_EQ(text::GetString(written[1], {"method"}), "POST");
  EXPECT_EQ(text::GetInt(written[1], {"event", "count"}), 3);
  EXPECT_EQ(text::GetString(written[1], {"event", "message"}), "again");
  // The existing event's count is raised.
  EXPECT_EQ(text::GetString(written[2], {"method"}), "PATCH");
  EXPECT_EQ(text::GetInt(written[2], {"event", "count"}), 2);
}

// Refuses all writes.
class ClosedShelf final : public cluster::Transport {
 public:
  explicit ClosedShelf(std::string why) : why_(std::move(why)) {}
  base::Result<net::HttpResponse> Send(const net::HttpRequest&) override {
    const text::Json status =
        text::Object{{"kind", "Status"}, {"reason", "Forbidden"}, {"code", 403}, {"message", why_}};
    return net::HttpResponse{403, {}, text::ToText(status)};
  }
  base::Result<std::unique_ptr<net::BodyStream>> Open(const net::HttpRequest&) override {
    return base::Fail(base::Code::kInternal, "streams are not supported");
  }

 private:
  std::string why_;
};

std::string LogOfEventsRefused(const std::string& why) {
  base::FakeClock clock{*base::ParseRfc3339("2026-07-30T10:00:00Z")};
  cluster::Client client(std::make_unique<ClosedShelf>(why));
  const text::Json job =
      text::Object{{"metadata", text::Object{{"name", "j"}, {"namespace", "n"}}}};
  // The simulations of this program are quieter.
  base::SetLogLevel(base::LogLevel::kInfo);
  const base::Defer restore([] { base::SetLogLevel(base::LogLevel::kError); });
  testing::internal::CaptureStderr();
  {
    EventRecorder recorder(client, clock, "tester");
    recorder.Record(job, {false, "First", "one"});
    recorder.Record(job, {false, "Second", "two"});
  }
  return testing::internal::GetCapturedStderr();
}

TEST(EventRecorder, AMissingRightIsSaidOnce) {
  const std::string why = "events is forbidden: User x cannot create resource events";
  const std::string log = LogOfEventsRefused(why);
  const size_t said = log.find("events are lost: " + why);
  EXPECT_NE(said, std::string::npos) << log;
  EXPECT_EQ(log.find("events are lost", said + 1), std::string::npos) << log;
  EXPECT_EQ(LogOfEventsRefused("events j is forbidden: unable to create new content in namespace n "
                               "because it is being terminated"),
            "");
}

}  // namespace
}  // namespace controller
