#include "ads/config/entry_settings.h"

#include <gtest/gtest.h>

#include <map>

namespace ads {
namespace {

using Words = std::vector<std::string>;

EntrySettings SettingsOf(std::map<std::string, std::string> values) {
  values.emplace("RANK", "0");
  values.emplace("OCI__WORK_DIR", "oci://bkt@ns/p");
  values.emplace("OCI__ENTRY_SCRIPT", "train.py");
  const auto settings = ReadEntrySettings(base::Environment(std::move(values)), "run-1");
  EXPECT_TRUE(settings) << settings.error().message;
  return *settings;
}

TEST(EntrySettings_Defaults, AreTheOriginals) {
  const EntrySettings settings = SettingsOf({});
  EXPECT_TRUE(settings.IsMain());
  EXPECT_EQ(settings.MeetingUri(), "oci://bkt@ns/p/Undefined");
  EXPECT_EQ(settings.master_port, "29400");
  EXPECT_EQ(settings.code_dir, "/code");
  EXPECT_EQ(settings.job_run_ocid, "run-1");
  EXPECT_EQ(settings.timeout.count(), 600);
  EXPECT_FALSE(settings.is_synced);
  EXPECT_FALSE(settings.post_wait);
  EXPECT_TRUE(SettingsOf({{"SYNC_ARTIFACTS", "1"}}).is_synced);
  EXPECT_FALSE(SettingsOf({{"SYNC_ARTIFACTS", "true"}}).is_synced);
  EXPECT_EQ(SettingsOf({{"POST_PROCESSING_WAIT", "5"}}).post_wait->count(), 5);
}

TEST(EntrySettings_WhatIsMissing, IsNamed) {
  const auto refusal = [](std::map<std::string, std::string> values) {
    return ReadEntrySettings(base::Environment(std::move(values)), "r").error().message;
  };
  EXPECT_TRUE(refusal({}).starts_with("KeyError: RANK is not set"));
  EXPECT_TRUE(refusal({{"RANK", "x"}}).starts_with("ValueError: RANK=x: a whole number"));
  EXPECT_TRUE(refusal({{"RANK", "0"}}).starts_with("ValueError: OCI__WORK_DIR is not set"));
  EXPECT_TRUE(refusal({{"RANK", "0"}, {"OCI__WORK_DIR", "None"}})
                  .starts_with("ValueError: OCI__WORK_DIR is not set"));
  EXPECT_TRUE(refusal({{"RANK", "0"}, {"OCI__WORK_DIR", "/w"}})
                  .starts_with("ValueError: OCI__ENTRY_SCRIPT is not set"));
  EXPECT_TRUE(refusal({{"RANK", "0"}, {"OCI__RENDEZVOUS", "environment"}})
                  .starts_with("ValueError: MASTER_ADDR is not set"));
}

TEST(EntrySettings_LocalFolder, KeepsNodesApart) {
  const EntrySettings settings =
      SettingsOf({{"RANK", "2"}, {"OCI__LOCAL_FOLDER", "/l"}, {"OCI__RUNTIME_TYPE", "git"}});
  EXPECT_EQ(settings.code_dir, "/l/node-2/code");
  EXPECT_EQ(settings.sync_dir, "/l/node-2/artifacts");
}

// The four cases of upstream's get_sync_loc.
TEST(EntrySettings_SyncPlace, FollowsWorkspaceThenWorkDir) {
  const auto text = [](std::map<std::string, std::string> values) {
    const auto place = FindSyncPlace(SettingsOf(std::move(values)));
    return place ? place->bucket + "," + place->bucket_namespace + "," + place->prefix : "none";
  };
  EXPECT_EQ(text({{"WORKSPACE", "w"}, {"WORKSPACE_PREFIX", "/a/"}}), "w,ns,a");
  EXPECT_EQ(text({{"WORKSPACE", "w"}}), "w,ns,");
  EXPECT_EQ(text({{"OCI__WORK_DIR", "oci://b@n/x/y/"}}), "b,n,x/y");
  EXPECT_EQ(text({{"OCI__WORK_DIR", "oci://b@n"}}), "b,n,");
  EXPECT_EQ(text({{"OCI__WORK_DIR", "file:///w"}}), "none");
  EXPECT_EQ(SyncUri(SettingsOf({{"JOB_OCID", "j"}})), "oci://bkt@ns/p/sync/j/run-1");
  EXPECT_EQ(SyncUri(SettingsOf({{"OCI__WORK_DIR", "file:///w/"}, {"JOB_OCID", "j"}})),
            "file:///w/sync/j/run-1");
}

TEST(EntrySettings_Command, TakesProfilerScriptAndArguments) {
  const auto command = [](std::map<std::string, std::string> values) {
    return *TrainingCommand(SettingsOf(std::move(values)),
                            base::Environment(std::map<std::string, std::string>{{"RANK", "3"}}));
  };
  EXPECT_EQ(command({{"OCI__ENTRY_SCRIPT_ARGS", "--x 'a b'"}}),
            (Words{"python", "/code/train.py", "--x", "a b"}));
  EXPECT_EQ(command({{"OCI__ENTRY_SCRIPT_ARGS", R"(--x "\$a \"b\"")"}}),
            (Words{"python", "/code/train.py", "--x", R"(\$a "b")"}))
      << "ADS divides it by shlex.split";
  EXPECT_EQ(command({{"OCI__ENTRY_SCRIPT", "/abs/t.py"}, {"PROFILE_CMD", "nsys"}}),
            (Words{"python", "/abs/t.py"}));
  EXPECT_EQ(command({{"PROFILE", "1"}, {"PROFILE_CMD", "nsys profile  -o /r -x true"}}),
            (Words{"nsys", "profile", "-o", "/r_rank3", "-x", "true", "python", "/code/train.py"}));
  EXPECT_EQ(command({{"PROFILE", "1"}, {"PROFILE_CMD", "nsys profile --output=/r%q{RANK}"}}),
            (Words{"nsys", "profile", "--output=/r3", "python", "/code/train.py"}));
  EXPECT_EQ(command({{"PROFILE", "1"}}), (Words{"python", "/code/train.py"}));
}

TEST(EntrySettings_Command, RefusesArgumentsWithAnOpenQuote) {
  const auto refused = TrainingCommand(SettingsOf({{"OCI__ENTRY_SCRIPT_ARGS", "--x 'a b"}}),
                                       base::Environment(std::map<std::string, std::string>{}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "OCI__ENTRY_SCRIPT_ARGS: ValueError: No closing quotation: --x 'a b");
}

}  // namespace
}  // namespace ads
