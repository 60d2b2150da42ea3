// How often the analysis of copies is right: 2,000 random copy engines.
#include <cstdio>
#include <cstdlib>

#include "core/error.h"
#include "tests/score/random_copies.h"

namespace {

using sonde::testing_copies::CopyScore;

struct Line {
  const char* what;
  std::int64_t part, whole;
  const char* target;
};

std::vector<Line> lines_of(const CopyScore& s) {
  return {
      {"switch found within one ladder step, jump over three times the noise", s.found, s.clear,
       "at least 99 %"},
      {"switch claimed on an engine without one", s.claimed, s.without_switch, "at most 1 %"},
      {"bracket holds the switch", s.brackets_hold, s.brackets, "at least 95 %"},
      {"interval holds the jump", s.jumps_hold, s.jumps, "93 to 97 %"},
      {"switches beside the true one, an engine with one", s.extra, s.with_switch, ""},
      {"alignment class named", s.classes_named, s.classes, ""},
      {"alignment class claimed where there is none", s.classes_claimed, s.engines - s.classes, ""},
      {"cache edge seen", s.edges_seen, s.edges, ""},
      {"interval holds the start of the edge, of those seen", s.edges_hold, s.edges_seen,
       "at least 95 %"},
      {"interval holds the factor of the class", s.factors_hold, s.factors, ""},
      {"interval holds the best rate", s.peaks_hold, s.peaks, "93 to 97 %"},
      {"engines with an undecided place", s.undecided, s.engines, ""}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2000;
  const std::uint64_t from = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  CopyScore score;
  for (std::uint64_t seed = from; seed < from + count; ++seed) {
    const auto engine = sonde::testing_copies::random_engine(seed);
    score.add(engine, sonde::testing_copies::measure_engine(engine, seed));
  }
  std::string csv = "what,part,whole,share,target\n";
  for (const Line& line : lines_of(score)) {
    const double share =
        line.whole == 0 ? 0 : static_cast<double>(line.part) / static_cast<double>(line.whole);
    std::printf("%-72s %5lld of %5lld  %6.2f %%  %s\n", line.what,
                static_cast<long long>(line.part), static_cast<long long>(line.whole), 100 * share,
                line.target);
    char text[256];
    std::snprintf(text, sizeof text, "\"%s\",%lld,%lld,%.4f,%s\n", line.what,
                  static_cast<long long>(line.part), static_cast<long long>(line.whole), share,
                  line.target);
    csv += text;
  }
  const auto missed = sonde::testing_copies::missed(score);
  for (const std::string& one : missed) std::printf("missed: %s\n", one.c_str());
  if (count != 2000 || from != 0) return missed.empty() ? 0 : 1;  // a part is no score
  std::FILE* file = std::fopen(SONDE_SOURCE_DIR "/data/score/copy.csv", "w");
  if (file == nullptr || std::fputs(csv.c_str(), file) < 0 || std::fclose(file) != 0) {
    std::perror("data/score/copy.csv");
    return 1;
  }
  return missed.empty() ? 0 : 1;
}
