/* SPDX-License-Identifier: MIT */
/*
 * sigmask.c - what is known of the signal mask of this thread.
 */
#include "sigmask.h"

__thread __attribute__((tls_model("initial-exec"))) volatile bool sigmask_is_all;
