#include "ads/oci/signature.h"

#include <fmt/format.h>

#include <array>
#include <chrono>

#include "base/strings.h"

namespace ads::oci {
namespace {

using std::chrono::seconds;

constexpr std::array<std::string_view, 7> kWeekdays = {"Sun", "Mon", "Tue", "Wed",
                                                       "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

bool HasBody(std::string_view method) {
  return method == "POST" || method == "PUT" || method == "PATCH";
}

std::string SignedValue(const net::HttpRequest& request, std::string_view name) {
  if (name == "(request-target)") {
    return base::ToLower(request.method) + " " + request.target;
  }
  // Written by the HTTP client.
  if (name == "content-length") return std::to_string(request.body.size());
  return std::string(net::FindHeader(request.headers, name));
}

}  // namespace

std::string SignedHeaders(std::string_view method, SignedBody body) {
  std::string names = "date (request-target) host";
  if (HasBody(method) && body == SignedBody::kYes) {
    names += " content-length content-type x-content-sha256";
  }
  return names;
}

std::string SigningString(const net::HttpRequest& request, std::string_view signed_headers) {
  std::string lines;
  for (const std::string& name : base::Split(signed_headers, ' ')) {
    if (!lines.empty()) lines += '\n';
    lines += name + ": " + SignedValue(request, name);
  }
  return lines;
}

std::string AuthorizationHeader(std::string_view signed_headers, std::string_view key_id,
                                std::string_view signature) {
  return fmt::format(
      R"(Signature algorithm="rsa-sha256",headers="{}",keyId="{}",signature="{}",version="1")",
      signed_headers, key_id, signature);
}

base::Status SignRequest(net::HttpRequest& request, const std::string& host, SignedBody body,
                         const std::string& key_id, const PrivateKey& key, base::Time now) {
  request.headers.emplace_back("date", FormatHttpDate(now));
  request.headers.emplace_back("host", host);
  if (HasBody(request.method) && body == SignedBody::kYes) {
    request.headers.emplace_back("x-content-sha256", Sha256Base64(request.body));
  }
  const std::string names = SignedHeaders(request.method, body);
  TRY_ASSIGN(const std::string signature, key.Sign(SigningString(request, names)));
  request.headers.emplace_back("authorization", AuthorizationHeader(names, key_id, signature));
  return {};
}

std::string FormatHttpDate(base::Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<seconds>(time - day));
  return fmt::format(
      "{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kWeekdays[std::chrono::weekday(day).c_encoding()],
      static_cast<unsigned>(date.day()), kMonths[static_cast<unsigned>(date.month()) - 1],
      static_cast<int>(date.year()), clock.hours().count(), clock.minutes().count(),
      clock.seconds().count());
}

std::optional<base::Time> ParseHttpDate(std::string_view text) {
  const std::vector<std::string> words = base::Split(base::Trim(text), ' ');
  if (words.size() != 6) return std::nullopt;
  const std::vector<std::string> clock = base::Split(words[4], ':');
  const auto day = base::ParseInt(words[1]);
  const auto year = base::ParseInt(words[3]);
  unsigned month = 0;
  while (month < kMonths.size() && kMonths[month] != words[2]) ++month;
  if (!day || !year || month == kMonths.size() || clock.size() != 3) return std::nullopt;
  if (*day < 1 || *day > 31 || *year < 1970 || *year > 9999) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(month + 1),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  const auto hours = base::ParseInt(clock[0]);
  const auto minutes = base::ParseInt(clock[1]);
  const auto secs = base::ParseInt(clock[2]);
  if (!date.ok() || !hours || !minutes || !secs) return std::nullopt;
  if (*hours < 0 || *hours > 23 || *minutes < 0 || *minutes > 59 || *secs < 0 || *secs > 60) {
    return std::nullopt;
  }
  return base::Time(std::chrono::sys_days(date) + std::chrono::hours(*hours) +
                    std::chrono::minutes(*minutes) + seconds(*secs));
}

}  // namespace ads::oci
