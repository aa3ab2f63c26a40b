// How JSON text becomes a value: the handler that text/json.cc and text/projection.cc pass to
// Boost's parser. For those two files only.
#pragma once

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "text/json.h"

namespace text {

// Builds the value as boost::json::parser does, except that it parses doubles again from their
// text, because Boost 1.81 is off by one ulp for some.
class ValueBuilder {
 public:
  explicit ValueBuilder(boost::json::storage_ptr storage = {}) : storage_(std::move(storage)) {}

  static constexpr size_t max_object_size = boost::json::object::max_size();
  static constexpr size_t max_array_size = boost::json::array::max_size();
  static constexpr size_t max_key_size = boost::json::string::max_size();
  static constexpr size_t max_string_size = boost::json::string::max_size();

  using Ec = boost::json::error_code;
  using Sv = boost::json::string_view;

  bool on_document_begin(Ec&) { return true; }
  bool on_document_end(Ec&) { return true; }
  bool on_object_begin(Ec&) { return true; }
  bool on_array_begin(Ec&) { return true; }
  bool on_comment_part(Sv, Ec&) { return true; }
  bool on_comment(Sv, Ec&) { return true; }
  bool on_object_end(size_t count, Ec&) {
    stack_.push_object(count);
    return true;
  }
  bool on_array_end(size_t count, Ec&) {
    stack_.push_array(count);
    return true;
  }
  bool on_key_part(Sv part, size_t, Ec&) {
    stack_.push_chars(part);
    return true;
  }
  bool on_key(Sv rest, size_t, Ec&) {
    stack_.push_key(rest);
    return true;
  }
  bool on_string_part(Sv part, size_t, Ec&) {
    stack_.push_chars(part);
    return true;
  }
  bool on_string(Sv rest, size_t, Ec&) {
    stack_.push_string(rest);
    return true;
  }
  bool on_number_part(Sv part, Ec&) {
    number_.append(part.data(), part.size());
    return true;
  }
  bool on_int64(int64_t value, Sv, Ec&) {
    number_.clear();
    stack_.push_int64(value);
    return true;
  }
  bool on_uint64(uint64_t value, Sv, Ec&) {
    number_.clear();
    stack_.push_uint64(value);
    return true;
  }
  bool on_double(double, Sv rest, Ec& ec) {
    number_.append(rest.data(), rest.size());
    double value = 0;
    const auto [end, error] =
        std::from_chars(number_.data(), number_.data() + number_.size(), value);
    if (error == std::errc::result_out_of_range) {
      // from_chars does not distinguish overflow from underflow; only an overflow is an error.
      value = std::strtod(number_.c_str(), nullptr);
      if (std::isinf(value)) {
        ec = boost::json::error::exponent_overflow;
        return false;
      }
    }
    number_.clear();
    stack_.push_double(value);
    return true;
  }
  bool on_bool(bool value, Ec&) {
    stack_.push_bool(value);
    return true;
  }
  bool on_null(Ec&) {
    stack_.push_null();
    return true;
  }

  void Start() { stack_.reset(storage_); }
  Json Release() { return stack_.release(); }

 private:
  boost::json::storage_ptr storage_;
  unsigned char buffer_[4096];
  boost::json::value_stack stack_{{}, buffer_, sizeof buffer_};
  std::string number_;
};

// "JSON <line>:<column>: <why>"
std::string DescribeAt(std::string_view text, size_t offset, std::string_view why);

// One value, the whole text. `args` construct the handler.
template <typename Handler, typename... Args>
base::Result<Json> ParseWith(std::string_view text, const Args&... args) {
  boost::json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  boost::json::basic_parser<Handler> parser(options, args...);
  parser.handler().Start();
  boost::json::error_code ec;
  const size_t consumed = parser.write_some(false, text.data(), text.size(), ec);
  if (ec) {
    return base::Fail(base::Code::kInvalidArgument, DescribeAt(text, consumed, ec.message()));
  }
  if (consumed < text.size()) {
    return base::Fail(base::Code::kInvalidArgument,
                      DescribeAt(text, consumed, "text after the end of the value"));
  }
  return parser.handler().Release();
}

}  // namespace text
