#include "net/http/parser.h"

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "base/strings.h"

namespace net {
namespace {

namespace http = boost::beast::http;
using BeastError = boost::beast::error_code;
using BeastView = boost::beast::string_view;

// Up to this size the memory for a body is reserved at once. A larger body's memory grows as it
// comes, so that a Content-Length alone costs nothing.
constexpr size_t kMaxReserve = 1 << 20;

constexpr size_t kShortestLastChunk = std::string_view("0\r\n\r\n").size();

std::string_view View(BeastView text) { return {text.data(), text.size()}; }

}  // namespace

class MessageParser::Impl {
 public:
  virtual ~Impl() = default;
  virtual void ExpectNoBody() = 0;
  virtual size_t Put(std::string_view input, BeastError& error) = 0;
  virtual void PutEnd(BeastError& error) = 0;
  virtual bool HasBegun() const = 0;
  virtual bool HasHeader() const = 0;
  virtual bool IsDone() const = 0;
  virtual bool KeepsAlive() const = 0;

  Message message;
  bool is_header_too_large = false;
  bool is_left_over = false;  // the last Feed did not use all of its input
};

template <bool is_request>
class MessageParser::BeastImpl final : public MessageParser::Impl,
                                       private http::basic_parser<is_request> {
  using Parser = http::basic_parser<is_request>;

 public:
  explicit BeastImpl(size_t body_limit) {
    this->eager(true);
    this->header_limit(static_cast<std::uint32_t>(kMaxHeaderBytes));
    if (body_limit == kNoLimit) {
      this->body_limit(boost::none);
    } else {
      this->body_limit(body_limit);
    }
  }

  void ExpectNoBody() override { this->skip(true); }
  size_t Put(std::string_view input, BeastError& error) override {
    return Parser::put(boost::asio::const_buffer(input.data(), input.size()), error);
  }
  void PutEnd(BeastError& error) override { Parser::put_eof(error); }
  bool HasBegun() const override { return Parser::got_some(); }
  bool HasHeader() const override { return Parser::is_header_done(); }
  bool IsDone() const override { return Parser::is_done(); }
  bool KeepsAlive() const override { return Parser::keep_alive(); }

 private:
  void on_request_impl(http::verb, BeastView method, BeastView target, int version,
                       BeastError& error) override {
    message.method = View(method);
    message.target = View(target);
    message.is_http_1_0 = version == 10;
    Count(method.size() + target.size(), error);
  }
  void on_response_impl(int status, BeastView, int version, BeastError&) override {
    message.status = status;
    message.is_http_1_0 = version == 10;
  }
  void on_field_impl(http::field field, BeastView name, BeastView value,
                     BeastError& error) override {
    Count(name.size() + value.size(), error);
    if (error || Parser::is_header_done()) return;  // trailers are ignored
    // Beast takes a coding it does not know for "no body", which would make the body the next
    // request (RFC 9112 section 6.3, 4).
    if (field == http::field::transfer_encoding &&
        !base::EqualsIgnoreCase(View(value), "chunked")) {
      error = http::error::bad_transfer_encoding;
      return;
    }
    message.headers.emplace_back(View(name), View(value));
  }
  void on_header_impl(BeastError&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, BeastError&) override {
    if (length) message.body.reserve(std::min(static_cast<size_t>(*length), kMaxReserve));
  }
  size_t on_body_impl(BeastView bytes, BeastError&) override {
    message.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_chunk_header_impl(std::uint64_t, BeastView, BeastError&) override {}
  size_t on_chunk_body_impl(std::uint64_t, BeastView bytes, BeastError&) override {
    message.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_finish_impl(BeastError&) override {}

  // Beast limits a single call only: a header that comes line by line would evade that.
  void Count(size_t bytes, BeastError& error) {
    header_bytes_ += bytes;
    if (header_bytes_ > kMaxHeaderBytes) error = http::error::header_limit;
  }

  size_t header_bytes_ = 0;
};

MessageParser::MessageParser(Kind kind, size_t body_limit) {
  if (kind == Kind::kRequest) {
    impl_ = std::make_unique<BeastImpl<true>>(body_limit);
  } else {
    impl_ = std::make_unique<BeastImpl<false>>(body_limit);
  }
}
MessageParser::~MessageParser() = default;
MessageParser::MessageParser(MessageParser&&) noexcept = default;
MessageParser& MessageParser::operator=(MessageParser&&) noexcept = default;

void MessageParser::ExpectNoBody() { impl_->ExpectNoBody(); }

base::Result<size_t> MessageParser::Feed(std::string_view input) {
  // Beast 1.81 asserts five bytes when it looks at a last chunk for the second time.
  if (impl_->HasHeader() && impl_->is_left_over && input.size() < kShortestLastChunk) return 0;
  size_t used = 0;
  BeastError error;
  while (used < input.size() && !impl_->IsDone()) {
    used += impl_->Put(input.substr(used), error);
    if (error == http::error::need_more) {
      error = {};
      if (input.size() - used < kMaxHeaderBytes) break;
      error = http::error::header_limit;
    }
    if (error) break;
  }
  impl_->is_left_over = used < input.size();
  if (!error) return used;
  if (error == http::error::header_limit) {
    impl_->is_header_too_large = true;
    return base::Fail(base::Code::kExhausted, "HTTP header too large");
  }
  if (error == http::error::body_limit) {
    return base::Fail(base::Code::kExhausted, "HTTP body too large");
  }
  return base::Fail(base::Code::kInvalidArgument, "malformed HTTP: " + error.message());
}

base::Status MessageParser::End() {
  if (impl_->IsDone()) return {};
  BeastError error = http::error::partial_message;
  if (impl_->HasBegun()) impl_->PutEnd(error);
  if (error) return base::Fail(base::Code::kUnavailable, "connection closed inside a message");
  return {};
}

bool MessageParser::has_begun() const { return impl_->HasBegun(); }
bool MessageParser::has_header() const { return impl_->HasHeader(); }
bool MessageParser::is_done() const { return impl_->IsDone(); }
bool MessageParser::keeps_alive() const { return impl_->KeepsAlive(); }
bool MessageParser::is_header_too_large() const { return impl_->is_header_too_large; }
MessageParser::Message& MessageParser::message() { return impl_->message; }

}  // namespace net
