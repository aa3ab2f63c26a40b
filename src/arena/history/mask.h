// What may be shown to a colleague: texts without passwords, tokens and keys. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "text/json.h"

namespace arena {

// Whether a variable of that name holds a secret: HF_TOKEN, AWS_SECRET_ACCESS_KEY, DB_PASSWORD.
bool IsSecretName(std::string_view name);

// Knows the secrets of a job, and finds texts that look like secrets wherever they are: passwords
// of URLs, `Bearer ...`, tokens of GitHub, Hugging Face and AWS, private keys in PEM. Each becomes
// "***". A secret that looks like nothing and that no variable holds is not found.
class Mask {
 public:
  // The values of secret variables in `object`, at any depth: {"name": N, "value": V}, and members
  // named like a secret.
  void Learn(const text::Json& object);
  std::string Of(std::string_view text) const;

 private:
  void LearnValue(std::string_view value);

  std::set<std::string, std::greater<>> values_;
};

}  // namespace arena
