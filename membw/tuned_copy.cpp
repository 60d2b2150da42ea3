#include "membw/tuned_copy.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/csv_reader.h"
#include "core/files.h"
#include "core/process.h"

namespace sonde {
namespace {

/// What is moved, and the largest size worth a copy then.
struct Setting {
  std::string tunables;
  std::int64_t largest = 0;
  std::int64_t threshold = 0;
};
const std::vector<Setting>& settings() {
  constexpr std::int64_t kEnd = std::int64_t{1} << 40;
  // The switch to `rep movsb` moves to where both methods still differ: on the processor this was
  // written on they are equally fast from about 5 KiB on.
  static const std::vector<Setting> all = {
      {"", kEnd, 0},
      {"glibc.cpu.x86_non_temporal_threshold=16777216", kEnd, 16777216},
      {"glibc.cpu.x86_non_temporal_threshold=1048576", std::int64_t{1} << 26, 1048576},
      {"glibc.cpu.x86_rep_movsb_threshold=3072", std::int64_t{1} << 18, 3072}};
  return all;
}

const Setting& setting(const std::string& tunables) {
  return *std::find_if(settings().begin(), settings().end(),
                       [&](const Setting& one) { return one.tunables == tunables; });
}

/// An unnamed file in memory: rows of a child never touch the disk.
class MemoryFile {
 public:
  MemoryFile() : fd_(::memfd_create("sonde-copy", MFD_CLOEXEC)) {
    if (fd_ < 0) throw PointFailure(std::string("memfd_create: ") + std::strerror(errno));
  }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  int fd() const { return fd_; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

Sample sample_of(const Row& row) {
  const Schema& schema = copy_schema();
  const std::string reason = "under the tunables: " + row.reason;
  if (row.status == Status::skipped) throw Skip(reason);
  if (row.status == Status::failed) throw PointFailure(reason);
  Sample sample;
  sample.elapsed = Seconds(row.number(schema, "elapsed_s").value_or(0));
  sample.placement = parse_core_set(row.text(schema, "placement"));
  if (const auto mhz = row.number(schema, "clock_mhz")) sample.clock = Hertz(*mhz * 1e6);
  sample.store = row.text(schema, "store");
  sample.note = row.text(schema, "note");
  if (const auto watts = row.number(schema, "power_w")) sample.after.power = Watts(*watts);
  if (const auto waited = row.number(schema, "waited_s")) {
    sample.before.waited = Seconds(0);
    sample.after.waited = Seconds(*waited);
  }
  if (row.status == Status::throttled) {
    sample.before.throttle_events = 0;
    sample.after.throttle_events = 1;
  }
  return sample;
}

}  // namespace

const std::vector<std::string>& threshold_settings() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Setting& one : settings()) list.push_back(one.tunables);
    return list;
  }();
  return names;
}

std::int64_t largest_under(const std::string& tunables) { return setting(tunables).largest; }
std::int64_t threshold_of(const std::string& tunables) { return setting(tunables).threshold; }

Sample tuned_copy(const std::string& device, const CopyWork& work, const std::string& tunables) {
  Command command;
  command.program = program_directory() / "sonde-copy";
  command.arguments = {"--device",      device,
                       "--direction",   work.direction,
                       "--method",      work.method,
                       "--bytes",       std::to_string(work.bytes),
                       "--alignment",   std::to_string(work.alignment),
                       "--seed",        std::to_string(work.seed),
                       "--repetitions", "1",
                       "--csv",         "-",
                       "--no-progress"};
  if (!work.warm) command.arguments.emplace_back("--rotated");
  if (!work.cores.empty()) {
    command.arguments.insert(command.arguments.end(), {"--cores", format_core_set(work.cores)});
  }
  if (!tunables.empty()) {
    const char* before = std::getenv("GLIBC_TUNABLES");
    const std::string kept = before != nullptr && *before != '\0' ? std::string(before) + ":" : "";
    command.environment = {"GLIBC_TUNABLES=" + kept + tunables};
  }
  const MemoryFile rows;
  const MemoryFile errors;
  const pid_t child = spawn(command, errors.fd(), rows.fd());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw PointFailure(std::string("waitpid: ") + std::strerror(errno));
  }
  const Table table = read_table(rows.path(), copy_schema());
  if (table.rows.size() != 1) {
    std::string said = read_file(errors.path());
    throw PointFailure("sonde-copy under the tunables gave " + std::to_string(table.rows.size()) +
                       " rows instead of one: " + said.substr(0, said.find('\n')));
  }
  return sample_of(table.rows.front().whole());
}

}  // namespace sonde
