// The output of a followed job, with status lines below it on a terminal.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "answers/loss_watch.h"
#include "arena/app/app.h"
#include "arena/jobs/job_watch.h"
#include "arena/logs/rank_lines.h"
#include "cli/terminal.h"
#include "cluster/client.h"

namespace arena {

// Passes on what is written, and says on stderr that a program has ended and starts again, and that
// a loss has become NaN or infinite. On a terminal, the output is followed by the ranks' progress
// bars and a line with the number of running ranks, the elapsed time and how long they have been
// quiet, which a thread updates each second; log messages of the command go above. Thread safe.
// Borrows everything but the job. `watch`: of the job and its pods; without it, it has its own.
class LiveOutput : public cli::Output {
 public:
  LiveOutput(cluster::Client& client, const Context& context, const text::Json& job,
             cli::Output& out, JobWatch* watch = nullptr);
  ~LiveOutput() override;
  LiveOutput(const LiveOutput&) = delete;
  LiveOutput& operator=(const LiveOutput&) = delete;

  base::Status Write(std::string_view text) override;
  // Replaces the earlier ones.
  void SetBars(std::vector<std::string> bars);

  bool IsTerminal() const override { return out_.IsTerminal(); }
  bool HasColour() const override { return out_.HasColour(); }
  int Width() const override { return out_.Width(); }

  // Null under the name arena. As long as this.
  JobWatch* watch() const { return watch_; }

  // For TakeAwayLiveLines.
  void TakeAway();

 private:
  base::Status WriteText(std::string_view text);
  void Run();
  bool EndsSoon();
  void LogAbove(std::string_view line);
  void DrawLocked();

  const Context& context_;
  cli::Output& out_;
  const std::string uid_;
  const RankMap ranks_;
  const base::Time since_;  // earlier restarts are not reported
  const std::chrono::steady_clock::time_point begun_;
  std::mutex mutex_;
  cli::BottomLines bottom_;  // this and what follows: under the mutex
  std::vector<std::string> bars_;
  std::string status_;
  answers::LossWatch loss_;
  bool has_lost_loss_ = false;
  bool is_at_line_start_ = true;
  bool is_taken_away_ = false;
  std::chrono::steady_clock::time_point last_output_;
  std::atomic<bool> is_over_{false};  // read under the watch's lock
  std::unique_ptr<JobWatch> own_watch_;
  JobWatch* watch_ = nullptr;  // null under the name arena
  std::thread thread_;
};

// Removes the lines for good, before a thread ends the process at once. From any thread.
void TakeAwayLiveLines();

// The same for one instance's log: selects lines, and shows its ranks' bars.
class LiveLines : public cli::Output {
 public:
  // A default `choice` passes everything on as it comes.
  LiveLines(cluster::Client& client, const Context& context, const text::Json& job,
            LineChoice choice, std::string instance, bool has_timestamps, cli::Output& out);

  base::Status Write(std::string_view text) override { return lines_.Write(text); }
  // Writes a last line without a newline.
  base::Status Finish() { return lines_.Finish(); }
  // Watches the job and its pods while an instance is followed; null under the name arena.
  JobWatch* watch() const { return live_.watch(); }
  bool IsTerminal() const override { return live_.IsTerminal(); }
  bool HasColour() const override { return live_.HasColour(); }
  int Width() const override { return live_.Width(); }

 private:
  void TakeBar(const RankBar& bar);

  LiveOutput live_;
  ChosenLines lines_;
  std::map<int, std::string> bars_;  // by rank
};

}  // namespace arena
