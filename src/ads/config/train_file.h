// The YAML file passed to `run` and `check`.
#pragma once

#include <string>

#include "ads/app.h"
#include "ads/yaml/value.h"
#include "base/result.h"

namespace ads {

// The document at `path`: a file, "-" for stdin, a URL, or oci://bucket@namespace/object. $VAR and
// ${VAR} in the texts of its first level (kind, apiVersion) are replaced from the environment.
// kInvalidArgument or kNotFound with the path.
base::Result<PyValue> ReadTrainFile(const std::string& path, const Context& context,
                                    const LoginFlags& login);

// `path` as messages may show it: a URL without its secrets.
std::string ShownTrainFile(const std::string& path);

// The value of its `kind`; "" when absent.
std::string KindOf(const PyValue& document);

}  // namespace ads
