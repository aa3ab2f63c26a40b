#include "cluster/exec/port_stream.h"

#include <algorithm>

namespace cluster {
namespace {

// A server may hold a whole message in memory.
constexpr size_t kMaxPortMessage = 32 << 10;

}  // namespace

std::string PortNumber(uint16_t port) {
  return {static_cast<char>(port & 0xff), static_cast<char>(port >> 8)};
}

base::Result<std::optional<std::string>> PortStream::Read() {
  while (true) {
    auto piece = socket_->Read();
    if (!piece && error_.empty()) return base::Fail(std::move(piece.error()));
    if (!piece || !*piece) {
      if (error_.empty()) return std::optional<std::string>();
      return base::Fail(base::Code::kUnavailable, error_);
    }
    std::string bytes = std::move((*piece)->payload);
    if ((*piece)->begins) channel_.reset();
    if (!channel_ && !bytes.empty()) {
      channel_ = bytes.front();
      bytes.erase(0, 1);
    }
    if (!channel_ || (channel_ != kPortData && channel_ != kPortError)) continue;
    size_t& number_read = number_read_[static_cast<size_t>(*channel_)];
    const size_t of_number = std::min(bytes.size(), kPortNumberBytes - number_read);
    number_read += of_number;
    bytes.erase(0, of_number);
    if (bytes.empty()) continue;
    if (channel_ == kPortData) return std::optional(std::move(bytes));
    error_ += bytes.substr(0, kMaxPortErrorBytes - error_.size());
  }
}

base::Status PortStream::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, kMaxPortMessage);
    TRY(socket_->Send(std::string(1, kPortData).append(part)));
    bytes.remove_prefix(part.size());
  }
  return {};
}

}  // namespace cluster
