/* SPDX-License-Identifier: ISC */
/* inout - make calls whose arguments go in and come out: offsets, lengths, time limits, sets */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/mman.h>
#include <time.h>
#include <netinet/in.h>
#include <signal.h>

int main(void)
{
	int f = open("tfs-io1", O_RDWR | O_CREAT | O_TRUNC, 0600),
	    g = open("tfs-io2", O_RDWR | O_CREAT | O_TRUNC, 0600);
	write(f, "abcdefghijklmnop", 16);
	off_t o = 3;
	sendfile(g, f, &o, 5);
	loff_t a = 2, b = 7;
	copy_file_range(f, &a, g, &b, 4, 0);
	int p[2];
	pipe(p);
	a = 1;
	splice(f, &a, p[1], 0, 6, 0);
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in i;
	socklen_t l = 100;
	memset(&i, 0, sizeof i);
	i.sin_family = AF_INET;
	bind(s, (void *)&i, sizeof i);
	getsockname(s, (void *)&i, &l);
	i.sin_addr.s_addr = htonl(0x7f000001);
	sendto(s, "hey", 3, 0, (void *)&i, sizeof i);
	char buf[10];
	struct sockaddr_in from;
	socklen_t fl = sizeof from;
	recvfrom(s, buf, 10, 0, (void *)&from, &fl);
	struct mmsghdr m[2];
	memset(m, 0, sizeof m);
	struct iovec v = { buf, 10 };
	m[0].msg_hdr.msg_iov = &v;
	m[0].msg_hdr.msg_iovlen = 1;
	sendto(s, "hey", 3, 0, (void *)&i, sizeof i);
	struct timespec t = { 1, 5 };
	recvmmsg(s, m, 2, MSG_WAITFORONE, &t);
	t = (struct timespec){ 0, 50000000 };
	recvmmsg(s, m, 2, MSG_DONTWAIT, &t);
	int val = 7;
	l = 4;
	getsockopt(s, SOL_SOCKET, SO_RCVBUF, &val, &l);
	setitimer(ITIMER_REAL, &(struct itimerval){ { 0, 0 }, { 9, 0 } }, (void *)buf);
	sigset_t ss;
	sigemptyset(&ss);
	sigaddset(&ss, SIGUSR1);
	sigprocmask(SIG_BLOCK, &ss, 0);
	kill(getpid(), SIGUSR1);
	siginfo_t si;
	sigtimedwait(&ss, &si, &(struct timespec){ 0, 1000000 });
	sigtimedwait(&ss, &si, &(struct timespec){ 0, 1000000 });
	struct timespec rem;
	nanosleep(&(struct timespec){ 0, 1000 }, &rem);
	unlink("tfs-io1");
	unlink("tfs-io2");
	return 0;
}
