#include "net/client/http2_session.h"

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "base/strings.h"
#include "net/client/client.h"

namespace net {
namespace {

using base::Code;
using base::Fail;
using EndKind = Http2End::Kind;

// What a server may send ahead of one answer's reader, and of all.
constexpr uint32_t kStreamWindow = 1 << 20;
constexpr int32_t kConnectionWindow = 16 << 20;

struct FreeNghttp2 {
  void operator()(nghttp2_session* session) const { ::nghttp2_session_del(session); }
  void operator()(nghttp2_session_callbacks* callbacks) const {
    ::nghttp2_session_callbacks_del(callbacks);
  }
};
using OwnedSession = std::unique_ptr<nghttp2_session, FreeNghttp2>;
using OwnedCallbacks = std::unique_ptr<nghttp2_session_callbacks, FreeNghttp2>;

const uint8_t* BytesOf(std::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

std::string_view TextOf(const uint8_t* bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

// nghttp2 copies both.
nghttp2_nv Field(std::string_view name, std::string_view value) {
  return {const_cast<uint8_t*>(BytesOf(name)), const_cast<uint8_t*>(BytesOf(value)), name.size(),
          value.size(), NGHTTP2_NV_FLAG_NONE};
}

base::Status Check(int code, std::string_view what) {
  if (code >= 0) return {};
  return Fail(Code::kUnavailable, fmt::format("{}: {}", what, ::nghttp2_strerror(code)));
}

struct Stream {
  const HttpRequest* request = nullptr;  // null once it has ended
  size_t body_sent = 0;
  uint64_t begins_at = UINT64_MAX;  // in the connection's output
  Http2Session::Time heard;
  HttpResponse response{0, {}, {}};
  size_t header_bytes = 0;
  bool has_head = false;
};

class ClientSession final : public Http2Session {
 public:
  ClientSession(std::string authority, std::string path)
      : authority_(std::move(authority)), path_(std::move(path)) {}

  base::Status Start();

  bool HasRoom() const override {
    const uint32_t most = ::nghttp2_session_get_remote_settings(
        session_.get(), NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
    return streams_.size() < std::min<size_t>(most, kMaxStreams);
  }
  bool IsClosing() const override {
    return ::nghttp2_session_check_request_allowed(session_.get()) == 0;
  }
  size_t under_way() const override { return under_way_; }
  base::Result<int32_t> Send(const HttpRequest& request, Time now) override;
  base::Status Receive(std::string_view bytes, Time now) override;
  base::Status TakeOutput(std::string& output, size_t enough) override;
  bool IsOver() const override {
    return ::nghttp2_session_want_read(session_.get()) == 0 &&
           ::nghttp2_session_want_write(session_.get()) == 0;
  }
  void Expire(Time then) override;
  Time SilentSince(Time now) const override;
  void Break(uint64_t sent) override;
  std::vector<Http2End> TakeEnds() override { return std::exchange(ends_, {}); }

 private:
  static ClientSession& Of(void* self) { return *static_cast<ClientSession*>(self); }
  Stream* Find(int32_t id) {
    const auto found = streams_.find(id);
    return found == streams_.end() ? nullptr : &found->second;
  }
  void End(int32_t id, Stream& stream, EndKind kind, std::string detail = {});
  void Cancel(int32_t id) {
    ::nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
  }

  static OwnedCallbacks Callbacks();
  // nghttp2's callbacks: 0 goes on; a "temporal failure" resets the stream.
  int OnHeader(const nghttp2_frame& frame, std::string_view name, std::string_view value);
  int OnBody(int32_t id, std::string_view bytes);
  int OnFrame(const nghttp2_frame& frame);
  int OnBegin(const nghttp2_frame& frame);
  int OnClosed(int32_t id, uint32_t code);
  ssize_t GiveBody(int32_t id, uint8_t* to, size_t room, uint32_t& flags);

  const std::string authority_;
  const std::string path_;
  std::unordered_map<int32_t, Stream> streams_;
  size_t under_way_ = 0;
  std::vector<Http2End> ends_;
  Time now_{};
  uint64_t given_ = 0;  // bytes of output
  OwnedSession session_;
};

OwnedCallbacks ClientSession::Callbacks() {
  nghttp2_session_callbacks* made = nullptr;
  if (::nghttp2_session_callbacks_new(&made) != 0) return nullptr;
  ::nghttp2_session_callbacks_set_on_header_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
               const uint8_t* value, size_t value_size, uint8_t, void* self) {
        return Of(self).OnHeader(*frame, TextOf(name, name_size), TextOf(value, value_size));
      });
  ::nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      made, [](nghttp2_session*, uint8_t, int32_t id, const uint8_t* bytes, size_t size,
               void* self) { return Of(self).OnBody(id, TextOf(bytes, size)); });
  ::nghttp2_session_callbacks_set_on_frame_recv_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, void* self) {
        return Of(self).OnFrame(*frame);
      });
  ::nghttp2_session_callbacks_set_before_frame_send_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, void* self) {
        return Of(self).OnBegin(*frame);
      });
  ::nghttp2_session_callbacks_set_on_stream_close_callback(
      made, [](nghttp2_session*, int32_t id, uint32_t code, void* self) {
        return Of(self).OnClosed(id, code);
      });
  return OwnedCallbacks(made);
}

base::Status ClientSession::Start() {
  const OwnedCallbacks callbacks = Callbacks();
  nghttp2_session* made = nullptr;
  if (!callbacks || ::nghttp2_session_client_new(&made, callbacks.get(), this) != 0) {
    return Fail(Code::kExhausted, "nghttp2 has no memory left");
  }
  session_.reset(made);
  const std::array<nghttp2_settings_entry, 3> settings = {{
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kMaxHeaderBytes},
  }};
  TRY(Check(::nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, settings.data(), settings.size()),
            "HTTP/2"));
  return Check(
      ::nghttp2_session_set_local_window_size(made, NGHTTP2_FLAG_NONE, 0, kConnectionWindow),
      "HTTP/2");
}

base::Result<int32_t> ClientSession::Send(const HttpRequest& request, Time now) {
  const std::string path = path_ + request.target;
  const std::string length = std::to_string(request.body.size());
  std::vector<std::string> names;
  std::vector<nghttp2_nv> fields = {Field(":method", request.method), Field(":scheme", "https"),
                                    Field(":authority", authority_), Field(":path", path)};
  names.reserve(request.headers.size());
  for (const auto& [name, value] : request.headers) {
    names.push_back(base::ToLower(name));
    fields.push_back(Field(names.back(), value));
  }
  fields.push_back(Field("content-length", length));
  nghttp2_data_provider body{};
  body.read_callback = [](nghttp2_session*, int32_t id, uint8_t* to, size_t room, uint32_t* flags,
                          nghttp2_data_source*,
                          void* self) { return Of(self).GiveBody(id, to, room, *flags); };
  const int32_t id = ::nghttp2_submit_request(session_.get(), nullptr, fields.data(), fields.size(),
                                              request.body.empty() ? nullptr : &body, nullptr);
  TRY(Check(id, "HTTP/2 request"));
  Stream& stream = streams_[id];
  stream.request = &request;
  stream.heard = now;
  ++under_way_;
  return id;
}

base::Status ClientSession::Receive(std::string_view bytes, Time now) {
  now_ = now;
  const ssize_t taken = ::nghttp2_session_mem_recv(session_.get(), BytesOf(bytes), bytes.size());
  return Check(static_cast<int>(taken), "HTTP/2");
}

base::Status ClientSession::TakeOutput(std::string& output, size_t enough) {
  while (output.size() < enough) {
    const uint8_t* bytes = nullptr;
    const ssize_t size = ::nghttp2_session_mem_send(session_.get(), &bytes);
    TRY(Check(static_cast<int>(size), "HTTP/2"));
    if (size == 0) break;
    output.append(TextOf(bytes, static_cast<size_t>(size)));
    given_ += static_cast<uint64_t>(size);
  }
  return {};
}

void ClientSession::Expire(Time then) {
  for (auto& [id, stream] : streams_) {
    if (stream.request == nullptr || stream.heard > then) continue;
    End(id, stream, EndKind::kSilent);
    Cancel(id);
  }
}

Http2Session::Time ClientSession::SilentSince(Time now) const {
  for (const auto& [id, stream] : streams_) {
    if (stream.request != nullptr) now = std::min(now, stream.heard);
  }
  return now;
}

void ClientSession::Break(uint64_t sent) {
  for (auto& [id, stream] : streams_) {
    if (stream.request == nullptr) continue;
    if (stream.begins_at >= sent) {
      End(id, stream, EndKind::kUnprocessed);
    } else if (stream.has_head && stream.response.status >= 400) {
      End(id, stream, EndKind::kAnswered);
    } else {
      End(id, stream, EndKind::kBroken);
    }
  }
}

void ClientSession::End(int32_t id, Stream& stream, EndKind kind, std::string detail) {
  stream.request = nullptr;
  --under_way_;
  ends_.push_back({id, kind, std::move(stream.response), std::move(detail)});
}

int ClientSession::OnHeader(const nghttp2_frame& frame, std::string_view name,
                            std::string_view value) {
  Stream* const stream = Find(frame.hd.stream_id);
  // What follows a body (trailers) is of no interest.
  if (stream == nullptr || stream->request == nullptr || stream->has_head) return 0;
  stream->header_bytes += name.size() + value.size();
  if (stream->header_bytes > kMaxHeaderBytes) {
    End(frame.hd.stream_id, *stream, EndKind::kTooLarge, "the answer's headers are too large");
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }
  if (name == ":status") {
    // One answer may follow another: 100 Continue, then the one that counts.
    stream->response.status = static_cast<int>(base::ParseInt(value).value_or(0));
    stream->response.headers.clear();
  } else {
    stream->response.headers.emplace_back(name, value);
  }
  return 0;
}

int ClientSession::OnBody(int32_t id, std::string_view bytes) {
  Stream* const stream = Find(id);
  if (stream == nullptr || stream->request == nullptr) return 0;
  stream->heard = now_;
  std::string& body = stream->response.body;
  if (body.size() + bytes.size() > kMaxResponseBytes) {
    const HttpRequest& request = *stream->request;
    End(id, *stream, EndKind::kTooLarge,
        fmt::format("the answer to {} {} is larger than {} MiB", request.method,
                    request.target.substr(0, request.target.find('?')), kMaxResponseBytes >> 20));
    Cancel(id);
    return 0;
  }
  body.append(bytes);
  return 0;
}

int ClientSession::OnFrame(const nghttp2_frame& frame) {
  const int32_t id = frame.hd.stream_id;
  Stream* const stream = Find(id);
  if (stream == nullptr || stream->request == nullptr) return 0;
  stream->heard = now_;
  if (frame.hd.type == NGHTTP2_HEADERS && stream->response.status >= 200) stream->has_head = true;
  const bool may_end = frame.hd.type == NGHTTP2_HEADERS || frame.hd.type == NGHTTP2_DATA;
  if (!may_end || (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) == 0 || !stream->has_head) return 0;
  End(id, *stream, EndKind::kAnswered);
  // The server needs no more of the request, and may never let it come.
  if (::nghttp2_session_get_stream_local_close(session_.get(), id) == 0) Cancel(id);
  return 0;
}

int ClientSession::OnBegin(const nghttp2_frame& frame) {
  if (frame.hd.type != NGHTTP2_HEADERS) return 0;
  if (Stream* const stream = Find(frame.hd.stream_id)) stream->begins_at = given_;
  return 0;
}

int ClientSession::OnClosed(int32_t id, uint32_t code) {
  Stream* const stream = Find(id);
  if (stream == nullptr) return 0;
  if (stream->request == nullptr) {
    // It has ended before.
  } else if (code == NGHTTP2_REFUSED_STREAM) {
    End(id, *stream, EndKind::kUnprocessed);
  } else if (stream->has_head && stream->response.status >= 400) {
    End(id, *stream, EndKind::kAnswered);
  } else {
    End(id, *stream, EndKind::kBroken,
        fmt::format("HTTP/2 stream {} was not closed cleanly: {} (err {})", id,
                    ::nghttp2_http2_strerror(code), code));
  }
  streams_.erase(id);
  return 0;
}

ssize_t ClientSession::GiveBody(int32_t id, uint8_t* to, size_t room, uint32_t& flags) {
  Stream* const stream = Find(id);
  if (stream == nullptr || stream->request == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  const std::string_view left =
      std::string_view(stream->request->body).substr(stream->body_sent, room);
  std::memcpy(to, left.data(), left.size());
  stream->body_sent += left.size();
  if (stream->body_sent == stream->request->body.size()) flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(left.size());
}

// RFC 9113 section 8.2.2, and what Send itself says.
bool IsOfConnection(std::string_view name) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "connection",        "keep-alive", "proxy-connection",
      "transfer-encoding", "upgrade",    "te",
      "trailer",           "expect",     "host",
      "content-length"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view one) { return base::EqualsIgnoreCase(name, one); });
}

}  // namespace

bool IsForHttp2(const HttpRequest& request) {
  const std::string& target = request.target;
  if (::nghttp2_check_method(BytesOf(request.method), request.method.size()) == 0 ||
      ::nghttp2_check_path(BytesOf(target), target.size()) == 0) {
    return false;
  }
  return std::all_of(request.headers.begin(), request.headers.end(), [](const auto& header) {
    const auto& [name, value] = header;
    const std::string lower = base::ToLower(name);
    return !name.starts_with(':') && !IsOfConnection(name) &&
           ::nghttp2_check_header_name(BytesOf(lower), lower.size()) != 0 &&
           ::nghttp2_check_header_value_rfc9113(BytesOf(value), value.size()) != 0;
  });
}

base::Result<std::unique_ptr<Http2Session>> Http2Session::Open(std::string authority,
                                                               std::string path) {
  auto session = std::make_unique<ClientSession>(std::move(authority), std::move(path));
  TRY(session->Start());
  return std::unique_ptr<Http2Session>(std::move(session));
}

}  // namespace net
