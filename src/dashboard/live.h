// Live: what the page is told as it happens: one stream of events a tab, fed by watches.
//
//   rows     {"all": true, "set": [ROW...]} once, and after a tab that did not read; then
//            {"set": [ROW...], "gone": [KEY...]}
//   progress {UID: {"step", "steps", ...}} of the jobs that run, where the cluster knows
//   job      {"key": KEY, "instances": [...]} of the job that the tab shows; null: it is gone
//   cluster  {"ok": BOOL, "message": TEXT}
//   log      {"text": LINES}, then logend {"error": TEXT}
#pragma once

#include <atomic>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "arena/app/app.h"
#include "cluster/client.h"
#include "cluster/reflector.h"
#include "dashboard/board.h"
#include "dashboard/event_stream.h"
#include "dashboard/log_stream.h"
#include "dashboard/progress.h"

namespace dashboard {

// Changes that come closer together than this are told together.
inline constexpr std::chrono::milliseconds kTellInterval{200};
// How often the cluster is asked how far its jobs are, while a tab is open: nobody tells.
inline constexpr std::chrono::seconds kAskInterval{2};
// Tabs at once, with a log each.
inline constexpr size_t kMostStreams = 64;

// Thread safe. Borrows the client and the context.
class Live {
 public:
  struct Scope {
    std::string namespace_name;  // "" is all
    std::string job_selector;
  };
  struct Wish {
    std::string job_key;          // of the job whose instances are told; "" is none
    std::optional<LogQuery> log;  // of that job, to be followed
  };

  Live(cluster::Client& client, const arena::Context& context, Scope scope);
  ~Live();  // ends every stream
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  // Begins a stream; never blocks. kExhausted when there are too many.
  base::Status Add(std::shared_ptr<net::Responder> responder, Wish wish);

 private:
  struct Tab {
    std::shared_ptr<EventStream> stream;
    Wish wish;
    bool has_all = false;  // the rows, and how far they are
    std::atomic<bool> has_closed{false};
    std::string told_job, told_cluster;
    std::jthread log;
  };

  void Watch(const Scope& scope);
  cluster::ReflectorHandler HandlerFor(void (Board::*replace)(std::vector<text::Json>),
                                       void (Board::*apply)(cluster::WatchEvent::Type, text::Json),
                                       bool& is_known);
  void Run(const std::stop_token& stop);
  void AskForProgress(const std::stop_token& stop);
  void TakeProgress(const text::Json& answer);
  void SetHasTabs(bool has_tabs);
  void TellAll();
  void Tell(Tab& tab, const std::string& changes, const std::string& all,
            const std::string& progress);
  void RemoveClosed();
  void HasNews();
  void RunLog(EventStream& stream, const Wish& wish, const std::stop_token& stop);

  cluster::Client& client_;
  const arena::Context& context_;

  std::mutex news_mutex_;  // guards the two below; may be locked while mutex_ is
  std::condition_variable_any changed_, asking_;
  bool has_news_ = false, has_tabs_ = false;

  std::mutex mutex_;  // guards what follows
  Board board_;
  bool are_jobs_known_ = false, are_pods_known_ = false;
  std::string problem_;  // why the cluster is not heard of; "" when it is
  std::list<std::shared_ptr<Tab>> tabs_;
  Progress progress_;
  std::string progress_news_;  // not told yet; "" is none

  std::unique_ptr<cluster::Reflector> jobs_, pods_;
  std::jthread teller_, asker_;  // last: use all of the above
};

}  // namespace dashboard
