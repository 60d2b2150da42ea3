// Latency of several runs over footprint and over blocks. Latency has no roof to be a share of.
#include "report/overlay.h"
#include "report/show.h"

namespace sonde {
namespace {

struct Curves {
  Figure figure;
  std::size_t runs = 0;

  void add(const RunReport& run, const std::string& more, const Curve& curve, bool bytes) {
    Series line{run.run.name + more, SeriesStyle::line_points, false, {}};
    for (const CurvePoint& point : curve) {
      line.points.push_back(figure_point(
          point, 1, bytes ? show_quantity(point.x, "B") : show_number(point.x) + " blocks"));
    }
    figure.series.push_back(std::move(line));
  }
  void finish(const RunReport& run, const std::string& what) {
    ++runs;
    figure.caption += run_words(run) + ": " + what + ". ";
  }
};

}  // namespace

std::vector<Figure> overlay_chases(const std::vector<const RunReport*>& runs) {
  Curves footprints, blocks;
  footprints.figure.id = "chase_footprint_runs";
  footprints.figure.title = "Load latency of the runs against footprint";
  footprints.figure.x = {"footprint of the chain", true, TickStyle::binary, false};
  blocks.figure.id = "chase_blocks_runs";
  blocks.figure.title = "Load latency of the runs against concurrent blocks";
  blocks.figure.x = {"concurrent blocks", true, TickStyle::plain, false};
  for (Curves* one : {&footprints, &blocks}) {
    one->figure.y = {"latency (ns a load)", true, TickStyle::plain, false};
  }
  for (const RunReport* run : runs) {
    if (!run->analysis.chase) continue;
    const ChaseAnalysis& chase = *run->analysis.chase;
    if (chase.footprints && chase.footprints->latency.size() > 1) {
      footprints.add(*run, "", chase.footprints->latency, true);
      footprints.finish(*run, chase.footprints->core + ", " + chase.footprints->state);
    }
    bool any = false;
    for (const BlockSeries& series : chase.blocks) {
      if (series.latency.size() < 2) continue;
      blocks.add(*run, ", " + series.kind + " cores", series.latency, false);
      any = true;
    }
    if (any) {
      blocks.finish(*run, "each block follows a chain of " +
                              show_quantity(chase.blocks.front().footprint, "B") + " (" +
                              chase.blocks.front().state + ")");
    }
  }
  std::vector<Figure> figures;
  for (Curves* one : {&footprints, &blocks}) {
    if (one->runs < 2) continue;
    drop_undrawable(one->figure);
    figures.push_back(std::move(one->figure));
  }
  return figures;
}

}  // namespace sonde
