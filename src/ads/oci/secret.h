// Secrets in memory: wiped when destroyed, and kept out of core dumps.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace ads::oci {

// Overwrites the bytes, then empties the text.
void Wipe(std::string& text);

class Secret {
 public:
  Secret() = default;
  // Wipes its argument.
  explicit Secret(std::string&& text) : text_(text) { Wipe(text); }
  Secret(Secret&& other) noexcept : text_(other.text_) { Wipe(other.text_); }
  Secret& operator=(Secret&& other) noexcept {
    if (this != &other) {
      Wipe(text_);
      text_ = other.text_;
      Wipe(other.text_);
    }
    return *this;
  }
  ~Secret() { Wipe(text_); }

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }

 private:
  std::string text_;
};

// A file of at most 1 MiB, in one buffer. The error names the path.
base::Result<Secret> ReadSecretFile(const std::string& path);

// From now on this process writes no core dump, and other processes of the user cannot read its
// memory. Programs that it starts are not affected.
void ForbidDumps();

}  // namespace ads::oci
