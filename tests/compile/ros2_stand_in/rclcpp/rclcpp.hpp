// A stand-in for rclcpp in tests: the declarations that the example uses, with their signatures. Spinning reads one
// message after the other from standard input, joints in reverse order, and calls the callback; publishing writes to
// standard output, and logging to standard error.
#pragma once
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sensor_msgs/msg/joint_state.hpp"
#include "std_msgs/msg/float64_multi_array.hpp"

#define RCLCPP_INFO(logger, ...) (logger).write("INFO", __VA_ARGS__)
#define RCLCPP_WARN(logger, ...) (logger).write("WARN", __VA_ARGS__)
#define RCLCPP_ERROR(logger, ...) (logger).write("ERROR", __VA_ARGS__)

namespace rclcpp
{
struct Logger
{
  __attribute__((format(printf, 3, 4))) void write(const char * level, const char * text, ...) const
  {
    std::va_list values;
    va_start(values, text);
    std::fprintf(stderr, "%s ", level);
    std::vfprintf(stderr, text, values);
    std::fprintf(stderr, "\n");
    va_end(values);
  }
};

class Time
{
public:
  Time(const builtin_interfaces::msg::Time & time)  // NOLINT: as in rclcpp
  : nanoseconds_(std::int64_t{time.sec} * 1000000000 + time.nanosec) {}
  double seconds() const {return static_cast<double>(nanoseconds_) * 1e-9;}

private:
  std::int64_t nanoseconds_;
};

template<typename Message>
struct Publisher
{
  using SharedPtr = std::shared_ptr<Publisher>;
  void publish(const Message & message)
  {
    std::fwrite(message.data.data(), sizeof(double), message.data.size(), stdout);
  }
};

template<typename Message>
struct Subscription
{
  using SharedPtr = std::shared_ptr<Subscription>;
};

class Node
{
public:
  explicit Node(const std::string &) {}
  virtual ~Node() = default;
  Logger get_logger() const {return {};}
  template<typename Value>
  Value declare_parameter(const std::string &, const Value & value)
  {
    return value;
  }
  template<typename Message>
  typename Publisher<Message>::SharedPtr create_publisher(const std::string &, int)
  {
    return std::make_shared<Publisher<Message>>();
  }
  template<typename Message, typename Callback>
  typename Subscription<Message>::SharedPtr create_subscription(const std::string &, int, Callback && callback)
  {
    callback_ = callback;
    return std::make_shared<Subscription<Message>>();
  }
  void receive(const sensor_msgs::msg::JointState & message) {callback_(message);}

private:
  std::function<void (const sensor_msgs::msg::JointState &)> callback_;
};

inline void init(int, char **) {}
inline void shutdown() {}

// Time, then q and v of seven joints; a message without velocities where the time is negative.
inline void spin(const std::shared_ptr<Node> & node)
{
  constexpr int joints = 7;
  double numbers[1 + 2 * joints];
  while (std::fread(numbers, sizeof numbers, 1, stdin) == 1) {
    sensor_msgs::msg::JointState message;
    const double time = numbers[0] < 0.0 ? -numbers[0] : numbers[0];
    message.header.stamp.sec = static_cast<std::int32_t>(time);
    message.header.stamp.nanosec = static_cast<std::uint32_t>((time - message.header.stamp.sec) * 1e9 + 0.5);
    for (int i = joints; i-- > 0; ) {
      message.name.push_back("joint" + std::to_string(i + 1));
      message.position.push_back(numbers[1 + i]);
      if (numbers[0] >= 0.0) {
        message.velocity.push_back(numbers[1 + joints + i]);
      }
    }
    node->receive(message);
  }
}
}  // namespace rclcpp
