#include "engine/watchdog.hpp"

#include <fmt/format.h>

#include <utility>

#include "engine/agreement.hpp"

namespace quadrille::engine {

namespace {

// All that is ordered here are tasks.
Task* as_task(Ordered* one) {
  return static_cast<Task*>(one);
}

}  // namespace

std::string number_and_name(std::int64_t number, const Task& task) {
  const Variant& variant = task.decision().variant;
  return fmt::format("collective number {}, {} ({})", number, name(task.asked().collective), variant.algorithm().name);
}

std::string Watchdog::described(const Task& task) const {
  std::string text = fmt::format("quadrille: rank {} of {}: {}", rank_, ranks_, number_and_name(number(task), task));
  if (task.state() == Ordered::State::queued) return text + ": queued behind older ones\n";
  if (task.state() == Ordered::State::waiting) {
    return text + fmt::format(": begins after number {}\n", task.follows() ? number(*task.follows()) : -1);
  }
  text += task.comparing() ? ", compares calls first and waits for\n" : ", waits for\n";
  for (const std::string& one : task.current().awaited()) text += fmt::format("    {}\n", one);
  return text;
}

std::string Watchdog::in_flight(const Order& order) const {
  std::string text;
  for (Ordered* one = order.oldest(); one; one = one->next()) text += described(*as_task(one));
  return text;
}

std::string Watchdog::missing(const Task& task, double seconds) const {
  std::string text;
  const Exchange& exchange = task.current();
  exchange.runner()->for_each_in_flight([&](Token token) {
    const Operation& operation = exchange.schedule().operations[static_cast<std::size_t>(token.operation)];
    if (operation.kind != Kind::receive || operation.channel != arrival_channel) return;
    text += fmt::format("quadrille: rank {} of {} has not called {}, for which rank {} has been waiting {:.1f} s\n",
                        operation.peer, ranks_, number_and_name(number(task), task), rank_, seconds);
  });
  return text;
}

std::string Watchdog::overdue(const Order& order, std::chrono::steady_clock::time_point now) const {
  std::string text;
  if (!settings_.watched()) return text;
  for (Ordered* one = order.oldest(); one && one->state() != Ordered::State::queued; one = one->next()) {
    if (one->state() != Ordered::State::begun) continue;
    Task& task = *as_task(one);
    const double idle = std::chrono::duration<double>(now - task.last_advance()).count();
    if (task.comparing() && idle > settings_.patience && !std::exchange(task.reported().missing, true)) {
      text += missing(task, idle);
    }
    if (settings_.watchdog > 0 && idle > settings_.watchdog && !std::exchange(task.reported().waiting, true)) {
      text += described(task);
    }
  }
  return text;
}

}  // namespace quadrille::engine
