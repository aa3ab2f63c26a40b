#include "controller/operator/lease_term.h"

#include <algorithm>
#include <utility>

namespace controller {
namespace {

bool IsWrite(const net::HttpRequest& request) {
  return request.method != "GET" && request.method != "HEAD";
}

class Bound final : public cluster::Transport {
 public:
  Bound(std::shared_ptr<cluster::Transport> to, const LeaseTerm& term)
      : to_(std::move(to)), term_(term) {}

  base::Result<net::HttpResponse> Send(const net::HttpRequest& request) override {
    if (IsWrite(request)) TRY(Check());
    return to_->Send(request);
  }
  base::Result<net::HttpResponse> Receive(const net::HttpRequest& request,
                                          const TakeBody& take) override {
    if (IsWrite(request)) TRY(Check());
    return to_->Receive(request, take);
  }
  std::vector<base::Result<net::HttpResponse>> SendAll(
      std::span<const net::HttpRequest> requests) override {
    if (std::any_of(requests.begin(), requests.end(), IsWrite)) {
      if (const base::Status lasts = Check(); !lasts) {
        return std::vector<base::Result<net::HttpResponse>>(requests.size(),
                                                            base::Fail(lasts.error()));
      }
    }
    return to_->SendAll(requests);
  }
  base::Result<std::unique_ptr<net::BodyStream>> Open(const net::HttpRequest& request) override {
    return to_->Open(request);
  }

 private:
  base::Status Check() const {
    if (term_.Lasts()) return {};
    return base::Fail(base::Code::kCancelled, "not sent: the lease was not renewed in time");
  }

  const std::shared_ptr<cluster::Transport> to_;
  const LeaseTerm& term_;
};

}  // namespace

std::unique_ptr<cluster::Transport> BoundToTerm(std::shared_ptr<cluster::Transport> to,
                                                const LeaseTerm& term) {
  return std::make_unique<Bound>(std::move(to), term);
}

}  // namespace controller
