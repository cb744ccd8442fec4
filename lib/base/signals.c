/* SPDX-License-Identifier: ISC */
/* signals.c - the signals that stop a tool */
#include <signal.h>
#include <sys/signalfd.h>

#include "base/base.h"

int wait_stop_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, GIVE_UP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}
