// sonde-gemm: the GEMM sweep, 1,055 shapes of open-weight models by default.
#include <algorithm>
#include <cmath>

#include "core/parse.h"
#include "core/statistics.h"
#include "gemm_sweep/shapes.h"
#include "harness/probe.h"

namespace sonde {
namespace {

class Gemm : public Probe {
 public:
  const Schema& schema() const override { return gemm_schema(); }
  std::string about() const override {
    return "Time of C[M,N] = A[M,K] x B[K,N] over many shapes, checked against a reference. The "
           "rate\n"
           "counts useful work, 2 M N K.";
  }

  void add_options(CommandLine& line) override {
    line.text("--shape", shape_text_, "MxNxK, or several separated by commas");
    line.text("--shapes", file_, "CSV file with columns m, n, k and, optionally, label");
    line.text("--dtype", dtype_text_, "types of the operands (default: bf16, or the device's own)");
    line.text("--blocks", blocks_text_, "most cores to use, or several numbers (default: all)");
    line.text("--kernel", kernel_, "auto (the device's own choice) or one it can force");
  }

  std::vector<Point> plan(const Selection& selection) override {
    const DeviceDescription& device = selection.device;
    if (selection.cores) throw UsageError("--cores: a GEMM is placed by the device itself");
    if (shape_text_ && file_) throw UsageError("--shape and --shapes exclude each other");
    const bool offered = !device.gemm.kernels.empty();
    std::vector<std::string> dtypes = {offered ? device.gemm.dtypes.front() : "bf16"};
    std::vector<Cell> blocks = {Cell()};
    if (blocks_text_) {
      blocks.clear();
      for (std::int64_t n : parse_list(*blocks_text_, "--blocks", false, 1, 65536)) {
        blocks.emplace_back(n);
      }
    }
    if (dtype_text_) {
      dtypes = parse_names(*dtype_text_, "--dtype", offered ? device.gemm.dtypes : dtypes);
    }
    if (offered) parse_names(kernel_, "--kernel", device.gemm.kernels);
    const std::vector<Shape> shapes = shape_text_ ? parse_shapes(*shape_text_, "--shape")
                                      : file_     ? read_shapes(*file_)
                                                  : standard_shapes();
    const std::vector<Place> places = places_of(shapes, selection);
    std::vector<Point> points;
    for (const std::string& dtype : dtypes) {
      for (const Cell& cores : blocks) {
        for (std::size_t i = 0; i < shapes.size(); ++i) {
          Point point = point_of(shapes[i], dtype, cores, offered);
          if (point.skip.empty()) point.skip = places[i].skip;
          point.estimate_s = estimate_s(shapes[i], device);
          point.batch = places[i].batch;
          points.push_back(std::move(point));
        }
      }
    }
    return points;
  }

  std::map<std::string, std::string> options() const override {
    std::map<std::string, std::string> all = {{"kernel", kernel_}};
    if (shape_text_) all["shape"] = *shape_text_;
    if (file_) all["shapes"] = *file_;
    if (dtype_text_) all["dtype"] = *dtype_text_;
    if (blocks_text_) all["blocks"] = *blocks_text_;
    return all;
  }

  Sample measure(Device& device, const Point& point, const Trial& trial, Row& row) override {
    GemmWork work;
    work.m = axis<std::int64_t>(schema(), point, "m");
    work.n = axis<std::int64_t>(schema(), point, "n");
    work.k = axis<std::int64_t>(schema(), point, "k");
    work.dtype = axis<std::string>(schema(), point, "dtype");
    work.kernel = axis<std::string>(schema(), point, "kernel");
    work.seed = trial.seed;
    const Cell& blocks = point.axes[schema().index("blocks")];
    if (const auto* most = std::get_if<std::int64_t>(&blocks)) work.blocks = *most;
    const Sample sample = run_verified(device, device.gemm(), "GEMM", work, trial);
    // A device that places a product itself shows it by the cores that ran.
    if (work.blocks && (sample.placement.empty() ||
                        static_cast<std::int64_t>(sample.placement.size()) > *work.blocks)) {
      throw Skip("this device chooses the cores of a GEMM itself");
    }
    for (const auto& [pipe, time] : sample.busy) {
      set(schema(), row, pipe + "_busy_s", time.value());
    }
    set(schema(), row, "flop", work.flop());
    set(schema(), row, "flop_per_s", work.flop() / sample.elapsed.value());
    set(schema(), row, "least_bytes", work.least_bytes());
    set(schema(), row, "intensity_flop_per_byte", work.intensity());
    return sample;
  }

 private:
  struct Place {
    std::int64_t batch = 0;
    std::string skip;
  };

  /// For --dry-run and a budget's first guess, which later samples correct: at the device's stated
  /// roofs, else at what a server CPU core or two do, and filling the operands.
  static double estimate_s(const Shape& shape, const DeviceDescription& device) {
    const GemmWork work = work_of(shape);
    return 1e-3 + work.flop() / device.roof("bf16_flop_per_s").value_or(300e9) +
           work.least_bytes() / device.roof("memory_bytes_per_s").value_or(10e9);
  }

  /// Which shapes a budget leaves, and in which order. Without one every round holds every shape,
  /// so that drift hits all alike.
  static std::vector<Place> places_of(const std::vector<Shape>& shapes,
                                      const Selection& selection) {
    std::vector<Place> places(shapes.size());
    if (!selection.budget_s) return places;
    // What is too long for its share is known before the start, so that the others are a sample in
    // which each class has its part: taking whatever still fits would favour the short ones.
    constexpr std::size_t kTurn = 24;
    const auto parts = static_cast<double>(std::min(kTurn, shapes.size()));
    std::vector<std::size_t> left;
    std::vector<Shape> taken;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const double needs =
          estimate_s(shapes[i], selection.device) * static_cast<double>(kFewestSamples);
      if (needs * parts <= *selection.budget_s) {
        left.push_back(i);
        taken.push_back(shapes[i]);
        continue;
      }
      places[i].skip = "eight repetitions would take about " +
                       format_number(std::ceil(needs * 100) / 100) + " s, more than 1/" +
                       format_number(parts) + " of the budget of " +
                       format_number(*selection.budget_s) + " s";
    }
    // Shape after shape, so that packed weights are kept between the repetitions of one: packing
    // takes longer than most products.
    const std::vector<std::int64_t> order = stratify(taken, selection.seed);
    for (std::size_t i = 0; i < left.size(); ++i) places[left[i]].batch = order[i];
    return places;
  }

  Point point_of(const Shape& shape, const std::string& dtype, const Cell& blocks,
                 bool offered) const {
    Point point;
    point.axes = {shape.m, shape.n, shape.k,
                  dtype,   kernel_, shape.label.empty() ? Cell() : Cell(shape.label),
                  blocks};
    point.label =
        std::to_string(shape.m) + "x" + std::to_string(shape.n) + "x" + std::to_string(shape.k);
    if (!offered) {
      point.skip = "this device has no GEMM engine";
    } else if (shape.m == 0 || shape.n == 0 || shape.k == 0) {
      point.skip = "no work: a dimension is 0";
    }
    return point;
  }

  std::optional<std::string> blocks_text_;
  std::optional<std::string> shape_text_;
  std::optional<std::string> file_;
  std::optional<std::string> dtype_text_;
  std::string kernel_ = "auto";
};

}  // namespace

std::unique_ptr<Probe> make_probe() { return std::make_unique<Gemm>(); }

}  // namespace sonde
