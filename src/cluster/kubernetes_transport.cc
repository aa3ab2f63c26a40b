#include "cluster/kubernetes_transport.h"

#include <mutex>
#include <utility>

#include "base/log.h"
#include "cluster/retry_policy.h"

namespace cluster {
namespace {

using base::Code;
using base::Fail;

constexpr int kUnauthorized = 401;
constexpr int kBusy = 429;

class Kubernetes final : public Transport {
 public:
  Kubernetes(std::unique_ptr<net::CurlClient> client, std::unique_ptr<Credentials> credentials,
             std::function<void(base::Duration)> pause, bool returns_429)
      : credentials_(std::move(credentials)),
        pause_(std::move(pause)),
        returns_429_(returns_429),
        client_(std::move(client)) {}

  base::Result<net::HttpResponse> Send(const net::HttpRequest& request) override {
    TRY_ASSIGN(const Signed made, Sign(request));
    auto answer = client_->Send(made.request);
    return Settle(request, made.generation, std::move(answer));
  }

  std::vector<base::Result<net::HttpResponse>> SendAll(
      std::span<const net::HttpRequest> requests) override;
  base::Result<std::unique_ptr<net::BodyStream>> Open(const net::HttpRequest& request) override;
  base::Result<net::WebSocketAnswer> OpenWebSocket(
      const net::HttpRequest& request, const std::vector<std::string>& protocols) override;

 private:
  struct Signed {
    net::HttpRequest request;
    int generation = 0;
  };

  base::Result<Signed> Sign(net::HttpRequest request);
  // Pauses and returns true if the request should be sent again; counts `attempt`.
  base::Result<bool> MustRepeat(const net::HttpRequest& request, int generation, int status,
                                const net::Headers& headers, int& attempt, bool& has_renewed);
  // Whether to try again after a failed connection, because certificates may have been rotated.
  bool MustConnectAgain(const base::Error& error, int generation, bool& has_renewed);
  // `generation`: of the credentials that the request had.
  base::Result<net::HttpResponse> Settle(const net::HttpRequest& request, int generation,
                                         base::Result<net::HttpResponse> answer);

  const std::unique_ptr<Credentials> credentials_;
  const std::function<void(base::Duration)> pause_;
  const bool returns_429_;
  std::mutex mutex_;
  int generation_ = 0;  // of the client's certificate
  const std::unique_ptr<net::CurlClient> client_;
};

base::Result<Kubernetes::Signed> Kubernetes::Sign(net::HttpRequest request) {
  TRY_ASSIGN(Credentials::Shown shown, credentials_->Show());
  {
    const std::lock_guard lock(mutex_);
    if (generation_ < shown.generation) {
      client_->UseIdentity({std::move(shown.cert_pem), std::move(shown.key_pem)});
      client_->UseAuthorities(std::move(shown.ca_pem));
      generation_ = shown.generation;
    }
  }
  if (!shown.authorization.empty()) {
    request.headers.emplace_back("Authorization", std::move(shown.authorization));
  }
  for (auto& header : credentials_->ImpersonationHeaders()) {
    request.headers.push_back(header);
  }
  return Signed{std::move(request), shown.generation};
}

base::Result<bool> Kubernetes::MustRepeat(const net::HttpRequest& request, int generation,
                                          int status, const net::Headers& headers, int& attempt,
                                          bool& has_renewed) {
  if (status == kUnauthorized) {
    if (!has_renewed && credentials_->Refused(generation)) {
      has_renewed = true;
      return true;
    }
    return Fail(Code::kUnauthenticated, credentials_->WhyRefused());
  }
  if (returns_429_ && status == kBusy) return false;
  const auto wait = RetryAfter(request, status, headers, attempt);
  if (!wait) return false;
  ++attempt;
  base::LogDebug("{} {}: HTTP {}, again in {} s", request.method, request.target, status,
                 wait->count());
  pause_(*wait);
  return true;
}

bool Kubernetes::MustConnectAgain(const base::Error& error, int generation, bool& has_renewed) {
  if (error.code != Code::kInvalidArgument && error.code != Code::kUnauthenticated) return false;
  if (has_renewed) return false;
  has_renewed = credentials_->HaveFilesChanged(generation);
  return has_renewed;
}

base::Result<net::HttpResponse> Kubernetes::Settle(const net::HttpRequest& request, int generation,
                                                   base::Result<net::HttpResponse> answer) {
  int attempt = 1;
  bool has_renewed = false;
  while (true) {
    if (answer) {
      TRY_ASSIGN(const bool again, MustRepeat(request, generation, answer->status, answer->headers,
                                              attempt, has_renewed));
      if (!again) break;
    } else if (!MustConnectAgain(answer.error(), generation, has_renewed)) {
      break;
    }
    TRY_ASSIGN(const Signed made, Sign(request));
    generation = made.generation;
    answer = client_->Send(made.request);
  }
  return answer;
}

std::vector<base::Result<net::HttpResponse>> Kubernetes::SendAll(
    std::span<const net::HttpRequest> requests) {
  std::vector<base::Result<net::HttpResponse>> answers;
  std::vector<int> generations;
  std::vector<net::HttpRequest> sent;
  sent.reserve(requests.size());
  for (const net::HttpRequest& request : requests) {
    auto made = Sign(request);
    if (!made) {
      for (size_t i = 0; i < requests.size(); ++i) answers.push_back(Fail(made.error()));
      return answers;
    }
    generations.push_back(made->generation);
    sent.push_back(std::move(made->request));
  }
  answers = client_->SendAll(sent);
  for (size_t i = 0; i < answers.size(); ++i) {
    answers[i] = Settle(requests[i], generations[i], std::move(answers[i]));
  }
  return answers;
}

base::Result<std::unique_ptr<net::BodyStream>> Kubernetes::Open(const net::HttpRequest& request) {
  int attempt = 1;
  bool has_renewed = false;
  while (true) {
    TRY_ASSIGN(const Signed made, Sign(request));
    auto stream = client_->Open(made.request);
    if (!stream && MustConnectAgain(stream.error(), made.generation, has_renewed)) continue;
    if (!stream) return stream;
    TRY_ASSIGN(const bool again, MustRepeat(request, made.generation, (*stream)->status(),
                                            (*stream)->headers(), attempt, has_renewed));
    if (!again) return stream;
  }
}

base::Result<net::WebSocketAnswer> Kubernetes::OpenWebSocket(
    const net::HttpRequest& request, const std::vector<std::string>& protocols) {
  int attempt = 1;
  bool has_renewed = false;
  while (true) {
    TRY_ASSIGN(const Signed made, Sign(request));
    auto answer = net::OpenWebSocket(*client_, made.request, protocols);
    if (!answer && MustConnectAgain(answer.error(), made.generation, has_renewed)) continue;
    if (!answer) return answer;
    TRY_ASSIGN(const bool again, MustRepeat(request, made.generation, answer->status,
                                            answer->headers, attempt, has_renewed));
    if (!again) return answer;
  }
}

}  // namespace

std::unique_ptr<Transport> KubernetesTransport(std::unique_ptr<net::CurlClient> client,
                                               std::unique_ptr<Credentials> credentials,
                                               std::function<void(base::Duration)> pause,
                                               bool returns_429) {
  return std::make_unique<Kubernetes>(std::move(client), std::move(credentials), std::move(pause),
                                      returns_429);
}

}  // namespace cluster
