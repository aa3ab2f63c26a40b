#include "local/daemon/pods/pod_logs.h"

#include <unistd.h>

#include "local/node/logs/record.h"

namespace local::daemon {

base::Result<std::unique_ptr<PodLogs>> PodLogs::Start(std::string state_directory) {
  TRY_ASSIGN(auto follower, node::LogFollower::Create());
  return std::unique_ptr<PodLogs>(new PodLogs(std::move(state_directory), std::move(follower)));
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
  const std::string uid(text::GetString(pod, {"metadata", "uid"}));
  std::string directory = state_directory_ + "/pods/" + uid;
  const std::string kept = node::RecordDirectory(state_directory_, uid);
  if (::access(kept.c_str(), F_OK) == 0) directory = kept;
  follower_->Open(std::move(directory), request.container, std::move(query), std::move(receiver));
}

}  // namespace local::daemon
