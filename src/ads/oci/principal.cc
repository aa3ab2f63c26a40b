#include "ads/oci/principal.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <utility>

#include "ads/oci/profile.h"
#include "base/log.h"
#include "base/strings.h"
#include "text/json.h"
#include "text/web_token.h"

namespace ads::oci {
namespace {

using base::Code;
using base::Fail;
using Credential = Principal::Credential;

// Allows for the difference between the service's clock and this one.
constexpr std::chrono::seconds kTokenMargin{30};

base::Result<std::shared_ptr<const PrivateKey>> ReadKeyFile(const Profile& profile) {
  const auto pem = ReadSecretFile(profile.key_file);
  if (!pem) {
    return Fail(pem.error().Wrap(fmt::format("InvalidKeyFilePath: key_file of profile {} in {}",
                                             profile.name, profile.path)));
  }
  return PrivateKey::Read(*pem, profile.pass_phrase,
                          fmt::format("InvalidPrivateKey: key_file \"{}\" of profile {} in {}",
                                      profile.key_file, profile.name, profile.path));
}

base::Result<Credential> LoadApiKey(const Profile& profile) {
  TRY_ASSIGN(auto key, ReadKeyFile(profile));
  const std::string fingerprint = key->Fingerprint();
  if (fingerprint != base::ToLower(profile.fingerprint)) {
    return Fail(Code::kUnauthenticated,
                fmt::format("InvalidConfig: fingerprint of profile {} in {} is {}, and the key in "
                            "{} has {}: correct the one or the other",
                            profile.name, profile.path, profile.fingerprint, profile.key_file,
                            fingerprint));
  }
  return Credential{fmt::format("{}/{}/{}", profile.tenancy, profile.user, profile.fingerprint),
                    std::move(key), std::nullopt};
}

Credential TokenCredential(std::string_view token, std::shared_ptr<const PrivateKey> key) {
  token = base::Trim(token);
  return {"ST$" + std::string(token), std::move(key), text::ExpiryOfToken(token)};
}

base::Result<Credential> LoadSecurityToken(const Profile& profile) {
  const auto token = ReadSecretFile(profile.security_token_file);
  if (!token) {
    return Fail(token.error().Wrap(
        fmt::format("security_token_file of profile {} in {}", profile.name, profile.path)));
  }
  TRY_ASSIGN(auto key, ReadKeyFile(profile));
  return TokenCredential(token->text(), std::move(key));
}

// The value of a variable, or of the file that it names.
base::Result<Secret> ValueOrFile(const base::Environment& environment, const std::string& name) {
  std::string value = environment.GetOr(name, "");
  if (value.empty()) {
    return Fail(Code::kInvalidArgument, fmt::format("resource principal: {} is not set", name));
  }
  if (!value.starts_with('/')) return Secret(std::move(value));
  auto file = ReadSecretFile(value);
  if (!file) return Fail(file.error().Wrap("resource principal: " + name));
  return file;
}

constexpr const char* kVersion = "OCI_RESOURCE_PRINCIPAL_VERSION";
constexpr const char* kToken = "OCI_RESOURCE_PRINCIPAL_RPST";
constexpr const char* kKey = "OCI_RESOURCE_PRINCIPAL_PRIVATE_PEM";
constexpr const char* kKeyPass = "OCI_RESOURCE_PRINCIPAL_PRIVATE_PEM_PASSPHRASE";
constexpr const char* kRegion = "OCI_RESOURCE_PRINCIPAL_REGION";

base::Result<Credential> LoadResourcePrincipal(const base::Environment& environment) {
  TRY_ASSIGN(const Secret token, ValueOrFile(environment, kToken));
  TRY_ASSIGN(const Secret pem, ValueOrFile(environment, kKey));
  Secret pass;
  if (environment.Get(kKeyPass)) {
    TRY_ASSIGN(pass, ValueOrFile(environment, kKeyPass));
  }
  TRY_ASSIGN(auto key, PrivateKey::Read(pem, pass, fmt::format("resource principal: {}", kKey)));
  return TokenCredential(token.text(), std::move(key));
}

base::Result<Principal::Origin> ResourcePrincipalOrigin(const base::Environment& environment) {
  const std::string version = environment.GetOr(kVersion, "");
  if (version.empty()) {
    return Fail(Code::kInvalidArgument,
                fmt::format("resource principal: {} is not set: only job runs and other resources "
                            "of the cloud have one; elsewhere use --auth api_key",
                            kVersion));
  }
  if (version != "2.2") {
    return Fail(Code::kInvalidArgument,
                fmt::format("resource principal: {} is {}; 2.2 is the one that is known", kVersion,
                            version));
  }
  const std::string region = environment.GetOr(kRegion, "");
  if (region.empty()) {
    return Fail(Code::kInvalidArgument, fmt::format("resource principal: {} is not set", kRegion));
  }
  return Principal::Origin{region,
                           "does a dynamic group hold this job run, and a policy allow it this?",
                           fmt::format("the service puts a new one where {} says", kToken)};
}

// Anyone who can read the key can act as its user.
void WarnOfReaders(const std::string& key_file) {
  constexpr mode_t kOthersRead = S_IRGRP | S_IROTH;
  struct stat about{};
  if (::stat(key_file.c_str(), &about) != 0 || (about.st_mode & kOthersRead) == 0) return;
  base::LogWarn("others can read the key {0}: `chmod 600 {0}`", key_file);
}

base::Result<std::unique_ptr<Principal>> OpenProfile(const PrincipalOptions& options,
                                                     ProfileUse use,
                                                     const base::Environment& environment,
                                                     base::Clock& clock) {
  TRY_ASSIGN(Profile read, ReadProfile(options.config_path, options.profile, use, environment));
  const auto profile = std::make_shared<const Profile>(std::move(read));
  WarnOfReaders(profile->key_file);
  Principal::Origin origin{
      profile->region,
      use == ProfileUse::kApiKey
          ? fmt::format("check user, tenancy and fingerprint of profile {} in {}, and that the key "
                        "is uploaded for that user",
                        profile->name, profile->path)
          : fmt::format("check security_token_file and key_file of profile {} in {}", profile->name,
                        profile->path),
      fmt::format("renew it with `oci session authenticate --profile-name {}`", profile->name)};
  const auto load = use == ProfileUse::kApiKey ? LoadApiKey : LoadSecurityToken;
  return std::make_unique<Principal>(
      std::move(origin), [profile, load] { return load(*profile); }, clock);
}

}  // namespace

base::Result<Credential> Principal::Show() {
  const std::lock_guard lock(mutex_);
  const auto has_run_out = [&](base::Duration margin) {
    return credential_->expires && *credential_->expires < clock_.Now() + margin;
  };
  if (!credential_ || has_run_out(kTokenMargin)) {
    TRY_ASSIGN(credential_, load_());
    if (has_run_out({})) {
      const std::string when = base::FormatRfc3339(*credential_->expires);
      credential_.reset();
      return Fail(Code::kUnauthenticated,
                  fmt::format("the session token expired at {}: {}", when, origin_.renewal));
    }
  }
  return *credential_;
}

bool Principal::Refused(const std::string& key_id) {
  const std::lock_guard lock(mutex_);
  if (credential_ && credential_->key_id != key_id) return true;  // another thread was faster
  auto loaded = load_();
  if (!loaded || loaded->key_id == key_id) return false;
  credential_ = std::move(*loaded);
  return true;
}

base::Result<std::unique_ptr<Principal>> OpenPrincipal(const PrincipalOptions& options,
                                                       const base::Environment& environment,
                                                       base::Clock& clock) {
  if (options.auth == "api_key") {
    return OpenProfile(options, ProfileUse::kApiKey, environment, clock);
  }
  if (options.auth == "security_token") {
    return OpenProfile(options, ProfileUse::kSecurityToken, environment, clock);
  }
  if (options.auth == "resource_principal") {
    TRY_ASSIGN(Principal::Origin origin, ResourcePrincipalOrigin(environment));
    return std::make_unique<Principal>(
        std::move(origin), [environment] { return LoadResourcePrincipal(environment); }, clock);
  }
  return Fail(Code::kInvalidArgument,
              fmt::format("auth \"{}\" is not known here: use api_key, security_token, "
                          "resource_principal or instance_principal",
                          options.auth));
}

}  // namespace ads::oci
