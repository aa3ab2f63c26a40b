#include "net/client/http2_lane.h"

#include <curl/curl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "base/block_signals.h"
#include "net/client/gather.h"

namespace net {
namespace {

using base::Code;
using base::Fail;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Where the server cannot be had this way (it speaks HTTP/1.1, or its certificate is not one for
// OpenSSL's own authorities) another try costs a handshake.
constexpr std::chrono::minutes kClosedFor{1};

base::Error Cancelled() { return {Code::kCancelled, "cancelled", 0}; }

// Whether trying another way would come to the same.
bool IsFinal(const base::Error& error) {
  return error.code == Code::kUnavailable || error.code == Code::kTimeout ||
         error.code == Code::kCancelled;
}

}  // namespace

base::Result<std::unique_ptr<Http2Lane>> Http2Lane::Start(Options options) {
  base::Fd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return Fail(base::Errno(errno, "eventfd"));
  return std::unique_ptr<Http2Lane>(new Http2Lane(std::move(options), std::move(wake)));
}

Http2Lane::Http2Lane(Options options, base::Fd wake)
    : options_(std::move(options)), wake_(std::move(wake)) {
  const base::BlockSignals in_the_thread;
  thread_ = std::thread([this] { Run(); });
}

Http2Lane::~Http2Lane() {
  {
    auto mail = mail_.Lock();
    mail->is_stopped = true;
    mail->is_awaited = true;  // Connect is woken, too
    Wake(*mail);
  }
  stopped_.notify_one();
  thread_.join();
}

// Under the lock, so that nothing is left to be read by Connect once the thread has seen the mail.
void Http2Lane::Wake(Mail& mail) {
  if (std::exchange(mail.is_awaited, false)) ::eventfd_write(wake_.get(), 1);
}

std::vector<Http2Lane::Answer> Http2Lane::SendAll(std::span<const HttpRequest* const> requests) {
  const auto ends = std::make_shared<std::latch>(std::ssize(requests));
  const Time now = steady_clock::now();
  std::vector<CallPtr> calls;
  calls.reserve(requests.size());
  for (const HttpRequest* const request : requests) {
    calls.push_back(std::make_shared<Call>(Call{request, now, false, std::nullopt, ends}));
  }
  {
    auto mail = mail_.Lock();
    mail->calls.insert(mail->calls.end(), calls.begin(), calls.end());
    Wake(*mail);
  }
  ends->wait();
  std::vector<Answer> answers;
  answers.reserve(calls.size());
  for (const CallPtr& call : calls) answers.push_back(std::move(call->answer));
  return answers;
}

void Http2Lane::Renew() {
  auto mail = mail_.Lock();
  mail->must_renew = true;
  Wake(*mail);
}

void Http2Lane::End(Call& call, Answer answer) {
  call.answer = std::move(answer);
  // The sender may be gone with the call once it is counted.
  const std::shared_ptr<std::latch> ends = std::move(call.ends);
  ends->count_down();
}

// False when the lane is to end.
bool Http2Lane::TakeMail() {
  std::vector<CallPtr> calls;
  bool must_renew = false;
  {
    auto mail = mail_.Lock();
    calls.swap(mail->calls);
    must_renew = std::exchange(mail->must_renew, false);
    is_stopped_ = mail->is_stopped;
  }
  waiting_.insert(waiting_.end(), calls.begin(), calls.end());
  if (must_renew) {
    closed_until_ = {};
    for (const auto& line : lines_) line->connection.Retire();
  }
  return !is_stopped_;
}

void Http2Lane::Run() {
  ::pthread_setname_np(::pthread_self(), "http2");
  while (TakeMail()) {
    Expire(steady_clock::now());
    SendWaiting();
    for (const auto& line : lines_) {
      line->connection.Write();
      Settle(*line);
    }
    std::erase_if(lines_, [](const auto& line) { return line->connection.IsDone(); });
    Await(!CanSend());
  }
  for (const auto& line : lines_) {
    for (const auto& [stream, call] : line->calls) End(*call, Fail(Cancelled()));
  }
  FailWaiting(Cancelled());
}

// Until bytes come, somebody wakes the lane, or a request's time is over.
void Http2Lane::Await(bool must_wait) {
  {
    auto mail = mail_.Lock();
    must_wait = must_wait && mail->calls.empty() && !mail->must_renew && !mail->is_stopped;
    mail->is_awaited = must_wait;
  }
  std::vector<pollfd> fds = {{wake_.get(), POLLIN, 0}};
  for (const auto& line : lines_)
    fds.push_back({line->connection.fd(), line->connection.events(), 0});
  ::poll(fds.data(), fds.size(), must_wait ? MillisToExpire(steady_clock::now()) : 0);
  {
    auto mail = mail_.Lock();
    const bool was_woken = must_wait && !std::exchange(mail->is_awaited, false);
    eventfd_t count = 0;
    if (was_woken) ::eventfd_read(wake_.get(), &count);
  }
  Gather();
  const Time now = steady_clock::now();
  for (size_t i = 0; i < lines_.size(); ++i) {
    if ((fds[i + 1].revents & ~POLLOUT) == 0) continue;
    lines_[i]->connection.Read(now);
    Settle(*lines_[i]);
  }
}

// With many answers due, those of a moment are read together, and so are the requests.
void Http2Lane::Gather() {
  size_t under_way = 0;
  for (const auto& line : lines_) under_way += line->connection.session().under_way();
  if (under_way < kManyUnderWay) return;
  auto mail = mail_.Lock();
  stopped_.wait_for(mail.lock(), kMoment, [&] { return mail->is_stopped; });
}

// Whether SendWaiting would do anything.
bool Http2Lane::CanSend() const {
  if (waiting_.empty()) return false;
  if (lines_.empty() || !lines_.back()->connection.IsOpen()) return true;
  return lines_.back()->connection.session().HasRoom();
}

void Http2Lane::SendWaiting() {
  while (!waiting_.empty()) {
    Line* const line = OpenLine();
    if (line == nullptr || !line->connection.session().HasRoom()) return;
    CallPtr call = std::move(waiting_.front());
    waiting_.pop_front();
    Send(*line, std::move(call));
  }
}

void Http2Lane::Send(Line& line, CallPtr call) {
  const auto stream = line.connection.session().Send(*call->request, steady_clock::now());
  if (stream) {
    line.calls.emplace(*stream, std::move(call));
  } else {
    End(*call, Fail(options_.explain({CURLE_HTTP2, 0, 0, true, stream.error().message})));
  }
}

// The line to send by; nothing when there is none, and nobody waits for one any more.
Http2Lane::Line* Http2Lane::OpenLine() {
  if (!lines_.empty() && lines_.back()->connection.IsOpen()) return lines_.back().get();
  if (steady_clock::now() < closed_until_) {
    for (const CallPtr& call : std::exchange(waiting_, {})) End(*call, std::nullopt);
    return nullptr;
  }
  auto line = Connect();
  if (line) {
    lines_.push_back(std::move(*line));
    return lines_.back().get();
  }
  // Those that came meanwhile would fare no better.
  TakeMail();
  FailWaiting(line.error());
  return nullptr;
}

base::Result<std::unique_ptr<Http2Lane::Line>> Http2Lane::Connect() {
  TRY_ASSIGN(auto socket, options_.connect(wake_.get()));
  TRY_ASSIGN(auto session, Http2Session::Open(options_.authority, options_.path));
  return std::make_unique<Line>(std::move(socket), std::move(session), options_.explain);
}

void Http2Lane::FailWaiting(const base::Error& error) {
  const bool is_final = IsFinal(error);
  if (!is_final) closed_until_ = steady_clock::now() + kClosedFor;
  for (const CallPtr& call : std::exchange(waiting_, {})) {
    End(*call, is_final ? Answer(Fail(error)) : std::nullopt);
  }
}

void Http2Lane::Settle(Line& line) {
  for (Http2End& end : line.connection.session().TakeEnds()) {
    const auto found = line.calls.find(end.stream);
    CallPtr call = std::move(found->second);
    line.calls.erase(found);
    Settle(std::move(end), std::move(call), line.connection);
  }
}

void Http2Lane::Settle(Http2End end, CallPtr call, const Http2Connection& connection) {
  last_end_ = steady_clock::now();
  const auto explained = [&](int code, std::string detail) {
    return Fail(options_.explain({code, 0, 0, true, std::move(detail)}));
  };
  switch (end.kind) {
    case Http2End::Kind::kAnswered:
      return End(*call, std::move(end.response));
    case Http2End::Kind::kUnprocessed:
      if (std::exchange(call->is_second_try, true)) {
        const auto& failure = connection.failure();
        return End(*call, failure
                              ? Fail(*failure)
                              : explained(CURLE_HTTP2_STREAM, "the server refused the request"));
      }
      waiting_.push_front(std::move(call));
      return;
    case Http2End::Kind::kBroken:
      if (connection.failure()) return End(*call, Fail(*connection.failure()));
      return End(*call, explained(CURLE_HTTP2_STREAM, std::move(end.detail)));
    case Http2End::Kind::kTooLarge:
      return End(*call, Fail(Code::kExhausted, std::move(end.detail)));
    case Http2End::Kind::kSilent:
      return End(*call, explained(CURLE_OPERATION_TIMEDOUT, ""));
  }
}

void Http2Lane::Expire(Time now) {
  if (now < expires_at_) return;
  const Time then = now - options_.idle_timeout;
  Time oldest = now;
  for (const auto& line : lines_) {
    Http2Session& session = line->connection.session();
    const size_t before = session.under_way();
    session.Expire(then);
    // A server that says nothing at all may be gone.
    if (session.under_way() < before && line->connection.heard() <= then) line->connection.Retire();
    oldest = std::min(oldest, session.SilentSince(now));
  }
  while (!waiting_.empty() && std::max(waiting_.front()->since, last_end_) <= then) {
    const CallPtr call = std::move(waiting_.front());
    waiting_.pop_front();
    End(*call, Fail(options_.explain({CURLE_OPERATION_TIMEDOUT, 0, 0, true, ""})));
  }
  if (!waiting_.empty()) oldest = std::min(oldest, std::max(waiting_.front()->since, last_end_));
  expires_at_ = oldest + options_.idle_timeout;
}

// For poll(2); -1 is for ever.
int Http2Lane::MillisToExpire(Time now) const {
  const bool is_idle =
      waiting_.empty() && std::all_of(lines_.begin(), lines_.end(), [](auto& line) {
        return line->connection.session().under_way() == 0;
      });
  if (is_idle) return -1;
  const auto left = std::chrono::ceil<milliseconds>(expires_at_ - now);
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, std::numeric_limits<int>::max()));
}

}  // namespace net
