#include "arena/logs/pod_log.h"

#include "api/object.h"

namespace arena {

bool ReadPodLog(cluster::Client& client, const text::Json& pod, const cluster::LogOptions& options,
                size_t most, const std::function<void(std::string_view bytes)>& take) {
  const auto stream = client.Logs(api::Namespace(pod), api::Name(pod), options);
  if (!stream) return false;
  for (size_t read = 0; read < most;) {
    const auto bytes = (*stream)->Read();
    if (!bytes || !*bytes) break;
    read += (*bytes)->size();
    take(**bytes);
  }
  return true;
}

std::optional<std::string> ReadPodLog(cluster::Client& client, const text::Json& pod,
                                      const cluster::LogOptions& options, size_t most) {
  std::string text;
  const bool is_read =
      ReadPodLog(client, pod, options, most, [&text](std::string_view bytes) { text += bytes; });
  return is_read ? std::optional(std::move(text)) : std::nullopt;
}

}  // namespace arena
