// The embedded cluster's API server: the part of the Kubernetes REST API that training jobs use,
// over the store. Thread safe; Handle never waits for a write.
//
//   Handle --+-- GET, LIST ------> store (a snapshot) or the job summaries --> answer
//            +-- WATCH ----------> stream, fed by the store's writer thread
//            +-- writes ---------> mutation on the writer thread: rules, admission, deletion
//            |                     --> durable --> answer
//            +-- pods/x/log -----> LogSource
//            +-- pods/x/exec ----> WebSocket, ExecSource
//            `-- pods/x/portforward --> WebSocket, PortSource
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "local/server/backend/admission.h"
#include "local/server/backend/exec_source.h"
#include "local/server/backend/log_source.h"
#include "local/server/backend/port_source.h"
#include "local/server/backend/timers.h"
#include "local/store/store.h"
#include "net/http/types.h"

namespace local::server {

struct Backend;

class ApiServer {
 public:
  struct Options {
    base::Clock* clock = nullptr;         // nullptr: the system's; must be thread safe
    Admission admission = {};             // after the built-in checks
    LogSource* log_source = nullptr;      // borrowed; without one every log is empty
    ExecSource* exec_source = nullptr;    // borrowed; without one exec is refused
    PortSource* port_source = nullptr;    // borrowed; without one port forwarding is refused
    net::HttpHandler fallback = {};       // for paths outside of the API; without one they are 404
    std::shared_ptr<Timers> timers = {};  // nullptr: a thread of its own
    int64_t max_store_bytes = 0;          // 0: no limit
    std::string store_reserve = {};       // store.h; "": none
    std::string user = "admin";           // the user name that clients see
    // Warnings for every client that requests a table of jobs; called from any thread.
    std::function<std::vector<std::string>()> notices = {};
  };

  // Opens the store at `path` and creates the namespaces default and kube-system. `reader`: a
  // connection to it that the caller no longer needs (store.h).
  static base::Result<std::unique_ptr<ApiServer>> Open(const std::string& path, Options options,
                                                       std::optional<store::Database> reader = {});
  // Carries out all submitted writes. Requests must have ended or been abandoned.
  ~ApiServer();

  // Reads the rows of tables of jobs, which otherwise happens soon after Open: for callers that
  // have time for it before others use the store. Blocks.
  void ReadSummaries();

  store::Store& store();

  void Handle(net::HttpRequest request, std::shared_ptr<net::Responder> responder);
  // Handle as a function object. Borrows the server.
  net::HttpHandler handler() {
    return [this](net::HttpRequest request, std::shared_ptr<net::Responder> responder) {
      Handle(std::move(request), std::move(responder));
    };
  }

 private:
  ApiServer(net::HttpHandler fallback, std::string user);
  base::Status MakeNamespace(const std::string& name);

  const net::HttpHandler fallback_;
  const std::string user_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace local::server
