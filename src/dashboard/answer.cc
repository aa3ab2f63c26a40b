#include "dashboard/answer.h"

#include <fmt/format.h>

#include <string>

#include "base/strings.h"

namespace dashboard {
namespace {

// Permits only the server's own scripts, images and connections, no inline script, no style but
// that of this SHA-256, and no text as markup (require-trusted-types-for).
std::string Policy(std::string_view style) {
  return fmt::format(
      "default-src 'none'; script-src 'self'; style-src {}; connect-src 'self'; img-src 'self'; "
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
      "require-trusted-types-for 'script'; trusted-types 'none'",
      style.empty() ? "'none'" : fmt::format("'sha256-{}'", base::Base64Encode(style)));
}

net::Headers Guards(std::string_view content_type, std::string_view cache,
                    std::string_view style = "") {
  return {{"Content-Type", std::string(content_type)},
          {"Cache-Control", std::string(cache)},
          {"Content-Security-Policy", Policy(style)},
          {"X-Content-Type-Options", "nosniff"},
          {"X-Frame-Options", "DENY"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Opener-Policy", "same-origin"},
          {"Cross-Origin-Resource-Policy", "same-origin"}};
}

int StatusOf(base::Code code) {
  switch (code) {
    case base::Code::kInvalidArgument:
      return 400;
    case base::Code::kNotFound:
      return 404;
    case base::Code::kAlreadyExists:
    case base::Code::kConflict:
      return 409;
    case base::Code::kExpired:
      return 410;
    case base::Code::kUnauthenticated:
      return 401;
    case base::Code::kPermissionDenied:
      return 403;
    case base::Code::kUnavailable:
    case base::Code::kTimeout:
    case base::Code::kExhausted:
    case base::Code::kCancelled:
      return 503;
    case base::Code::kInternal:
      break;
  }
  return 500;
}

}  // namespace

net::Headers DataHeaders(std::string_view content_type) { return Guards(content_type, "no-store"); }

net::HttpResponse JsonAnswer(const text::Json& json) {
  return {200, DataHeaders("application/json"), text::ToJson(json)};
}

net::HttpResponse ErrorAnswer(const base::Error& error) {
  const text::Json json =
      text::Object{{"error", error.message}, {"code", base::CodeName(error.code)}};
  return {StatusOf(error.code), DataHeaders("application/json"), text::ToJson(json)};
}

net::HttpResponse AssetAnswer(const net::HttpRequest& request, const Asset& asset) {
  net::Headers headers = Guards(asset.content_type, "no-cache", asset.style);
  const std::string tag = "\"" + std::string(asset.etag) + "\"";
  headers.emplace_back("ETag", tag);
  headers.emplace_back("Vary", "Accept-Encoding");
  if (net::FindHeader(request.headers, "If-None-Match") == tag) return {304, headers, ""};
  if (net::FindHeader(request.headers, "Accept-Encoding").find("gzip") == std::string_view::npos) {
    return {406, DataHeaders("text/plain"), "this page is for browsers, which read gzip\n"};
  }
  headers.emplace_back("Content-Encoding", "gzip");
  return {200, headers, std::string(asset.gzipped)};
}

}  // namespace dashboard
