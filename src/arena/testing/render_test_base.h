// RenderTest: objects from flags as they are typed, and looks into them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "arena/submit/job/objects.h"
#include "cli/flags.h"

namespace arena {

class RenderTest : public testing::Test {
 protected:
  text::Json Job(const std::vector<std::string>& args, const std::string& command = "c") {
    options_ = Options(args, command);
    return RenderJob(options_, submission_);
  }

  SubmitOptions Options(std::vector<std::string> args, const std::string& command = "c") {
    cli::FlagSet set;
    SubmitFlags flags;
    flags.Declare(set);
    args.insert(args.begin(), {"--name=pt", "--image=i"});
    std::vector<cli::Flag*> pointers;
    for (const auto& flag : set.flags()) pointers.push_back(flag.get());
    const auto parsed = cli::FlagParser(pointers, [](std::string_view) {}).Parse(args);
    EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
    flags.NoteGiven([&](std::string_view name) { return set.Find(name)->changed(); });
    auto options = CheckSubmit(flags, {command}, environment_);
    EXPECT_TRUE(options) << (options ? "" : options.error().message);
    return options ? *options : SubmitOptions();
  }

  static const text::Json& At(const text::Json& value, text::Path path) {
    static const text::Json kNothing = "<nothing>";
    const text::Json* found = text::Find(value, path);
    return found != nullptr ? *found : kNothing;
  }
  static text::Json Text(std::string_view json) { return *text::ParseJson(json); }
  static const text::Json& PodSpec(const text::Json& job, std::string_view type = "Master") {
    return At(job, {"spec", "pytorchReplicaSpecs", type, "template", "spec"});
  }
  static const text::Json& Container(const text::Json& job, std::string_view type = "Master") {
    return At(PodSpec(job, type), {"containers"}).as_array()[0];
  }
  static const text::Json& Init(const text::Json& job) {
    return At(PodSpec(job), {"initContainers"}).as_array()[0];
  }
  // NAME=value of a container, "" when it has none.
  static std::string Env(const text::Json& container, std::string_view name) {
    for (const text::Json& entry : At(container, {"env"}).as_array()) {
      if (text::GetString(entry, {"name"}) == name) return text::ToJson(entry);
    }
    return "";
  }

  base::Environment environment_{{{"HOME", "/nowhere"}}};
  Submission submission_{"default", "tom", "i", "/arena_logs/training123456789"};
  SubmitOptions options_;
};

}  // namespace arena
