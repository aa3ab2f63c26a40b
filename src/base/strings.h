// String functions that the standard library lacks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace base {

// "a,b," by ',' -> {"a", "b", ""}; "" -> {""}.
std::vector<std::string> Split(std::string_view text, char separator);
std::string Join(const std::vector<std::string>& parts, std::string_view separator);
std::string_view Trim(std::string_view text);
// `what` must not be empty.
std::string ReplaceAll(std::string_view text, std::string_view what, std::string_view with);
// For display: escape sequences are left out, control characters with spaces around them become a
// space. A text of more than `most` bytes is cut between UTF-8 characters, and "..." follows.
std::string OneLine(std::string_view text, size_t most);
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
std::string ToLower(std::string_view text);  // ASCII only
std::string ToUpper(std::string_view text);  // ASCII only
bool EqualsIgnoreCase(std::string_view a, std::string_view b);
// Decimal with an optional sign, the whole text, in range; otherwise nullopt.
std::optional<int64_t> ParseInt(std::string_view text);
// Number of single-character edits (insert, delete, replace) between a and b.
size_t EditDistance(std::string_view a, std::string_view b);
// %41 becomes A; text that is not an escape stays.
std::string PercentDecode(std::string_view text);
// A word that a POSIX shell reads as `text`.
std::string ShellQuote(std::string_view text);
// The words of a line as a POSIX shell divides them, or as Python's shlex.split does, which gives a
// backslash before a newline, or in quotes before $ or `, no special meaning. Nothing is
// substituted. Nullopt when a quote is not closed.
enum class WordRules { kShell, kShlex };
std::optional<std::vector<std::string>> ShellWords(std::string_view line,
                                                   WordRules rules = WordRules::kShell);
// Lower-case hex MD5, to identify and never to protect (compat/arena.md 1.3.5).
std::string Md5Hex(std::string_view text);
std::string Base64Encode(std::string_view bytes);
// Standard alphabet with padding; nullopt when malformed.
std::optional<std::string> Base64Decode(std::string_view text);

}  // namespace base
