// Lists, sizes, names and devices of the command line, and the sets of cores in a cell.
#include <algorithm>
#include <limits>

#include "core/core_name.h"
#include "core/files.h"
#include "core/parse.h"
#include "core/text.h"
#include "device/sim/selector.h"
#include "tests/fuzz/fuzz.h"

namespace sonde {
namespace {

using List = std::vector<std::int64_t>;
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

void check_lists(std::string_view text) {
  for (const bool sizes : {false, true}) {
    for (const std::int64_t high : {std::int64_t{1000}, kMax}) {
      List list;
      if (!fuzz::reads("--f: ", [&] { list = parse_list(text, "--f", sizes, 1, high); })) continue;
      fuzz::require(!list.empty() && list.size() <= 100'000, "a list of no good length");
      std::string written;
      for (const std::int64_t value : list) {
        fuzz::require(value >= 1 && value <= high, "a value out of range");
        written += (written.empty() ? "" : ",") + std::to_string(value);
      }
      if (list.size() < 1000) {
        fuzz::require(parse_list(written, "--f", sizes, 1, high) == list, "a list changed");
      }
    }
  }
  std::int64_t size = 0;
  if (fuzz::reads("--f: ", [&] { size = parse_size(text, "--f"); })) {
    fuzz::require(size >= 0, "a size below zero");
    fuzz::require(parse_size(std::to_string(size), "--f") == size, "a size changed");
  }
  fuzz::reads("--f: ", [&] { parse_one(text, "--f", true, 1, kMax); });
  fuzz::reads("CPU list: ", [&] { parse_cpu_list(text); });
}

void check_names(std::string_view text) {
  const std::vector<std::string> valid = {"read", "write", "copy"};
  fuzz::reads("--n: ", [&] {
    for (const std::string& name : parse_names(text, "--n", valid)) {
      fuzz::require(std::find(valid.begin(), valid.end(), name) != valid.end(), "a new name");
    }
  });
  CoreName core;
  if (fuzz::reads("core: ", [&] { core = parse_core_name(text); })) {
    fuzz::require(parse_core_name(core.str()) == core, "a core changed");
  }
}

void check_cores(std::string_view text) {
  std::vector<CoreName> cores;
  if (fuzz::reads("core set: ", [&] { cores = parse_core_set(text); })) {
    const std::string written = format_core_set(cores);
    fuzz::require(format_core_set(parse_core_set(written)) == written, "a set changed");
  }
  const std::vector<CoreName> there = {{"vector", 0}, {"vector", 1}, {"cube", 7}};
  if (fuzz::reads("--cores: ", [&] { cores = parse_core_list(text, there); })) {
    fuzz::require(!cores.empty() && cores.size() <= there.size(), "cores that are not there");
  }
}

void check_text(std::string_view text) {
  if (const auto number = parse_number(text)) {
    fuzz::require(parse_number(format_number(*number)) == number, "a number changed");
  }
  const std::string shown = shown_text(text);
  fuzz::require(shown_text(shown) == shown, "text that is fit to show is not");
  for (std::size_t i = 0; i < shown.size(); i += utf8_length(shown, i)) {
    fuzz::require(utf8_length(shown, i) > 0, "shown text is not UTF-8");
  }
  const std::string device(text);
  fuzz::reads("sim:", [&] { sim::noise_text(sim::parse_selector(device)); });
}

}  // namespace
}  // namespace sonde

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = sonde::fuzz::text_of(data, size);
  sonde::check_lists(text);
  sonde::check_names(text);
  sonde::check_cores(text);
  sonde::check_text(text);
  return 0;
}
