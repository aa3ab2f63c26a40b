// $(NAME) in a container's command, args and env: Kubernetes replaces it by the variable's value,
// and $$(NAME) by $(NAME). Pure.
#pragma once

#include <string>
#include <string_view>

namespace api {

// Escapes `text`, so that the container gets it unchanged.
std::string EscapeReferences(std::string_view text);
// What the container gets of it, if references stay as they are.
std::string UnescapeReferences(std::string_view text);

}  // namespace api
