// Every listener that subscribes to an event gets it once and in order.
#include "gpu/check/listener.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace inflight::check {
namespace {

// Records the name of every hook that is called.
class Log : public Listener {
 public:
  explicit Log(Topic topics, std::vector<std::string>* shared = nullptr, std::string name = {})
      : topics_(topics), out_(shared != nullptr ? shared : &own_), name_(std::move(name)) {}
  Topic topics() const override { return topics_; }
#define X(Event, hook, topic) \
  void hook(const Event&) override { out_->push_back(name_ + #hook); }
  INFLIGHT_CHECK_EVENTS(X)
#undef X
  const std::vector<std::string>& calls() const { return *out_; }

 private:
  Topic topics_;
  std::vector<std::string> own_;
  std::vector<std::string>* out_;
  std::string name_;
};

void send_all(Listener& listener) {
#define X(Event, hook, topic) listener.hook(Event{});
  INFLIGHT_CHECK_EVENTS(X)
#undef X
}

std::vector<std::string> hooks_of(Topic topics) {
  std::vector<std::string> names;
#define X(Event, hook, topic) \
  if (has(topics, Topic::topic)) names.push_back(#hook);
  INFLIGHT_CHECK_EVENTS(X)
#undef X
  return names;
}

TEST(Listeners, AnEmptyHookDoesNothing) {
  Listener listener;
  send_all(listener);
  EXPECT_EQ(listener.topics(), Topic::all);
}

TEST(Listeners, EveryEventPasses) {
  Log log(Topic::all);
  Listeners listeners;
  EXPECT_TRUE(listeners.empty());
  listeners.add(log);
  send_all(listeners);
  EXPECT_EQ(log.calls(), hooks_of(Topic::all));
  EXPECT_EQ(log.calls().size(), 41u);
}

TEST(Listeners, OnlyWhatWasAskedForAndKernels) {
  Log log(Topic::copies | Topic::fences);
  Listeners listeners;
  listeners.add(log);
  send_all(listeners);
  EXPECT_EQ(log.calls(), hooks_of(Topic::copies | Topic::fences | Topic::kernels));
}

TEST(Listeners, TopicsAreThoseOfAll) {
  Log copies(Topic::copies), waits(Topic::waits);
  Listeners listeners;
  listeners.add(copies);
  listeners.add(waits);
  EXPECT_EQ(listeners.topics(), Topic::copies | Topic::waits | Topic::kernels);
}

TEST(Listeners, HearInTheOrderInWhichTheyWereAdded) {
  std::vector<std::string> calls;
  Log first(Topic::all, &calls, "first "), second(Topic::all, &calls, "second ");
  Listeners listeners;
  listeners.add(first);
  listeners.add(second);
  listeners.fenced({});
  listeners.accessed({});
  EXPECT_EQ(calls, (std::vector<std::string>{"first fenced", "second fenced", "first accessed",
                                             "second accessed"}));
}

TEST(Topics, EachIsOneBitAndAllIsTheirUnion) {
  Topic every = Topic::none;
#define X(Event, hook, topic) every = every | Topic::topic;
  INFLIGHT_CHECK_EVENTS(X)
#undef X
  EXPECT_EQ(every | Topic::addresses | Topic::parameters | Topic::each_read, Topic::all);
  EXPECT_FALSE(has(Topic::copies, Topic::waits));
}

}  // namespace
}  // namespace inflight::check
