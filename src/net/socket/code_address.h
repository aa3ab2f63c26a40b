// Addresses of code, as git and rsync read them: paths, host:path and URLs. Pure.
#pragma once

#include <string_view>

namespace net {

// As distinguished from host:path, host::module and URLs.
bool IsCodePath(std::string_view address);

// host:path, or ssh://host/path, which may be called git+ssh.
bool IsCodeOverSsh(std::string_view address);

}  // namespace net
