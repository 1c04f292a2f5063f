/* A stand-in for a board in tests: joints come from standard input, torques and stops go to standard output. */
#include "board.h"

#include <stdio.h>

static float joints[2 * JOINTS];

void board_start(void)
{
}

int board_wait_for_tick(void)
{
    return fread(joints, sizeof joints, 1, stdin) == 1;
}

void board_read_joints(float *q, float *v)
{
    for (int i = 0; i < JOINTS; i++) {
        q[i] = joints[i];
        v[i] = joints[JOINTS + i];
    }
}

void board_send_torques(const float *torque)
{
    fwrite(torque, sizeof(float), JOINTS, stdout);
}

void board_stop_motors(void)
{
    const float stopped[JOINTS] = {0};
    board_send_torques(stopped);
}
