#include "net/socket/code_address.h"

namespace net {

bool IsCodePath(std::string_view address) {
  return !address.empty() && address.find(':') >= address.find('/');
}

bool IsCodeOverSsh(std::string_view address) {
  const size_t end = address.find("://");
  if (end == std::string_view::npos) return !address.empty() && !IsCodePath(address);
  const std::string_view scheme = address.substr(0, end);
  return scheme == "ssh" || scheme == "git+ssh" || scheme == "ssh+git";
}

}  // namespace net
