// A connection as bytes in both directions, over any transport.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace net {

// One thread may Read while one Writes; Cancel from any thread. Read and Write block.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // The next bytes, at least one; nullopt if the peer has closed. kCancelled after Cancel.
  virtual base::Result<std::optional<std::string>> Read() = 0;
  // Writes all of them. kUnavailable if the peer is gone, kCancelled after Cancel.
  virtual base::Status Write(std::string_view bytes) = 0;
  // Ends the wait in progress, and every later one, with kCancelled.
  virtual void Cancel() = 0;
};

}  // namespace net
