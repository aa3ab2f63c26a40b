#include "local/server/schema/protobuf.h"

#include <gtest/gtest.h>

#include <string>

#include "local/server/testing/test_server.h"

namespace local::server {
namespace {

using namespace std::string_literals;

// Messages, field by field, as protoc writes them.
std::string Varint(uint64_t value) {
  std::string out;
  for (; value > 0x7f; value >>= 7U) out += static_cast<char>((value & 0x7fU) | 0x80U);
  return out + static_cast<char>(value);
}
std::string Bytes(int number, const std::string& value) {
  return Varint(static_cast<uint64_t>(number) << 3U | 2U) + Varint(value.size()) + value;
}
std::string Number(int number, uint64_t value) {
  return Varint(static_cast<uint64_t>(number) << 3U) + Varint(value);
}
std::string Body(const std::string& version, const std::string& kind, const std::string& object) {
  return "k8s\0"s + Bytes(1, Bytes(1, version) + Bytes(2, kind)) + Bytes(2, object) + Bytes(3, "") +
         Bytes(4, "");
}

TEST(Protobuf, ReadsAConfigMap) {
  const std::string metadata = Bytes(1, "c") + Bytes(2, "") + Number(7, 0) + Bytes(8, "") +
                               Bytes(11, Bytes(1, "label") + Bytes(2, "x"));
  const auto object = DecodeProtobuf(
      Body("v1", "ConfigMap",
           Bytes(1, metadata) + Bytes(2, Bytes(1, "key") + Bytes(2, "value")) +
               Bytes(2, Bytes(1, "empty")) + Bytes(3, Bytes(1, "raw") + Bytes(2, "\x01\x02"))));
  ASSERT_TRUE(object) << object.error().message;
  EXPECT_EQ(
      text::ToJson(*object),
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","labels":{"label":"x"}},)"
      R"("data":{"key":"value","empty":""},"binaryData":{"raw":"AQI="}})");
}

TEST(Protobuf, ReadsQuantitiesPortsAndInlinedMessages) {
  const std::string resources = Bytes(1, Bytes(1, "cpu") + Bytes(2, Bytes(1, "2")));
  const std::string secret = Bytes(4, Bytes(1, Bytes(1, "s")) + Bytes(2, "k"));
  const std::string probe = Bytes(1, Bytes(2, Bytes(2, Number(1, 1) + Bytes(3, "http"))));
  const std::string container = Bytes(1, "c") + Bytes(8, resources) + Bytes(10, probe) +
                                Bytes(7, Bytes(1, "E") + Bytes(2, "") + Bytes(3, secret));
  const auto pod = DecodeProtobuf(
      Body("v1", "Pod", Bytes(2, Bytes(2, container) + Number(4, 0) + Number(13, 0))));
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(text::ToJson(*text::Find(*pod, {"spec"})),
            R"({"containers":[{"name":"c","resources":{"limits":{"cpu":"2"}},)"
            R"("livenessProbe":{"httpGet":{"port":"http"}},)"
            R"("env":[{"name":"E","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}]}],)"
            R"("terminationGracePeriodSeconds":0})");
}

TEST(Protobuf, NothingThatWasSentIsDropped) {
  const std::string csi = Bytes(28, Bytes(1, "driver"));
  const auto pod =
      DecodeProtobuf(Body("v1", "Pod", Bytes(2, Bytes(1, Bytes(1, "v") + Bytes(2, csi)))));
  ASSERT_FALSE(pod);
  EXPECT_EQ(pod.error().message, "VolumeSource.csi cannot be read from protobuf: send JSON");
  EXPECT_FALSE(DecodeProtobuf(Body("v1", "ConfigMap", Bytes(99, "x"))));
  EXPECT_FALSE(DecodeProtobuf(Body("kubeflow.org/v1", "PyTorchJob", "")));
}

TEST(Protobuf, WhatJsonCannotHoldIsRefused) {
  const auto why = [](const std::string& object) {
    const auto decoded = DecodeProtobuf(Body("v1", "ConfigMap", object));
    return decoded ? text::ToJson(*decoded) : decoded.error().message;
  };
  const std::string no_text = "\xff\xfe";
  for (const std::string& object :
       {Bytes(1, Bytes(1, no_text)), Bytes(2, Bytes(1, no_text) + Bytes(2, "v")),
        Bytes(2, Bytes(1, "k") + Bytes(2, no_text))}) {
    EXPECT_EQ(why(object), "a string in the protobuf message is not UTF-8");
  }
  EXPECT_FALSE(DecodeProtobuf(Body("v\xff", "ConfigMap", "")));
  for (const std::string& time :
       {Number(1, 1ULL << 62U), Number(1, 1) + Number(2, 1'000'000'000)}) {
    EXPECT_EQ(why(Bytes(1, Bytes(8, time))), "a time in the protobuf message is out of range");
  }
  const std::string deep = std::string(60, '[') + std::string(60, ']');
  EXPECT_EQ(why(Bytes(1, Bytes(17, Bytes(7, Bytes(1, deep))))),
            "managedFields are nested too deeply");
  EXPECT_EQ(why(Varint(1ULL << 40U) + "x"), "a protobuf field has no number");
}

TEST(Protobuf, RefusesWhatIsCutAnywhere) {
  const std::string body = Body("v1", "ConfigMap", Bytes(1, Bytes(1, "name")));
  for (size_t size = 0; size < body.size() - 4; ++size) {
    const auto object = DecodeProtobuf(std::string_view(body).substr(0, size));
    if (object) {
      EXPECT_EQ(text::Find(*object, {"metadata"}), nullptr) << size;
    }
  }
  EXPECT_FALSE(DecodeProtobuf("{}"));
}

TEST(Protobuf, ServerTakesItAsABody) {
  TestServer server;
  const auto made =
      server.Send("POST", "/api/v1/namespaces", Body("v1", "Namespace", Bytes(1, Bytes(1, "made"))),
                  {{"Content-Type", std::string(kProtobufMedia)}});
  EXPECT_EQ(made.status, 201) << made.body;
  const auto unknown = server.Send("POST", "/api/v1/namespaces", Body("v1", "Nothing", ""),
                                   {{"Content-Type", std::string(kProtobufMedia)}});
  EXPECT_EQ(unknown.status, 415);
}

}  // namespace
}  // namespace local::server
