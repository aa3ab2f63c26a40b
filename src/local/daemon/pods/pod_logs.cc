#include "local/daemon/pods/pod_logs.h"

namespace local::daemon {

base::Result<std::unique_ptr<PodLogs>> PodLogs::Start(std::string pods_directory) {
  TRY_ASSIGN(auto follower, node::LogFollower::Create());
  return std::unique_ptr<PodLogs>(new PodLogs(std::move(pods_directory), std::move(follower)));
}

void PodLogs::Open(const text::Json& pod, const server::LogRequest& request,
                   std::shared_ptr<server::LogSink> sink) {
  node::LogQuery query;
  query.follow = request.follow;
  query.has_timestamps = request.timestamps;
  query.previous = request.previous;
  query.tail_lines = request.tail_lines;
  query.since = request.since;
  query.limit_bytes = request.limit_bytes;
  node::LogReceiver receiver;
  receiver.write = [sink](std::string chunk) {
    if (sink->IsClosed()) return false;
    sink->Write(std::move(chunk));
    return true;
  };
  receiver.finish = [sink](base::Status status) { sink->Finish(std::move(status)); };
  receiver.pending = [sink] { return sink->PendingBytes(); };
  receiver.when_taken = [sink](size_t limit, std::function<void()> callback) {
    sink->WhenTaken(limit, std::move(callback));
  };
  follower_->Open(pods_directory_ + "/" + std::string(text::GetString(pod, {"metadata", "uid"})),
                  request.container, std::move(query), std::move(receiver));
}

}  // namespace local::daemon
