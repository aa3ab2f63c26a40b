// The validating webhook as a service: it serves TLS with certificates that it creates, shares with
// the other replicas in a Secret, publishes in the ValidatingWebhookConfiguration, and renews.
//
//   watch Secret ----.                      .--> Secret (patch, unless another replica was faster)
//                    >--> worker, PlanWebhookCertificates --> configuration's caBundle
//   watch config ----'                      '--> TLS listener, once the authority is published
//
// Both objects are also read every minute, so that a broken or refused watch does not prevent a
// renewal or a repair.
#pragma once

#include <condition_variable>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/result.h"
#include "cli/flags.h"
#include "cluster/client.h"
#include "cluster/reflector.h"
#include "controller/loop/metrics.h"
#include "net/http/server.h"
#include "net/tls/listener.h"

namespace controller {

// The defaults are the names in Kubeflow's manifests (compat/pytorchjob.md 1.5, 3.1, 3.4).
struct WebhookOptions {
  uint16_t port = 9443;                     // 0: no webhook
  std::string namespace_name = "kubeflow";  // of the Service and the Secret
  std::string service_name = "training-operator";
  std::string secret_name = "training-operator-webhook-cert";
  std::string configuration_name = "validator.training-operator.kubeflow.org";
  std::string failure_policy;  // Fail or Ignore; "": keep the present one, or Fail when there is no
                               // entry yet
};
// `options` outlives the set.
void DeclareWebhookFlags(cli::FlagSet& set, WebhookOptions& options);

// The configuration's entry for PyTorchJobs; nullptr when it has none.
const text::Json* FindPyTorchWebhook(const text::Json& configuration, size_t* index = nullptr);
// The names by which API servers call it: the Service's, and the host of clientConfig.url.
std::vector<std::string> WebhookHosts(const WebhookOptions& options,
                                      const text::Json& configuration);

// Every replica of the operator runs one, leader or not. It listens once a configuration for it
// exists.
class Webhook {
 public:
  // Starts its threads. `client`, `clock` and `metrics` outlive it.
  Webhook(cluster::Client& client, base::Clock& clock, WebhookOptions options, Metrics& metrics);
  ~Webhook();

  // OK when jobs are checked, and also when there is no webhook: the port is 0, no configuration
  // has an entry for it, or the right to read it was missing from the start, which is logged.
  // Thread safe, quick.
  base::Status Readiness() const;
  // Whether the certificates and the configuration are maintained: an error while a watch is
  // refused or a due step fails. Thread safe, quick.
  base::Status Care() const;

 private:
  struct State {
    bool is_secret_known = false;
    bool is_configuration_known = false;
    std::optional<text::Json> secret;
    std::optional<text::Json> configuration;
    // Why the Secret or the configuration cannot be watched.
    std::optional<base::Error> secret_refusal, configuration_refusal;
    uint64_t changes = 0;  // of the members above
    net::KeyedCertificate serving;
    base::Status readiness = base::Fail(base::Code::kUnavailable, "not looked yet");
    base::Status work;  // result of the worker's last step
    bool is_stopping = false;
  };

  base::Status Listen();
  using Member = std::optional<text::Json> State::*;
  using Refusal = std::optional<base::Error> State::*;
  std::unique_ptr<cluster::Reflector> Reflect(const api::Resource& resource,
                                              const cluster::ListOptions& list, Member member,
                                              bool State::* is_known, Refusal refusal);
  // Reads both objects, after the watches have reported them once.
  base::Status Look();
  base::Status LookAt(const api::Resource& resource, const cluster::ListOptions& list,
                      Member member);
  void TakeIfNewer(Member member, std::optional<text::Json> object);
  void ChangeState(const std::function<void(State&)>& change);
  void Work();
  // Takes one step towards the wanted state; returns when to take the next.
  base::Result<base::Time> Advance();
  base::Result<base::Time> Certify(const State& now);
  base::Status Publish(const text::Json& configuration, const std::string& authorities);
  base::Status Register(const std::string& authorities);
  base::Status TakePatched(base::Result<text::Json> configuration);
  void SayOnce(const std::string& line);

  cluster::Client& client_;
  base::Clock& clock_;
  const WebhookOptions options_;
  Metrics& metrics_;
  mutable base::Guarded<State> state_;
  std::condition_variable changed_;
  std::string said_;     // the worker's last log line
  base::Time looked_{};  // used by the worker only

  std::unique_ptr<net::HttpServer> server_;
  std::thread server_thread_;
  std::unique_ptr<net::TlsListener> listener_;
  std::thread worker_;
  std::unique_ptr<cluster::Reflector> secrets_;
  std::unique_ptr<cluster::Reflector> configurations_;
};

}  // namespace controller
