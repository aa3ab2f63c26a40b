// GET /muster/forecast: when a waiting job will start, or when a job that was submitted now would.
//   ?namespace=&name=      for a job
//   ?gpus=8&nodes=2        for one of two replicas of eight GPUs; &command=, &priority= (a class),
//                          &deadline= (seconds) describe it further
//   {"kind": "now" | "later" | "unknown" | "never", "start": TIME, "late": TIME,
//    "endings": [{"job": "default/a", "at": TIME, "like": "command", "runs": 5}],
//    "accuracy": {"runs": 12, "medianSeconds": 40, "p90Seconds": 200, "byLate": 11}}
// `like`: the basis of the expected end: "deadline", runs of its "command", of its "program", of
// "any" kind, or "age" alone.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cluster/client.h"
#include "local/daemon/known_runs.h"
#include "local/daemon/scheduling/scheduling.h"
#include "local/scheduler/past_runs.h"
#include "local/store/store.h"
#include "net/http/types.h"

namespace local::daemon {

bool IsForecastRequest(const net::HttpRequest& request);

// A job in question, and what is known.
struct ForecastQuestion {
  const std::vector<scheduler::PastRun>& past;  // in the order of their ends; borrowed
  std::map<std::string, std::string> commands;  // of each gang, by its key
  scheduler::Node node{};
  std::vector<scheduler::Gang> gangs{};
  scheduler::GpuPolicy policy = scheduler::GpuPolicy::kAuto;
  std::string target{};            // its key
  scheduler::Accuracy accuracy{};  // by `past`
};

// The answer's document. Pure.
text::Json AnswerForecast(const ForecastQuestion& question, base::Time now);

// Answers one after the other, on a thread of its own. Borrows all; thread safe.
class Forecaster {
 public:
  Forecaster(cluster::Client& client, store::Store& store, const Scheduling& scheduling,
             base::Clock& clock);
  ~Forecaster();
  // Returns at once.
  void Handle(net::HttpRequest request, std::shared_ptr<net::Responder> responder);

 private:
  void Run();
  net::HttpResponse Answer(const net::HttpRequest& request);

  const Scheduling& scheduling_;
  base::Clock& clock_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_stopped_ = false;
  std::deque<std::pair<net::HttpRequest, std::shared_ptr<net::Responder>>> asked_;
  // For the thread only, without the lock.
  KnownRuns runs_;
  std::pair<size_t, base::Time> measured_by_{};  // measured again only when another run has ended
  scheduler::Accuracy accuracy_;
  std::thread thread_;
};

}  // namespace local::daemon
