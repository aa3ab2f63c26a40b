// What the launcher itself writes to the console.
#include <fmt/format.h>
#include <unistd.h>

#include "base/machine/signal_name.h"
#include "launch/agent/agent.h"
#include "launch/failure/report_file.h"
#include "process/signals.h"

namespace launch {
namespace {

constexpr base::Duration kLongestSay = std::chrono::seconds(2);

std::string OwnLine(std::string_view text) { return fmt::format("muster-launch: {}\n", text); }

}  // namespace

void Agent::ShowStatus(const std::string& state) {
  state_ = state;
  DrawStatus();
}

void Agent::DrawStatus() {
  if (!has_status_ || !group_) return;
  const std::string restarts =
      restarts_ == 0 ? ""
      : options_.max_restarts == 0
          ? fmt::format(", restart {}", restarts_)
          : fmt::format(", restart {} of {}", restarts_, options_.max_restarts);
  const std::string posted = PostedText();
  output_->SetStatus(fmt::format("muster: {} of {} ranks {}{}{}{}", group_->running_count(),
                                 options_.nproc_per_node, state_, posted.empty() ? "" : ", ",
                                 posted, restarts));
}

// Recorded as torchrun records its exception.
void Agent::SayEndedBySignal() {
  Say(fmt::format("ended by {}", base::SignalName(end_signal_)));
  RecordOwnError(
      environment_,
      fmt::format("SignalException: Process {} got signal: {}", ::getppid(), end_signal_),
      clock_.Now());
}

void Agent::SayError(const std::string& message) {
  Say("error: " + message);
  RecordOwnError(environment_, message, clock_.Now());
}

void Agent::SayLater(const std::string& text) { output_->Say(OwnLine(text)); }

void Agent::Say(const std::string& text) {
  const std::string line = OwnLine(text);
  if (!output_) {
    [[maybe_unused]] const ssize_t written = ::write(2, line.data(), line.size());
    return;
  }
  if (output_->IsWritten()) is_console_slow_ = false;
  output_->Say(line);
  if (is_console_slow_) return;
  is_console_slow_ =
      !output_->AwaitWritten({side_.signals.get(), side_.guardian.get()}, kLongestSay);
}

// The last texts wait for a reader as long as it takes, like the last output of the ranks: it may
// be a pager. But whoever asks for the end does not wait for what the launcher says.
void Agent::AwaitConsole() {
  if (!output_) return;
  while (end_signal_ == 0) {
    if (output_->AwaitWritten({side_.signals.get(), side_.guardian.get()}, {})) return;
    auto info = process::ReadSignal(side_.signals.get());
    if (!info) return;  // the guardian is gone, who would tell the exit code
    for (; info; info = process::ReadSignal(side_.signals.get())) {
      const int signal = static_cast<int>(info->ssi_signo);
      if (EndsLauncher(signal)) end_signal_ = signal;
    }
  }
  (void)output_->AwaitWritten({}, kLongestHurriedDrain);
}

}  // namespace launch
