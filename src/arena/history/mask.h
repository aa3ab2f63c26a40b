// Removes passwords, tokens and keys from texts. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "text/json.h"

namespace arena {

// Whether a variable's name indicates a secret: HF_TOKEN, AWS_SECRET_ACCESS_KEY, DB_PASSWORD.
bool IsSecretName(std::string_view name);

// Replaces by "***" the known secrets of a job, and everything that looks like one: passwords in
// URLs, `Bearer ...`, `Authorization: Basic ...`, `Cookie: a=b`, what follows a flag like --token,
// tokens of GitHub, Hugging Face, AWS and others, private keys in PEM. It cannot find a secret that
// no variable contains and that has no known form.
class Mask {
 public:
  // Learns the values of secret variables in `object`, at any depth: {"name": N, "value": V}, and
  // members named like a secret.
  void Learn(const text::Json& object);
  void LearnValue(std::string_view value);
  std::string Of(std::string_view text) const;

 private:
  std::set<std::string, std::greater<>> values_;
};

}  // namespace arena
