// The operator's HTTP: probes and metrics.
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

// Whether the operator can do its work, asked of everything that knows a part of the answer. Thread
// safe.
class Readiness {
 public:
  // Asked at each probe, from the server's thread; must be quick.
  using Check = std::function<base::Status()>;

  void Add(std::string name, Check check);
  // One that is told and keeps nobody waiting: what fails goes well for now, but will not for ever.
  void AddNote(std::string name, Check check);
  // "ok" and a line for each note that fails, or 503 with a line for each check that fails.
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
  // `flag` names the address in errors. An address "0" listens nowhere.
  static base::Result<std::unique_ptr<OperatorServer>> Start(const std::string& flag,
                                                             const std::string& address,
                                                             net::HttpHandler handler);
  ~OperatorServer();  // answers under way still flow out

 private:
  explicit OperatorServer(std::unique_ptr<net::HttpServer> server);

  std::unique_ptr<net::HttpServer> server_;
  std::thread thread_;
};

// GET /healthz: it lives. GET /readyz: as `readiness` says. GET /metrics: `metrics`, in Prometheus'
// text format; an empty function is 404. Both are borrowed.
net::HttpHandler ProbeHandler(const Readiness& readiness);
net::HttpHandler MetricsHandler(std::function<std::string()> metrics);

}  // namespace controller
