#include "api/variable_references.h"

namespace api {

std::string EscapeReferences(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (text[i] == '$' && (next == '$' || next == '(')) out += '$';
  }
  return out;
}

std::string UnescapeReferences(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == '$' && i + 1 < text.size() && text[i + 1] == '$') ++i;
  }
  return out;
}

}  // namespace api
