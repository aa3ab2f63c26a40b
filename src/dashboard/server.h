// Server: serves the page and its data over HTTP to one user's browser on this machine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "arena/app/app.h"
#include "base/result.h"
#include "cluster/client.h"
#include "dashboard/access.h"
#include "dashboard/live.h"
#include "dashboard/route.h"
#include "dashboard/shells.h"
#include "dashboard/workers.h"
#include "net/http/server.h"

namespace dashboard {

struct ServerOptions {
  uint16_t port = 0;  // on 127.0.0.1; 0 for any free port
  bool all_namespaces = false;
};

// Borrows the client and the context, which must be connected.
class Server {
 public:
  // kAlreadyExists if the port is taken.
  static base::Result<std::unique_ptr<Server>> Start(cluster::Client& client,
                                                     const arena::Context& context,
                                                     const ServerOptions& options);

  // Valid once, for kLinkLifetime. Whoever opens it can do everything that the user can.
  std::string Link() const;
  // Serves until Stop(). Blocks.
  void Run() { http_->Run(); }
  // From any thread.
  void Stop() { http_->Stop(); }

 private:
  using Responder = std::shared_ptr<net::Responder>;

  Server(cluster::Client& client, const arena::Context& context, const ServerOptions& options,
         std::string job_selector);
  // Run on the server's thread.
  void Handle(net::HttpRequest request, const Responder& responder);
  void OpenSession(const net::HttpRequest& request, const Responder& responder);
  void OpenEvents(const Route& route, const Responder& responder);
  void OpenShell(const Route& route, const Responder& responder);
  void Work(const net::HttpRequest& request, const Route& route, const Responder& responder);
  // Run on a worker's thread.
  net::HttpResponse AnswerOf(const net::HttpRequest& request, const Route& route,
                             const std::stop_token& stop);
  base::Result<text::Json> DocumentOf(const Route& route);
  net::HttpResponse LogsOf(const Route& route, const std::stop_token& stop);
  base::Result<text::Json> Act(const net::HttpRequest& request);
  text::Json State() const;

  cluster::Client& client_;
  const arena::Context& context_;
  const ServerOptions options_;
  const std::string link_;
  std::unique_ptr<Access> access_;
  Live live_;
  Shells shells_;
  Workers workers_;
  std::unique_ptr<net::HttpServer>
      http_;  // the last member, because its connections use the others
};

}  // namespace dashboard
