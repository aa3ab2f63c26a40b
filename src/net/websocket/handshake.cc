#include "net/websocket/handshake.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/random.h>

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace net {
namespace {

constexpr std::string_view kMagic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
constexpr size_t kKeyBytes = 16;
constexpr size_t kKeyLength = 24;  // in base64

std::string Base64(const unsigned char* bytes, size_t count) {
  std::string text((count + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes,
                                   static_cast<int>(count));
  text.resize(static_cast<size_t>(size));
  return text;
}

// The comma-separated words of all headers with that name.
std::vector<std::string> Words(const Headers& headers, std::string_view name) {
  std::vector<std::string> words;
  for (const auto& [key, value] : headers) {
    if (!base::EqualsIgnoreCase(key, name)) continue;
    for (const std::string& word : base::Split(value, ',')) {
      words.emplace_back(base::Trim(word));
    }
  }
  return words;
}

bool HasWord(const Headers& headers, std::string_view name, std::string_view wanted) {
  const std::vector<std::string> words = Words(headers, name);
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return base::EqualsIgnoreCase(word, wanted); });
}

bool Contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool IsKey(std::string_view key) {
  return key.size() == kKeyLength && key.ends_with("==") &&
         std::all_of(key.begin(), key.end() - 2, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '+' || c == '/';
         });
}

}  // namespace

bool WantsWebSocket(const HttpRequest& request) {
  return HasWord(request.headers, "Connection", "upgrade") &&
         HasWord(request.headers, "Upgrade", "websocket");
}

base::Result<Headers> AcceptWebSocket(const HttpRequest& request,
                                      const std::vector<std::string>& protocols) {
  const auto refuse = [](std::string why) {
    return base::Fail(base::Code::kInvalidArgument, "WebSocket handshake: " + std::move(why));
  };
  if (!WantsWebSocket(request)) return refuse("no Upgrade: websocket");
  if (request.method != "GET") return refuse("the method must be GET");
  if (!request.body.empty()) return refuse("the request has a body");
  if (FindHeader(request.headers, "Sec-WebSocket-Version") != "13") {
    return refuse("Sec-WebSocket-Version must be 13");
  }
  const std::string_view key = FindHeader(request.headers, "Sec-WebSocket-Key");
  if (!IsKey(key)) return refuse("Sec-WebSocket-Key must be 16 bytes in base64");
  const std::vector<std::string> offered = Words(request.headers, "Sec-WebSocket-Protocol");
  for (const std::string& protocol : protocols) {
    if (!Contains(offered, protocol)) continue;
    return Headers{{"Upgrade", "websocket"},
                   {"Sec-WebSocket-Accept", WebSocketAccept(key)},
                   {"Sec-WebSocket-Protocol", protocol}};
  }
  return refuse(fmt::format("Sec-WebSocket-Protocol must offer one of {}, not \"{}\"",
                            base::Join(protocols, ", "), base::Join(offered, ", ")));
}

std::string NewWebSocketKey() {
  std::array<unsigned char, kKeyBytes> bytes{};
  // Complete for so few bytes (getrandom(2)); a key need not even be secret.
  while (::getrandom(bytes.data(), bytes.size(), 0) < 0) {
  }
  return Base64(bytes.data(), bytes.size());
}

std::string WebSocketAccept(std::string_view key) {
  const std::string text = std::string(key).append(kMagic);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
  return Base64(digest.data(), size);
}

Headers WebSocketRequestHeaders(std::string_view key, const std::vector<std::string>& protocols) {
  return {{"Upgrade", "websocket"},
          {"Sec-WebSocket-Version", "13"},
          {"Sec-WebSocket-Key", std::string(key)},
          {"Sec-WebSocket-Protocol", base::Join(protocols, ", ")}};
}

base::Result<std::string> CheckWebSocketAnswer(const Headers& headers, std::string_view key,
                                               const std::vector<std::string>& protocols) {
  const auto refuse = [](std::string why) {
    return base::Fail(base::Code::kUnavailable, "WebSocket handshake: " + std::move(why));
  };
  if (!HasWord(headers, "Upgrade", "websocket") ||
      FindHeader(headers, "Sec-WebSocket-Accept") != WebSocketAccept(key)) {
    return refuse("the server's answer does not belong to the request");
  }
  const std::string_view protocol = FindHeader(headers, "Sec-WebSocket-Protocol");
  if (!Contains(protocols, protocol)) {
    return refuse(fmt::format("the server chose the subprotocol \"{}\"", protocol));
  }
  return std::string(protocol);
}

}  // namespace net
