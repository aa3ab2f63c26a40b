#include <gtest/gtest.h>

#include "local/server/testing/test_server.h"

namespace local::server {
namespace {

// A reference without apiVersion, as an earlier version stored it.
text::Json Half() { return text::Object{{"kind", "Job"}, {"name", "j"}, {"uid", "u"}}; }
text::Json Owners(std::initializer_list<text::Json> owners) {
  return text::Object{
      {"metadata", text::Object{{"ownerReferences", text::Array(owners.begin(), owners.end())}}}};
}

TEST(PendingWrite, OwnersThatAreStoredAreNotCheckedAgain) {
  TestServer server;
  server.Expect(201, "POST", kPodsPath, PodObject("p"));
  server.ChangeStored({"pods", "default", "p"}, [](text::Json& pod) {
    text::Set(pod, {"metadata", "ownerReferences"}, text::Array{Half()});
  });
  const std::string path = Path(kPodsPath, "p");
  const text::Json labelled = server.Patch(
      200, path, text::Object{{"metadata", text::Object{{"labels", text::Object{{"a", "b"}}}}}});
  EXPECT_EQ(text::GetString(labelled, {"metadata", "labels", "a"}), "b");
  server.Expect(200, "PUT", path, labelled);
  text::Json other = Half();
  text::Set(other, {"uid"}, "v");
  server.Patch(422, path, Owners({Half(), other}));
  text::Set(other, {"apiVersion"}, "batch/v1");
  server.Patch(200, path, Owners({Half(), other}));
  server.Patch(200, path, Owners({other}));
  server.Patch(422, path, Owners({Half()}));
}

}  // namespace
}  // namespace local::server
