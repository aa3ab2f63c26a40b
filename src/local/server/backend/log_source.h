// Interface by which the server reads a pod's log.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "text/json.h"

namespace local::server {

struct LogRequest {
  std::string container;  // resolved, exists in the pod
  bool follow = false;
  bool timestamps = false;
  bool previous = false;
  std::optional<int64_t> tail_lines;
  std::optional<base::Time> since;
  std::optional<int64_t> limit_bytes;
};

// Called from the source's thread.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void Write(std::string chunk) = 0;
  virtual void Finish(base::Status status) = 0;
  virtual bool IsClosed() const = 0;
  virtual size_t PendingBytes() const = 0;
  // Like net::Responder::WhenTaken.
  virtual void WhenTaken(size_t limit, std::function<void()> callback) = 0;
};

// Thread safe; Open returns at once.
class LogSource {
 public:
  virtual ~LogSource() = default;
  virtual void Open(const text::Json& pod, const LogRequest& request,
                    std::shared_ptr<LogSink> sink) = 0;
};

}  // namespace local::server
