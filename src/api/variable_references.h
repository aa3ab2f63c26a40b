// $(NAME) in a container's command, args and env: Kubernetes puts the variable's value in its
// place, and $$(NAME) stays $(NAME). Pure.
#pragma once

#include <string>
#include <string_view>

namespace api {

// What is put into an object so that the container has `text` as it is.
std::string EscapeReferences(std::string_view text);

}  // namespace api
