// OutputQueue: bytes to be sent to one peer. Large values are shared with the store, not copied.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rendezvous {

class OutputQueue {
 public:
  enum class Flushed { kAll, kBlocked, kBroken };

  void Append(std::string_view bytes) { text_.append(bytes); }
  template <typename T>
  void AppendNumber(T number) {
    text_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void AppendShared(std::shared_ptr<const std::string> bytes);

  bool empty() const { return pending() == 0; }
  // Bytes not yet sent, shared ones included.
  size_t pending() const { return text_.size() + shared_bytes_ - sent_; }

  // Sends what the socket accepts now. kBroken: the peer is gone.
  Flushed Flush(int fd);

 private:
  struct Shared {
    size_t at;  // in text_: it is sent before text_[at]
    std::shared_ptr<const std::string> bytes;
  };
  ssize_t SendPieces(int fd) const;
  void Reset();

  std::string text_;
  std::vector<Shared> shared_;
  size_t shared_bytes_ = 0;
  size_t sent_ = 0;
};

}  // namespace rendezvous
