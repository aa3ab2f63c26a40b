// For tests: an HTTP client whose server is a function, with the clock and key of a session.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ads/oci/api.h"
#include "ads/oci/testing/test_keys.h"
#include "base/clock.h"

namespace ads::oci {

class FakeClient final : public net::HttpClient, public net::FileUploader {
 public:
  using Serve = std::function<base::Result<net::HttpResponse>(const net::HttpRequest&)>;
  explicit FakeClient(Serve serve) : serve_(std::move(serve)) {}

  base::Result<net::HttpResponse> Send(const net::HttpRequest& request) override {
    return serve_(request);
  }
  std::vector<base::Result<net::HttpResponse>> SendAll(
      std::span<const net::HttpRequest> requests) override {
    std::vector<base::Result<net::HttpResponse>> answers;
    for (const net::HttpRequest& request : requests) answers.push_back(serve_(request));
    return answers;
  }
  base::Result<net::HttpResponse> SendFile(const net::HttpRequest& request,
                                           const net::FileRange& range) override {
    net::HttpRequest whole = request;
    whole.body.resize(range.size);
    const ssize_t count =
        ::pread(range.fd, whole.body.data(), range.size, static_cast<off_t>(range.offset));
    whole.body.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
    return serve_(whole);
  }
  base::Result<std::unique_ptr<net::BodyStream>> Open(const net::HttpRequest&) override {
    return base::Fail(base::Code::kInternal, "streams are not supported");
  }

 private:
  const Serve serve_;
};

// A service whose requests all go to `serve`; pauses move the clock.
class FakeService {
 public:
  explicit FakeService(FakeClient::Serve serve, Service service = Service::kDataScience)
      : principal(
            {"us-ashburn-1", "look at the profile", "renew it"}, [this] { return Load(); }, clock),
        api({service, "host", "",
             [this](base::Duration pause) {
               const std::lock_guard lock(mutex_);
               pauses.push_back(pause);
               clock.Advance(pause);
             },
             &breaker},
            Connect([this, serve = std::move(serve)](const net::HttpRequest& request) {
              const std::lock_guard lock(mutex_);
              requests.push_back(request);
              return serve(request);
            }),
            principal, clock) {}

  Breaker breaker;
  base::FakeClock clock{base::Time(std::chrono::seconds(2'000'000'000))};
  std::string key_id = "tenancy/user/fingerprint";
  std::vector<net::HttpRequest> requests;
  std::vector<base::Duration> pauses;
  Principal principal;
  Api api;

 private:
  static Connection Connect(FakeClient::Serve serve) {
    auto client = std::make_unique<FakeClient>(std::move(serve));
    FakeClient* const files = client.get();
    return {std::move(client), files};
  }
  base::Result<Principal::Credential> Load() {
    TRY_ASSIGN(auto key, PrivateKey::Read(Secret(std::string(kTestKey)), Secret(), "key"));
    return Principal::Credential{key_id, std::move(key), std::nullopt};
  }

  std::mutex mutex_;  // guards the public members
};

inline net::HttpResponse Answer(int status, std::string body = "", net::Headers headers = {}) {
  return {status, std::move(headers), std::move(body)};
}

}  // namespace ads::oci
