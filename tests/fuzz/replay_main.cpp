// Gives every stored input to a fuzzer's entry function: what was a fault once stays mended.
#include <algorithm>
#include <iostream>
#include <vector>

#include "core/files.h"
#include "tests/fuzz/fuzz.h"

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> inputs;
  for (const std::string& folder : std::vector<std::string>(argv + 1, argv + argc)) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      inputs.push_back(entry.path());
    }
  }
  std::sort(inputs.begin(), inputs.end());
  for (const std::filesystem::path& input : inputs) {
    std::cout << input.filename().string() << std::endl;  // the last one named is at fault
    const std::string content = sonde::read_file(input);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(content.data()), content.size());
  }
  std::cout << inputs.size() << " inputs" << std::endl;
  return inputs.empty() ? 1 : 0;
}
