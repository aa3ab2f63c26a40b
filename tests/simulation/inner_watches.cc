// The watches within the daemon, which no network cuts: one of them may fall so far behind that the
// store no longer remembers what it has not read. And whoever reads an object may look at the
// answer late, when it is no longer true. Linked in place of the product's function
// (CMakeLists.txt: --wrap), whose transport this one uses.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cluster/transport.h"
#include "machine.h"
#include "thread_table.h"

namespace simulation {
namespace {

constexpr Nanos kLongestDelay = 4 * kSecond;
// Of a thousand answers to whoever reads an object, those that are looked at late.
constexpr unsigned kLateAnswers = 300;
constexpr uint64_t kLongestLateness = 3 * kMilli;

// Reads nothing for a while, and is then told that its version is too old.
class Watching final : public net::BodyStream {
 public:
  explicit Watching(std::unique_ptr<net::BodyStream> real) : real_(std::move(real)) {}

  int status() const override { return real_->status(); }
  const net::Headers& headers() const override { return real_->headers(); }
  base::Result<std::optional<std::string>> Read() override {
    const Machine* const machine = TheMachine();
    if (machine == nullptr || machine->faults().late_watches == 0 ||
        !Chance(machine->faults().late_watches)) {
      return real_->Read();
    }
    Trace("a watch within the daemon is late");
    const Nanos end = Now() + static_cast<Nanos>(Below(kLongestDelay));
    while (!is_cancelled_ && Now() < end) Block(Wait::kCondition, this, end);
    if (is_cancelled_) return base::Fail(base::Code::kCancelled, "cancelled");
    return base::Fail(base::Code::kExpired, "too old resource version");
  }
  std::vector<net::ParsedLine> TakeParsed() override { return real_->TakeParsed(); }
  void Cancel() override {
    is_cancelled_ = true;
    WakeAll(Wait::kCondition, this);
    real_->Cancel();
  }

 private:
  const std::unique_ptr<net::BodyStream> real_;
  bool is_cancelled_ = false;
};

class Inner final : public cluster::Transport {
 public:
  explicit Inner(std::unique_ptr<cluster::Transport> real) : real_(std::move(real)) {}

  bool TakesParsed() const override { return real_->TakesParsed(); }
  base::Result<net::HttpResponse> Send(const net::HttpRequest& request) override {
    auto answer = real_->Send(request);
    if (request.method == "GET") {
      if (Chance(kLateAnswers)) SleepFor(static_cast<Nanos>(Below(kLongestLateness)));
    }
    return answer;
  }
  base::Result<net::HttpResponse> Receive(const net::HttpRequest& request,
                                          const TakeBody& take) override {
    return real_->Receive(request, take);
  }
  std::vector<base::Result<net::HttpResponse>> SendAll(
      std::span<const net::HttpRequest> requests) override {
    return real_->SendAll(requests);
  }
  base::Result<std::unique_ptr<net::BodyStream>> Open(const net::HttpRequest& request) override {
    TRY_ASSIGN(auto opened, real_->Open(request));
    if (request.target.find("watch=") == std::string::npos) return opened;
    return std::make_unique<Watching>(std::move(opened));
  }

 private:
  const std::unique_ptr<cluster::Transport> real_;
};

}  // namespace

// The names of cluster::InProcessTransport.
std::unique_ptr<cluster::Transport> RealTransport(net::HttpHandler handler) asm(
    "__real__ZN7cluster18InProcessTransportESt8functionIFvN3net11HttpRequestE"
    "St10shared_ptrINS1_9ResponderEEEE");
std::unique_ptr<cluster::Transport> InnerTransport(net::HttpHandler handler) asm(
    "__wrap__ZN7cluster18InProcessTransportESt8functionIFvN3net11HttpRequestE"
    "St10shared_ptrINS1_9ResponderEEEE");

std::unique_ptr<cluster::Transport> InnerTransport(net::HttpHandler handler) {
  return std::make_unique<Inner>(RealTransport(std::move(handler)));
}

}  // namespace simulation
