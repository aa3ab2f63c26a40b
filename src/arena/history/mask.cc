#include "arena/history/mask.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/strings.h"

namespace arena {
namespace {

constexpr std::string_view kStars = "***";
constexpr size_t kShortestSecret = 4;  // "1" occurs in every log
constexpr size_t kShortestKey = 16;    // of a header that names no scheme; shorter ones are prose

bool IsTokenPart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' ||
         c == '/' || c == '+' || c == '=' || c == '~';
}

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

size_t TokenEnd(std::string_view text, size_t at) {
  while (at < text.size() && IsTokenPart(text[at])) ++at;
  return at;
}

// A token that is recognised by its first characters.
struct Prefix {
  std::string_view begins;
  size_t shortest;  // length of what follows
};
constexpr std::array kPrefixes = {
    Prefix{"ghp_", 20},  Prefix{"gho_", 20},    Prefix{"ghs_", 20},    Prefix{"github_pat_", 20},
    Prefix{"hf_", 20},   Prefix{"glpat-", 16},  Prefix{"AKIA", 16},    Prefix{"ASIA", 16},
    Prefix{"sk-", 20},   Prefix{"Bearer ", 12}, Prefix{"bearer ", 12}, Prefix{"eyJ", 30},
    Prefix{"xoxb-", 16}, Prefix{"xoxp-", 16},   Prefix{"xoxa-", 16},   Prefix{"xoxr-", 16},
    Prefix{"xoxs-", 16}, Prefix{"xoxe-", 16},   Prefix{"xoxe.", 16},   Prefix{"xapp-", 16},
    Prefix{"npm_", 20},  Prefix{"AIza", 30},    Prefix{"ya29.", 20},   Prefix{"GOCSPX-", 20},
};

// Returns the end of the secret that begins at `at`, or `at` if none does; the first `keep`
// characters may be shown.
size_t SecretEnd(std::string_view text, size_t at, size_t& keep) {
  const bool is_in_word = at > 0 && IsTokenPart(text[at - 1]) && text[at - 1] != '=';
  if (is_in_word) return at;
  for (const Prefix& prefix : kPrefixes) {
    if (!text.substr(at).starts_with(prefix.begins)) continue;
    const size_t end = TokenEnd(text, at + prefix.begins.size());
    if (end - at - prefix.begins.size() < prefix.shortest) continue;
    keep = prefix.begins.size();
    return end;
  }
  return at;
}

std::string_view QuoteAtEnd(std::string_view text) {
  for (const std::string_view quote : {"\\\"", "\"", "'"}) {
    if (text.ends_with(quote)) return quote;
  }
  return "";
}

// Returns where a header's value ends that begins at `at`: at the quote that opened it, "" for
// none, or with its line, whose end may be written out. Quotes in it are its own: `Token
// token="x"`.
size_t HeaderValueEnd(std::string_view text, size_t at, std::string_view quote) {
  for (; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    const bool is_line_end =
        rest[0] == '\r' || rest[0] == '\n' || rest.starts_with("\\r") || rest.starts_with("\\n");
    if (is_line_end || (!quote.empty() && rest.starts_with(quote))) return at;
    if (rest[0] == '\\') ++at;  // of the next character, as in a shell's \;
  }
  return text.size();
}

// Returns the end of the value of a header that signs a request in, or `at` if none begins there:
// `Authorization: Basic x`, `Authorization: KEY`, `Cookie: a=b; c=d`, also in a dictionary. The
// first `keep` characters, up to the name of the scheme, may be shown.
size_t HeaderEnd(std::string_view text, size_t at, size_t& keep) {
  constexpr std::array<std::string_view, 6> kSchemes = {"basic", "bearer",    "digest",
                                                        "token", "negotiate", "apikey"};
  const bool is_behind_escape = at > 1 && text[at - 2] == '\\';  // "\r\nCookie: ", written out
  if (at > 0 && IsWord(text[at - 1]) && !is_behind_escape) return at;
  const std::string name = base::ToLower(text.substr(at, std::string_view("authorization").size()));
  const bool is_cookie = name.starts_with("cookie");
  if (!is_cookie && name != "authorization") return at;
  const size_t name_end = at + (is_cookie ? std::string_view("cookie").size() : name.size());
  const size_t colon = std::min(text.find_first_not_of("\\\"'", name_end), text.size());
  if (colon == text.size() || text[colon] != ':') return at;
  const size_t value = std::min(text.find_first_not_of(" \\\"'", colon + 1), text.size());
  // The value may be in quotes, or the whole header.
  std::string_view quote = QuoteAtEnd(text.substr(0, value));
  if (quote.empty() && colon == name_end) quote = QuoteAtEnd(text.substr(0, at));
  const size_t end = HeaderValueEnd(text, value, quote);
  const std::string_view words = text.substr(value, end - value);
  const size_t blank = words.find(' ');
  if (is_cookie) {
    keep = value - at;
    return words.find('=') < blank ? end : at;
  }
  const std::string_view first = words.substr(0, blank);
  const bool is_scheme =
      std::find(kSchemes.begin(), kSchemes.end(), base::ToLower(first)) != kSchemes.end();
  if (is_scheme && first.size() < words.size()) {
    keep = value + blank + 1 - at;
    return end;
  }
  keep = value - at;
  const bool is_key = first.size() >= kShortestKey && TokenEnd(first, 0) == first.size();
  return is_key ? value + first.size() : at;
}

// Returns where the password of "://user:password@" begins and ends; both are 0 if there is none.
std::pair<size_t, size_t> PasswordAfter(std::string_view text, size_t scheme_end) {
  const size_t begin = scheme_end + 3;
  const size_t end = text.find_first_of("/ \t\r\n\"'<>", begin);
  const std::string_view authority = text.substr(begin, end - begin);
  const size_t at = authority.rfind('@');
  const size_t colon = authority.find(':');
  if (at == std::string_view::npos || colon == std::string_view::npos || colon > at) return {};
  return {begin + colon + 1, begin + at};
}

// Trainings speak of tokens that are no secrets: max_tokens=512, tokenizer="gpt2",
// pad_token="<pad>".
bool IsTokenOfText(std::string_view name) {
  constexpr std::array<std::string_view, 7> kSpecial = {"pad", "eos", "bos", "unk",
                                                        "cls", "sep", "mask"};
  std::string lower = base::ToLower(name);
  const size_t token = lower.find("token");
  if (token == std::string::npos || IsSecretName(lower.erase(token, 5))) return false;
  if (token != lower.size()) return true;
  const std::string_view of = std::string_view(lower).substr(0, lower.find_last_not_of("_-") + 1);
  return std::any_of(kSpecial.begin(), kSpecial.end(),
                     [of](std::string_view each) { return of.ends_with(each); });
}

// The type in a declaration of Python or TypeScript: "token: str".
bool IsTypeName(std::string_view value) {
  constexpr std::array<std::string_view, 9> kTypes = {"str",    "bytes",  "int",    "bool", "None",
                                                      "string", "number", "object", "Any"};
  return value.find('[') != std::string_view::npos ||
         std::find(kTypes.begin(), kTypes.end(), value) != kTypes.end();
}

// Removes a few blanks. Returns whether there were any.
bool TrimFewBlanks(std::string_view& text) {
  constexpr size_t kMost = 32;  // a page of blanks is not looked through at each of them
  const size_t size = text.size();
  while (size - text.size() < kMost && text.ends_with(' ')) text.remove_suffix(1);
  return text.size() < size;
}

// Whether `text` is a flag like --hf-token, whose value is the next word.
bool IsSecretFlag(std::string_view text) {
  return text.starts_with("--") && text.find_first_of("= \t\n") == std::string_view::npos &&
         IsSecretName(text) && !IsTokenOfText(text);
}

// Whether the word after a secret's flag may be the secret: not another flag, a switch such as
// "--use_auth_token True", a count such as "--num_image_token 1024", or prose ("pass --token or log
// in"). Passwords may be numbers.
bool MayBeSecret(std::string_view flag, std::string_view value) {
  constexpr auto kNone = std::to_array<std::string_view>(
      {"true", "false", "none", "null", "\\",   "or",   "and",  "to",       "is",   "was",
       "in",   "as",    "if",   "for",  "with", "from", "when", "argument", "flag", "option"});
  const std::string lower = base::ToLower(value);
  const bool is_number = value.find_first_not_of("0123456789.") == std::string_view::npos;
  const bool is_password = base::ToLower(flag).find("passw") != std::string::npos;
  return !value.starts_with('-') && (!is_number || is_password) &&
         std::find(kNone.begin(), kNone.end(), lower) == kNone.end();
}

std::string_view WordAtEnd(std::string_view text) {
  size_t begin = text.size();
  while (begin > 0 && (IsWord(text[begin - 1]) || text[begin - 1] == '-')) --begin;
  return text.substr(begin);
}

// What begins at `at`, up to the quote that ends it, or without one to the end of the word.
std::string_view ValueAt(std::string_view text, size_t at, std::string_view quote) {
  const size_t end =
      quote.empty() ? text.find_first_of(" \t\r\n\"'`;&,)", at) : text.find(quote, at);
  return text.substr(at, std::min(end, text.size()) - at);
}

// The two below return where the value that begins at `at` ends, or `at` if it is no secret.
// `before` is what precedes its quote and blanks.

// --password x, also in the shell's next line.
size_t ArgumentEnd(std::string_view before, bool has_blanks, std::string_view quote,
                   std::string_view text, size_t at) {
  if (before.ends_with("\\\n")) {
    before.remove_suffix(2);
    has_blanks = TrimFewBlanks(before);
  }
  if (!has_blanks) return at;
  TrimFewBlanks(before);
  const std::string_view flag = WordAtEnd(before);
  if (!IsSecretFlag(flag)) return at;
  const std::string_view value = ValueAt(text, at, quote);
  // A quote that ends only in another line is none: print("--token ").
  if (!MayBeSecret(flag, value) || value.find('\n') != std::string_view::npos) return at;
  // A usage's brackets are not of the value: [--token TOKEN].
  return at + (quote.empty() ? value.find_last_not_of("]}") + 1 : value.size());
}

// API_TOKEN=x, --password="x y", api_key: x, "api_key": "x".
size_t AssignedEnd(std::string_view before, bool has_blanks, std::string_view quote,
                   std::string_view text, size_t at) {
  const bool is_assigned = before.ends_with('=');
  before.remove_suffix(1);
  has_blanks |= TrimFewBlanks(before);
  before.remove_suffix(QuoteAtEnd(before).size());
  const std::string_view name = WordAtEnd(before);
  if (!IsSecretName(name) || IsTokenOfText(name)) return at;
  const std::string_view value = ValueAt(text, at, quote);
  const size_t end = at + value.size();
  if (!quote.empty()) return end;
  const bool is_last = end == text.size() || text[end] == '\n' || text[end] == '\r';
  const bool is_code = value.find_first_of("([") != std::string_view::npos || IsTypeName(value);
  // Without a quote, `token = read()` is code, "token: str" a declaration, and "secret:x" a label.
  if (is_assigned ? has_blanks && (!is_last || is_code) : !has_blanks || !is_last || is_code) {
    return at;
  }
  return end;
}

// Returns where the value that begins at `at` ends, if what precedes it says that it is a secret;
// otherwise `at`. The quotes, also JSON's \", are kept.
size_t ValueEnd(std::string_view text, size_t at) {
  std::string_view before = text.substr(0, at);
  const std::string_view quote = QuoteAtEnd(before);
  before.remove_suffix(quote.size());
  const bool has_blanks = TrimFewBlanks(before);
  if (text.substr(at).starts_with("\\\"")) return at;  // the value begins after its quote
  return before.ends_with('=') || before.ends_with(':')
             ? AssignedEnd(before, has_blanks, quote, text, at)
             : ArgumentEnd(before, has_blanks, quote, text, at);
}

void Replace(std::string& text, std::string_view what) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += kStars.size()) {
    text.replace(at, what.size(), kStars);
  }
}

// Removes whole PEM blocks of private keys. In JSON a block is one line with "\n" written out.
void RemoveKeys(std::string& text) {
  constexpr std::string_view kBegin = "PRIVATE KEY-----", kEnd = "-----END ";
  for (size_t at = 0; (at = text.find(kBegin, at)) != std::string::npos;) {
    const size_t from = at + kBegin.size();
    size_t to = text.find(kEnd, from);
    if (to == std::string::npos) to = text.size();
    text.replace(from, to - from, kStars);
    at = text.find(kBegin, from + kStars.size());
    if (at == std::string::npos) return;
    at += kBegin.size();  // skips the END line
  }
}

}  // namespace

bool IsSecretName(std::string_view name) {
  const std::string lower = base::ToLower(name);
  constexpr std::array<std::string_view, 12> kWords = {
      "token",  "secret",     "passw",       "credential", "api_key",    "api-key",
      "apikey", "access_key", "private_key", "accountkey", "client-key", "x-amz-signature"};
  return std::any_of(kWords.begin(), kWords.end(), [&lower](std::string_view word) {
    return lower.find(word) != std::string::npos;
  });
}

void Mask::LearnValue(std::string_view value) {
  if (value.size() >= kShortestSecret) values_.emplace(value);
}

void Mask::Learn(const text::Json& value) {
  if (const text::Array* array = value.if_array()) {
    std::string_view flag;  // before the item: ["--token", "x"]
    for (const text::Json& item : *array) {
      const std::string_view word = item.is_string() ? std::string_view(item.get_string()) : "";
      if (!flag.empty() && MayBeSecret(flag, word)) LearnValue(word);
      flag = IsSecretFlag(word) ? word : "";
      Learn(item);
    }
    return;
  }
  const text::Object* object = value.if_object();
  if (object == nullptr) return;
  if (IsSecretName(text::GetString(value, {"name"}))) {
    LearnValue(text::GetString(value, {"value"}));
  }
  for (const auto& [key, member] : *object) {
    if (member.is_string() && IsSecretName(key) && key != "secretName") {
      LearnValue(std::string_view(member.get_string()));
    }
    Learn(member);
  }
}

std::string Mask::Of(std::string_view text) const {
  std::string known(text);
  // Longer values come first, because a value may begin with a shorter one.
  for (const std::string& value : values_) Replace(known, value);
  RemoveKeys(known);
  std::string out;
  for (size_t at = 0; at < known.size();) {
    if (known.compare(at, 3, "://") == 0) {
      if (const auto [begin, end] = PasswordAfter(known, at); end > begin) {
        out += known.substr(at, begin - at);
        out += kStars;
        at = end;
        continue;
      }
    }
    size_t keep = 0;
    size_t end = SecretEnd(known, at, keep);
    if (end == at) end = HeaderEnd(known, at, keep);
    if (end > at) {
      out += known.substr(at, keep);
      out += kStars;
      at = end;
      continue;
    }
    if (end = ValueEnd(known, at); end > at) {
      out += kStars;
      at = end;
      continue;
    }
    out += known[at++];
  }
  return out;
}

}  // namespace arena
