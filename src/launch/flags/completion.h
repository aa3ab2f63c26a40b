// --print-completion: the script by which a shell completes the launcher's flags. Pure.
#pragma once

#include <string>
#include <string_view>

namespace launch {

// `shell` is bash, zsh or tcsh.
std::string CompletionScript(std::string_view shell, const std::string& program);

}  // namespace launch
