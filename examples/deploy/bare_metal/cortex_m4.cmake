# cmake --toolchain cortex_m4.cmake …: gcc-arm-none-eabi with newlib (Debian: gcc-arm-none-eabi libnewlib-arm-none-eabi)
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR cortex-m4)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_FLAGS_INIT "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -ffunction-sections -fdata-sections")
set(CMAKE_EXE_LINKER_FLAGS_INIT
  "--specs=nano.specs -nostartfiles -Wl,--gc-sections -T${CMAKE_CURRENT_LIST_DIR}/cortex_m4.ld")
