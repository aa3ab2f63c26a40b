#include "warm/link.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/strings.h"

namespace warm {
namespace {

// A fork takes milliseconds; more on a machine that swaps.
constexpr std::chrono::milliseconds kLongestFork = std::chrono::seconds(30);

int64_t NumberIn(const Message& message, size_t field) {
  return field < message.size() ? base::ParseInt(message[field]).value_or(0) : 0;
}

}  // namespace

Link::Link(process::EventLoop& loop, base::Fd connection, pid_t keeper, Events events)
    : loop_(loop),
      connection_(std::move(connection)),
      keeper_(keeper),
      events_(std::move(events)) {}

Link::~Link() {
  if (connection_) loop_.Unwatch(connection_.get());
}

base::Status Link::Watch() {
  return loop_.Watch(connection_.get(), EPOLLIN, [this](uint32_t) { OnReadable(); });
}

base::Result<pid_t> Link::Start(const process::SpawnOptions& options,
                                const std::vector<int>& ignored_signals) {
  base::Fd folder(
      ::open(options.cwd.empty() ? "." : options.cwd.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return base::Fail(base::Errno(errno, "working directory"));
  std::vector<int> fds = {folder.get()};
  for (const int target : {0, 1, 2}) {
    const auto found = std::find_if(options.fds.begin(), options.fds.end(),
                                    [&](const auto& mapping) { return mapping.to == target; });
    if (found != options.fds.end()) fds.push_back(found->from);
  }
  Message request = {"start", fmt::format("{}", process::CurrentUmask()),
                     fmt::format("{}", fmt::join(ignored_signals, " ")),
                     fmt::format("{}", options.argv.size())};
  request.insert(request.end(), options.argv.begin(), options.argv.end());
  request.insert(request.end(), options.env.begin(), options.env.end());
  if (auto sent = SendMessage(connection_.get(), request, fds); !sent) {
    return base::Fail(sent.error());  // the loop notices the end, too
  }
  auto answer = AwaitAnswer();
  // Messages that came together with the answer are handled here, because the loop would not notice
  // them.
  while (auto message = reader_.Next()) DispatchLater(std::move(*message));
  return answer;
}

base::Result<pid_t> Link::AwaitAnswer() {
  while (true) {
    auto answer = reader_.Await(connection_.get(), kLongestFork);
    if (!answer) {
      if (answer.error().code == base::Code::kTimeout) {
        loop_.Post([this] { Lose(); });
        return base::Fail(base::Code::kTimeout, "a fork took more than 30 s");
      }
      return base::Fail(answer.error());
    }
    if ((*answer)[0] == "started") return static_cast<pid_t>(NumberIn(*answer, 1));
    if ((*answer)[0] == "refused") {
      return base::Fail(base::Code::kUnavailable, answer->size() > 1 ? (*answer)[1] : "");
    }
    DispatchLater(std::move(*answer));
  }
}

void Link::DispatchLater(Message message) {
  if (waiting_.empty()) loop_.Post([this] { Dispatch(); });
  waiting_.push_back(std::move(message));
}

void Link::OnReadable() {
  const auto read = reader_.Read(connection_.get());
  while (auto message = reader_.Next()) waiting_.push_back(std::move(*message));
  Dispatch();
  if (!read) Lose();
}

void Link::Dispatch() {
  for (const Message& message : std::exchange(waiting_, {})) {
    if (message[0] == "ended") {
      events_.on_end(static_cast<pid_t>(NumberIn(message, 1)),
                     static_cast<int>(NumberIn(message, 2)));
    } else if (message[0] == "reaped") {
      events_.on_reaped();
    }
  }
}

void Link::Lose() {
  if (!connection_) return;
  loop_.Unwatch(connection_.get());
  connection_.Reset();
  events_.on_lost();
}

}  // namespace warm
