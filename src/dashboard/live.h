// Live: streams changes to the page, one stream of events per tab, from watches.
//
//   rows     {"all": true, "set": [ROW...]} first, and again after a tab was behind; then
//            {"set": [ROW...], "gone": [KEY...]}
//   progress {UID: {"step", "steps", ...}} of running jobs, if the cluster knows it
//   busy     {UID: {"cpu": PROCESSORS, "gpu": SHARE}} that each of their ranks uses, on average
//   job      {"key": KEY, "instances": [...]} of the tab's job; null if the job is gone
//   strip    {"key": KEY, "from", "step", "at", "ranks"} of the tab's job (strip.h), if known
//   cluster  {"ok": BOOL, "message": TEXT}
//   log      {"text": LINES}, then logend {"error": TEXT}
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "arena/app/app.h"
#include "arena/history/seen_ranks.h"
#include "arena/logs/event_tail.h"
#include "cluster/client.h"
#include "cluster/reflector.h"
#include "dashboard/board.h"
#include "dashboard/event_stream.h"
#include "dashboard/log_stream.h"
#include "dashboard/progress.h"
#include "dashboard/strip.h"

namespace dashboard {

// Changes within this time are sent together.
inline constexpr std::chrono::milliseconds kSendInterval{200};
// The least time between two looks at what the page shows of a single job. On the embedded cluster
// that is its ranks over time, which are read when the cluster reports news of them. On Kubernetes
// it is what their logs and metrics show; nothing can watch these, so they are read that often.
inline constexpr std::chrono::seconds kShownInterval{10};
// The most tabs, each with a log.
inline constexpr size_t kMostStreams = 64;

// Thread safe. Borrows the client and the context.
class Live {
 public:
  struct Scope {
    std::string namespace_name;  // "" for all
    std::string job_selector;
  };
  struct Wish {
    std::string job_key;          // the job whose instances are sent; "" for none
    std::optional<LogQuery> log;  // the log of that job to follow
  };

  Live(cluster::Client& client, const arena::Context& context, Scope scope);
  ~Live();  // ends every stream
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  // Begins a stream; never blocks. kExhausted if there are too many.
  base::Status Add(std::shared_ptr<net::Responder> responder, Wish wish);

 private:
  struct Tab {
    std::shared_ptr<EventStream> stream;
    Wish wish;
    bool has_all = false;  // it has received all rows and their progress
    std::string sent_job, sent_cluster;
    uint64_t sent_strip = 0;  // its version
    std::jthread log;
  };

  void Watch(const Scope& scope);
  cluster::ReflectorHandler HandlerFor(void (Board::*replace)(std::vector<text::Json>),
                                       void (Board::*apply)(cluster::WatchEvent::Type, text::Json),
                                       bool& is_known);
  void Run(const std::stop_token& stop);
  void AskWhileSeen(const std::stop_token& stop);
  std::unique_ptr<cluster::Reflector> WatchProgress();
  void TakeProgress(const text::Json& progress, bool is_gone);
  void HasQuestion();
  // Asks about the jobs that tabs show: for their ranks over time, on Kubernetes for what their
  // logs show. Returns how long the next question waits; nullopt if there is none.
  std::optional<base::Duration> AskOfShownJobs();
  // What was seen of a job on Kubernetes, which keeps no history of it. For the asking thread only.
  struct SeenJob {
    arena::RankLogs logs;
    arena::SeenRanks ranks{kShownInterval};
    arena::EventTail events;
    std::chrono::steady_clock::time_point looked{};
  };
  void LookAtDistantJob(const std::string& key, bool has_ended, arena::TrainingJob job);
  text::Json LookAtRanks(SeenJob& seen, arena::TrainingJob& job);
  void TakeStrip(const std::string& key, const std::string& uid, bool has_ended, text::Json grid);
  void TakeLog(const std::string& key, const std::string& uid, bool has_ended,
               const text::Json& progress);
  // What the tabs know, and the changes that were not sent to them yet; "" for none.
  struct Tracked {
    Progress latest;
    std::string unsent;

    // Adds changes that `latest` has returned. Returns whether there are any.
    bool Note(std::string changes);
  };
  void SetHasTabs(bool has_tabs);
  void SendAll();
  struct News {
    std::string rows, all_rows, progress, busy;  // "" for none
  };
  void Send(Tab& tab, const News& news);
  void RemoveClosed();
  void HasNews();
  void RunLog(EventStream& stream, const Wish& wish, const std::stop_token& stop);

  cluster::Client& client_;
  const arena::Context& context_;

  std::mutex news_mutex_;  // guards the next four; may be locked while mutex_ is
  std::condition_variable_any changed_, asking_;
  bool has_news_ = false, has_tabs_ = false;
  bool has_question_ = false;  // a job that a tab shows is new or has changed

  std::mutex mutex_;  // guards what follows
  Board board_;
  bool are_jobs_known_ = false, are_pods_known_ = false;
  std::string problem_;  // why the cluster does not answer; "" if it does
  std::list<std::shared_ptr<Tab>> tabs_;
  Tracked progress_;
  Tracked busy_;  // what the ranks of each job use, as its only source
  // A job that a tab shows.
  struct ShownJob {
    std::string uid;
    text::Json grid;       // its ranks over time
    uint64_t version = 0;  // from 1 on
    std::string news;      // since the version before
    bool is_final = false;
    bool has_looks = false;  // since it was asked for
    std::chrono::steady_clock::time_point asked{};
  };
  std::map<std::string, ShownJob> shown_;  // by the job's key

  std::map<std::string, SeenJob> seen_;  // by uid; of the asking thread alone

  std::unique_ptr<cluster::Reflector> jobs_, pods_;
  std::jthread sender_, asker_;  // the last members, because they use the others
};

}  // namespace dashboard
