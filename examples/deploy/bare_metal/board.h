/* What a board has to offer: a timer, encoders and motors. */
#ifndef BOARD_H
#define BOARD_H

#define JOINTS 7

void board_start(void);
int board_wait_for_tick(void);                /* until the next step; 0 to end the loop */
void board_read_joints(float *q, float *v);   /* rad, rad/s */
void board_send_torques(const float *torque); /* N m */
void board_stop_motors(void);                 /* brakes on, or motors without current */

#endif
