#include "core/files.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/manifest.h"
#include "tests/support/programs.h"

namespace sonde {
namespace {

using test::TemporaryDirectory;

TEST(AtomicWrite, ReplacesAndLeavesNoTemporary) {
  TemporaryDirectory directory;
  write_file_atomically(directory / "a", "one");
  write_file_atomically(directory / "a", "two");
  EXPECT_EQ(read_file(directory / "a"), "two");
  EXPECT_EQ(FileRoot(directory.path()).list("/").size(), 1u);
  EXPECT_THROW(write_file_atomically(directory / "none/a", "x"), OutputError);
}

TEST(AtomicWrite, RemovesWhatAKilledWriterLeftAndNothingElse) {
  TemporaryDirectory directory;
  test::write_text(directory / "a.tmp1", "of a process that is gone");
  test::write_text(directory / "b.tmp1", "of another file");
  const FileLock at_work(directory / "a.tmp2");
  write_file_atomically(directory / "a", "one");
  EXPECT_EQ(FileRoot(directory.path()).list("/"),
            (std::vector<std::string>{"a", "a.tmp2", "b.tmp1"}));
}

TEST(ReadFile, NamesWhatCannotBeRead) {
  TemporaryDirectory directory;
  EXPECT_THROW(read_file(directory / "none"), UsageError);
  EXPECT_THROW(read_file(directory.path()), UsageError);
}

TEST(ExclusiveDirectory, SecondCreationFails) {
  TemporaryDirectory directory;
  EXPECT_TRUE(create_directory_exclusively(directory / "run"));
  EXPECT_FALSE(create_directory_exclusively(directory / "run"));
  EXPECT_TRUE(create_directory_exclusively(directory / "a/b/run"));
  test::write_text(directory / "file", "x");
  EXPECT_THROW(create_directory_exclusively(directory / "file/run"), OutputError);
}

TEST(FileLock, RefusesASecondHolderAndFreesAtTheEnd) {
  TemporaryDirectory directory;
  {
    const FileLock lock(directory / "lock");
    EXPECT_THROW(FileLock(directory / "lock"), UsageError);
  }
  const FileLock again(directory / "lock");
}

TEST(FileLock, NoticesThatItsFolderIsGoneOrAnother) {
  TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "run");
  const FileLock lock(directory / "run/lock");
  EXPECT_NO_THROW(lock.check_in_place());
  std::filesystem::rename(directory / "run", directory / "moved");
  EXPECT_THROW(lock.check_in_place(), OutputError);
  std::filesystem::create_directory(directory / "run");
  const FileLock other(directory / "run/lock");
  EXPECT_THROW(lock.check_in_place(), OutputError);
  EXPECT_NO_THROW(other.check_in_place());
}

TEST(CpuList, ReadsKernelLists) {
  EXPECT_EQ(parse_cpu_list("0-3,8,10-11"), (std::vector<int>{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_TRUE(parse_cpu_list("").empty());
  EXPECT_THROW(parse_cpu_list("0-"), UsageError);
  EXPECT_EQ(parse_cpu_list("1048576"), std::vector<int>{1 << 20});
  EXPECT_THROW(parse_cpu_list("1048577"), UsageError);
}

TEST(FileRoot, ReadsBelowItsRoot) {
  TemporaryDirectory directory;
  std::filesystem::create_directories(directory / "sys/cpu");
  test::write_text(directory / "sys/cpu/online", "0-1\n");
  test::write_text(directory / "sys/cpu/number", "42\n");
  const FileRoot root(directory.path());
  EXPECT_EQ(root.text("/sys/cpu/online"), "0-1");
  EXPECT_EQ(root.integer("/sys/cpu/number"), 42);
  EXPECT_FALSE(root.integer("/sys/cpu/online"));
  EXPECT_FALSE(root.text("/sys/none"));
  EXPECT_FALSE(root.text("/sys/cpu"));
  EXPECT_EQ(root.list("/sys/cpu"), (std::vector<std::string>{"number", "online"}));
}

Manifest example() {
  Manifest manifest;
  manifest.version = "1";
  manifest.revision = "abc";
  manifest.build_preset = "measure";
  manifest.seed = 7;
  manifest.started_utc = "2026-11-30T00:00:00Z";
  manifest.device.name = "sim:x";
  manifest.device.product = "A \"quoted\" chip, with commas";
  manifest.device.time_source = TimeSource::modelled;
  manifest.device.places_blocks = true;
  manifest.device.cores = {{"vector", 0}, {"vector", 5}, {"cube", 1}};
  manifest.device.memory = {{"L1", 16384, 64}, {"HBM", std::nullopt, std::nullopt}};
  manifest.device.chase_footprint_bytes = 16384;
  manifest.device.copies = {{"d2d", {"auto", "sdma"}}};
  manifest.device.roofs = {{"memory_bytes_per_s", 1.6384e12, "chip file"}};
  manifest.device.conditions = {{"noise", "on"}};
  manifest.steps = {{"chase", {{"blocks", "1-4"}}, "complete", false, ""}};
  return manifest;
}

TEST(Manifest, IsReadBackAsWritten) {
  TemporaryDirectory directory;
  EXPECT_FALSE(find_manifest(directory.path()));
  write_manifest(directory.path(), example());
  const std::string first = read_file(directory / "manifest.json");
  const Manifest back = *find_manifest(directory.path());
  EXPECT_EQ(back.device.cores, example().device.cores);
  EXPECT_EQ(back.device.memory[0].capacity_bytes, 16384);
  EXPECT_FALSE(back.device.memory[1].capacity_bytes);  // unknown stays unknown
  EXPECT_FALSE(back.device.memory_bytes);
  EXPECT_FALSE(back.step("chase")->adaptive);
  EXPECT_EQ(back.step("copy"), nullptr);
  EXPECT_EQ(back.device.roof("memory_bytes_per_s"), 1.6384e12);
  write_manifest(directory.path(), back);
  EXPECT_EQ(read_file(directory / "manifest.json"), first);
}

TEST(Manifest, ACoreHasANumberOfAtMostNineDigits) {
  TemporaryDirectory directory;
  Manifest manifest = example();
  for (const int good : {0, 999'999'999}) {
    manifest.device.cores = {{"vector", good}};
    write_manifest(directory.path(), manifest);
    EXPECT_EQ(find_manifest(directory.path())->device.cores, manifest.device.cores);
  }
  for (const int bad : {-1, 1'000'000'000}) {
    manifest.device.cores = {{"vector", bad}};
    write_manifest(directory.path(), manifest);
    EXPECT_THROW(find_manifest(directory.path()), UsageError) << bad;
  }
}

TEST(Manifest, BadOnesAreOneLineWithTheFile) {
  TemporaryDirectory directory;
  write_manifest(directory.path(), example());
  const std::string good = read_file(directory / "manifest.json");
  std::vector<std::string> bad = {"", "{", "[]", "{}", "null", "{\"schema\":\"manifest.2\"}"};
  for (const char* field :
       {"\"seed\"", "\"device\"", "\"time_source\"", "\"steps\"", "\"cores\""}) {
    std::string text = good;
    text.replace(text.find(field), 3, "\"zz");
    bad.push_back(text);
  }
  std::string text = good;
  text.replace(text.find("\"modelled\""), 10, "\"guessed!\"");
  bad.push_back(text);
  for (const std::string& content : bad) {
    test::write_text(directory / "manifest.json", content);
    try {
      read_manifest(directory / "manifest.json");
      FAIL() << content;
    } catch (const UsageError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find("manifest.json"), std::string::npos);
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
  }
}

}  // namespace
}  // namespace sonde
