#include "ads/oci/bucket.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <map>

#include "ads/oci/checksum.h"
#include "ads/oci/testing/fake_client.h"
#include "base/digest/crc32c.h"
#include "base/file.h"
#include "base/strings.h"

namespace ads::oci {
namespace {

// A model of Object Storage for one bucket.
class ObjectsModel {
 public:
  net::HttpResponse Serve(const net::HttpRequest& request) {
    const auto target = *net::ParseTarget(request.target);
    const std::string kind = target.segments.at(4);
    if (kind == "u") return ServeUpload(request, target);
    if (target.segments.size() == 5) return List(target);
    return ServeObject(request, target.segments.at(5));
  }

  std::map<std::string, std::string> objects;
  size_t page = 1000;
  std::string etag = "e1";
  bool refuses_parts = false;
  int open_uploads = 0;

 private:
  net::HttpResponse ServeObject(const net::HttpRequest& request, const std::string& name) {
    if (request.method == "PUT") {
      EXPECT_EQ(net::FindHeader(request.headers, "content-md5"), Md5Base64(request.body));
      objects[name] = request.body;
      return Answer(200, "", {{"etag", etag}});
    }
    if (!objects.contains(name)) return Answer(404, R"({"code":"ObjectNotFound"})");
    const std::string& whole = objects[name];
    if (request.method == "DELETE") {
      objects.erase(name);
      return Answer(204);
    }
    if (request.method == "HEAD") {
      return Answer(200, "", {{"content-length", std::to_string(whole.size())}, {"etag", etag}});
    }
    const std::string match(net::FindHeader(request.headers, "if-match"));
    if (!match.empty() && match != etag) return Answer(412, R"({"code":"IfMatchFailed"})");
    const std::string range(net::FindHeader(request.headers, "range"));
    if (range.empty()) return Answer(200, whole);
    const auto ends = base::Split(range.substr(6), '-');
    const auto first = static_cast<size_t>(*base::ParseInt(ends[0]));
    const auto last = static_cast<size_t>(*base::ParseInt(ends[1]));
    return Answer(206, whole.substr(first, last - first + 1));
  }
  net::HttpResponse List(const net::Target& target) {
    text::Array found;
    std::string next;
    for (const auto& [name, content] : objects) {
      if (!name.starts_with(target.Query("prefix")) || name < target.Query("start")) continue;
      if (found.size() == page) {
        next = name;
        break;
      }
      found.push_back(text::Object{{"name", name}, {"size", content.size()}});
    }
    text::Object body{{"objects", std::move(found)}, {"prefixes", text::Array()}};
    if (!next.empty()) body["nextStartWith"] = next;
    return Answer(200, text::ToJson(body));
  }
  net::HttpResponse ServeUpload(const net::HttpRequest& request, const net::Target& target) {
    if (request.method == "POST" && target.segments.size() == 5) {
      ++open_uploads;
      return Answer(200, R"({"uploadId":"u/1"})");
    }
    EXPECT_EQ(target.Query("uploadId"), "u/1");
    const std::string& name = target.segments.at(5);
    if (request.method == "PUT") {
      if (refuses_parts) return Answer(400, R"({"code":"InvalidPart","message":"no"})");
      EXPECT_EQ(net::FindHeader(request.headers, "opc-checksum-algorithm"), "CRC32C");
      std::string crc;
      for (int shift = 24; shift >= 0; shift -= 8) {
        crc += static_cast<char>(base::Crc32c(0, request.body) >> shift & 0xff);
      }
      EXPECT_EQ(net::FindHeader(request.headers, "opc-content-crc32c"), base::Base64Encode(crc));
      parts_[*base::ParseInt(target.Query("uploadPartNum"))] = request.body;
      return Answer(200, "", {{"etag", "part"}});
    }
    --open_uploads;
    if (request.method == "DELETE") return Answer(204);
    std::string whole;
    const auto commit = text::ParseJson(request.body);
    for (const text::Json& part : *text::FindArray(*commit, {"partsToCommit"})) {
      whole += parts_.at(*text::GetInt(part, {"partNum"}));
    }
    objects[name] = whole;
    return Answer(200);
  }

  std::map<int64_t, std::string> parts_;
};

class BucketTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/muster-oci-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { EXPECT_TRUE(base::RemoveTree(folder_)); }

  std::string folder_;
  ObjectsModel model_;
  FakeService service_{[this](const net::HttpRequest& request) { return model_.Serve(request); },
                       Service::kObjectStorage};
  Bucket bucket_{service_.api, *ParseBucketUri("oci://b@ns/a/p")};
};

TEST_F(BucketTest, KeepsObjectsBelowItsPrefix) {
  ASSERT_TRUE(bucket_.Put("x y", "1"));
  EXPECT_EQ(service_.requests.back().target, "/n/ns/b/b/o/a%2Fp%2Fx%20y");
  EXPECT_EQ(*bucket_.Get("x y"), "1");
  EXPECT_EQ(bucket_.Look("x y")->size, 1U);
  EXPECT_EQ(bucket_.UriOf("x"), "oci://b@ns/a/p/x");
  ASSERT_TRUE(bucket_.Remove("x y"));
  ASSERT_TRUE(bucket_.Remove("x y"));
  EXPECT_EQ(bucket_.Get("x y").error().code, base::Code::kNotFound);
}

TEST_F(BucketTest, ListsEveryPage) {
  model_.page = 2;
  for (const char* name : {"a/p/1", "a/p/2", "a/p/d/3", "a/p/d/4", "a/p/e", "a/q"}) {
    model_.objects[name] = "xy";
  }
  const auto all = bucket_.List("");
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 5U);
  EXPECT_EQ((*all)[2].name, "d/3");
  EXPECT_EQ((*all)[2].size, 2U);
  EXPECT_EQ(bucket_.List("d/")->size(), 2U);
}

TEST_F(BucketTest, SendsAndFetchesALargeFileInParts) {
  const std::string path = folder_ + "/large";
  std::string content(2 * kPartBytes + 5, 'x');
  content[kPartBytes] = 'y';
  ASSERT_TRUE(base::WriteFileAtomic(path, content, 0644, base::Durability::kNone));
  ASSERT_TRUE(bucket_.PutFile("large", path));
  EXPECT_EQ(service_.requests.size(), 5U);
  EXPECT_EQ(model_.open_uploads, 0);
  EXPECT_TRUE(model_.objects["a/p/large"] == content);
  ASSERT_TRUE(bucket_.GetFile("large", folder_ + "/back"));
  EXPECT_TRUE(*base::ReadFile(folder_ + "/back") == content);
}

TEST_F(BucketTest, SendsManyFilesAndSaysWhatBecameOfEach) {
  std::vector<Bucket::FileToPut> files;
  for (size_t i = 0; i < kSmallFilesAtOnce + 2; ++i) {
    const std::string name = "f" + std::to_string(i);
    ASSERT_TRUE(base::WriteFileAtomic(folder_ + "/" + name, name, 0644, base::Durability::kNone));
    files.push_back({"d/" + name, folder_ + "/" + name});
  }
  files[1].path = folder_ + "/none";
  const auto results = bucket_.PutFiles(files);
  ASSERT_EQ(results.size(), files.size());
  for (size_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i].has_value(), i != 1) << i;
  EXPECT_EQ(model_.objects.size(), files.size() - 1);
  EXPECT_EQ(model_.objects["a/p/d/f33"], "f33");
}

TEST(OwnNamespace, IsTheServicesWord) {
  FakeService service([](const net::HttpRequest& request) {
    return request.target == "/n/" ? Answer(200, "\"ns\"") : Answer(404);
  });
  EXPECT_EQ(*OwnNamespace(service.api), "ns");
}

TEST_F(BucketTest, EndsAnUploadThatFails) {
  const std::string path = folder_ + "/large";
  ASSERT_TRUE(
      base::WriteFileAtomic(path, std::string(kPartBytes + 1, 'x'), 0644, base::Durability::kNone));
  model_.refuses_parts = true;
  const auto put = bucket_.PutFile("large", path);
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().message,
            "ServiceError: 400 InvalidPart: no (upload_part of object_storage)");
  EXPECT_EQ(model_.open_uploads, 0);
  EXPECT_TRUE(model_.objects.empty());
}

TEST_F(BucketTest, LeavesNothingOfADownloadThatFails) {
  model_.objects["a/p/x"] = "abc";
  EXPECT_EQ(bucket_.GetFile("y", folder_ + "/y").error().code, base::Code::kNotFound);
  EXPECT_EQ(bucket_.GetFile("x", folder_ + "/no/x").error().code, base::Code::kNotFound);
  ASSERT_TRUE(bucket_.GetFile("x", folder_ + "/x"));
  EXPECT_EQ(*base::ReadFile(folder_ + "/x"), "abc");
}

TEST_F(BucketTest, SaysThatTheDiskIsTooSmallBeforeItFetches) {
  FakeService huge([](const net::HttpRequest&) {
    return Answer(200, "", {{"content-length", "9000000000000000"}, {"etag", "e"}});
  });
  Bucket bucket(huge.api, *ParseBucketUri("oci://b@ns/p"));
  const auto got = bucket.GetFile("x", folder_ + "/x");
  ASSERT_FALSE(got);
  EXPECT_TRUE(got.error().message.starts_with(
      "download oci://b@ns/p/x (9000000000000000 bytes) to \"" + folder_ + "/x\": "))
      << got.error().message;
  EXPECT_EQ(huge.requests.size(), 1U);
  EXPECT_NE(::access((folder_ + "/x").c_str(), F_OK), 0);
}

TEST(ParseBucketUri, ReadsBucketNamespaceAndPrefix) {
  const auto uri = ParseBucketUri("oci://my-bucket@ns/a/b/");
  ASSERT_TRUE(uri);
  EXPECT_EQ(uri->bucket, "my-bucket");
  EXPECT_EQ(uri->name_space, "ns");
  EXPECT_EQ(uri->prefix, "a/b");
  EXPECT_EQ(ParseBucketUri("oci://b@ns")->prefix, "");
  EXPECT_EQ(ParseBucketUri("oci://b@/p")->name_space, "");
  for (const char* wrong : {"file:///x", "oci://", "oci://b", "oci://@ns", "oci://b/x@n"}) {
    EXPECT_FALSE(ParseBucketUri(wrong)) << wrong;
  }
}

TEST(PartSizeOf, GrowsWhereThePartsWouldBeTooMany) {
  EXPECT_EQ(PartSizeOf(1), kPartBytes);
  EXPECT_EQ(PartSizeOf(kPartBytes * kMaxParts), kPartBytes);
  EXPECT_EQ(PartSizeOf(kPartBytes * kMaxParts + 1), kPartBytes + 1);
}

}  // namespace
}  // namespace ads::oci
