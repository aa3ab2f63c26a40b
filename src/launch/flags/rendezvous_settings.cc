#include "launch/flags/rendezvous_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/strings.h"
#include "launch/python/numbers.h"
#include "rendezvous/nodes/rendezvous.h"

namespace launch {
namespace {

constexpr int kPortEnd = 65536;
constexpr double kLongestTimeout = 1e9;
constexpr base::Duration kLongestSilence = std::chrono::seconds(1'000'000'000);
constexpr int64_t kMostAttempts = 1'000'000;
// torchrun's defaults for settings that are absent.
constexpr base::Duration kTorchInterval = std::chrono::seconds(5);
constexpr int64_t kTorchAttempts = 3;

bool IsHostChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_' ||
         c == ':' || c == '%';
}

tl::unexpected<base::Error> BadHost(std::string_view text) {
  return base::Fail(base::Code::kInvalidArgument,
                    fmt::format("the hostname of the rendezvous endpoint '{}' must be a dot-"
                                "separated list of labels, an IPv4 address, or an IPv6 address",
                                text));
}

tl::unexpected<base::Error> BadPort(std::string_view text) {
  return base::Fail(base::Code::kInvalidArgument,
                    fmt::format("the port number of the rendezvous endpoint '{}' must be an "
                                "integer between 0 and 65536",
                                text));
}

base::Duration Times(base::Duration one, int64_t count) {
  return one > kLongestSilence / count ? kLongestSilence : one * count;
}

// torchrun's heartbeat_timeout applies to one heartbeat, and a node is lost after
// keep_alive_max_attempt missed ones.
base::Status ReadSilence(const std::map<std::string, std::string>& values, RendezvousConf& conf) {
  std::optional<int64_t> attempts;
  if (const auto found = values.find("keep_alive_max_attempt"); found != values.end()) {
    attempts = ParsePythonInt(found->second);
    if (!attempts || *attempts < 1 || *attempts > kMostAttempts) {
      return base::Fail(base::Code::kInvalidArgument,
                        fmt::format("keep_alive_max_attempt={}: must be from 1 to {}",
                                    found->second, kMostAttempts));
    }
  }
  const auto interval = conf.keep_alive_interval;
  if (attempts && !conf.heartbeat_timeout) {
    conf.heartbeat_timeout = Times(interval.value_or(kTorchInterval), *attempts);
  }
  const rendezvous::RendezvousConfig usual;
  if (interval && *interval * 2 > conf.heartbeat_timeout.value_or(usual.heartbeat_timeout)) {
    conf.heartbeat_timeout =
        Times(*interval, std::max<int64_t>(attempts.value_or(kTorchAttempts), 2));
  }
  return {};
}

}  // namespace

base::Result<std::map<std::string, std::string>> ParseRendezvousConf(std::string_view text) {
  std::map<std::string, std::string> conf;
  if (base::Trim(text).empty()) return conf;
  for (const std::string& pair : base::Split(text, ',')) {
    const size_t equals = pair.find('=');
    const std::string key(base::Trim(std::string_view(pair).substr(0, equals)));
    if (key.empty()) {
      return base::Fail(base::Code::kInvalidArgument,
                        fmt::format("the rendezvous configuration string '{}' must be in format "
                                    "<key1>=<value1>,...,<keyN>=<valueN>",
                                    text));
    }
    const std::string value(equals == std::string::npos
                                ? std::string_view()
                                : base::Trim(std::string_view(pair).substr(equals + 1)));
    if (value.empty()) {
      return base::Fail(
          base::Code::kInvalidArgument,
          fmt::format("the rendezvous configuration option '{}' must have a value", key));
    }
    conf[key] = value;
  }
  return conf;
}

base::Result<RendezvousConf> ReadRendezvousConf(const std::map<std::string, std::string>& values) {
  RendezvousConf conf;
  for (const auto& [key, to] : {std::pair("timeout", &conf.join_timeout),
                                {"join_timeout", &conf.join_timeout},
                                {"last_call_timeout", &conf.last_call_timeout},
                                {"keep_alive_interval", &conf.keep_alive_interval},
                                {"heartbeat_timeout", &conf.heartbeat_timeout},
                                {"stop_timeout", &conf.stop_timeout}}) {
    const auto found = values.find(key);
    if (found == values.end()) continue;
    const auto seconds = ParsePythonFloat(found->second);
    if (!seconds || !(*seconds >= 0) || *seconds > kLongestTimeout) {
      return base::Fail(base::Code::kInvalidArgument,
                        fmt::format("{}={}: must be a number of seconds", key, found->second));
    }
    *to = std::chrono::duration_cast<base::Duration>(std::chrono::duration<double>(*seconds));
  }
  TRY(ReadSilence(values, conf));
  if (const auto type = values.find("store_type");
      type != values.end() && base::ToLower(type->second) != "tcp") {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("store_type={}: only tcp is known here", type->second));
  }
  if (const auto token = values.find("token"); token != values.end()) conf.token = token->second;
  if (const auto host = values.find("is_host"); host != values.end()) {
    const std::string text = base::ToLower(host->second);
    const bool is_yes =
        text == "1" || text == "true" || text == "t" || text == "yes" || text == "y";
    if (!is_yes && text != "0" && text != "false" && text != "f" && text != "no" && text != "n") {
      return base::Fail(base::Code::kInvalidArgument,
                        fmt::format("is_host={}: must be true or false", host->second));
    }
    conf.is_host = is_yes;
  }
  return conf;
}

base::Result<HostPort> ParseHostPort(std::string_view text, int default_port) {
  if (base::Trim(text).empty()) return HostPort{"localhost", default_port};
  const std::string_view trimmed = base::Trim(text);
  std::string_view host = trimmed;
  std::string_view port;
  bool has_port = false;
  if (trimmed.starts_with('[')) {
    const size_t close = trimmed.find(']');
    if (close == std::string_view::npos) return BadHost(text);
    host = trimmed.substr(1, close - 1);
    const std::string_view rest = trimmed.substr(close + 1);
    has_port = rest.starts_with(':');
    if (!rest.empty() && !has_port) return BadHost(text);
    if (has_port) port = rest.substr(1);
  } else if (const size_t colon = trimmed.rfind(':');
             colon != std::string_view::npos && trimmed.find(':') == colon) {
    host = trimmed.substr(0, colon);
    port = trimmed.substr(colon + 1);
    has_port = true;
  }
  // The port first, as in the original: compat/torchrun.md 4, case 83.
  int number = default_port;
  if (has_port) {
    const bool is_number =
        !port.empty() && std::all_of(port.begin(), port.end(), base::IsDigit) && port.size() <= 5;
    const auto parsed = is_number ? base::ParseInt(port) : std::nullopt;
    if (!parsed || *parsed >= kPortEnd) return BadPort(text);
    number = static_cast<int>(*parsed);
  }
  if (host.empty() || !std::all_of(host.begin(), host.end(), IsHostChar)) return BadHost(text);
  return HostPort{std::string(host), number};
}

}  // namespace launch
