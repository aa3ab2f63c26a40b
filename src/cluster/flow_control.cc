#include "cluster/flow_control.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/strings.h"

namespace cluster {
namespace {

using std::chrono::seconds;

constexpr int kTooManyRequests = 429;
// The pause if a server does not say when to come back.
constexpr seconds kUnsaidPause{1};
// The longest pause, even if a server asks for more.
constexpr seconds kLongestBusyPause{30};
// How long to wait before looking again, because the clock may be a test's.
constexpr seconds kLongestNap{1};

bool IsRefused(const base::Result<net::HttpResponse>& answer) {
  return answer && answer->status == kTooManyRequests;
}

std::optional<seconds> SaidPause(const net::HttpResponse& answer) {
  const auto said = base::ParseInt(net::FindHeader(answer.headers, "Retry-After"));
  if (!said || *said < 0) return std::nullopt;
  return seconds(std::min<int64_t>(*said, kLongestBusyPause.count()));
}

class Controlled final : public Transport {
 public:
  Controlled(std::shared_ptr<Transport> to, FlowControl& flow, FlowControl::Priority priority)
      : to_(std::move(to)), flow_(flow), priority_(priority) {}

  base::Result<net::HttpResponse> Send(const net::HttpRequest& request) override {
    return std::move(SendAll(std::span(&request, 1)).front());
  }
  std::vector<base::Result<net::HttpResponse>> SendAll(
      std::span<const net::HttpRequest> requests) override;
  base::Result<std::unique_ptr<net::BodyStream>> Open(const net::HttpRequest& request) override {
    return to_->Open(request);
  }

 private:
  // Returns whether it succeeded; reports it to the FlowControl if not.
  bool CameWell(const base::Result<net::HttpResponse>& answer);

  const std::shared_ptr<Transport> to_;
  FlowControl& flow_;
  const FlowControl::Priority priority_;
};

bool Controlled::CameWell(const base::Result<net::HttpResponse>& answer) {
  if (!answer) {
    flow_.EndBadly(priority_);
  } else if (IsRefused(answer)) {
    flow_.EndRefused(priority_, SaidPause(*answer));
  } else {
    return true;
  }
  return false;
}

std::vector<base::Result<net::HttpResponse>> Controlled::SendAll(
    std::span<const net::HttpRequest> requests) {
  std::vector<base::Result<net::HttpResponse>> answers(
      requests.size(), base::Fail(base::Code::kCancelled, "cancelled: ending"));
  std::vector<size_t> left(requests.size());
  for (size_t i = 0; i < left.size(); ++i) left[i] = i;
  for (int attempt = 0; attempt < kMaxTriesWhenBusy && !left.empty(); ++attempt) {
    std::vector<size_t> refused;
    for (size_t begin = 0; begin < left.size();) {
      const int granted = flow_.Begin(priority_, static_cast<int>(left.size() - begin));
      if (granted == 0) return answers;
      const size_t end = begin + static_cast<size_t>(granted);
      std::vector<net::HttpRequest> wave;
      if (granted != static_cast<int>(requests.size())) {
        for (size_t i = begin; i < end; ++i) wave.push_back(requests[left[i]]);
      }
      const auto sent_at = flow_.clock().Steady();
      auto come = to_->SendAll(wave.empty() ? requests : std::span<const net::HttpRequest>(wave));
      const auto took =
          std::chrono::duration_cast<base::Duration>(flow_.clock().Steady() - sent_at);
      int came_well = 0;
      for (size_t i = begin; i < end; ++i) {
        base::Result<net::HttpResponse>& answer = come[i - begin];
        came_well += CameWell(answer) ? 1 : 0;
        flow_.ReportAnswer(requests[left[i]].method, answer ? answer->status : 0, took);
        if (IsRefused(answer)) refused.push_back(left[i]);
        answers[left[i]] = std::move(answer);
      }
      if (came_well > 0) flow_.EndWell(priority_, came_well);
      begin = end;
    }
    left = std::move(refused);
  }
  return answers;
}

class Shared final : public Transport {
 public:
  Shared(std::shared_ptr<Transport> to, std::chrono::milliseconds deadline)
      : to_(std::move(to)), deadline_(deadline) {}
  base::Result<net::HttpResponse> Send(const net::HttpRequest& request) override {
    if (deadline_.count() == 0) return to_->Send(request);
    net::HttpRequest bounded = request;
    bounded.lifetime = deadline_;
    return to_->Send(bounded);
  }
  std::vector<base::Result<net::HttpResponse>> SendAll(
      std::span<const net::HttpRequest> requests) override {
    if (deadline_.count() == 0) return to_->SendAll(requests);
    return Transport::SendAll(requests);
  }
  base::Result<std::unique_ptr<net::BodyStream>> Open(const net::HttpRequest& request) override {
    return to_->Open(request);
  }

 private:
  const std::shared_ptr<Transport> to_;
  const std::chrono::milliseconds deadline_;
};

}  // namespace

FlowControl::FlowControl(base::Clock& clock, Options options)
    : clock_(clock),
      options_(std::move(options)),
      limit_(options_.first),
      tokens_(options_.burst),
      refilled_at_(clock.Steady()) {}

void FlowControl::RefillLocked(Instant now) {
  if (options_.rate <= 0) return;
  const std::chrono::duration<double> passed = now - refilled_at_;
  tokens_ = std::min(std::max(options_.burst, 1.0), tokens_ + passed.count() * options_.rate);
  refilled_at_ = now;
}

int FlowControl::GrantLocked(Priority priority, int wanted, Instant now) {
  if (now < held_until_) return 0;
  int room = static_cast<int>(limit_) - critical_ - background_;
  if (priority == Priority::kBackground) {
    const bool is_busy = critical_ > 0 || critical_waiting_ > 0;
    room = std::min(room, (is_busy ? 1 : options_.most_background) - background_);
  }
  if (options_.rate > 0) {
    RefillLocked(now);
    room = std::min(room, static_cast<int>(tokens_));
  }
  const int granted = std::clamp(wanted, 0, std::max(room, 0));
  UnderWay(priority) += granted;
  if (options_.rate > 0) tokens_ -= granted;
  return granted;
}

std::optional<FlowControl::Instant> FlowControl::HoldLocked(Priority priority, Instant now) const {
  if (now < held_until_) return held_until_;
  if (options_.rate <= 0 || tokens_ >= 1) return std::nullopt;
  if (priority == Priority::kBackground && background_ > 0) return std::nullopt;
  const std::chrono::duration<double> missing((1 - tokens_) / options_.rate);
  return now + std::chrono::duration_cast<std::chrono::steady_clock::duration>(missing) +
         std::chrono::microseconds(1);
}

int FlowControl::Begin(Priority priority, int wanted) {
  std::unique_lock lock(mutex_);
  int& waiting = priority == Priority::kCritical ? critical_waiting_ : background_waiting_;
  ++waiting;
  int granted = 0;
  while (!is_stopped_) {
    const Instant now = clock_.Steady();
    // So that it does not block itself.
    --waiting;
    granted = GrantLocked(priority, wanted, now);
    ++waiting;
    if (granted > 0) break;
    const auto until = HoldLocked(priority, now);
    if (until) {
      changed_.wait_for(lock,
                        std::min<std::chrono::steady_clock::duration>(*until - now, kLongestNap));
    } else {
      changed_.wait(lock);
    }
  }
  --waiting;
  return granted;
}

void FlowControl::WakeLocked() {
  if (critical_waiting_ + background_waiting_ > 0) changed_.notify_all();
}

void FlowControl::EndWell(Priority priority, int count) {
  const std::lock_guard lock(mutex_);
  UnderWay(priority) -= count;
  // Only a limit that is used up can be too low.
  if (critical_waiting_ + background_waiting_ > 0) {
    limit_ = std::min<double>(options_.most, limit_ + count / limit_);
  }
  WakeLocked();
}

void FlowControl::EndBadly(Priority priority) {
  const std::lock_guard lock(mutex_);
  --UnderWay(priority);
  WakeLocked();
}

void FlowControl::EndRefused(Priority priority, std::optional<std::chrono::seconds> retry_after) {
  const std::lock_guard lock(mutex_);
  --UnderWay(priority);
  ++refused_;
  const Instant now = clock_.Steady();
  const seconds pause = retry_after.value_or(kUnsaidPause);
  // Other requests that were under way report the same overload.
  if (!halved_at_ || now >= *halved_at_ + pause) {
    halved_at_ = now;
    limit_ = std::max<double>(options_.least, limit_ / 2);
  }
  held_until_ = std::max(held_until_, now + pause);
  WakeLocked();
}

void FlowControl::Stop() {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  changed_.notify_all();
}

bool FlowControl::is_stopped() const {
  const std::lock_guard lock(mutex_);
  return is_stopped_;
}

FlowControl::View FlowControl::Look() const {
  const std::lock_guard lock(mutex_);
  return {static_cast<int>(limit_), critical_ + background_,
          critical_waiting_ + background_waiting_, refused_};
}

std::unique_ptr<Transport> FlowControlled(std::shared_ptr<Transport> to, FlowControl& flow,
                                          FlowControl::Priority priority) {
  return std::make_unique<Controlled>(std::move(to), flow, priority);
}

std::unique_ptr<Transport> SharedTransport(std::shared_ptr<Transport> to,
                                           std::chrono::milliseconds deadline) {
  return std::make_unique<Shared>(std::move(to), deadline);
}

}  // namespace cluster
