#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <vector>

#include "ads/yaml/text.h"
#include "ads/yaml/yaml.h"

// PyYAML's emitter in block style: how a text is quoted and where it is folded.
namespace ads {
namespace {

constexpr size_t kBestWidth = 80;
constexpr size_t kIndent = 2;

using CodePoints = std::u32string;

bool IsBreak(char32_t c) { return c == '\n' || c == 0x85 || c == 0x2028 || c == 0x2029; }
bool IsBlank(char32_t c) { return c == 0 || c == ' ' || c == '\t' || c == '\r' || IsBreak(c); }
bool IsIn(char32_t c, std::u32string_view set) { return set.find(c) != std::u32string_view::npos; }

struct Analysis {
  bool may_be_plain = true;
  bool may_be_single = true;
  bool is_simple_key = true;  // fits before a colon
};

// PyYAML's 127, minus the "!!str" that it includes.
constexpr size_t kLongestSimpleKey = 122;

Analysis Analyze(const CodePoints& text, bool is_key) {
  if (text.empty()) return {!is_key, true, false};
  bool has_indicators = text.starts_with(U"---") || text.starts_with(U"...");
  bool has_breaks = false, is_special = false, has_edge_space = false;
  bool break_then_space = false, space_then_break = false;
  bool was_space = false, was_break = false, after_blank = true;
  for (size_t i = 0; i < text.size(); ++i) {
    const char32_t c = text[i];
    const bool before_blank = i + 1 >= text.size() || IsBlank(text[i + 1]);
    if (i == 0) {
      has_indicators |= IsIn(c, U"#,[]{}&*!|>'\"%@`") || (IsIn(c, U"?:-") && before_blank);
    } else {
      has_indicators |= (c == ':' && before_blank) || (c == '#' && after_blank);
    }
    has_breaks |= IsBreak(c);
    is_special |= c != '\n' && (c < 0x20 || c > 0x7E);
    const bool is_edge = i == 0 || i + 1 == text.size();
    if (c == ' ' || IsBreak(c)) has_edge_space |= is_edge;
    break_then_space |= c == ' ' && was_break;
    space_then_break |= IsBreak(c) && was_space;
    was_space = c == ' ';
    was_break = IsBreak(c);
    after_blank = IsBlank(c);
  }
  Analysis found;
  found.may_be_single = !break_then_space && !space_then_break && !is_special;
  found.may_be_plain = found.may_be_single && !has_edge_space && !has_breaks && !has_indicators;
  found.is_simple_key = !has_breaks && text.size() <= kLongestSimpleKey;
  return found;
}

class PyWriter {
 public:
  std::string Document(const PyValue& value) {
    NameShared(value);
    if (value.is_map() && !value.members.empty()) {
      Map(value, 0);
    } else if (value.is_list() && !value.items.empty()) {
      List(value, 0);
    } else {
      Leaf(value, 0);
      // A bare scalar is followed by the mark of an open end.
      const bool is_flow = value.is_map() || value.is_list();
      out_ += is_flow || out_.ends_with('\'') || out_.ends_with('"') ? "\n" : "\n...\n";
    }
    return std::move(out_);
  }

 private:
  void Put(std::string_view text) {
    out_ += text;
    column_ += text.size();
  }
  void NewLine(size_t indent) {
    out_ += '\n' + std::string(indent, ' ');
    column_ = indent;
  }
  void StartLine(size_t indent) {
    if (!out_.empty() && out_.back() != '\n') out_ += '\n';
    out_ += std::string(indent, ' ');
    column_ = indent;
  }

  void Map(const PyValue& map, size_t indent, bool is_line_begun = false);
  void List(const PyValue& list, size_t indent, bool is_line_begun = false);
  bool Key(const PyValue::Member& member, size_t indent);
  void Node(const PyValue& value, size_t indent, size_t list_indent, bool is_compact);
  void NameShared(const PyValue& value);
  std::string Mark(const PyValue& value);
  void Leaf(const PyValue& value, size_t indent);
  void Text(const std::string& text, size_t fold, bool is_key);
  void Plain(const CodePoints& text, size_t fold, bool is_split);
  void Single(const CodePoints& text, size_t fold, bool is_split);
  void Double(const CodePoints& text, size_t fold, bool is_split);
  void Run(const CodePoints& text, size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) Put(std::string(1, static_cast<char>(text[i])));
  }

  std::string out_;
  size_t column_ = 0;
  std::map<size_t, std::string> names_;  // by identity; "" while it occurs once
  std::set<size_t> written_;
  size_t named_ = 0;
};

bool IsNumber(PyValue::Kind kind) {
  return kind == PyValue::Kind::kBool || kind == PyValue::Kind::kInt ||
         kind == PyValue::Kind::kFloat;
}

double NumberOf(const PyValue::Member& member) {
  if (member.key_kind == PyValue::Kind::kBool) return member.key == "True" ? 1 : 0;
  return std::strtod(member.key.c_str(), nullptr);
}

// Sorted by key; unsorted if Python cannot compare the keys.
std::vector<const PyValue::Member*> Sorted(const PyValue& map) {
  std::vector<const PyValue::Member*> members;
  bool are_numbers = true, are_alike = true;
  for (const PyValue::Member& member : map.members) {
    members.push_back(&member);
    are_numbers &= IsNumber(member.key_kind);
    are_alike &= member.key_kind == map.members.front().key_kind;
  }
  if (are_numbers) {
    std::stable_sort(members.begin(), members.end(),
                     [](const auto* a, const auto* b) { return NumberOf(*a) < NumberOf(*b); });
  } else if (are_alike) {
    std::sort(members.begin(), members.end(),
              [](const auto* a, const auto* b) { return a->key < b->key; });
  }
  return members;
}

// An object that occurs several times is named at its first place, in the order of the second
// places.
void PyWriter::NameShared(const PyValue& value) {
  if (value.identity != 0) {
    const auto [found, is_first] = names_.try_emplace(value.identity);
    if (!is_first) {
      if (found->second.empty()) found->second = fmt::format("id{:03}", ++named_);
      return;
    }
  }
  for (const PyValue& item : value.items) NameShared(item);
  for (const PyValue::Member* member : Sorted(value)) NameShared(member->value);
}

// " &id001" at an object's first place, " *id001" at the others; "" when it occurs once.
std::string PyWriter::Mark(const PyValue& value) {
  const auto found = names_.find(value.identity);
  if (value.identity == 0 || found == names_.end() || found->second.empty()) return "";
  return (written_.insert(value.identity).second ? " &" : " *") + found->second;
}

// What follows "key:" or "-". `is_compact`: it begins on this line.
void PyWriter::Node(const PyValue& value, size_t indent, size_t list_indent, bool is_compact) {
  const std::string mark = Mark(value);
  Put(mark);
  if (mark.starts_with(" *")) return;
  const bool is_list = value.is_list() && !value.items.empty();
  const bool is_map = value.is_map() && !value.members.empty();
  const bool is_line_begun = is_compact && mark.empty();
  if (is_line_begun || (!is_list && !is_map)) Put(" ");
  if (is_map) {
    Map(value, indent, is_line_begun);
  } else if (is_list) {
    List(value, list_indent, is_line_begun);
  } else {
    Leaf(value, indent);
  }
}

// Writes "key:"; or, if it is too long for that, "? key" and a ":" on a line of its own, and
// returns false.
bool PyWriter::Key(const PyValue::Member& member, size_t indent) {
  const CodePoints points = DecodeUtf8(member.key);
  const bool is_simple = Analyze(points, true).is_simple_key || !member.is_text();
  if (!is_simple) Put("? ");
  if (member.is_text()) {
    Text(member.key, indent + kIndent, is_simple);
  } else {
    PyValue key;
    key.kind = member.key_kind;
    key.text = member.key;
    Leaf(key, indent);
  }
  if (!is_simple) StartLine(indent);
  Put(":");
  return is_simple;
}

void PyWriter::Map(const PyValue& map, size_t indent, bool is_line_begun) {
  for (const PyValue::Member* member : Sorted(map)) {
    if (!is_line_begun) StartLine(indent);
    is_line_begun = false;
    const bool is_simple = Key(*member, indent);
    // After the ":" of a long key everything begins on the same line.
    Node(member->value, indent + kIndent, is_simple ? indent : indent + kIndent, !is_simple);
  }
  if (!out_.ends_with('\n')) out_ += '\n';
}

void PyWriter::List(const PyValue& list, size_t indent, bool is_line_begun) {
  for (const PyValue& item : list.items) {
    if (!is_line_begun) StartLine(indent);
    is_line_begun = false;
    Put("-");
    Node(item, indent + kIndent, indent + kIndent, true);
  }
  if (!out_.ends_with('\n')) out_ += '\n';
}

void PyWriter::Leaf(const PyValue& value, size_t indent) {
  switch (value.kind) {
    case PyValue::Kind::kNone:
      return Put("null");
    case PyValue::Kind::kBool:
      return Put(value.text == "True" ? "true" : "false");
    case PyValue::Kind::kString:
      return Text(value.text, indent, false);
    case PyValue::Kind::kList:
      return Put("[]");
    case PyValue::Kind::kMap:
      return Put("{}");
    case PyValue::Kind::kFloat: {
      std::string text = value.text;
      if (text == "inf" || text == "nan") text = "." + text;
      if (text == "-inf") text = "-.inf";
      const size_t e = text.find('e');
      if (e != std::string::npos && text.find('.') == std::string::npos) text.insert(e, ".0");
      return Put(text);
    }
    case PyValue::Kind::kInt:
    case PyValue::Kind::kTimestamp:
      return Put(value.text);
  }
}

void PyWriter::Text(const std::string& text, size_t fold, bool is_key) {
  const CodePoints points = DecodeUtf8(text);
  const Analysis found = Analyze(points, is_key);
  // These two have tags of their own.
  const bool is_tagged = text == "=" || text == "<<";
  if (found.may_be_plain && !is_tagged && ResolvePyScalar(text).is_string()) {
    Plain(points, fold, !is_key);
  } else if (found.may_be_single) {
    Single(points, fold, !is_key);
  } else {
    Double(points, fold, !is_key);
  }
}

void PyWriter::Plain(const CodePoints& text, size_t fold, bool is_split) {
  size_t start = 0;
  bool in_spaces = false;
  for (size_t end = 0; end <= text.size(); ++end) {
    const bool is_end = end == text.size();
    const bool is_space = !is_end && text[end] == ' ';
    if (in_spaces && !is_space) {
      if (start + 1 == end && column_ > kBestWidth && is_split) {
        NewLine(fold);
      } else {
        Run(text, start, end);
      }
      start = end;
    } else if (!in_spaces && (is_end || is_space)) {
      Run(text, start, end);
      start = end;
    }
    in_spaces = is_space;
  }
}

void PyWriter::Single(const CodePoints& text, size_t fold, bool is_split) {
  Put("'");
  bool in_spaces = false, in_breaks = false;
  size_t start = 0;
  for (size_t end = 0; end <= text.size(); ++end) {
    const bool is_end = end == text.size();
    const char32_t c = is_end ? 0 : text[end];
    if (in_spaces) {
      if (is_end || c != ' ') {
        if (start + 1 == end && column_ > kBestWidth && is_split && start != 0 && !is_end) {
          NewLine(fold);
        } else {
          Run(text, start, end);
        }
        start = end;
      }
    } else if (in_breaks) {
      if (is_end || !IsBreak(c)) {
        out_ += '\n';
        for (size_t i = start; i < end; ++i) out_ += '\n';
        out_ += std::string(fold, ' ');
        column_ = fold;
        start = end;
      }
    } else if (is_end || c == ' ' || IsBreak(c) || c == '\'') {
      Run(text, start, end);
      start = end;
    }
    if (c == '\'' && !is_end) {
      Put("''");
      start = end + 1;
    }
    in_spaces = !is_end && c == ' ';
    in_breaks = !is_end && IsBreak(c);
  }
  Put("'");
}

std::string Escaped(char32_t c) {
  constexpr std::u32string_view kFrom = U"\0\a\b\t\n\v\f\r\x1B\"\\\u0085\u00A0\u2028\u2029";
  constexpr std::string_view kTo = "0abtnvfre\"\\N_LP";
  const size_t at = std::u32string_view(kFrom.data(), kTo.size()).find(c);
  if (at != std::u32string_view::npos) return {'\\', kTo[at]};
  const auto number = static_cast<uint32_t>(c);
  if (number <= 0xFF) return fmt::format("\\x{:02X}", number);
  return number <= 0xFFFF ? fmt::format("\\u{:04X}", number) : fmt::format("\\U{:08X}", number);
}

void PyWriter::Double(const CodePoints& text, size_t fold, bool is_split) {
  Put("\"");
  size_t start = 0;
  const auto length = text.size();
  for (size_t end = 0; end <= length; ++end) {
    const bool is_end = end == length;
    const char32_t c = is_end ? 0 : text[end];
    if (is_end || c == '"' || c == '\\' || c < 0x20 || c > 0x7E) {
      if (start < end) {
        Run(text, start, end);
        start = end;
      }
      if (!is_end) {
        Put(Escaped(c));
        start = end + 1;
      }
    }
    const size_t pending = end > start ? end - start : 0;
    if (end > 0 && end + 1 < length && (c == ' ' || start >= end) &&
        column_ + pending > kBestWidth + (start > end ? 1 : 0) && is_split) {
      if (start < end) Run(text, start, end);
      if (start < end) start = end;
      Put("\\");
      NewLine(fold);
      if (text[start] == ' ') Put("\\");
    }
  }
  Put("\"");
}

}  // namespace

std::string DumpPyYaml(const PyValue& value) { return PyWriter().Document(value); }

}  // namespace ads
