// Graphs as data, and their execution in dependency order.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "gpu/cuda/core/calls/capture_rules.hpp"
#include "gpu/cuda/core/calls/submit.hpp"
#include "gpu/cuda/core/graph/capture.hpp"
#include "gpu/cuda/core/graph/graph.hpp"

namespace inflight::cuda {
namespace {

std::vector<int>& trail() {
  static std::vector<int> instance;
  return instance;
}
void step(void* data) { trail().push_back(int(reinterpret_cast<std::intptr_t>(data))); }
Work host(int i) { return HostWork{step, reinterpret_cast<void*>(std::intptr_t(i))}; }

class Graphs : public testing::Test {
 protected:
  void SetUp() override { trail().clear(); }
  Device& device = Core::get().device(0);
  std::shared_ptr<Stream> stream = device.create_stream(true, 0);

  std::vector<int> run(const Graph& graph) {
    auto exec = GraphExec::make(graph, 0);
    EXPECT_TRUE(exec);
    EXPECT_EQ((*exec)->launch(stream), Status::success);
    stream->synchronize();
    return trail();
  }
};

TEST_F(Graphs, RunEveryNodeAfterWhatItWaitsFor) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    trail().clear();
    Graph graph;
    std::vector<Node*> nodes;
    for (int i = 0; i < 20; ++i) nodes.push_back(*graph.add(host(i), {}));
    std::vector<int> place(20);
    std::iota(place.begin(), place.end(), 0);
    std::shuffle(place.begin(), place.end(), random);
    for (int i = 0; i < 40; ++i) {
      int a = int(random() % 20), b = int(random() % 20);
      if (place[a] < place[b]) graph.connect(nodes[a], nodes[b]);
    }
    const std::vector<int> ran = run(graph);
    ASSERT_EQ(ran.size(), 20u);
    auto position = [&](int i) { return std::find(ran.begin(), ran.end(), i) - ran.begin(); };
    for (const auto& edge : graph.edges())
      EXPECT_LT(position(int(edge.from->id)), position(int(edge.to->id)));
  }
}

TEST_F(Graphs, RefuseCyclesAndForeignNodes) {
  Graph graph, other;
  Node* a = *graph.add(host(0), {});
  Node* b = *graph.add(host(1), {a});
  Node* foreign = *other.add(host(2), {});
  EXPECT_EQ(graph.connect(a, b), Status::invalid_value) << "the edge is there already";
  EXPECT_EQ(graph.connect(foreign, b), Status::invalid_value);
  EXPECT_EQ(graph.add(host(3), {a, a}).error().status, Status::invalid_value);
  EXPECT_EQ(graph.connect(b, a), Status::success);
  EXPECT_EQ(GraphExec::make(graph, 0).error().status, Status::invalid_value);
  EXPECT_EQ(graph.disconnect(b, a), Status::success);
  EXPECT_TRUE(GraphExec::make(graph, 0));
}

TEST_F(Graphs, ForgetDestroyedNodes) {
  Graph graph;
  Node* a = *graph.add(host(0), {});
  Node* b = *graph.add(host(1), {a});
  EXPECT_TRUE(node_of(a));
  EXPECT_EQ(graph.remove(a), Status::success);
  EXPECT_FALSE(node_of(a));
  EXPECT_TRUE(b->dependencies.empty());
  EXPECT_EQ(run(graph), (std::vector<int>{1}));
}

TEST_F(Graphs, ChildrenRunInPlace) {
  Graph graph;
  auto child = std::make_shared<Graph>();
  Node* c0 = *child->add(host(10), {});
  child->add(host(11), {c0});
  Node* first = *graph.add(host(0), {});
  Node* middle = *graph.add(ChildWork{child}, {first});
  graph.add(host(1), {middle});
  EXPECT_EQ(run(graph), (std::vector<int>{0, 10, 11, 1}));
}

TEST_F(Graphs, UpdateAnExecOfTheSameShapeOnly) {
  Graph graph, same, longer, kind;
  Node* a = *graph.add(host(0), {});
  graph.add(host(1), {a});
  Node* sa = *same.add(host(5), {});
  same.add(host(6), {sa});
  Node* la = *longer.add(host(0), {});
  Node* lb = *longer.add(host(0), {la});
  longer.add(host(0), {lb});
  Node* ka = *kind.add(host(0), {});
  Node* kb = *kind.add(EmptyWork{}, {ka});
  auto exec = *GraphExec::make(graph, 0);
  EXPECT_EQ(exec->update(longer).change, GraphExec::Change::topology);
  auto differs = exec->update(kind);
  EXPECT_EQ(differs.change, GraphExec::Change::node_type);
  EXPECT_EQ(differs.node, kb);
  EXPECT_EQ(exec->update(same).change, GraphExec::Change::none);
  exec->launch(stream);
  stream->synchronize();
  EXPECT_EQ(trail(), (std::vector<int>{5, 6}));
  EXPECT_EQ(exec->set(a, host(9)), Status::success);
  EXPECT_EQ(exec->set(a, EmptyWork{}), Status::invalid_value);
}

TEST_F(Graphs, ClonesKnowTheirOrigin) {
  Graph graph;
  Node* a = *graph.add(host(3), {});
  Node* b = *graph.add(host(4), {a});
  auto clone = graph.clone();
  ASSERT_EQ(clone->nodes().size(), 2u);
  EXPECT_EQ(clone->nodes()[1]->origin, b);
  EXPECT_EQ(clone->nodes()[1]->dependencies, (std::vector<Node*>{clone->nodes()[0].get()}));
  graph.remove(a);
  EXPECT_EQ(run(*clone), (std::vector<int>{3, 4}));
}

// --- capture ----------------------------------------------------------------------------------

TEST_F(Graphs, CaptureRecordsInsteadOfRunning) {
  ASSERT_EQ(begin_capture(*stream, CaptureMode::global), Status::success);
  EXPECT_EQ(submit(*stream, host(1)), Status::success);
  EXPECT_EQ(submit(*stream, host(2)), Status::success);
  auto graph = end_capture(*stream);
  ASSERT_TRUE(graph);
  EXPECT_TRUE(trail().empty());
  EXPECT_EQ((*graph)->edges().size(), 1u);
  EXPECT_EQ(run(**graph), (std::vector<int>{1, 2}));
}

TEST_F(Graphs, CaptureForksAndJoinsThroughEvents) {
  auto side = device.create_stream(true, 0);
  Event fork(device, false, false), join(device, false, false);
  begin_capture(*stream, CaptureMode::global);
  submit(*stream, host(1));
  capture_record(*stream, fork);
  EXPECT_EQ(capture_wait(*side, fork), Status::success);
  EXPECT_TRUE(capturing(*side));
  submit(*side, host(2));
  submit(*stream, host(3));
  capture_record(*side, join);
  EXPECT_EQ(capture_wait(*stream, join), Status::success);
  submit(*stream, host(4));
  auto graph = end_capture(*stream);
  ASSERT_TRUE(graph);
  EXPECT_FALSE(capturing(*side));
  EXPECT_EQ((*graph)->nodes().back()->dependencies.size(), 2u);
}

TEST_F(Graphs, CaptureOutlivesAJoinedStream) {
  Event fork(device, false, false), join(device, false, false);
  auto capture = [&](bool joins) {
    auto side = device.create_stream(true, 0);
    begin_capture(*stream, CaptureMode::global);
    capture_record(*stream, fork);
    capture_wait(*side, fork);
    submit(*side, host(1));
    capture_record(*side, join);
    if (joins) capture_wait(*stream, join);
    leave_capture(*side);
    side.reset();
    return end_capture(*stream);
  };
  EXPECT_TRUE(capture(true));
  EXPECT_EQ(capture(false).error().status, Status::capture_unjoined);
}

TEST_F(Graphs, CaptureFailsAsOnAnH200) {
  auto side = device.create_stream(true, 0);
  Event fork(device, false, false);
  EXPECT_EQ(begin_capture(*device.legacy(), CaptureMode::global), Status::capture_unsupported);
  EXPECT_EQ(end_capture(*stream).error().status, Status::illegal_state);

  begin_capture(*stream, CaptureMode::global);
  EXPECT_EQ(begin_capture(*stream, CaptureMode::global), Status::illegal_state);
  EXPECT_EQ(allowed_in_capture(), Status::capture_unsupported);
  EXPECT_EQ(capture_state(*stream).value(), CaptureState::invalidated);
  EXPECT_EQ(submit(*stream, host(1)), Status::capture_invalidated);
  EXPECT_EQ(end_capture(*stream).error().status, Status::capture_invalidated);

  begin_capture(*stream, CaptureMode::relaxed);
  EXPECT_EQ(allowed_in_capture(), Status::success);
  capture_record(*stream, fork);
  capture_wait(*side, fork);
  submit(*side, host(1));
  EXPECT_EQ(end_capture(*stream).error().status, Status::capture_unjoined);

  begin_capture(*stream, CaptureMode::relaxed);
  capture_record(*stream, fork);
  capture_wait(*side, fork);
  EXPECT_EQ(end_capture(*side).error().status, Status::capture_unmatched);
  EXPECT_EQ(end_capture(*stream).error().status, Status::capture_invalidated);

  auto blocking = device.create_stream(false, 0);
  begin_capture(*blocking, CaptureMode::relaxed);
  EXPECT_EQ(capture_state(*device.legacy()).error().status, Status::capture_implicit);
  EXPECT_EQ(submit(*device.legacy(), host(1)), Status::capture_implicit);
  EXPECT_EQ(end_capture(*blocking).error().status, Status::capture_invalidated);
}

}  // namespace
}  // namespace inflight::cuda
