// For tests: a responder that ignores every call; subclasses implement Send.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "net/http/server.h"

namespace net {

class IgnoringResponder : public Responder {
 public:
  void Start(int, Headers) override {}
  void Write(std::string) override {}
  void Finish() override {}
  void CutShort(std::string) override {}
  void Upgrade(Headers, std::function<void(std::string_view)>) override {}
  void Used(size_t) override {}
  size_t PendingBytes() const override { return 0; }
  void WhenTaken(size_t, std::function<void()>) override {}
  bool IsClosed() const override { return false; }
  void OnClose(std::function<void()>) override {}
};

}  // namespace net
