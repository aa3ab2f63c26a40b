#include "arena/objects/manifest.h"

#include <gtest/gtest.h>

namespace arena {
namespace {

std::vector<std::string> PlacesOf(std::string_view text) {
  auto manifests = ParseManifests(text, "f");
  if (!manifests) return {manifests.error().message};
  std::vector<std::string> places;
  for (const Manifest& manifest : *manifests) {
    places.push_back(manifest.place + " " +
                     std::string(text::GetString(manifest.object, {"kind"})));
  }
  return places;
}

using Places = std::vector<std::string>;

TEST(ManifestTest, DocumentsOfYamlKnowTheirLines) {
  EXPECT_EQ(PlacesOf("kind: A\n---\n# nothing\n---\nx: 1\nkind: B\n"),
            (Places{"f: document 1 (line 1) A", "f: document 3 (line 5) B"}));
  EXPECT_EQ(PlacesOf(""), Places{});
}

TEST(ManifestTest, JsonObjectsMayFollowOneAnother) {
  EXPECT_EQ(
      PlacesOf("{\"kind\": \"A\",\n \"x\": \"}{\\\"\"}\n\n{\"kind\": \"B\"}{\"kind\": \"C\"}"),
      (Places{"f: document 1 (line 1) A", "f: document 2 (line 4) B", "f: document 3 (line 4) C"}));
}

TEST(ManifestTest, ListsAreTakenApart) {
  EXPECT_EQ(
      PlacesOf("kind: List\nitems:\n- kind: A\n- kind: BList\n  items:\n  - kind: B\n"),
      (Places{"f: document 1 (line 1) items[0] A", "f: document 1 (line 1) items[1] items[0] B"}));
  EXPECT_EQ(PlacesOf("kind: List\nitems: []\n"), Places{});
  // A custom kind of that name.
  EXPECT_EQ(PlacesOf("kind: AllowList\nspec: {}\n"), (Places{"f: document 1 (line 1) AllowList"}));
}

TEST(ManifestTest, MalformedTextIsRefusedAtItsLine) {
  EXPECT_TRUE(PlacesOf("kind: A\nspec: [1\n").front().starts_with("f:3:1: "));
  EXPECT_EQ(PlacesOf("a: 1\na: 2\n"), Places{"f:2:1: key \"a\" is already set in this map"});
  EXPECT_TRUE(PlacesOf("{\"kind\": \"A\"}\n{\"kind\": \n").front().starts_with("f:2:1: "));
  EXPECT_EQ(PlacesOf("kind: A\n---\n- 1\n"),
            Places{"f: document 2 (line 3): a list where an object with apiVersion and kind is "
                   "expected"});
  EXPECT_EQ(PlacesOf("kind: List\nitems: [just words]\n"),
            Places{"f: document 1 (line 1) items[0]: a single value where an object with "
                   "apiVersion and kind is expected"});
}

}  // namespace
}  // namespace arena
