/* A Cortex-M4F: reset, a tick every millisecond from SysTick, and stubs in place of encoders and motors. */
#include "board.h"

#include <stdint.h>

#define CLOCK 168000000u /* Hz, to be set to yours */
#define TICKS 1000u      /* Hz */

#define SYSTICK_CONTROL (*(volatile uint32_t *)0xE000E010u)
#define SYSTICK_RELOAD (*(volatile uint32_t *)0xE000E014u)
#define SYSTICK_VALUE (*(volatile uint32_t *)0xE000E018u)
#define COPROCESSORS (*(volatile uint32_t *)0xE000ED88u)

extern uint32_t stack_end[], data_start[], data_end[], data_in_flash[], bss_start[], bss_end[]; /* cortex_m4.ld */

int main(void);
void reset(void);
static void tick(void);
static void fault(void);

static volatile uint32_t ticks;
static volatile float encoder_q[JOINTS], encoder_v[JOINTS], motor_torque[JOINTS]; /* your registers, or a bus */

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))stack_end, reset, fault, fault, fault, fault, fault, 0, 0, 0, 0, fault, fault, 0, fault, tick};

void reset(void)
{
    COPROCESSORS |= 0xFu << 20; /* switch the floating-point unit on */
    __asm__ volatile("dsb\n\tisb");
    for (uint32_t *to = data_start, *from = data_in_flash; to < data_end;) {
        *to++ = *from++;
    }
    for (uint32_t *to = bss_start; to < bss_end;) {
        *to++ = 0;
    }
    main();
    fault();
}

static void tick(void)
{
    ticks++;
}

static void fault(void)
{
    board_stop_motors();
    for (;;) {
    }
}

void board_start(void)
{
    SYSTICK_RELOAD = CLOCK / TICKS - 1u;
    SYSTICK_VALUE = 0;
    SYSTICK_CONTROL = 7u;
}

int board_wait_for_tick(void)
{
    static uint32_t last;
    if (ticks - last > 1u) {
        board_stop_motors(); /* a step took longer than a tick */
    }
    while (ticks == last) {
        __asm__ volatile("wfi");
    }
    last = ticks;
    return 1;
}

void board_read_joints(float *q, float *v)
{
    for (int i = 0; i < JOINTS; i++) {
        q[i] = encoder_q[i];
        v[i] = encoder_v[i];
    }
}

void board_send_torques(const float *torque)
{
    for (int i = 0; i < JOINTS; i++) {
        motor_torque[i] = torque[i];
    }
}

void board_stop_motors(void)
{
    for (int i = 0; i < JOINTS; i++) {
        motor_torque[i] = 0.0f;
    }
}
