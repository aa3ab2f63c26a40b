#include "cli/table.h"

#include <algorithm>

namespace cli {
namespace {

constexpr size_t kPadding = 2;

}  // namespace

size_t TextWidth(const std::string& text) {
  size_t width = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "\x1b[") == 0) {
      const size_t end = text.find('m', i);
      if (end == std::string::npos) return width;
      i = end;
    } else if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) {
      ++width;
    }
  }
  return width;
}

std::string Table::Render() const {
  size_t columns = 0;
  for (const auto& row : rows_) columns = std::max(columns, row.size());

  // widths[row][column], by blocks of adjacent rows that go on after the column
  std::vector<std::vector<size_t>> widths(rows_.size());
  for (size_t i = 0; i < rows_.size(); ++i) widths[i].resize(rows_[i].size());
  for (size_t column = 0; column + 1 < columns; ++column) {
    for (size_t begin = 0; begin < rows_.size();) {
      size_t end = begin;
      size_t widest = 0;
      while (end < rows_.size() && rows_[end].size() > column + 1) {
        widest = std::max(widest, TextWidth(rows_[end][column]));
        ++end;
      }
      for (size_t row = begin; row < end; ++row) widths[row][column] = widest + kPadding;
      begin = std::max(end, begin + 1);
    }
  }

  std::string out;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const auto& row = rows_[i];
    if (!row.empty()) out += indent_;
    for (size_t column = 0; column < row.size(); ++column) {
      out += row[column];
      if (column + 1 < row.size()) {
        out.append(widths[i][column] - TextWidth(row[column]), ' ');
      }
    }
    out += '\n';
  }
  return out;
}

}  // namespace cli
