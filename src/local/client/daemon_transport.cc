#include "local/client/daemon_transport.h"

#include <fmt/format.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "api/write_id.h"
#include "base/block_signals.h"
#include "base/defer.h"
#include "base/guarded.h"
#include "base/log.h"
#include "base/uid.h"
#include "net/socket/unix.h"

namespace local::daemon {
namespace {

using base::Code;

// A request during which one daemon after another ends may be what ends them.
constexpr int kMaxTries = 5;

std::string AdviceOn(pid_t pid) {
  return fmt::format(
      "`kill -9 {}` keeps its jobs running and lets the next command start another daemon; `muster "
      "down --force` ends them too",
      pid);
}

// The daemon's address. Thread safe.
class Whereabouts {
 public:
  Whereabouts(DaemonRecord daemon, std::function<base::Result<DaemonRecord>()> ensure)
      : daemon_(std::move(daemon)), ensure_(std::move(ensure)) {}

  net::ConnectedSocket Connect(std::chrono::milliseconds timeout) {
    auto fd = net::ConnectToUnixPath(daemon_.Lock()->socket, timeout);
    if (!fd && fd.error().code == Code::kUnavailable) {
      TRY_ASSIGN(const std::string socket, FindAnew());
      fd = net::ConnectToUnixPath(socket, timeout);
    }
    if (!fd) return base::Fail(std::move(fd.error()));
    return net::PlainSocket(std::move(*fd));
  }
  pid_t pid() { return daemon_.Lock()->pid; }
  // Whether the last attempt found no daemon.
  bool is_lost() const { return is_lost_; }

 private:
  // Other threads that need it meanwhile wait here and find the result.
  base::Result<std::string> FindAnew() {
    auto daemon = daemon_.Lock();
    auto found = ensure_();
    is_lost_ = !found;
    if (!found) return base::Fail(std::move(found.error()));
    *daemon = std::move(*found);
    return daemon->socket;
  }

  base::Guarded<DaemonRecord> daemon_;
  std::atomic<bool> is_lost_ = false;
  const std::function<base::Result<DaemonRecord>()> ensure_;
};

// Reports once that an answer is overdue. Thread safe.
class SilenceWatch {
 public:
  SilenceWatch(std::chrono::milliseconds patience, std::function<void()> say)
      : patience_(patience), say_(std::move(say)) {
    const base::BlockSignals in_the_thread;
    thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
  }

  // An answer is expected during the life of the returned value.
  auto Await() {
    uint64_t ticket = 0;
    {
      const std::lock_guard lock(mutex_);
      ticket = ++last_ticket_;
      awaited_.emplace(ticket, std::chrono::steady_clock::now() + patience_);
    }
    changed_.notify_one();
    return base::Defer([this, ticket] {
      const std::lock_guard lock(mutex_);
      awaited_.erase(ticket);
    });
  }

 private:
  void Run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return !awaited_.empty(); })) {
      const auto [ticket, due] = *awaited_.begin();  // the oldest
      const bool is_over =
          changed_.wait_until(lock, stop, due, [&, t = ticket] { return !awaited_.contains(t); });
      if (stop.stop_requested()) return;
      if (is_over || !awaited_.contains(ticket)) continue;
      lock.unlock();
      return say_();
    }
  }

  const std::chrono::milliseconds patience_;
  const std::function<void()> say_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<uint64_t, std::chrono::steady_clock::time_point>
      awaited_;  // by ticket: when its answer is overdue
  uint64_t last_ticket_ = 0;
  std::jthread thread_;  // last
};

class ToDaemon final : public cluster::Transport {
 public:
  ToDaemon(DaemonRecord daemon, TransportOptions options)
      : timeout_(options.timeout),
        whereabouts_(std::move(daemon), std::move(options.ensure)),
        silence_(options.silence,
                 [this, warn = std::move(options.warn), silence = options.silence] {
                   const pid_t pid = whereabouts_.pid();
                   warn(fmt::format(
                       "the embedded cluster's daemon (pid {}) has not answered for {} s: wait, or "
                       "{}",
                       pid, std::chrono::duration_cast<std::chrono::seconds>(silence).count(),
                       AdviceOn(pid)));
                 }),
        http_(cluster::HttpTransport(
            net::HttpClient::Over(
                [this](std::chrono::milliseconds left) { return whereabouts_.Connect(left); },
                options.timeout),
            std::move(options.extra_headers), options.timeout)) {}

  base::Result<net::HttpResponse> Send(const net::HttpRequest& request) override {
    const net::HttpRequest sent = WithId(request);
    return Repeat(request, [&] { return http_->Send(sent); });
  }
  std::vector<base::Result<net::HttpResponse>> SendAll(
      std::span<const net::HttpRequest> requests) override {
    std::vector<net::HttpRequest> sent;
    sent.reserve(requests.size());
    for (const auto& request : requests) sent.push_back(WithId(request));
    const auto awaited = silence_.Await();
    auto responses = http_->SendAll(sent);
    for (size_t i = 0; i < responses.size(); ++i) {
      if (!responses[i] && responses[i].error().code == Code::kUnavailable) {
        responses[i] = Repeat(requests[i], [&] { return http_->Send(sent[i]); });
      }
    }
    return responses;
  }
  base::Result<std::unique_ptr<net::BodyStream>> Open(const net::HttpRequest& request) override {
    return Repeat(request, [&] { return http_->Open(request); });
  }
  // The program in the pod may have started, so the request is not repeated.
  base::Result<net::WebSocketAnswer> OpenWebSocket(
      const net::HttpRequest& request, const std::vector<std::string>& protocols) override {
    const auto awaited = silence_.Await();
    return http_->OpenWebSocket(request, protocols);
  }

 private:
  static net::HttpRequest WithId(const net::HttpRequest& request) {
    net::HttpRequest sent = request;
    if (request.method != "GET" && request.method != "HEAD") {
      sent.headers.emplace_back(api::kWriteIdHeader, base::NewUid());
    }
    return sent;
  }

  // Repeats `attempt` until it succeeds, or fails for another reason than the end of the daemon.
  template <typename Attempt>
  auto Repeat(const net::HttpRequest& request, const Attempt& attempt) -> decltype(attempt()) {
    const auto awaited = silence_.Await();
    for (int tries = 1;; ++tries) {
      auto answer = attempt();
      if (answer || whereabouts_.is_lost()) return answer;
      base::Error& error = answer.error();
      if (error.code == Code::kTimeout) {
        const pid_t pid = whereabouts_.pid();
        error.message = fmt::format(
            "{} {}: the embedded cluster's daemon (pid {}) did not answer "
            "within {} s: {}",
            request.method, request.target, pid, timeout_.count(), AdviceOn(pid));
      }
      if (error.code != Code::kUnavailable || tries == kMaxTries) return answer;
      base::LogDebug("trying again: {}", error.message);
    }
  }

  const std::chrono::seconds timeout_;
  Whereabouts whereabouts_;
  SilenceWatch silence_;
  const std::unique_ptr<cluster::Transport> http_;
};

}  // namespace

std::unique_ptr<cluster::Transport> DaemonTransport(DaemonRecord daemon, TransportOptions options) {
  return std::make_unique<ToDaemon>(std::move(daemon), std::move(options));
}

}  // namespace local::daemon
