/* Computed torque on a processor without an operating system: one step per tick of a timer, in single precision.
 *
 * Nothing is allocated, and no function of the C library is needed but sinf and cosf. What belongs to the board is in
 * board.h; cortex_m4.c has it for a Cortex-M4F, with stubs in place of encoders and motors.
 */
#include "arm.h"
#include "board.h"

#define KP 100.0f /* 1/s^2 */
#define KD 20.0f  /* 1/s */
#define TORQUE_LIMIT 80.0f /* N m */
#define TOO_FAST 10.0f /* rad/s: beyond it an encoder, or the loop, is broken */

static const float target[JOINTS] = {0.3f, 0.5f, -0.2f, 1.4f, 0.1f, 0.8f, 0.0f}; /* rad */

static int is_sound(const float *q, const float *v)
{
    for (int i = 0; i < JOINTS; i++) {
        /* NaN compares false */
        if (!(q[i] > -100.0f && q[i] < 100.0f && v[i] > -TOO_FAST && v[i] < TOO_FAST)) {
            return 0;
        }
    }
    return 1;
}

int main(void)
{
    static float q[JOINTS], v[JOINTS], a[JOINTS], torque[JOINTS];
    board_start();
    while (board_wait_for_tick()) { /* every millisecond; a board does not return 0 */
        board_read_joints(q, v);
        if (!is_sound(q, v)) {
            board_stop_motors();
            continue;
        }
        for (int i = 0; i < JOINTS; i++) {
            a[i] = KP * (target[i] - q[i]) - KD * v[i];
        }
        arm_torques(q, v, a, torque);
        for (int i = 0; i < JOINTS; i++) {
            torque[i] = torque[i] > TORQUE_LIMIT ? TORQUE_LIMIT : torque[i] < -TORQUE_LIMIT ? -TORQUE_LIMIT : torque[i];
        }
        board_send_torques(torque);
    }
    return 0;
}
