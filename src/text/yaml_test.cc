#include "text/yaml.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "text/json_generator.h"

namespace text {
namespace {

RC_GTEST_PROP(YamlText, PrintsAndReadsBackTheSame, ()) {
  const Json value = *GenerateJson();
  const std::string yaml = ToYaml(value);
  const auto read = ParseYaml(yaml);
  if (!read) RC_FAIL(yaml + "\n" + read.error().message);
  if (!SameJson(*read, value)) RC_FAIL(yaml + "\n" + ToJson(*read) + "\n" + ToJson(value));
  RC_ASSERT(ToYaml(*read) == yaml);
}

}  // namespace
}  // namespace text
