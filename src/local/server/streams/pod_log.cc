#include "local/server/streams/pod_log.h"

#include <fmt/format.h>

#include <mutex>

#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "local/server/streams/pod_container.h"

namespace local::server {
namespace {

// A source that is silent for this long is assumed to have a log: the head of the answer is sent.
constexpr std::chrono::milliseconds kHeadDelay{50};

// Holds the head of the answer back until the source has said whether there is a log at all.
class ResponseSink : public LogSink, public std::enable_shared_from_this<ResponseSink> {
 public:
  explicit ResponseSink(std::shared_ptr<net::Responder> responder)
      : responder_(std::move(responder)) {}

  void StartLater(Timers& timers) {
    timers.After(kHeadDelay, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->Start();
    });
  }
  void Write(std::string chunk) override {
    Start();
    responder_->Write(std::move(chunk));
  }
  void Finish(base::Status status) override {
    if (!status && RefuseWith(status.error())) return;
    Start();
    if (!status) responder_->Write(status.error().message + "\n");
    responder_->Finish();
  }
  bool IsClosed() const override { return responder_->IsClosed(); }
  size_t PendingBytes() const override { return responder_->PendingBytes(); }
  void WhenTaken(size_t limit, std::function<void()> callback) override {
    responder_->WhenTaken(limit, std::move(callback));
  }

 private:
  void Start() {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_started_, true)) return;
    responder_->Start(200, {{"Content-Type", "text/plain"}});
  }
  bool RefuseWith(const base::Error& error) {
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(is_started_, true)) return false;
    }
    // A kubelet's refusals reach the client as bad requests.
    const bool is_common = error.code == base::Code::kNotFound;
    responder_->Send(ToResponse(is_common ? BadRequest(error.message) : FromError(error)));
    return true;
  }

  const std::shared_ptr<net::Responder> responder_;
  std::mutex mutex_;
  bool is_started_ = false;
};

// What a kubelet answers for a container that has not run. The texts are kubectl's.
Check CheckHasRun(const text::Json& pod, const LogRequest& request) {
  for (const bool is_init : {false, true}) {
    for (const api::ContainerStatus& status :
         is_init ? api::InitContainerStatuses(pod) : api::ContainerStatuses(pod)) {
      if (status.name != request.container) continue;
      const bool was_ended = status.last_terminated.has_value() || status.restart_count > 0;
      if (request.previous && !was_ended) {
        return Refuse(
            BadRequest(fmt::format("previous terminated container \"{}\" in pod \"{}\" "
                                   "not found",
                                   request.container, api::Name(pod))));
      }
      if (status.is_waiting && !was_ended) {
        return Refuse(BadRequest(fmt::format(
            "container \"{}\" in pod \"{}\" is waiting to start: {}", request.container,
            api::Name(pod),
            status.waiting_message.empty() ? status.waiting_reason : status.waiting_message)));
      }
    }
  }
  return {};
}

ApiError InvalidOption(std::string_view pod, std::string_view cause) {
  return {422, "Invalid", fmt::format("PodLogOptions \"{}\" is invalid: {}", pod, cause), {}};
}

Check ReadSince(const RestRequest& rest, base::Time now, LogRequest& to) {
  auto seconds = rest.Number("sinceSeconds");
  if (!seconds) return Refuse(seconds.error());
  const std::string_view text = rest.target.Query("sinceTime");
  if (*seconds && !text.empty()) {
    return Refuse(InvalidOption(
        rest.name,
        "sinceSeconds: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be "
        "specified"));
  }
  if (*seconds) {
    if (**seconds < 1) {
      return Refuse(
          InvalidOption(rest.name, fmt::format("sinceSeconds: Invalid value: {}: must be greater "
                                               "than 0",
                                               **seconds)));
    }
    to.since = now - std::chrono::seconds(std::min<int64_t>(**seconds, 1'000'000'000));
  } else if (!text.empty()) {
    auto time = base::ParseRfc3339(text);
    if (!time) return Refuse(BadRequest(fmt::format("sinceTime: {}", time.error().message)));
    to.since = *time;
  }
  return {};
}

Answer<LogRequest> ReadOptions(const RestRequest& rest, base::Time now) {
  LogRequest request;
  request.follow = rest.Flag("follow");
  request.timestamps = rest.Flag("timestamps");
  request.previous = rest.Flag("previous");
  auto tail = rest.Number("tailLines");
  if (!tail) return Refuse(tail.error());
  if (*tail && **tail < 0) {
    return Refuse(InvalidOption(
        rest.name,
        fmt::format("tailLines: Invalid value: {}: must be greater than or equal to 0", **tail)));
  }
  auto limit = rest.Number("limitBytes");
  if (!limit) return Refuse(limit.error());
  if (*limit && **limit < 1) {
    return Refuse(InvalidOption(
        rest.name, fmt::format("limitBytes: Invalid value: {}: must be greater than 0", **limit)));
  }
  request.tail_lines = *tail;
  request.limit_bytes = *limit;
  if (auto fine = ReadSince(rest, now, request); !fine) return Refuse(fine.error());
  return request;
}

}  // namespace

void HandleLog(Backend& backend, Call call) {
  const RestRequest& rest = call.rest;
  const auto refuse = [&](const ApiError& error) { call.responder->Send(ToResponse(error)); };
  auto request = ReadOptions(rest, backend.clock->Now());
  if (!request) return refuse(request.error());
  const auto pod = ReadPod(backend, rest);
  if (!pod) return refuse(pod.error());
  auto container = ResolveContainer(*pod, rest.target.Query("container"));
  if (!container) return refuse(container.error());
  request->container = std::move(*container);
  if (auto fine = CheckHasRun(*pod, *request); !fine) return refuse(fine.error());
  // As in Kubernetes, a pod without a node has an empty log.
  if (api::NodeName(*pod).empty() || backend.log_source == nullptr) {
    return call.responder->Send({200, {{"Content-Type", "text/plain"}}, ""});
  }
  auto sink = std::make_shared<ResponseSink>(call.responder);
  if (request->follow) sink->StartLater(*backend.timers);
  backend.log_source->Open(*pod, *request, sink);
}

}  // namespace local::server
