// For tests: requests as a client of a given torch version sends them, and a socket to send them
// with.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"

namespace rendezvous::testing {

template <typename T>
std::string Number(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
inline std::string Text(std::string_view text) {
  return Number(static_cast<uint64_t>(text.size())) + std::string(text);
}
inline std::string Keys(const std::vector<std::string>& keys) {
  std::string bytes = Number(static_cast<uint64_t>(keys.size()));
  for (const std::string& key : keys) bytes += Text(key);
  return bytes;
}
inline std::string Byte(int byte) { return std::string(1, static_cast<char>(byte)); }

inline std::string Hello() { return Byte(0) + Number(uint32_t{0x3C85F7CE}); }
// From 2.2 on.
inline std::string Set(std::string_view key, std::string_view value) {
  return Byte(1) + Text(key) + Text(value);
}
inline std::string Get(std::string_view key) { return Byte(3) + Text(key); }
inline std::string Add(std::string_view key, int64_t delta) {
  return Byte(4) + Text(key) + Number(delta);
}
inline std::string Wait(const std::vector<std::string>& keys) { return Byte(6) + Keys(keys); }
inline std::string CancelWait() { return Byte(12); }

// A connection to 127.0.0.1:port. What it waits for must arrive within a minute, or the test fails.
class TestSocket {
 public:
  explicit TestSocket(uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const timeval minute{60, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &minute, sizeof minute);
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &minute, sizeof minute);
  }
  int fd() const { return fd_.get(); }

  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  // Returns fewer bytes only when the other side has closed.
  std::string Receive(size_t count) {
    std::string bytes(count, '\0');
    size_t got = 0;
    while (got < count) {
      const ssize_t some = ::recv(fd_.get(), bytes.data() + got, count - got, 0);
      if (some <= 0) break;
      got += static_cast<size_t>(some);
    }
    bytes.resize(got);
    return bytes;
  }
  template <typename T>
  T ReceiveNumber() {
    const std::string bytes = Receive(sizeof(T));
    EXPECT_EQ(bytes.size(), sizeof(T));
    T value{};
    if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string ReceiveText() { return Receive(ReceiveNumber<uint64_t>()); }
  bool IsClosedByPeer() { return Receive(1).empty(); }
  // Whether nothing has arrived so far.
  bool IsSilent() {
    pollfd ready{fd_.get(), POLLIN, 0};
    return ::poll(&ready, 1, 0) == 0;
  }
  void Close() { fd_.Reset(); }

 private:
  base::Fd fd_;
};

}  // namespace rendezvous::testing
