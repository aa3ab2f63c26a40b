// The endpoint of StatusPosts: TLS with certificates of its own, which all replicas share in a
// Secret, and the threads that answer.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/result.h"
#include "cli/flags.h"
#include "cluster/client.h"
#include "controller/operator/status_posts.h"
#include "net/http/server.h"
#include "net/tls/listener.h"

namespace controller {

struct StatusOptions {
  std::string address;  // ":9444"; "" or "0": no endpoint
  std::string url;      // as pods reach it; "": by its Service
  std::string service_name = "muster-operator-status";
  std::string secret_name = "muster-operator-status-cert";

  bool IsWanted() const { return !address.empty() && address != "0"; }
};
// `options` outlives the set.
void DeclareStatusFlags(cli::FlagSet& set, StatusOptions& options);
// kInvalidArgument naming the flag.
base::Status CheckStatusOptions(const StatusOptions& options);
// "https://muster-operator-status.muster-system.svc:9444": the URL that pods get.
base::Result<std::string> StatusBaseUrl(const StatusOptions& options,
                                        const std::string& service_host);

// Every replica of the operator has one, leader or not.
class StatusEndpoint {
 public:
  // Called with the certificates by which pods know the endpoint, at first and when they change;
  // with "" when they cannot be had at first. From a thread of this object; must not block.
  using OnAuthorities = std::function<void(const std::string& authorities)>;

  // Listens at once. Borrows client and clock. `service_host`: the name of its Service.
  static base::Result<std::unique_ptr<StatusEndpoint>> Start(cluster::Client& client,
                                                             base::Clock& clock,
                                                             const StatusOptions& options,
                                                             const std::string& namespace_name,
                                                             const std::string& service_host,
                                                             OnAuthorities on_authorities);
  ~StatusEndpoint();

  // OK while it has certificates that are new enough, otherwise what is wrong. Thread safe, quick.
  base::Status Care() const;

 private:
  struct State {
    net::KeyedCertificate serving;
    std::string authorities;
    base::Status care;
    bool is_stopping = false;
  };
  using Waiting = std::pair<net::HttpRequest, std::shared_ptr<net::Responder>>;
  struct Queue {
    std::deque<Waiting> waiting;
    bool is_stopping = false;
  };

  StatusEndpoint(cluster::Client& client, base::Clock& clock, std::string namespace_name,
                 std::string secret_name, OnAuthorities on_authorities);
  base::Status Listen(const std::string& address);
  void Take(net::HttpRequest request, std::shared_ptr<net::Responder> responder);
  void AnswerOnes();
  void CareForCertificates();
  base::Result<base::Time> Renew();

  cluster::Client& client_;
  base::Clock& clock_;
  const std::string namespace_name_, secret_name_;
  const OnAuthorities on_authorities_;
  std::vector<std::string> hosts_;
  StatusPosts posts_;
  mutable base::Guarded<State> state_;
  base::Guarded<Queue> queue_;
  std::condition_variable care_wake_, queue_wake_;
  std::unique_ptr<net::HttpServer> server_;
  std::unique_ptr<net::TlsListener> listener_;
  std::vector<std::thread> threads_;
};

}  // namespace controller
