// Reads the fields of a kubeconfig; errors name the field. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/json.h"

namespace cluster {

// client.authentication.k8s.io, the versions in use
inline constexpr std::string_view kExecV1 = "client.authentication.k8s.io/v1";
inline constexpr std::string_view kExecV1Beta1 = "client.authentication.k8s.io/v1beta1";

// One object; null reads as an empty one. Borrows the value.
class KubeconfigReader {
 public:
  KubeconfigReader(const text::Json& value, std::string path, std::string_view directory)
      : value_(&value), path_(std::move(path)), directory_(directory) {}

  bool Has(std::string_view key) const;
  std::vector<std::string> Keys() const;
  // Null when absent.
  text::Json Value(std::string_view key) const;

  // All: kInvalidArgument when the field has another type; absent and null are empty.
  base::Result<std::string> String(std::string_view key) const;
  base::Result<bool> Bool(std::string_view key) const;
  base::Result<std::vector<std::string>> Strings(std::string_view key) const;
  base::Result<std::string> Base64(std::string_view key) const;
  base::Result<std::string> FilePath(std::string_view key) const;  // absolute
  base::Result<KubeconfigReader> Object(std::string_view key) const;
  base::Result<std::vector<KubeconfigReader>> Items(std::string_view key) const;

  std::string Absolute(std::string_view path) const;
  // `users[0].user.token: <what>`
  base::Error Wrong(std::string_view key, std::string_view what) const;

 private:
  const text::Json* Find(std::string_view key) const;  // nullptr when absent or null
  std::string PathOf(std::string_view key) const;

  const text::Json* value_;
  std::string path_;
  std::string_view directory_;
};

}  // namespace cluster
