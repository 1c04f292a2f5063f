// Subscribes to joint_states, and publishes the efforts of an exported controller for a JointGroupEffortController.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "hold.h"
#include "rclcpp/rclcpp.hpp"
#include "sensor_msgs/msg/joint_state.hpp"
#include "std_msgs/msg/float64_multi_array.hpp"

class EffortNode : public rclcpp::Node
{
public:
  EffortNode()
  : Node("effort_node"), controller_(hold_new(), hold_free)
  {
    if (!controller_) {
      throw std::bad_alloc();
    }
    std::vector<std::string> names;
    for (int i = 1; i <= hold_nv; i++) {
      names.push_back("joint" + std::to_string(i));
    }
    // in the order of the robot, which hold.h lists; the commands have the same
    joints_ = declare_parameter("joints", names);
    if (joints_.size() != static_cast<std::size_t>(hold_nv)) {
      throw std::invalid_argument("joints: the controller has " + std::to_string(hold_nv));
    }
    publisher_ = create_publisher<std_msgs::msg::Float64MultiArray>("effort_controller/commands", 1);
    subscription_ = create_subscription<sensor_msgs::msg::JointState>(
      "joint_states", 1, [this](const sensor_msgs::msg::JointState & state) {on_state(state);});
  }

private:
  void on_state(const sensor_msgs::msg::JointState & state)
  {
    // What is missing is NaN: the controller brakes from what it knows, and says so.
    std::array<double, hold_nq> q;
    std::array<double, hold_nv> v;
    q.fill(std::nan(""));
    v.fill(std::nan(""));
    for (std::size_t i = 0; i < joints_.size(); i++) {
      const auto found = std::find(state.name.begin(), state.name.end(), joints_[i]);
      const auto at = static_cast<std::size_t>(found - state.name.begin());
      if (found != state.name.end() && at < state.position.size() && at < state.velocity.size()) {
        q[i] = state.position[at];
        v[i] = state.velocity[at];
      }
    }
    const double now = rclcpp::Time(state.header.stamp).seconds();
    if (!start_) {
      start_ = now;
    }
    std_msgs::msg::Float64MultiArray effort;
    effort.data.resize(hold_nv);
    const int status = hold_step(controller_.get(), now - *start_, q.data(), v.data(), effort.data.data());
    if (status != last_status_) {
      tell(status);
      last_status_ = status;
    }
    publisher_->publish(effort);
  }

  void tell(int status)
  {
    if (status == hold_solved) {
      RCLCPP_INFO(get_logger(), "all constraints are obeyed");
    } else if (status == hold_relaxed) {
      for (int i = 0; i < hold_constraints; i++) {
        if (hold_violations(controller_.get())[i] > 0.0) {
          RCLCPP_WARN(get_logger(), "%s gives way", hold_constraint(i));
        }
      }
    } else {
      RCLCPP_ERROR(get_logger(), "no command, status %d: the robot brakes", status);
    }
  }

  std::unique_ptr<hold_controller, void (*)(hold_controller *)> controller_;
  std::vector<std::string> joints_;
  std::optional<double> start_;
  int last_status_ = hold_solved;
  rclcpp::Publisher<std_msgs::msg::Float64MultiArray>::SharedPtr publisher_;
  rclcpp::Subscription<sensor_msgs::msg::JointState>::SharedPtr subscription_;
};

int main(int argc, char ** argv)
{
  rclcpp::init(argc, argv);
  rclcpp::spin(std::make_shared<EffortNode>());
  rclcpp::shutdown();
  return 0;
}
