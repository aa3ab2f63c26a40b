#include "controller/operator/webhook.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/names.h"
#include "api/object.h"
#include "base/backoff.h"
#include "base/log.h"
#include "base/strings.h"
#include "controller/operator/admission_review.h"
#include "controller/operator/certificate_secret.h"
#include "controller/operator/webhook_certificates.h"
#include "controller/operator/webhook_entry.h"
#include "net/socket/tcp.h"
#include "net/socket/url.h"
#include "net/tls/certificate.h"

namespace controller {
namespace {

using base::Code;
using base::Fail;

constinit const api::Resource kWebhookConfigurations{"admissionregistration.k8s.io",
                                                     "v1",
                                                     "validatingwebhookconfigurations",
                                                     "validatingwebhookconfiguration",
                                                     "ValidatingWebhookConfiguration",
                                                     false,
                                                     false};
constexpr base::Duration kFirstRetry = std::chrono::milliseconds(200);
constexpr base::Duration kLongestRetry = std::chrono::seconds(30);
// How often the watched objects are also read.
constexpr std::chrono::minutes kLookInterval{1};

std::optional<text::Json> OnlyOne(std::vector<text::Json> items) {
  if (items.empty()) return std::nullopt;
  return std::move(items.front());
}

std::optional<text::Json> AfterEvent(cluster::WatchEvent event) {
  if (event.type == cluster::WatchEvent::Type::kDeleted) return std::nullopt;
  return std::move(event.object);
}

cluster::ListOptions Named(const std::string& namespace_name, const std::string& name) {
  cluster::ListOptions options;
  options.namespace_name = namespace_name;
  options.field_selector = "metadata.name=" + name;
  return options;
}

// Whether an API server that uses that configuration accepts the certificate.
bool IsTrusted(const std::string& certificate, const text::Json& configuration, base::Time now) {
  const auto end = net::CertificateEnd(certificate);
  const text::Json* const webhook = FindPyTorchWebhook(configuration);
  if (!end || *end <= now || webhook == nullptr) return false;
  const auto bundle = base::Base64Decode(text::GetString(*webhook, {"clientConfig", "caBundle"}));
  if (!bundle) return false;
  const auto authorities = net::SplitCertificates(*bundle);
  return std::any_of(authorities.begin(), authorities.end(), [&](const std::string& authority) {
    return net::IsIssuedBy(certificate, authority);
  });
}

}  // namespace

const text::Json* FindPyTorchWebhook(const text::Json& configuration, size_t* index) {
  const text::Array* const webhooks = text::FindArray(configuration, {"webhooks"});
  for (size_t i = 0; webhooks != nullptr && i < webhooks->size(); ++i) {
    if (text::GetString((*webhooks)[i], {"name"}) != kWebhookName) continue;
    if (index != nullptr) *index = i;
    return &(*webhooks)[i];
  }
  return nullptr;
}

std::vector<std::string> WebhookHosts(const WebhookOptions& options,
                                      const text::Json& configuration) {
  std::vector<std::string> hosts = {
      fmt::format("{}.{}.svc", options.service_name, options.namespace_name)};
  const text::Json* const webhook = FindPyTorchWebhook(configuration);
  if (webhook == nullptr) return hosts;
  const auto url = net::ParseUrl(text::GetString(*webhook, {"clientConfig", "url"}));
  if (url && !url->host.empty() && url->host != hosts.front()) hosts.push_back(url->host);
  return hosts;
}

void DeclareWebhookFlags(cli::FlagSet& set, WebhookOptions& options) {
  set.Custom("webhook-server-port", "int",
             "port of the validating webhook, if a configuration for it exists; 0: no webhook "
             "(default 9443)",
             [&options](std::string_view value) -> base::Status {
               const auto port = base::ParseInt(value);
               if (!port || *port < 0 || *port > UINT16_MAX) {
                 return Fail(Code::kInvalidArgument,
                             "must be a port from 1 to 65535, or 0 for no webhook");
               }
               options.port = static_cast<uint16_t>(*port);
               return {};
             });
  set.String(&options.service_name, "webhook-service-name", options.service_name,
             "Service by which API servers call the webhook");
  set.String(&options.secret_name, "webhook-secret-name", options.secret_name,
             "Secret that keeps the webhook's certificates, in the operator's namespace");
  set.String(&options.configuration_name, "webhook-configuration-name", options.configuration_name,
             "ValidatingWebhookConfiguration that is given the certificate authority");
  set.String(
         &options.failure_policy, "webhook-failure-policy", "",
         "what happens to new jobs while the webhook is down: Fail (refuse) or Ignore (no check); "
         "default: keep what the configuration says")
      .Choices({"Fail", "Ignore"});
}

Webhook::Webhook(cluster::Client& client, base::Clock& clock, WebhookOptions options,
                 Metrics& metrics)
    : client_(client), clock_(clock), options_(std::move(options)), metrics_(metrics) {
  if (options_.port == 0) {
    state_.Lock()->readiness = base::Status();
    return;
  }
  secrets_ = Reflect(api::kSecrets, Named(options_.namespace_name, options_.secret_name),
                     &State::secret, &State::is_secret_known, &State::secret_refusal);
  configurations_ =
      Reflect(kWebhookConfigurations, Named("", options_.configuration_name), &State::configuration,
              &State::is_configuration_known, &State::configuration_refusal);
  worker_ = std::thread([this] { Work(); });
}

Webhook::~Webhook() {
  ChangeState([](State& state) { state.is_stopping = true; });
  if (worker_.joinable()) worker_.join();
  configurations_.reset();
  secrets_.reset();
  if (!server_) return;
  server_->Stop();  // answers under way still leave through the listener
  server_thread_.join();
  listener_.reset();
}

base::Status Webhook::Listen() {
  if (listener_) return {};
  const std::string flag = "--webhook-server-port";
  auto socket = net::ListenOnTcp("", options_.port);
  if (!socket) return Fail(socket.error().Wrap(flag));
  if (!server_) {
    TRY_ASSIGN(server_, net::HttpServer::OfAdopted(AdmissionHandler(metrics_, clock_)));
    server_thread_ = std::thread([this] { server_->Run(); });
  }
  auto listener = net::TlsListener::ListenOn(
      std::move(*socket),
      [this]() -> base::Result<net::KeyedCertificate> {
        net::KeyedCertificate serving = state_.Lock()->serving;
        if (serving.certificate.empty()) {
          return Fail(Code::kUnavailable, "the webhook has no certificate yet");
        }
        return serving;
      },
      [this](base::Fd connection) { server_->Adopt(std::move(connection), nullptr); });
  if (!listener) return Fail(listener.error().Wrap(flag));
  listener_ = std::move(*listener);
  return {};
}

void Webhook::ChangeState(const std::function<void(State&)>& change) {
  auto state = state_.Lock();
  change(*state);
  ++state->changes;
  changed_.notify_all();
}

std::unique_ptr<cluster::Reflector> Webhook::Reflect(const api::Resource& resource,
                                                     const cluster::ListOptions& list,
                                                     Member member, bool State::* is_known,
                                                     Refusal refusal) {
  const auto take = [=, this](std::optional<text::Json> object) {
    ChangeState([&](State& state) {
      state.*is_known = true;
      (state.*refusal).reset();
      state.*member = std::move(object);
    });
  };
  cluster::ReflectorHandler handler;
  handler.replace = [take](std::vector<text::Json> items) { take(OnlyOne(std::move(items))); };
  handler.apply = [take](cluster::WatchEvent event) { take(AfterEvent(std::move(event))); };
  handler.refused = [=, this](const base::Error& error) {
    ChangeState([&](State& state) { state.*refusal = error; });
  };
  handler.recovered = [=, this] { ChangeState([&](State& state) { (state.*refusal).reset(); }); };
  return std::make_unique<cluster::Reflector>(client_, resource, list, std::move(handler));
}

base::Status Webhook::Look() {
  const base::Time now = clock_.Now();
  {
    auto state = state_.Lock();
    const bool is_wanted = state->is_secret_known && state->is_configuration_known;
    if (!is_wanted || (now >= looked_ && now - looked_ < kLookInterval)) return {};
  }
  TRY(LookAt(kWebhookConfigurations, Named("", options_.configuration_name),
             &State::configuration));
  TRY(LookAt(api::kSecrets, Named(options_.namespace_name, options_.secret_name), &State::secret));
  looked_ = now;
  return {};
}

base::Status Webhook::LookAt(const api::Resource& resource, const cluster::ListOptions& list,
                             Member member) {
  TRY_ASSIGN(cluster::ObjectList found, client_.List(resource, list));
  TakeIfNewer(member, OnlyOne(std::move(found.items)));
  return {};
}

// The watch may have reported a newer version meanwhile.
void Webhook::TakeIfNewer(Member member, std::optional<text::Json> object) {
  const auto version_of = [](const std::optional<text::Json>& of) {
    return of ? base::ParseInt(api::ResourceVersion(*of)).value_or(0) : 0;
  };
  auto state = state_.Lock();
  if (object && version_of(object) <= version_of((*state).*member)) return;
  (*state).*member = std::move(object);
}

base::Status Webhook::Readiness() const { return state_.Lock()->readiness; }

base::Status Webhook::Care() const {
  auto state = state_.Lock();
  // There is no webhook.
  if (state->serving.certificate.empty()) return {};
  if (!state->work) return state->work;
  for (const Refusal refusal : {&State::secret_refusal, &State::configuration_refusal}) {
    if (const auto& error = (*state).*refusal) {
      return Fail(error->Wrap(fmt::format("cannot be watched, so it is read every {} s",
                                          std::chrono::seconds(kLookInterval).count())));
    }
  }
  return {};
}

// Used by the worker only.
void Webhook::SayOnce(const std::string& line) {
  if (line == std::exchange(said_, line)) return;
  base::LogInfo("{}", line);
}

void Webhook::Work() {
  base::Backoff backoff(kFirstRetry, kLongestRetry);
  while (true) {
    uint64_t seen = 0;
    {
      auto state = state_.Lock();
      if (state->is_stopping) return;
      seen = state->changes;
    }
    base::Status looked = Look();
    auto next = Advance();
    if (next && !looked) next = Fail(looked.error().Wrap("the webhook is not maintained"));
    base::Duration rest = kLookInterval;
    if (next) {
      backoff.Reset();
      rest = std::clamp<base::Duration>(*next - clock_.Now(), base::Duration(0), kLookInterval);
    } else {
      if (next.error().code != Code::kConflict) SayOnce("webhook: " + next.error().message);
      rest = backoff.Next();
    }
    auto state = state_.Lock();
    state->work = next ? base::Status() : Fail(next.error());
    // A certificate that cannot be renewed today may still serve for months; Care() reports it.
    const bool does_serve = state->configuration && IsTrusted(state->serving.certificate,
                                                              *state->configuration, clock_.Now());
    state->readiness = does_serve ? base::Status() : state->work;
    changed_.wait_for(state.lock(), rest,
                      [&] { return state->is_stopping || state->changes != seen; });
  }
}

base::Result<base::Time> Webhook::Advance() {
  const State now = *state_.Lock();
  const base::Time never = clock_.Now() + kLookInterval;
  if (now.configuration_refusal && !now.is_configuration_known) {
    SayOnce(fmt::format("no webhook: jobs are checked by the schema of their CRD only ({})",
                        now.configuration_refusal->message));
    return never;
  }
  if (!now.is_configuration_known) {
    return Fail(Code::kUnavailable, "the ValidatingWebhookConfiguration has not been read yet");
  }
  if (!now.configuration ||
      (FindPyTorchWebhook(*now.configuration) == nullptr && !AwaitsEntry(*now.configuration))) {
    SayOnce(
        fmt::format("no webhook: jobs are checked by the schema of their CRD only (no "
                    "ValidatingWebhookConfiguration {} has {})",
                    options_.configuration_name, kWebhookName));
    return never;
  }
  if (!now.is_secret_known) {
    return Fail(Code::kUnavailable, fmt::format("Secret {}/{} has not been read yet",
                                                options_.namespace_name, options_.secret_name));
  }
  auto next = Certify(now);
  ++(next ? metrics_.certificate_looks : metrics_.failed_certificate_looks);
  return next;
}

base::Result<base::Time> Webhook::Certify(const State& now) {
  const SecretName name{options_.namespace_name, options_.secret_name};
  text::Json secret;
  if (now.secret) {
    secret = *now.secret;
  } else {
    TRY_ASSIGN(secret, MakeCertificateSecret(client_, name));
    TakeIfNewer(&State::secret, secret);
  }
  const WebhookCertificates stored = ReadWebhookCertificates(secret);
  TRY_ASSIGN(
      const CertificatePlan plan,
      PlanWebhookCertificates(stored, WebhookHosts(options_, *now.configuration), clock_.Now()));
  if (!(plan.next == stored)) {
    // If another replica was faster, the watch brings its version.
    TRY_ASSIGN(secret, StoreCertificates(client_, name, secret, ToSecretData(plan.next)));
    TakeIfNewer(&State::secret, secret);
    base::LogInfo("webhook: renewed the certificates in Secret {}/{}", options_.namespace_name,
                  options_.secret_name);
  }
  const bool is_registered = FindPyTorchWebhook(*now.configuration) != nullptr;
  if (is_registered) TRY(Publish(*now.configuration, plan.next.authorities));
  state_.Lock()->serving = plan.next.serving;
  TRY(Listen());
  if (!is_registered) TRY(Register(plan.next.authorities));
  SayOnce(fmt::format("webhook: checking jobs on port {}", options_.port));
  return plan.look_again;
}

base::Status Webhook::Publish(const text::Json& configuration, const std::string& authorities) {
  size_t index = 0;
  const text::Json* const webhook = FindPyTorchWebhook(configuration, &index);
  const std::string bundle = base::Base64Encode(authorities);
  const text::Array repair = RepairOfEntry(*webhook, index, options_, bundle);
  if (repair.empty()) return {};
  return TakePatched(client_.Patch(kWebhookConfigurations, "", options_.configuration_name,
                                   cluster::PatchType::kJson, repair));
}

base::Status Webhook::Register(const std::string& authorities) {
  return TakePatched(client_.Patch(kWebhookConfigurations, "", options_.configuration_name,
                                   cluster::PatchType::kStrategicMerge,
                                   EntryPatch(options_, base::Base64Encode(authorities))));
}

base::Status Webhook::TakePatched(base::Result<text::Json> configuration) {
  if (configuration) {
    TakeIfNewer(&State::configuration, std::move(*configuration));
    return {};
  }
  return Fail(configuration.error().Wrap(
      fmt::format("ValidatingWebhookConfiguration {}", options_.configuration_name)));
}

}  // namespace controller
