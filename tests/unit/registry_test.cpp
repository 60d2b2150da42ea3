#include "device/registry.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace sonde {
namespace {

TEST(Registry, EveryBuiltBackendIsThere) {
  std::vector<std::string> names;
  for (const Listing& listing : list_devices()) names.push_back(listing.name);
  EXPECT_NE(std::find(names.begin(), names.end(), "host"), names.end());
  EXPECT_NE(std::find(names.begin(), names.end(), "sim:950pr_9579"), names.end());
}

TEST(Registry, WhatIsAskedForIsWhatIsOpened) {
  for (const Listing& listing : list_devices()) {
    if (!listing.usable) continue;
    EXPECT_EQ(open_device(listing.name)->description().name, listing.name);
  }
}

TEST(Registry, UnknownNamesListTheValidOnes) {
  for (const char* name : {"hosst", "cuda:0", "", "sim", "sim:", "sim:950pr_9578", "host:1"}) {
    try {
      open_device(name);
      FAIL() << name;
    } catch (const UsageError& error) {
      const std::string message = error.what();
      EXPECT_TRUE(message.find("sim:950pr_9579") != std::string::npos ||
                  message.find("950pr_9579") != std::string::npos ||
                  message.find("host") != std::string::npos)
          << message;
      EXPECT_EQ(message.find('\n'), std::string::npos);
    }
  }
}

TEST(RegistryDeathTest, ADuplicateNameEndsTheProgram) {
  EXPECT_EXIT(register_backend({"host", nullptr, nullptr}), ::testing::ExitedWithCode(70),
              "two backends");
}

}  // namespace
}  // namespace sonde
