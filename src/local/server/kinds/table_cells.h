// Contents of a Table: its columns, and the cells of an object's row.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "text/json.h"

namespace local::server {

struct Column {
  std::string_view name;
  std::string_view type;
  int priority = 0;  // 1: only with `-o wide`
};

// The cells of one row as JSON, appended to a text that must outlive this.
class Cells {
 public:
  explicit Cells(std::string& out) : out_(out) {}

  void Text(std::string_view text);
  // Text without characters that need escapes.
  void Plain(std::string_view text);
  void Null() { Raw("null"); }
  void TextOr(std::string_view text, std::string_view otherwise) {
    Text(text.empty() ? otherwise : text);
  }
  void Number(double number);
  // "a=b,c=d", or "<none>".
  void Selector(const text::Object& labels);
  void Flag(bool flag) { Raw(flag ? "true" : "false"); }

 private:
  void Raw(std::string_view json);

  std::string& out_;
  bool is_first_ = true;
};

// "5m", "<unknown>" without a time.
std::string Age(std::optional<base::Time> since, base::Time now);

}  // namespace local::server
