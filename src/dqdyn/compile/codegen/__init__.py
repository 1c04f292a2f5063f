"""From a program to LLVM IR."""
