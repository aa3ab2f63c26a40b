#include "controller/operator/status_endpoint.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/status_posts.h"
#include "base/backoff.h"
#include "base/log.h"
#include "controller/operator/certificate_secret.h"
#include "net/socket/tcp.h"
#include "net/socket/url.h"

namespace controller {
namespace {

using base::Code;

constexpr int kAnswerers = 4;
// The most posts that wait; further clients are told to try again.
constexpr size_t kMostWaiting = 256;
constexpr size_t kMostConnections = 1024;
constexpr base::Duration kFirstCare = std::chrono::seconds(1);
constexpr base::Duration kLongestCare = std::chrono::minutes(5);
// How often the Secret is read, which another replica may have renewed.
constexpr base::Duration kCareInterval = std::chrono::hours(1);
constexpr api::PostRefusal kTooMany{429, "TooManyRequests", "Too many requests"};

}  // namespace

void DeclareStatusFlags(cli::FlagSet& set, StatusOptions& options) {
  set.String(&options.address, "status-address", "",
             "address that takes the progress that programs of jobs post, as transformers 5 does, "
             "over TLS; \"\" or 0: none");
  set.String(&options.url, "status-url", "",
             "URL by which pods reach --status-address (default: its Service, at the same port)");
  set.String(&options.service_name, "status-service-name", options.service_name,
             "Service of --status-address");
  set.String(&options.secret_name, "status-secret-name", options.secret_name,
             "Secret that keeps the certificates of --status-address, in the operator's namespace");
}

base::Status CheckStatusOptions(const StatusOptions& options) {
  if (!options.IsWanted()) {
    if (options.url.empty()) return {};
    return base::Fail(Code::kInvalidArgument, "--status-url: needs --status-address");
  }
  if (auto parsed = net::ParseHostPort(options.address); !parsed) {
    return base::Fail(parsed.error().Wrap("--status-address"));
  }
  if (options.url.empty()) return {};
  const auto url = net::ParseUrl(options.url);
  if (!url) return base::Fail(url.error().Wrap("--status-url"));
  if (url->scheme != "https" || !url->path.empty()) {
    return base::Fail(Code::kInvalidArgument,
                      "--status-url: must be https://HOST or https://HOST:PORT");
  }
  return {};
}

base::Result<std::string> StatusBaseUrl(const StatusOptions& options,
                                        const std::string& service_host) {
  if (!options.url.empty()) {
    TRY_ASSIGN(const net::Url url, net::ParseUrl(options.url));
    return "https://" + url.Authority();
  }
  TRY_ASSIGN(const net::HostPort address, net::ParseHostPort(options.address));
  return fmt::format("https://{}:{}", service_host, address.port);
}

base::Result<std::unique_ptr<StatusEndpoint>> StatusEndpoint::Start(
    cluster::Client& client, base::Clock& clock, const StatusOptions& options,
    const std::string& namespace_name, const std::string& service_host,
    OnAuthorities on_authorities) {
  std::unique_ptr<StatusEndpoint> made(new StatusEndpoint(
      client, clock, namespace_name, options.secret_name, std::move(on_authorities)));
  made->hosts_ = {service_host};
  if (!options.url.empty()) {
    TRY_ASSIGN(const net::Url url, net::ParseUrl(options.url));
    if (url.host != service_host) made->hosts_.push_back(url.host);
  }
  TRY(made->Listen(options.address));
  return made;
}

StatusEndpoint::StatusEndpoint(cluster::Client& client, base::Clock& clock,
                               std::string namespace_name, std::string secret_name,
                               OnAuthorities on_authorities)
    : client_(client),
      clock_(clock),
      namespace_name_(std::move(namespace_name)),
      secret_name_(std::move(secret_name)),
      on_authorities_(std::move(on_authorities)),
      posts_(client, clock) {}

StatusEndpoint::~StatusEndpoint() {
  state_.Lock()->is_stopping = true;
  queue_.Lock()->is_stopping = true;
  care_wake_.notify_all();
  queue_wake_.notify_all();
  if (server_) server_->Stop();  // answers under way still leave through the listener
  for (std::thread& thread : threads_) thread.join();
  listener_.reset();
}

base::Status StatusEndpoint::Listen(const std::string& address) {
  const std::string flag = "--status-address";
  const auto parsed = net::ParseHostPort(address);
  if (!parsed) return base::Fail(parsed.error().Wrap(flag));
  auto socket = net::ListenOnTcp(parsed->host, parsed->port);
  if (!socket) return base::Fail(socket.error().Wrap(flag));
  net::HttpServerOptions options;
  options.max_connections = kMostConnections;
  TRY_ASSIGN(server_,
             net::HttpServer::OfAdopted(
                 [this](net::HttpRequest request, std::shared_ptr<net::Responder> responder) {
                   Take(std::move(request), std::move(responder));
                 },
                 options));
  auto listener = net::TlsListener::ListenOn(
      std::move(*socket),
      [this]() -> base::Result<net::KeyedCertificate> {
        net::KeyedCertificate serving = state_.Lock()->serving;
        if (!serving.certificate.empty()) return serving;
        return base::Fail(Code::kUnavailable, "--status-address has no certificate yet");
      },
      [this](base::Fd connection) { server_->Adopt(std::move(connection), nullptr); });
  if (!listener) return base::Fail(listener.error().Wrap(flag));
  listener_ = std::move(*listener);
  threads_.emplace_back([this] { server_->Run(); });
  threads_.emplace_back([this] { CareForCertificates(); });
  for (int i = 0; i < kAnswerers; ++i) threads_.emplace_back([this] { AnswerOnes(); });
  return {};
}

base::Status StatusEndpoint::Care() const { return state_.Lock()->care; }

// On the server's thread, which must not wait for the API server.
void StatusEndpoint::Take(net::HttpRequest request, std::shared_ptr<net::Responder> responder) {
  auto queue = queue_.Lock();
  if (queue->is_stopping || queue->waiting.size() >= kMostWaiting) {
    return responder->Send({kTooMany.status,
                            {{"Content-Type", "application/json"}, {"Retry-After", "1"}},
                            api::ToBody(kTooMany)});
  }
  queue->waiting.emplace_back(std::move(request), std::move(responder));
  queue_wake_.notify_one();
}

void StatusEndpoint::AnswerOnes() {
  auto queue = queue_.Lock();
  while (true) {
    queue_wake_.wait(queue.lock(), [&] { return queue->is_stopping || !queue->waiting.empty(); });
    if (queue->is_stopping) return;
    const Waiting next = std::move(queue->waiting.front());
    queue->waiting.pop_front();
    queue.lock().unlock();
    next.second->Send(posts_.Answer(next.first));
    queue.lock().lock();
  }
}

void StatusEndpoint::CareForCertificates() {
  base::Backoff backoff(kFirstCare, kLongestCare);
  bool has_tried = false;
  while (true) {
    auto next = Renew();
    auto state = state_.Lock();
    state->care = next ? base::Status() : base::Fail(next.error());
    base::Duration rest = backoff.Next();
    if (next) {
      backoff.Reset();
      rest = std::clamp<base::Duration>(*next - clock_.Now(), kFirstCare, kCareInterval);
    } else if (!has_tried) {
      base::LogError("--status-address: {}; jobs run without it", next.error().message);
      on_authorities_("");
    }
    has_tried = true;
    care_wake_.wait_for(state.lock(), rest, [&] { return state->is_stopping; });
    if (state->is_stopping) return;
  }
}

base::Result<base::Time> StatusEndpoint::Renew() {
  TRY_ASSIGN(const CertificatePlan plan,
             RenewCertificates(client_, {namespace_name_, secret_name_}, hosts_, clock_.Now()));
  bool is_changed = false;
  {
    auto state = state_.Lock();
    state->serving = plan.next.serving;
    is_changed = std::exchange(state->authorities, plan.next.authorities) != plan.next.authorities;
  }
  if (is_changed) on_authorities_(plan.next.authorities);
  return plan.look_again;
}

}  // namespace controller
