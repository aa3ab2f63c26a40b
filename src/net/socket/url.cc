#include "net/socket/url.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/machine/ip_address.h"
#include "base/strings.h"

namespace net {
namespace {

base::Error NoUrl(std::string_view text, std::string_view why) {
  return {base::Code::kInvalidArgument,
          fmt::format("\"{}\" is not a URL: {}", ShownUrl(text.substr(0, 200)), why), 0};
}

bool IsHostCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || base::IsDigit(c) || c == '-' ||
         c == '.' || c == '_';
}

// host[:port] or [v6][:port]; nullopt if malformed.
bool ParseAuthority(std::string_view text, Url& url) {
  std::string_view port;
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return false;
    url.host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    if (!base::ParseIpAddress(url.host)) return false;
  } else {
    const size_t colon = text.find(':');
    url.host = text.substr(0, colon);
    port = colon == std::string_view::npos ? "" : text.substr(colon);
    if (url.host.empty() || !std::all_of(url.host.begin(), url.host.end(), IsHostCharacter)) {
      return false;
    }
  }
  if (port.empty() || port == ":") return true;
  if (port[0] != ':' || !std::all_of(port.begin() + 1, port.end(), base::IsDigit)) return false;
  const auto number = base::ParseInt(port.substr(1));
  if (!number || *number < 1 || *number > 65535) return false;
  url.port = static_cast<uint16_t>(*number);
  return true;
}

}  // namespace

std::string Url::Authority() const {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

base::Result<Url> ParseUrl(std::string_view text) {
  Url url;
  const size_t scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos) return base::Fail(NoUrl(text, "begin with https://"));
  url.scheme = base::ToLower(text.substr(0, scheme_end));
  if (url.scheme != "https" && url.scheme != "http") {
    return base::Fail(NoUrl(text, "begin with https:// or http://"));
  }
  url.port = url.scheme == "https" ? 443 : 80;
  std::string_view rest = text.substr(scheme_end + 3);
  const auto is_visible = [](char c) { return c > ' ' && c < 0x7f; };
  if (!std::all_of(rest.begin(), rest.end(), is_visible)) {
    return base::Fail(NoUrl(text, "it contains a blank or a character that needs escaping"));
  }
  if (rest.find_first_of("?#") != std::string_view::npos) {
    return base::Fail(NoUrl(text, "a query or a fragment is not allowed here"));
  }
  const size_t path = rest.find('/');
  if (path != std::string_view::npos) {
    url.path = rest.substr(path);
    while (url.path.ends_with('/')) url.path.pop_back();
    rest = rest.substr(0, path);
  }
  if (const size_t at = rest.rfind('@'); at != std::string_view::npos) {
    url.user_info = rest.substr(0, at);
    rest = rest.substr(at + 1);
  }
  if (!ParseAuthority(rest, url)) return base::Fail(NoUrl(text, "host or port is malformed"));
  return url;
}

bool IsWebUrl(std::string_view text) {
  return text.starts_with("http://") || text.starts_with("https://");
}

std::string ShownTarget(std::string_view target) {
  const size_t query = target.find_first_of("?#");
  std::string shown(target.substr(0, query));
  if (query != std::string_view::npos) shown += "?...";
  const size_t secret = shown.starts_with("/p/") ? 3 : shown.size();
  const size_t end = shown.find("/n/", secret);
  if (end != std::string::npos) shown.replace(secret, end - secret, "...");
  return shown;
}

std::string ShownUrl(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return std::string(url);
  const size_t host = scheme + 3;
  const size_t path = std::min(url.find_first_of("/?#", host), url.size());
  const size_t login = url.substr(0, path).rfind('@');
  const size_t shown = login == std::string_view::npos ? host : login + 1;
  return std::string(url.substr(0, host))
      .append(url.substr(shown, path - shown))
      .append(ShownTarget(url.substr(path)));
}

bool NamesPort(std::string_view url) {
  std::string_view host = url.substr(url.find("://") + 3);
  host = host.substr(0, host.find_first_of("/?#"));
  host = host.substr(host.rfind('@') + 1);  // npos + 1 is 0
  const size_t bracket = host.rfind(']');
  return host.find(':', bracket == std::string_view::npos ? 0 : bracket) != std::string_view::npos;
}

}  // namespace net
