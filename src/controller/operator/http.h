// The operator's HTTP endpoints: probes and metrics.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/http/server.h"

namespace controller {

// Whether the operator can do its work, combined from the checks of its parts. Thread safe.
class Readiness {
 public:
  // Called at each probe, on the server's thread; must be quick.
  using Check = std::function<base::Status()>;

  void Add(std::string name, Check check);
  // Adds a check whose failure is reported but does not make the operator unready: for problems
  // that do no harm yet.
  void AddNote(std::string name, Check check);
  // "ok" and a line for each failing note, or 503 with a line for each failing check.
  net::HttpResponse Answer() const;

 private:
  using Checks = std::vector<std::pair<std::string, Check>>;
  static std::string Failing(const Checks& checks, std::string_view mark);

  mutable std::mutex mutex_;
  Checks checks_, notes_;
};

// One listening address and the thread that serves it.
class OperatorServer {
 public:
  // `flag` names the address in errors. With address "0" it does not listen.
  static base::Result<std::unique_ptr<OperatorServer>> Start(const std::string& flag,
                                                             const std::string& address,
                                                             net::HttpHandler handler);
  ~OperatorServer();  // lets answers under way finish

 private:
  explicit OperatorServer(std::unique_ptr<net::HttpServer> server);

  std::unique_ptr<net::HttpServer> server_;
  std::thread thread_;
};

// GET /healthz: 200 while the process lives. GET /readyz: as `readiness` says. GET /metrics:
// `metrics`, in Prometheus' text format, or 404 when the function is empty. Both are borrowed.
net::HttpHandler ProbeHandler(const Readiness& readiness);
net::HttpHandler MetricsHandler(std::function<std::string()> metrics);

}  // namespace controller
