// For tests: the server's side of an HTTP/2 connection, by nghttp2, that does as it is told.
#pragma once

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/http/types.h"

namespace net {

class Http2Peer {
 public:
  struct Request {
    int32_t stream = 0;
    Headers fields;
    std::string body;
  };

  explicit Http2Peer(const std::vector<nghttp2_settings_entry>& settings = {}) {
    nghttp2_session_callbacks* callbacks = nullptr;
    EXPECT_EQ(::nghttp2_session_callbacks_new(&callbacks), 0);
    ::nghttp2_session_callbacks_set_on_header_callback(callbacks, &OnHeader);
    ::nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &OnData);
    ::nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &OnFrame);
    nghttp2_option* option = nullptr;
    EXPECT_EQ(::nghttp2_option_new(&option), 0);
    ::nghttp2_option_set_max_send_header_block_length(option, 1 << 20);
    EXPECT_EQ(::nghttp2_session_server_new2(&session_, callbacks, this, option), 0);
    ::nghttp2_option_del(option);
    ::nghttp2_session_callbacks_del(callbacks);
    EXPECT_EQ(
        ::nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size()),
        0);
  }
  ~Http2Peer() { ::nghttp2_session_del(session_); }
  Http2Peer(const Http2Peer&) = delete;
  Http2Peer& operator=(const Http2Peer&) = delete;

  void Feed(std::string_view bytes) {
    EXPECT_EQ(::nghttp2_session_mem_recv(session_, Bytes(bytes), bytes.size()),
              static_cast<ssize_t>(bytes.size()));
  }
  std::string TakeOutput() {
    std::string output;
    const uint8_t* bytes = nullptr;
    for (ssize_t size = 0; (size = ::nghttp2_session_mem_send(session_, &bytes)) > 0;) {
      output.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
    }
    return output + std::exchange(raw_, {});
  }
  // What is not HTTP/2, after all else.
  void Say(std::string raw) { raw_ = std::move(raw); }
  // Requests whose heads have come; and the complete ones.
  std::vector<int32_t> TakeHeads() { return std::exchange(heads_, {}); }
  std::vector<Request> TakeWhole() { return std::exchange(whole_, {}); }

  // `ends`: whether the answer does, after its body.
  void Answer(int32_t stream, int status, const Headers& headers, std::string body,
              bool ends = true) {
    const std::string code = std::to_string(status);
    std::vector<nghttp2_nv> fields = {Field(":status", code)};
    for (const auto& [name, value] : headers) fields.push_back(Field(name, value));
    bodies_[stream] = {std::move(body), ends};
    nghttp2_data_provider provider{};
    provider.read_callback = &OnRead;
    EXPECT_EQ(::nghttp2_submit_response(session_, stream, fields.data(), fields.size(), &provider),
              0);
  }
  void Inform(int32_t stream, int status) {
    const std::string code = std::to_string(status);
    const nghttp2_nv field = Field(":status", code);
    EXPECT_EQ(
        ::nghttp2_submit_headers(session_, NGHTTP2_FLAG_NONE, stream, nullptr, &field, 1, nullptr),
        0);
  }
  void Reset(int32_t stream, uint32_t code) {
    ::nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, code);
  }
  // Streams after `last` were not looked at.
  void GoAway(int32_t last) {
    ::nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, last, NGHTTP2_NO_ERROR, nullptr, 0);
  }
  void Ping() { ::nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr); }

 private:
  struct Body {
    std::string left;
    bool ends = true;
  };

  static const uint8_t* Bytes(std::string_view text) {
    return reinterpret_cast<const uint8_t*>(text.data());
  }
  static nghttp2_nv Field(std::string_view name, std::string_view value) {
    return {const_cast<uint8_t*>(Bytes(name)), const_cast<uint8_t*>(Bytes(value)), name.size(),
            value.size(), NGHTTP2_NV_FLAG_NONE};
  }
  static Http2Peer& Of(void* self) { return *static_cast<Http2Peer*>(self); }
  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* self) {
    Of(self).open_[frame->hd.stream_id].fields.emplace_back(
        std::string(reinterpret_cast<const char*>(name), name_size),
        std::string(reinterpret_cast<const char*>(value), value_size));
    return 0;
  }
  static int OnData(nghttp2_session*, uint8_t, int32_t stream, const uint8_t* bytes, size_t size,
                    void* self) {
    Of(self).open_[stream].body.append(reinterpret_cast<const char*>(bytes), size);
    return 0;
  }
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* self) {
    Http2Peer& peer = Of(self);
    const int32_t stream = frame->hd.stream_id;
    if (frame->hd.type == NGHTTP2_HEADERS) peer.heads_.push_back(stream);
    const bool has_ended = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (!has_ended || !peer.open_.contains(stream)) return 0;
    peer.whole_.push_back(std::move(peer.open_[stream]));
    peer.whole_.back().stream = stream;
    peer.open_.erase(stream);
    return 0;
  }
  static ssize_t OnRead(nghttp2_session*, int32_t stream, uint8_t* to, size_t room, uint32_t* flags,
                        nghttp2_data_source*, void* self) {
    Body& body = Of(self).bodies_[stream];
    const size_t size = std::min(room, body.left.size());
    if (size == 0 && !body.ends) return NGHTTP2_ERR_DEFERRED;
    std::memcpy(to, body.left.data(), size);
    body.left.erase(0, size);
    if (body.left.empty() && body.ends) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(size);
  }

  nghttp2_session* session_ = nullptr;
  std::map<int32_t, Request> open_;
  std::map<int32_t, Body> bodies_;
  std::vector<int32_t> heads_;
  std::vector<Request> whole_;
  std::string raw_;
};

}  // namespace net
