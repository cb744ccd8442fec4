/* SPDX-License-Identifier: ISC */
/* signals.c - the signals that stop a tool */
#include <sys/signalfd.h>

#include "base/base.h"

int wait_signals(const int *signals)
{
	sigset_t set;

	sigemptyset(&set);
	for (; *signals; signals++)
		sigaddset(&set, *signals);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int wait_stop_signals(void)
{
	static const int stop[] = { SIGHUP, SIGINT, SIGTERM, SIGUSR1, GIVE_UP, 0 };

	return wait_signals(stop);
}
