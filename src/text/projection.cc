#include "text/projection.h"

#include <algorithm>
#include <array>
#include <optional>

#include "text/json_builder.h"

namespace text {
namespace {

// Passes to a ValueBuilder what a projection keeps.
class PartBuilder {
 public:
  static constexpr size_t max_object_size = ValueBuilder::max_object_size;
  static constexpr size_t max_array_size = ValueBuilder::max_array_size;
  static constexpr size_t max_key_size = ValueBuilder::max_key_size;
  static constexpr size_t max_string_size = ValueBuilder::max_string_size;

  using Ec = ValueBuilder::Ec;
  using Sv = ValueBuilder::Sv;

  explicit PartBuilder(const Projection& parts) : parts_(parts) {}

  void Start() { inner_.Start(); }
  Json Release() { return inner_.Release(); }

  bool on_document_begin(Ec&) { return true; }
  bool on_document_end(Ec&) { return true; }
  bool on_comment_part(Sv, Ec&) { return true; }
  bool on_comment(Sv, Ec&) { return true; }

  bool on_object_begin(Ec&) { return Open(false); }
  bool on_array_begin(Ec&) { return Open(true); }
  bool on_object_end(size_t count, Ec& ec) {
    const std::optional<size_t> kept = Close(count);
    return !kept || inner_.on_object_end(*kept, ec);
  }
  bool on_array_end(size_t count, Ec& ec) {
    const std::optional<size_t> kept = Close(count);
    return !kept || inner_.on_array_end(*kept, ec);
  }

  bool on_key_part(Sv part, size_t, Ec&) {
    if (!is_passing_over_) key_.append(part.data(), part.size());
    return true;
  }
  bool on_key(Sv rest, size_t size, Ec& ec) {
    if (is_passing_over_) return true;
    key_.append(rest.data(), rest.size());
    Frame& frame = frames_.back();
    next_is_whole_ = frame.is_whole;
    if (!frame.is_whole) {
      next_ = parts_.node(frame.node).Child(key_);
      next_is_whole_ = next_ != 0 && parts_.node(next_).is_whole;
      is_passing_over_ = next_ == 0;
    }
    if (!is_passing_over_) {
      ++frame.kept;
      inner_.on_key(key_, size, ec);
    }
    key_.clear();
    return true;
  }

  bool on_string_part(Sv part, size_t size, Ec& ec) {
    return is_passing_over_ || inner_.on_string_part(part, size, ec);
  }
  bool on_string(Sv rest, size_t size, Ec& ec) {
    return !Takes() || inner_.on_string(rest, size, ec);
  }
  bool on_number_part(Sv part, Ec& ec) {
    return is_passing_over_ || inner_.on_number_part(part, ec);
  }
  bool on_int64(int64_t value, Sv text, Ec& ec) {
    return !Takes() || inner_.on_int64(value, text, ec);
  }
  bool on_uint64(uint64_t value, Sv text, Ec& ec) {
    return !Takes() || inner_.on_uint64(value, text, ec);
  }
  bool on_double(double value, Sv rest, Ec& ec) {
    return !Takes() || inner_.on_double(value, rest, ec);
  }
  bool on_bool(bool value, Ec& ec) { return !Takes() || inner_.on_bool(value, ec); }
  bool on_null(Ec& ec) { return !Takes() || inner_.on_null(ec); }

 private:
  // An object or array that is being read.
  struct Frame {
    size_t node = 0;
    bool is_whole = false;
    bool is_array = false;
    size_t kept = 0;
  };

  // Whether a scalar is kept.
  bool Takes() {
    if (is_passing_over_) {
      is_passing_over_ = depth_passed_over_ != 0;
      return false;
    }
    if (!frames_.empty() && frames_.back().is_array) ++frames_.back().kept;
    return true;
  }

  bool Open(bool is_array) {
    if (is_passing_over_) {
      ++depth_passed_over_;
      return true;
    }
    Frame frame{next_, next_is_whole_, is_array, 0};
    if (frames_.empty()) {
      frame = {0, parts_.node(0).is_whole, is_array, 0};
    } else if (frames_.back().is_array) {
      ++frames_.back().kept;
      frame.node = frames_.back().node;
      frame.is_whole = frames_.back().is_whole;
    }
    frames_.push_back(frame);
    return true;
  }

  // How many members or elements were kept; nothing when it was passed over itself.
  std::optional<size_t> Close(size_t count) {
    if (is_passing_over_) {
      --depth_passed_over_;
      is_passing_over_ = depth_passed_over_ != 0;
      return std::nullopt;
    }
    const Frame frame = frames_.back();
    frames_.pop_back();
    return frame.is_whole ? count : frame.kept;
  }

  const Projection& parts_;
  ValueBuilder inner_;
  std::vector<Frame> frames_;
  std::string key_;
  size_t next_ = 0;  // node of the value that follows a key
  bool next_is_whole_ = false;
  bool is_passing_over_ = false;  // a value that is not kept is being read
  size_t depth_passed_over_ = 0;  // objects and arrays open in it
};

// Of each byte whether it is one of them.
constexpr std::array<bool, 256> Table(std::string_view bytes) {
  std::array<bool, 256> table{};
  for (const char byte : bytes) table[static_cast<unsigned char>(byte)] = true;
  return table;
}
constexpr std::array<bool, 256> kEndsString = Table("\"\\");
constexpr std::array<bool, 256> kNests = Table("\"{}[]");

// Finds the ends of values without reading them.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // After blanks; 0 at the end.
  char Peek() {
    while (at_ < text_.size() && IsBlank(text_[at_])) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Take(char wanted) {
    if (Peek() != wanted) return false;
    ++at_;
    return true;
  }
  // With its quotes.
  base::Result<std::string_view> String() {
    if (Peek() != '"') return Broken("a string is missing");
    const size_t begin = at_++;
    for (;; at_ += 2) {
      while (at_ < text_.size() && !kEndsString[Byte()]) ++at_;
      if (at_ >= text_.size()) return Broken("a string does not end");
      if (text_[at_] == '"') break;
    }
    ++at_;
    return text_.substr(begin, at_ - begin);
  }
  base::Result<std::string_view> Value() {
    const char first = Peek();
    if (first == '"') return String();
    const size_t begin = at_;
    if (first != '{' && first != '[') {
      at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
      if (at_ == begin) return Broken("a value is missing");
      return text_.substr(begin, at_ - begin);
    }
    size_t depth = 0;
    do {
      while (at_ < text_.size() && !kNests[Byte()]) ++at_;
      if (at_ >= text_.size()) {
        at_ = begin;
        return Broken("an object or array does not end");
      }
      if (text_[at_] == '"') {
        TRY(String());
        continue;
      }
      depth += text_[at_] == '{' || text_[at_] == '[' ? 1 : static_cast<size_t>(-1);
      ++at_;
    } while (depth != 0);
    return text_.substr(begin, at_ - begin);
  }
  tl::unexpected<base::Error> Broken(std::string_view why) const {
    return base::Fail(base::Code::kInvalidArgument, DescribeAt(text_, at_, why));
  }

 private:
  unsigned char Byte() const { return static_cast<unsigned char>(text_[at_]); }
  static bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Projection::Projection(std::initializer_list<Path> paths) {
  for (const Path& path : paths) {
    size_t at = 0;
    for (const std::string_view key : path) {
      auto& children = nodes_[at].children;
      const auto known = std::find_if(children.begin(), children.end(),
                                      [&](const auto& child) { return child.first == key; });
      if (known != children.end()) {
        at = known->second;
        continue;
      }
      children.emplace_back(key, nodes_.size());
      at = nodes_.size();
      nodes_.emplace_back();
    }
    nodes_[at].is_whole = true;
  }
}

size_t Projection::Node::Child(std::string_view key) const {
  size_t any = 0;
  for (const auto& [name, index] : children) {
    if (name == key) return index;
    if (name == "*") any = index;
  }
  return any;
}

base::Result<Json> ParsePart(std::string_view text, const Projection& parts) {
  return ParseWith<PartBuilder>(text, parts);
}

base::Status VisitMembers(
    std::string_view text,
    const std::function<base::Status(std::string_view key, std::string_view value)>& visit) {
  Scanner scanner(text);
  if (!scanner.Take('{')) return scanner.Broken("an object is missing");
  if (!scanner.Take('}')) {
    do {
      TRY_ASSIGN(const std::string_view key, scanner.String());
      if (!scanner.Take(':')) return scanner.Broken("a colon is missing");
      TRY_ASSIGN(const std::string_view value, scanner.Value());
      TRY(visit(key.substr(1, key.size() - 2), value));
    } while (scanner.Take(','));
    if (!scanner.Take('}')) return scanner.Broken("a comma or brace is missing");
  }
  if (scanner.Peek() != '\0') return scanner.Broken("text after the end of the value");
  return {};
}

base::Status VisitElements(std::string_view text,
                           const std::function<base::Status(std::string_view value)>& visit) {
  Scanner scanner(text);
  if (!scanner.Take('[')) return scanner.Broken("an array is missing");
  if (!scanner.Take(']')) {
    do {
      TRY_ASSIGN(const std::string_view value, scanner.Value());
      TRY(visit(value));
    } while (scanner.Take(','));
    if (!scanner.Take(']')) return scanner.Broken("a comma or bracket is missing");
  }
  if (scanner.Peek() != '\0') return scanner.Broken("text after the end of the value");
  return {};
}

}  // namespace text
