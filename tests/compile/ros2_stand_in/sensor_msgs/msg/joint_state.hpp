// A stand-in for the message of ROS 2 in tests: the members that the example uses.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace builtin_interfaces::msg
{
struct Time
{
  std::int32_t sec;
  std::uint32_t nanosec;
};
}  // namespace builtin_interfaces::msg

namespace sensor_msgs::msg
{
struct JointState
{
  struct
  {
    builtin_interfaces::msg::Time stamp;
  } header;
  std::vector<std::string> name;
  std::vector<double> position, velocity, effort;
};
}  // namespace sensor_msgs::msg
