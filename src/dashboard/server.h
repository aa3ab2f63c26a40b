// Server: the page and its data over HTTP, for one user's browser on this machine.
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
#include "dashboard/workers.h"
#include "net/http/server.h"

namespace dashboard {

struct ServerOptions {
  uint16_t port = 0;  // of 127.0.0.1; 0 is any free one
  bool all_namespaces = false;
};

// Borrows the client and the context, which has connected.
class Server {
 public:
  // kAlreadyExists when the port is taken.
  static base::Result<std::unique_ptr<Server>> Start(cluster::Client& client,
                                                     const arena::Context& context,
                                                     const ServerOptions& options);

  // Good once, for kLinkLifetime: who opens it may do all that the user may.
  std::string Link() const;
  // Serves until Stop(). Blocks.
  void Run() { http_->Run(); }
  // From any thread.
  void Stop() { http_->Stop(); }

 private:
  using Responder = std::shared_ptr<net::Responder>;

  Server(cluster::Client& client, const arena::Context& context, const ServerOptions& options,
         std::string job_selector);
  // On the server's thread.
  void Handle(net::HttpRequest request, const Responder& responder);
  void OpenSession(const net::HttpRequest& request, const Responder& responder);
  void OpenEvents(const Route& route, const Responder& responder);
  void Work(const net::HttpRequest& request, const Route& route, const Responder& responder);
  // On a worker's.
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
  Workers workers_;
  std::unique_ptr<net::HttpServer> http_;  // last: its connections call the rest
};

}  // namespace dashboard
