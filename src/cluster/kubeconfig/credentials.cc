#include "cluster/kubeconfig/credentials.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/strings.h"
#include "cluster/kubeconfig/certificate.h"
#include "text/web_token.h"

namespace cluster {
namespace {

using base::Code;
using base::Fail;

constexpr size_t kMaxFile = 1 << 20;
// Tokens and certificates may be rotated while we run, as those of service accounts are.
constexpr std::chrono::seconds kFileAge{10};
// A credential is renewed this long before it expires.
constexpr std::chrono::seconds kExpiryMargin{10};

bool IsToken(std::string_view token) {
  return std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

}  // namespace

base::Result<std::string> ReadNamedFile(std::string_view field, const std::string& path) {
  auto text = base::ReadFile(path, kMaxFile);
  if (text) return text;
  // The kubeconfig is wrong, not the server.
  return Fail(Code::kInvalidArgument,
              fmt::format("kubeconfig: {} {}", field, text.error().message));
}

net::Headers Credentials::ImpersonationHeaders() const {
  const KubeUser& user = options_.selection.user;
  net::Headers headers;
  if (user.as.empty()) return headers;
  headers.emplace_back("Impersonate-User", user.as);
  if (!user.as_uid.empty()) headers.emplace_back("Impersonate-Uid", user.as_uid);
  for (const std::string& group : user.as_groups) headers.emplace_back("Impersonate-Group", group);
  for (const auto& [key, value] : user.as_extra) {
    headers.emplace_back("Impersonate-Extra-" + net::PercentEncode(key), value);
  }
  return headers;
}

base::Status Credentials::LoadAuthorities() {
  const KubeCluster& cluster = options_.selection.cluster;
  if (!cluster.ca_data.empty() || cluster.ca_file.empty()) {
    shown_.ca_pem = cluster.ca_data;
    return {};
  }
  auto pem = ReadNamedFile("certificate-authority", cluster.ca_file);
  if (pem && (shown_.ca_pem.empty() || ReadCertificate(*pem))) shown_.ca_pem = std::move(*pem);
  if (!pem && shown_.ca_pem.empty()) return Fail(std::move(pem.error()));
  return {};
}

base::Status Credentials::LoadCertificate() {
  const KubeUser& user = options_.selection.user;
  const auto read = [](std::string_view field, const std::string& data,
                       const std::string& file) -> base::Result<std::string> {
    return data.empty() && !file.empty() ? ReadNamedFile(field, file) : data;
  };
  auto cert = read("client-certificate", user.cert_data, user.cert_file);
  auto key = read("client-key", user.key_data, user.key_file);
  // Two files are not replaced at the same time.
  const bool has_last = !shown_.cert_pem.empty();
  if (has_last && (!cert || !key || !AreOneIdentity(*cert, *key))) return {};
  if (!cert) return Fail(std::move(cert.error()));
  if (!key) return Fail(std::move(key.error()));
  shown_.cert_pem = std::move(*cert);
  shown_.key_pem = std::move(*key);
  return {};
}

base::Status Credentials::LoadToken() {
  const KubeUser& user = options_.selection.user;
  std::string token = user.token;
  if (!user.token_file.empty()) {
    auto text = ReadNamedFile("tokenFile", user.token_file);
    // While it is being replaced, the last one is used.
    if (!text && shown_.authorization.empty() && token.empty()) {
      return Fail(std::move(text.error()));
    }
    if (text) {
      token = base::Trim(*text);
    } else if (!shown_.authorization.empty()) {
      return {};
    }
    if (token.empty()) return Fail(Code::kInvalidArgument, user.token_file + ": contains no token");
  }
  if (token.empty()) return {};
  if (!IsToken(token)) {
    return Fail(Code::kInvalidArgument,
                "the token contains a blank, a line end or a control character");
  }
  shown_.authorization = "Bearer " + token;
  return {};
}

base::Status Credentials::LoadBasic() {
  const KubeUser& user = options_.selection.user;
  if (user.username.empty() && user.password.empty()) return {};
  shown_.authorization =
      "Basic " + base::Base64Encode(fmt::format("{}:{}", user.username, user.password));
  return {};
}

base::Status Credentials::RunPlugin() {
  const auto& plugin = options_.selection.user.exec;
  if (!plugin) return {};
  const auto in_plugin = [&](const base::Error& error) {
    return Fail(error.Wrap(fmt::format("user \"{}\": credential program \"{}\"",
                                       options_.selection.user_name, plugin->command)));
  };
  const auto is_interactive = IsPluginInteractive(*plugin, options_.has_terminal);
  if (!is_interactive) return in_plugin(is_interactive.error());
  const std::string info =
      ExecInfo(*plugin, options_.selection.cluster, shown_.ca_pem, *is_interactive);
  const auto output = options_.run_plugin(*plugin, info, *is_interactive);
  if (!output) return in_plugin(output.error());
  auto credential = ParseExecCredential(*output, plugin->api_version);
  if (!credential) return in_plugin(credential.error());
  if (!credential->token.empty()) shown_.authorization = "Bearer " + credential->token;
  if (!credential->cert_pem.empty()) {
    shown_.cert_pem = std::move(credential->cert_pem);
    shown_.key_pem = std::move(credential->key_pem);
  }
  expires_ = credential->expires;
  return {};
}

bool Credentials::IsStale() const {
  if (!is_loaded_) return true;
  if (expires_ && clock_.Now() + kExpiryMargin >= *expires_) return true;
  return HasFiles() && clock_.Steady() - loaded_at_ >= kFileAge;
}

bool Credentials::HasFiles() const {
  const KubeUser& user = options_.selection.user;
  return !user.token_file.empty() || !user.cert_file.empty() || !user.key_file.empty() ||
         !options_.selection.cluster.ca_file.empty();
}

base::Result<Credentials::Shown> Credentials::Show() {
  const std::lock_guard lock(mutex_);
  if (!IsStale()) return shown_;
  const Shown before = shown_;
  TRY(LoadAuthorities());
  // Credentials of a program are renewed by that program only: the files grow old meanwhile.
  const bool must_run = !is_loaded_ || (expires_ && clock_.Now() + kExpiryMargin >= *expires_);
  if (!options_.selection.user.exec || must_run) TRY(LoadCertificate());
  TRY(LoadBasic());
  TRY(LoadToken());
  if (must_run) TRY(RunPlugin());
  is_loaded_ = true;
  loaded_at_ = clock_.Steady();
  const bool is_new = before.authorization != shown_.authorization ||
                      before.cert_pem != shown_.cert_pem || before.key_pem != shown_.key_pem ||
                      before.ca_pem != shown_.ca_pem;
  if (is_new) ++shown_.generation;
  return shown_;
}

bool Credentials::Refused(int generation) {
  {
    const std::lock_guard lock(mutex_);
    // Another thread has renewed them.
    if (generation != shown_.generation) return true;
    is_loaded_ = false;
  }
  const auto again = Show();
  return again && again->generation != generation;
}

bool Credentials::HaveFilesChanged(int generation) {
  return HasFiles() && !options_.selection.user.exec && Refused(generation);
}

std::string Credentials::WhyRefused() {
  const std::lock_guard lock(mutex_);
  const KubeSelection& selection = options_.selection;
  std::string shown = "no credentials at all";
  if (selection.user.exec) {
    shown = fmt::format("what the credential program \"{}\" gives", selection.user.exec->command);
  } else if (!selection.user.token_file.empty()) {
    shown = fmt::format("the token in {}", selection.user.token_file);
  } else if (shown_.authorization.starts_with("Bearer")) {
    shown = "the token";
  } else if (shown_.authorization.starts_with("Basic")) {
    shown = "the user name and password";
  } else if (!shown_.cert_pem.empty()) {
    shown = "the client certificate";
    if (const auto certificate = ReadCertificate(shown_.cert_pem)) {
      if (certificate->not_after < clock_.Now()) {
        shown += fmt::format(", which expired at {},", base::FormatRfc3339(certificate->not_after));
      } else if (certificate->not_before > clock_.Now()) {
        shown += fmt::format(", which is not valid before {},",
                             base::FormatRfc3339(certificate->not_before));
      }
    }
  }
  constexpr std::string_view kBearer = "Bearer ";
  if (shown_.authorization.starts_with(kBearer)) {
    const auto expiry =
        text::ExpiryOfToken(std::string_view(shown_.authorization).substr(kBearer.size()));
    if (expiry && *expiry < clock_.Now()) {
      shown += fmt::format(", which expired at {},", base::FormatRfc3339(*expiry));
    }
  }
  return fmt::format(
      "the server {} does not accept {} of user \"{}\" (context \"{}\"): log in again",
      selection.cluster.server, shown, selection.user_name, selection.context_name);
}

}  // namespace cluster
