// The process environment as a value, so that code that reads it can be tested.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace base {

class Environment {
 public:
  Environment() = default;
  explicit Environment(std::map<std::string, std::string> values) : values_(std::move(values)) {}
  // A copy of this process's environment.
  static Environment OfProcess();

  // Nullopt when the variable is unset or empty.
  std::optional<std::string> Get(std::string_view name) const;
  std::string GetOr(std::string_view name, std::string_view otherwise) const;
  const std::map<std::string, std::string>& values() const { return values_; }
  void Set(std::string name, std::string value) { values_[std::move(name)] = std::move(value); }
  // "NAME=VALUE", as for exec.
  std::vector<std::string> AsList() const;

  // $HOME if it is an absolute path, otherwise the folder in the password database, otherwise "/".
  // A relative path counts as unset here and below.
  std::string Home() const;
  // $XDG_CONFIG_HOME/muster, by default ~/.config/muster.
  std::string ConfigDir() const;
  // $XDG_STATE_HOME/muster, by default ~/.local/state/muster.
  std::string StateDir() const;
  // $XDG_CACHE_HOME/muster, by default ~/.cache/muster.
  std::string CacheDir() const;
  // $XDG_RUNTIME_DIR/muster-<hash of the state directory> if that is a directory of this user that
  // nobody else can enter, otherwise `run` in the state directory, where others cannot create it
  // first. Two state directories never share a runtime directory. Does not create it.
  std::string RuntimeDir() const;

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace base
