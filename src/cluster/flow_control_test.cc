#include "cluster/flow_control.h"

#include <gtest/gtest.h>

#include <deque>
#include <thread>

namespace cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Priority = FlowControl::Priority;

FlowControl::Options Few() {
  FlowControl::Options options;
  options.first = 4;
  options.least = 1;
  options.most = 6;
  return options;
}

class FlowControlTest : public ::testing::Test {
 protected:
  base::FakeClock clock_{base::Time{}};
  FlowControl flow_{clock_, Few()};
};

TEST_F(FlowControlTest, GrantsWhatThereIsRoomFor) {
  EXPECT_EQ(flow_.Begin(Priority::kCritical, 3), 3);
  EXPECT_EQ(flow_.Begin(Priority::kCritical, 3), 1);
  EXPECT_EQ(flow_.Look().under_way, 4);
  flow_.EndWell(Priority::kCritical);
  EXPECT_EQ(flow_.Begin(Priority::kCritical, 9), 1);
}

TEST_F(FlowControlTest, WhoeverWaitsGetsTheNextPermit) {
  ASSERT_EQ(flow_.Begin(Priority::kCritical, 4), 4);
  std::thread waiting([this] { EXPECT_EQ(flow_.Begin(Priority::kCritical, 2), 1); });
  while (flow_.Look().waiting == 0) std::this_thread::yield();
  flow_.EndBadly(Priority::kCritical);
  waiting.join();
  EXPECT_EQ(flow_.Look().under_way, 4);
}

TEST_F(FlowControlTest, AServerThatIsBusyGetsHalfAndIsLeftAlone) {
  ASSERT_EQ(flow_.Begin(Priority::kCritical, 4), 4);
  flow_.EndRefused(Priority::kCritical, seconds(3));
  flow_.EndRefused(Priority::kCritical, seconds(3));  // the same news
  flow_.EndWell(Priority::kCritical);
  flow_.EndWell(Priority::kCritical);
  EXPECT_EQ(flow_.Look().limit, 2);
  EXPECT_EQ(flow_.Look().refused, 2);
  clock_.Advance(seconds(3));
  EXPECT_EQ(flow_.Begin(Priority::kCritical, 4), 2);
  flow_.EndRefused(Priority::kCritical, std::nullopt);
  EXPECT_EQ(flow_.Look().limit, 1);
}

TEST_F(FlowControlTest, GrowsWhileSomebodyWaits) {
  ASSERT_EQ(flow_.Begin(Priority::kCritical, 4), 4);
  std::thread waiting([this] {
    for (int i = 0; i < 30; ++i) {
      ASSERT_EQ(flow_.Begin(Priority::kCritical, 1), 1);
      flow_.EndBadly(Priority::kCritical);
    }
  });
  // Each good answer while another waits makes room for a part of a request more.
  for (int i = 0; i < 4; ++i) {
    while (flow_.Look().waiting == 0 && flow_.Look().under_way == 4) std::this_thread::yield();
    flow_.EndWell(Priority::kCritical);
  }
  waiting.join();
  EXPECT_GE(flow_.Look().limit, 4);
  EXPECT_LE(flow_.Look().limit, 6);
}

TEST_F(FlowControlTest, EventsGoOneAtATimeBesideOtherWork) {
  ASSERT_EQ(flow_.Begin(Priority::kCritical, 1), 1);
  EXPECT_EQ(flow_.Begin(Priority::kBackground, 4), 1);
  flow_.EndWell(Priority::kCritical);
  EXPECT_EQ(flow_.Begin(Priority::kBackground, 9), 3);  // room for 4, one of them under way
}

TEST_F(FlowControlTest, StopEndsEveryWait) {
  ASSERT_EQ(flow_.Begin(Priority::kCritical, 4), 4);
  std::thread waiting([this] { EXPECT_EQ(flow_.Begin(Priority::kCritical, 1), 0); });
  while (flow_.Look().waiting == 0) std::this_thread::yield();
  flow_.Stop();
  waiting.join();
  EXPECT_EQ(flow_.Begin(Priority::kBackground, 1), 0);
}

TEST(FlowControlRate, IsKeptWhenOneIsGiven) {
  base::FakeClock clock{base::Time{}};
  FlowControl::Options options;
  options.rate = 10;
  options.burst = 3;
  FlowControl flow(clock, options);
  EXPECT_EQ(flow.Begin(Priority::kCritical, 9), 3);
  clock.Advance(milliseconds(250));
  EXPECT_EQ(flow.Begin(Priority::kCritical, 9), 2);
  clock.Advance(seconds(100));
  EXPECT_EQ(flow.Begin(Priority::kCritical, 9), 3);
}

// Answers with the statuses that a test queued, then 200.
class QueuedAnswers final : public Transport {
 public:
  base::Result<net::HttpResponse> Send(const net::HttpRequest& request) override {
    asked.push_back(request.method + " " + request.target);
    net::HttpResponse answer;
    if (!statuses.empty()) {
      answer.status = statuses.front();
      statuses.pop_front();
    }
    if (answer.status == 429) answer.headers.emplace_back("Retry-After", "0");
    return answer;
  }
  base::Result<std::unique_ptr<net::BodyStream>> Open(const net::HttpRequest&) override {
    return base::Fail(base::Code::kInternal, "not asked for");
  }
  std::deque<int> statuses;
  std::vector<std::string> asked;
};

class FlowControlledTest : public FlowControlTest {
 protected:
  std::shared_ptr<QueuedAnswers> server_ = std::make_shared<QueuedAnswers>();
  std::unique_ptr<Transport> transport_ = FlowControlled(server_, flow_, Priority::kCritical);
};

TEST_F(FlowControlledTest, SendsAgainWhatWasRefusedAndOnlyThat) {
  server_->statuses = {201, 429, 500, 429, 201, 429};
  const std::vector<net::HttpRequest> requests = {{"POST", "/a", {}, "", {}},
                                                  {"POST", "/b", {}, "", {}},
                                                  {"POST", "/c", {}, "", {}},
                                                  {"PATCH", "/d", {}, "", {}}};
  const auto answers = transport_->SendAll(requests);
  ASSERT_EQ(answers.size(), 4U);
  EXPECT_EQ(answers[0]->status, 201);
  EXPECT_EQ(answers[1]->status, 201);
  EXPECT_EQ(answers[2]->status, 500);
  EXPECT_EQ(answers[3]->status, 200);
  EXPECT_EQ(server_->asked, (std::vector<std::string>{"POST /a", "POST /b", "POST /c", "PATCH /d",
                                                      "POST /b", "PATCH /d", "PATCH /d"}));
  EXPECT_EQ(flow_.Look().under_way, 0);
}

TEST_F(FlowControlledTest, GivesUpOnAServerThatStaysBusy) {
  server_->statuses.assign(100, 429);
  const net::HttpRequest request{"GET", "/", {}, "", {}};
  EXPECT_EQ(transport_->Send(request)->status, 429);
  EXPECT_EQ(server_->asked.size(), static_cast<size_t>(kMaxTriesWhenBusy));
}

TEST_F(FlowControlledTest, ManyGoInWavesOfWhatIsAllowed) {
  std::vector<net::HttpRequest> requests(11);
  for (size_t i = 0; i < requests.size(); ++i) requests[i].target = "/" + std::to_string(i);
  const auto answers = transport_->SendAll(requests);
  EXPECT_EQ(answers.size(), 11U);
  ASSERT_EQ(server_->asked.size(), 11U);
  EXPECT_EQ(server_->asked.back(), " /10");
}

}  // namespace
}  // namespace cluster
