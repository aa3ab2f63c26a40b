#include "machine.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "api/write_id.h"
#include "base/uid.h"
#include "descriptors.h"
#include "thread_table.h"

namespace simulation {
namespace {

using base::Code;

Machine* the_machine = nullptr;

// As local/client has them.
constexpr int kMaxTries = 5;
constexpr Nanos kAnswerTimeout = 60 * kSecond;

// From a daemon's death to the close of one of its descriptors.
Nanos UntilClosed() { return static_cast<Nanos>(Below(Below(8) == 0 ? 300 * kMilli : 5 * kMilli)); }

base::Error Broken() { return {Code::kUnavailable, "the connection broke", 0}; }

// What comes of one request, read as a client's socket would.
class Answer final : public net::BodyStream {
 public:
  Answer(std::shared_ptr<Connection> connection, Faults& faults)
      : connection_(std::move(connection)), faults_(faults) {}
  ~Answer() override { connection_->exchange->Close(); }

  base::Status ReadHead() {
    const Nanos deadline = Now() + kAnswerTimeout;
    while (!head_) TRY(ReadMore(deadline));
    return {};
  }
  int status() const override { return head_->status; }
  const net::Headers& headers() const override { return head_->headers; }
  base::Result<std::optional<std::string>> Read() override {
    if (faults_.cut_watches > 0 && Chance(faults_.cut_watches)) {
      Trace("watch cut");
      connection_->is_broken = true;
    }
    while (unread_.empty()) {
      if (is_finished_) return std::optional<std::string>();
      TRY(ReadMore(kNever));
    }
    return std::optional(std::exchange(unread_, {}));
  }
  base::Result<net::HttpResponse> Whole() {
    const Nanos deadline = Now() + kAnswerTimeout;
    while (!is_finished_) TRY(ReadMore(deadline));
    if (faults_.lost_answers > 0 && Chance(faults_.lost_answers)) {
      Trace("answer lost");
      return base::Fail(Broken());
    }
    return net::HttpResponse{head_->status, std::move(head_->headers), std::move(unread_)};
  }
  void Cancel() override {
    is_cancelled_ = true;
    connection_->Ring();
  }

 private:
  base::Status ReadMore(Nanos deadline) {
    if (is_cancelled_) return base::Fail(Code::kCancelled, "cancelled");
    if (!connection_->Await(deadline)) return base::Fail(Code::kTimeout, "no answer in time");
    if (is_cancelled_) return base::Fail(Code::kCancelled, "cancelled");
    if (connection_->is_broken) return base::Fail(Broken());
    net::ResponseStream::Output output = connection_->exchange->Take();
    if (output.is_broken) return base::Fail(Broken());
    if (output.head) head_ = std::move(output.head);
    size_t bytes = 0;
    for (const std::string& piece : output.pieces) {
      unread_ += piece;
      bytes += piece.size();
    }
    connection_->exchange->Taken(bytes);
    is_finished_ |= output.is_finished;
    return {};
  }

  std::shared_ptr<Connection> connection_;
  Faults& faults_;
  std::optional<net::ResponseStream::Head> head_;
  std::string unread_;
  bool is_finished_ = false;
  bool is_cancelled_ = false;
};

class ToDaemon final : public cluster::Transport {
 public:
  explicit ToDaemon(Machine& machine) : machine_(machine) {}

  base::Result<net::HttpResponse> Send(const net::HttpRequest& request) override {
    net::HttpRequest sent = request;
    if (request.method != "GET" && !IsBroken("write-ids"))
      sent.headers.emplace_back(api::kWriteIdHeader, base::NewUid());
    for (int tries = 1;; ++tries) {
      auto connection = machine_.Send(sent);
      if (!connection) return base::Fail(connection.error());
      Answer answer(std::move(*connection), machine_.faults());
      auto whole = answer.Whole();
      if (whole || whole.error().code != Code::kUnavailable || tries == kMaxTries) return whole;
    }
  }
  base::Result<std::unique_ptr<net::BodyStream>> Open(const net::HttpRequest& request) override {
    for (int tries = 1;; ++tries) {
      TRY_ASSIGN(auto connection, machine_.Send(request));
      auto answer = std::make_unique<Answer>(std::move(connection), machine_.faults());
      const base::Status begun = answer->ReadHead();
      if (begun) return answer;
      if (begun.error().code != Code::kUnavailable || tries == kMaxTries) {
        return base::Fail(begun.error());
      }
    }
  }

 private:
  Machine& machine_;
};

}  // namespace

void Connection::Ring() {
  is_rung = true;
  WakeAll(Wait::kCondition, this);
}

bool Connection::Await(Nanos deadline) {
  while (!is_rung && !is_broken) {
    if (Now() >= breaks_at) {
      is_broken = true;
    } else if (!Block(Wait::kCondition, this, std::min(deadline, breaks_at)) && Now() >= deadline) {
      return false;
    }
  }
  is_rung = false;
  return true;
}

Machine::Machine(bool may_lose_power, const std::string& store)
    : disk_(may_lose_power), shims_(*this) {
  for (const std::string& folder : {state(), runtime(), disk_.root() + "/run-1"}) {
    ::mkdir(folder.c_str(), 0700);
  }
  SetBootId(boot_id());
  if (!store.empty()) disk_.Have(state() + "/cluster.db", store);
  the_machine = this;
}

Machine::~Machine() {
  CloseLeft(kNever);
  the_machine = nullptr;
}

void Machine::CloseLeft(Nanos due) {
  if (left_.empty()) return;
  std::erase_if(left_, [due](const Left& left) { return left.due <= due; });
}

void CloseWhatIsDue() {
  if (the_machine != nullptr) the_machine->CloseLeft(Now());
}

Machine* TheMachine() { return the_machine; }

base::Result<std::shared_ptr<Connection>> Machine::Send(net::HttpRequest request) {
  TRY(EnsureDaemon());
  auto connection = std::make_shared<Connection>();
  connection->request = std::move(request);
  connection->exchange = std::make_shared<net::ResponseStream>([weak = std::weak_ptr(connection)] {
    const auto one = weak.lock();
    if (one && one->breaks_at == kNever) one->Ring();
  });
  std::erase_if(daemon_->open, [](const auto& open) { return open.expired(); });
  daemon_->open.push_back(connection);
  daemon_->accepted.push_back(connection);
  WakeAll(Wait::kCondition, &daemon_->accepted);
  return connection;
}

base::Status Machine::EnsureDaemon() {
  constexpr Nanos kPatience = 20 * kSecond;
  const Nanos deadline = Now() + kPatience;
  while (true) {
    if (daemon_ && daemon_->state == Daemon::State::kReady && !daemon_->process.is_dead) return {};
    if (Now() > deadline) return base::Fail(Code::kUnavailable, "no daemon: it does not start");
    if (!daemon_ && Now() < lock_due_) {
      SleepFor(std::min(lock_due_ - Now(), 50 * kMilli));
      continue;
    }
    if (!daemon_) {
      daemon_ = std::make_unique<Daemon>();
      Daemon& one = *daemon_;
      one.process = {fmt::format("daemon {}", ++last_pid_), last_pid_};
      one.process.kill_after = std::exchange(faults_.kill_daemon_after, -1);
      one.process.left_open = &left_open_;
      one.process.on_death = [&one] {
        one.is_asked_to_stop = true;
        for (const auto& weak : one.open) {
          const auto connection = weak.lock();
          if (!connection) continue;
          connection->is_rung = false;
          connection->breaks_at = Now() + UntilClosed();
          WakeAll(Wait::kCondition, connection.get());
        }
        WakeAll(Wait::kCondition, &one.accepted);
      };
      Trace("a daemon starts");
      Spawn(one.process, "daemon", [this, &one] {
        RunDaemon(*this, one);
        one.state = Daemon::State::kEnded;
        one.process.on_death = {};
      });
      Pause();
      continue;
    }
    if (daemon_->state != Daemon::State::kEnded || ThreadsOf(daemon_->process) > 0) {
      SleepFor(kMilli);
      continue;
    }
    const std::string why = daemon_->process.is_dead ? "" : daemon_->why_ended;
    Bury();
    if (!why.empty()) return base::Fail(Code::kUnavailable, why);
  }
}

void Machine::Bury() {
  const bool is_closed_at_once = daemon_->has_lost_power;
  if (daemon_->process.is_dead && !is_closed_at_once) lock_due_ = Now() + UntilClosed();
  for (auto& one : left_open_) left_.push_back({std::move(one), Now() + UntilClosed()});
  left_open_.clear();
  if (is_closed_at_once) CloseLeft(kNever);
  for (const auto& weak : daemon_->open) {
    const auto connection = weak.lock();
    if (!connection || connection->breaks_at != kNever) continue;
    connection->is_broken = true;
    WakeAll(Wait::kCondition, connection.get());
  }
  daemon_.reset();
}

void Machine::StopDaemon() {
  if (!daemon_) return;
  daemon_->is_asked_to_stop = true;
  WakeAll(Wait::kCondition, &daemon_->accepted);
  // Somebody else may bury it meanwhile, and start another one.
  const int pid = daemon_->process.pid;
  const auto is_there = [this, pid] { return daemon_ && daemon_->process.pid == pid; };
  while (is_there() &&
         (daemon_->state != Daemon::State::kEnded || ThreadsOf(daemon_->process) > 0)) {
    SleepFor(kMilli);
  }
  if (is_there()) Bury();
}

void Machine::KillDaemon() {
  if (daemon_ && daemon_->state != Daemon::State::kEnded) Kill(daemon_->process);
}

void Machine::PowerCut() {
  KillDaemon();
  if (daemon_) daemon_->has_lost_power = true;
  CloseLeft(kNever);
  lock_due_ = 0;
  shims_.KillAll();
  disk_.PowerCut();
  ++boot_;
  SetBootId(boot_id());
}

std::unique_ptr<cluster::Transport> CommandTransport(Machine& machine) {
  return std::make_unique<ToDaemon>(machine);
}

}  // namespace simulation
