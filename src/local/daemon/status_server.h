// Where programs of jobs post their progress: a port of the loopback interface that speaks as the
// status server of Kubeflow Trainer 2.3 does, so that transformers 5 and Kubeflow's SDK report to
// it by themselves.
//
//   POST /apis/trainer.kubeflow.org/v1alpha1/namespaces/<namespace>/trainjobs/<job>/status
//   Authorization: Bearer <the job's token>      (local/node/plan/status_endpoint.h)
//
// Answers: 200 with what was understood; 403 without this job's token; 404 for other paths, and for
// a job that is gone; 413 for more than 64 KiB; 422 with the error.
//
// <state>/status contains the `key` of the tokens and the last `address`, mode 0600: a program that
// outlives the daemon finds the next one there.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/result.h"
#include "cluster/client.h"
#include "local/daemon/progress/progress_files.h"
#include "local/node/plan/status_endpoint.h"
#include "net/http/server.h"

namespace local::daemon {

// The answer to one request; its progress is recorded in `files`. Asks `client` for the job, and
// blocks no longer than that.
net::HttpResponse AnswerStatusPost(cluster::Client& client, ProgressFiles& files,
                                   std::string_view key, base::Time now,
                                   const net::HttpRequest& request);

// One thread, which sleeps while nobody posts.
class StatusServer {
 public:
  // Listens on the port of the previous daemon if it is free, else on another.
  static base::Result<std::unique_ptr<StatusServer>> Listen(const std::string& state);
  ~StatusServer();

  const node::StatusEndpoint& endpoint() const { return endpoint_; }
  // Answers from now on; earlier clients have been waiting. Call it once. Borrows everything.
  void Serve(cluster::Client& client, ProgressFiles& files, base::Clock& clock);

 private:
  StatusServer() = default;

  node::StatusEndpoint endpoint_;
  std::function<net::HttpResponse(const net::HttpRequest&)> answer_;  // set before the thread is
  std::unique_ptr<net::HttpServer> server_;
  std::thread thread_;
};

}  // namespace local::daemon
