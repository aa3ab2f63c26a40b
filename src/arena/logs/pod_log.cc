#include "arena/logs/pod_log.h"

#include "api/object.h"
#include "api/pod.h"

namespace arena {

std::string ContainerOfLog(const text::Json& pod) {
  if (text::Items(pod, {"spec", "containers"}).size() < 2) return "";
  return std::string(text::GetString(*api::MainContainer(pod), {"name"}));
}

base::Status ReadPodLog(cluster::Client& client, const text::Json& pod,
                        const cluster::LogOptions& options, size_t most,
                        const std::function<void(std::string_view bytes)>& take) {
  cluster::LogOptions of_container = options;
  if (of_container.container.empty()) of_container.container = ContainerOfLog(pod);
  TRY_ASSIGN(const auto stream, client.Logs(api::Namespace(pod), api::Name(pod), of_container));
  for (size_t read = 0; read < most;) {
    const auto bytes = stream->Read();
    if (!bytes || !*bytes) break;
    read += (*bytes)->size();
    take(**bytes);
  }
  return {};
}

base::Result<std::string> ReadPodLog(cluster::Client& client, const text::Json& pod,
                                     const cluster::LogOptions& options, size_t most) {
  std::string text;
  TRY(ReadPodLog(client, pod, options, most, [&text](std::string_view bytes) { text += bytes; }));
  return text;
}

}  // namespace arena
