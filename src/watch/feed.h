// What `watch` knows of the cluster, kept up to date by threads of its own.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "arena/app/app.h"
#include "base/fd.h"
#include "cluster/client.h"
#include "watch/state.h"

namespace watch {

// Its threads wait for news of jobs, which a watch brings, and look at what no watch tells,
// progress and processes, once a second while it is shown. They are never joined, for they may wait
// for a server that does not answer: it lives until the program ends.
class Feed {
 public:
  // Everything is borrowed, until the program ends. `namespace_name` "" is all. Errors of eventfd.
  static base::Result<Feed*> Start(cluster::Client& client, const arena::Context& context,
                                   std::string namespace_name);

  // Readable when there is something new.
  int fd() const { return news_.get(); }
  // Which job is looked at; nullopt: none.
  void LookAt(const std::optional<std::pair<std::string, std::string>>& job);
  // Puts what is new into the state. False when nothing is.
  bool Take(State& state);

 private:
  struct Shared {
    std::vector<JobRow> jobs;
    bool has_listed = false;
    std::string problem;
    std::optional<std::pair<std::string, std::string>> wanted;  // namespace and name
    std::optional<JobView> view;                                // without its log
    bool is_new = false;
  };

  Feed(cluster::Client& client, const arena::Context& context, std::string namespace_name)
      : client_(client), context_(context), namespace_name_(std::move(namespace_name)) {}
  void Tell();
  void WatchJobs();
  void ListJobs();
  void LookAtJob();
  std::optional<JobView> See(const std::string& namespace_name, const std::string& name);

  cluster::Client& client_;
  const arena::Context& context_;
  const std::string namespace_name_;
  base::Fd news_;  // eventfd
  std::mutex mutex_;
  Shared shared_;                          // under the mutex
  std::atomic<bool> has_running_ = false;  // jobs whose progress is asked for
};

}  // namespace watch
