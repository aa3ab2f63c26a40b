#include "controller/operator/leader.h"

#include <gtest/gtest.h>

#include <deque>

#include "api/resources.h"
#include "cluster/testing/fake_server.h"

namespace controller {
namespace {

using std::chrono::milliseconds;

// What a Leader reported, in order.
class Said {
 public:
  void Add(bool leads) {
    const std::lock_guard lock(mutex_);
    said_.push_back(leads);
    changed_.notify_all();
  }
  // Waits for the next report.
  bool Next() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, cluster::kTestPatience, [this] { return !said_.empty(); })) {
      ADD_FAILURE() << "nothing was said";
      return false;
    }
    const bool leads = said_.front();
    said_.pop_front();
    return leads;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<bool> said_;
};

class LeaderTest : public ::testing::Test {
 protected:
  void QueueLease() {
    server_.QueueJson("{}", 404);
    server_.QueueJson("{}", 201);
  }
  // Accepts a request and answers it when the test ends.
  void QueueSilence() {
    server_.Queue([this](std::shared_ptr<net::Responder> responder) {
      const std::lock_guard lock(mutex_);
      silent_.push_back(std::move(responder));
    });
  }
  void EndSilence() {
    const std::lock_guard lock(mutex_);
    for (const auto& responder : silent_) responder->Send({503, {}, "late"});
    silent_.clear();
  }

  LeaderOptions options_{"n",
                         "lease",
                         "a",
                         std::chrono::seconds(15),
                         milliseconds(300),
                         milliseconds(10),
                         milliseconds(10)};
  cluster::FakeServer server_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<net::Responder>> silent_;
  LeaseTerm term_{base::SystemClock()};
  Said said_;
};

TEST_F(LeaderTest, LeadsNoLongerWhileARequestWaitsForItsAnswer) {
  QueueLease();
  QueueSilence();
  cluster::Client client(server_.Connect());
  Leader leader(client, base::SystemClock(), options_, term_,
                [this](bool leads) { said_.Add(leads); });
  EXPECT_TRUE(said_.Next());
  EXPECT_EQ(server_.Line(2), "GET /apis/coordination.k8s.io/v1/namespaces/n/leases/lease");
  // The third request is not answered, and yet the leadership ends:
  EXPECT_FALSE(said_.Next());
  EXPECT_FALSE(term_.Lasts());
  EndSilence();
}

TEST_F(LeaderTest, AnAnswerThatComesTooLateDoesNotMakeALeader) {
  server_.QueueJson("{}", 404);
  // Answered when the term that it would have begun is over.
  server_.Queue([this](const std::shared_ptr<net::Responder>& responder) {
    const auto begin = base::SystemClock().Steady();
    while (base::SystemClock().Steady() < begin + 2 * options_.renew_deadline) {
      std::this_thread::yield();
    }
    responder->Send({201, {}, "{}"});
  });
  QueueSilence();
  cluster::Client client(server_.Connect());
  bool has_led = false;
  {
    const Leader leader(client, base::SystemClock(), options_, term_,
                        [&](bool leads) { has_led = has_led || leads; });
    server_.Request(2);
    EXPECT_FALSE(term_.Lasts());
    EndSilence();
  }
  EXPECT_FALSE(has_led);
}

TEST(BoundToTerm, SendsNoWriteOnceTheTermHasEnded) {
  base::FakeClock clock{*base::ParseRfc3339("2026-07-30T10:00:00Z")};
  cluster::FakeServer server;
  LeaseTerm term(clock);
  cluster::Client client(BoundToTerm(server.Connect(), term));
  const text::Json pod = text::Object{{"metadata", text::Object{{"name", "p"}}}};

  EXPECT_EQ(client.Create(api::kPods, "n", pod).error().code, base::Code::kCancelled);
  term.ExtendTo(clock.Steady() + std::chrono::seconds(10));
  server.QueueJson("{}", 201);
  EXPECT_TRUE(client.Create(api::kPods, "n", pod));
  clock.Advance(std::chrono::seconds(10));
  EXPECT_EQ(client.Create(api::kPods, "n", pod).error().code, base::Code::kCancelled);
  cluster::BatchWrite write;
  write.verb = cluster::BatchWrite::Verb::kDelete;
  write.resource = &api::kPods;
  write.namespace_name = "n";
  write.name = "p";
  EXPECT_EQ(client.Batch({write}).front().error().code, base::Code::kCancelled);
  // The leader goes on reading: the second request is this one.
  server.QueueJson("{}");
  EXPECT_TRUE(client.Get(api::kPods, "n", "p"));
  EXPECT_EQ(server.Line(1), "GET /api/v1/namespaces/n/pods/p");
}

}  // namespace
}  // namespace controller
