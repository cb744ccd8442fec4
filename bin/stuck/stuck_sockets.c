/* SPDX-License-Identifier: ISC */
/* stuck_sockets.c - addresses of sockets, and who has the other end: net/tcp, sock_diag(7) */
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "stuck.h"

enum { TCP_LISTEN = 10, TCP_SYN_SENT = 2 };

struct end {
	uint8_t address[16];    /* an IPv4 address is mapped */
	unsigned port;
};

/* A socket of TCP or UDP. */
struct internet {
	const char *protocol;   /* "TCP", "UDP" */
	struct end local, remote;
	unsigned state;
	uint64_t inode;
};

/* A unix socket. pending: the inode of the socket that has it in its queue and must accept it. */
struct unix_socket {
	uint64_t inode, peer, pending;
	uint8_t type, state;
	uint32_t queue;
	char name[110];
};

static struct {
	struct internet *v;
	size_t n, room;
	struct unix_socket *u;
	size_t nu, room_u;
	struct pids namespaces; /* that were read: the lower bits of their inodes */
	int all_read;
} known;

/* ---- TCP and UDP ------------------------------------------------------------------------ */

/* Read ADDRESS:PORT of net/tcp, whose words of 32 bits are in native byte order. */
static const char *read_end(const char *s, struct end *e)
{
	size_t digits = strspn(s, "0123456789ABCDEF");

	*e = (struct end){ .address = { [10] = 0xff, [11] = 0xff } };
	for (size_t i = 0; i + 8 <= digits; i += 8) {
		char word[9] = "";
		uint32_t v;

		memcpy(word, s + i, 8);
		v = (uint32_t)text_value(word, NULL, 16);
		memcpy(e->address + (digits == 8 ? 12 : i / 2), &v, 4);
	}
	s += digits;
	if (*s == ':')
		e->port = (unsigned)text_value(s + 1, NULL, 16);
	s += strcspn(s, " ");
	return s + strspn(s, " ");
}

static void read_internet(pid_t pid, const char *name, const char *protocol)
{
	char *text = procfs_read(pid, name, NULL, NULL), *rest = text, *line;

	if (rest)
		text_next_line(&rest); /* the title */
	while (rest && (line = text_next_line(&rest))) {
		const char *s = strchr(line, ':');
		struct internet i = { .protocol = protocol };

		if (!s)
			continue;
		s = read_end(read_end(s + 2, &i.local), &i.remote);
		i.state = (unsigned)text_value(s, NULL, 16);
		for (unsigned skip = 0; skip < 6; skip++) {
			s += strcspn(s, " ");
			s += strspn(s, " ");
		}
		i.inode = text_digits(&s);
		known.v = xgrow(known.v, known.n, &known.room, sizeof(*known.v));
		known.v[known.n++] = i;
	}
	free(text);
}

static void add_end(struct thread *t, const struct end *e)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	char text[64];
	struct out o = out_to(text, sizeof(text));
	int ip4 = !memcmp(e->address, mapped, sizeof(mapped));

	if (ip4) {
		for (unsigned i = 12; i < 16; i++)
			out_format(&o, i < 15 ? "%u." : "%u", e->address[i]);
	} else {
		out_char(&o, '[');
		out_ip6(&o, e->address, 0);
		out_char(&o, ']');
	}
	out_format(&o, ":%u", e->port);
	strbuf_add(&t->what, text, (size_t)(o.at - text));
}

/* ---- unix sockets ----------------------------------------------------------------------- */

/* The requests of linux/unix_diag.h */
struct diag_request {
	uint8_t family, protocol;
	uint16_t pad;
	uint32_t states, inode, show, cookie[2];
};
struct diag_message {
	uint8_t family, type, state, pad;
	uint32_t inode, cookie[2];
};

static struct unix_socket *add_unix(void)
{
	known.u = xgrow(known.u, known.nu, &known.room_u, sizeof(*known.u));
	known.u[known.nu] = (struct unix_socket){ 0 };
	return &known.u[known.nu++];
}

static void note_unix(const struct netlink_answer *a)
{
	struct diag_message m;
	const char *attributes = a->text + sizeof(m), *p;
	size_t n = a->n - sizeof(m), len;
	struct unix_socket u = { 0 };
	uint32_t v;

	if (a->n < sizeof(m))
		return;
	memcpy(&m, a->text, sizeof(m));
	u.inode = m.inode;
	u.type = m.type;
	u.state = m.state;
	p = netlink_find(attributes, n, K_UNIX_DIAG_PEER, &len);
	if (p && len >= 4) {
		memcpy(&v, p, 4);
		u.peer = v;
	}
	p = netlink_find(attributes, n, K_UNIX_DIAG_RQLEN, &len);
	if (p && len >= 4)
		memcpy(&u.queue, p, 4);
	p = netlink_find(attributes, n, K_UNIX_DIAG_NAME, &len);
	if (p && len && len < sizeof(u.name)) {
		memcpy(u.name, p, len);
		if (!*u.name) /* an abstract name, as it is written */
			*u.name = '@';
	}
	*add_unix() = u;
	p = netlink_find(attributes, n, K_UNIX_DIAG_ICONS, &len);
	for (; p && len >= 4; p += 4, len -= 4) {
		struct unix_socket *waits = add_unix();

		memcpy(&v, p, 4);
		waits->inode = v;
		waits->pending = m.inode;
	}
}

/* Read the unix sockets of the own network namespace. */
static void read_unix(void)
{
	static struct netlink_answer a;
	const struct diag_request q = { .family = AF_UNIX, .states = ~0u,
		.show = K_UDIAG_SHOW_NAME | K_UDIAG_SHOW_PEER | K_UDIAG_SHOW_ICONS |
			K_UDIAG_SHOW_RQLEN };
	struct netlink_message m;
	int fd = netlink_open(K_NETLINK_SOCK_DIAG);

	if (fd < 0)
		return;
	netlink_begin(&m, K_SOCK_DIAG_BY_FAMILY, K_NLM_F_DUMP, &q, sizeof(q));
	a = (struct netlink_answer){ .fd = fd, .wait = 1 };
	if (!netlink_send(fd, &m))
		while (netlink_next(&a) > 0)
			note_unix(&a);
	close(fd);
}

/* ---- namespaces ------------------------------------------------------------------------- */

/* Read the sockets of a task's network namespace, once. */
static void read_namespace(pid_t pid)
{
	char path[PATH_MAX], self[PATH_MAX], name[64] = "", own[64] = "";
	const char *s;
	pid_t id;
	int fd, back;

	str_format(path, sizeof(path), "%s/%d/ns/net", path_procfs(), (int)pid);
	str_format(self, sizeof(self), "%s/self/ns/net", path_procfs());
	if (readlink(path, name, sizeof(name) - 1) < 0 || !(s = strchr(name, '[')))
		return;
	s++;
	id = (pid_t)(text_digits(&s) & INT_MAX);
	if (pids_has(&known.namespaces, id))
		return;
	pids_add(&known.namespaces, id);
	pids_sort(&known.namespaces);
	read_internet(pid, "net/tcp", "TCP");
	read_internet(pid, "net/tcp6", "TCP");
	read_internet(pid, "net/udp", "UDP");
	read_internet(pid, "net/udp6", "UDP");
	if (readlink(self, own, sizeof(own) - 1) > 0 && !strcmp(own, name)) {
		read_unix();
		return;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	back = open(self, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && back >= 0 && !setns(fd, CLONE_NEWNET)) {
		read_unix();
		setns(back, CLONE_NEWNET);
	}
	fd_close(fd);
	fd_close(back);
}

static int read_of(void *arg, pid_t pid)
{
	(void)arg;
	read_namespace(pid);
	return 0;
}

static void read_all_namespaces(void)
{
	if (!known.all_read)
		task_each_process(read_of, NULL);
	known.all_read = 1;
}

void ends_forget(void)
{
	free(known.v);
	free(known.u);
	pids_clear(&known.namespaces);
	memset(&known, 0, sizeof(known));
}

static const struct internet *internet_of(uint64_t inode)
{
	for (size_t i = 0; i < known.n; i++)
		if (known.v[i].inode == inode)
			return &known.v[i];
	return NULL;
}

static const struct unix_socket *unix_of(uint64_t inode)
{
	for (size_t i = 0; i < known.nu; i++)
		if (known.u[i].inode == inode && !known.u[i].pending)
			return &known.u[i];
	return NULL;
}

/* ---- waits ------------------------------------------------------------------------------ */

static int same_end(const struct end *a, const struct end *b)
{
	return a->port == b->port && !memcmp(a->address, b->address, sizeof(a->address));
}

/* Find the only other end of a connection on this host. Return how many there may be. */
static unsigned find_peer(const struct internet *of, const struct internet **peer)
{
	unsigned n = 0;

	for (const struct internet *i = known.v; i < known.v + known.n; i++)
		if (i != of && i->protocol == of->protocol && same_end(&i->local, &of->remote) &&
		    same_end(&i->remote, &of->local)) {
			*peer = i;
			n++;
		}
	return n;
}

/* Nobody has accepted a connection to this end yet: link the processes that have to. */
static void link_listener(struct thread *t, const struct end *to)
{
	static const uint8_t any[16], any4[16] = { [10] = 0xff, [11] = 0xff };
	const struct internet *found = NULL;
	unsigned n = 0;

	for (const struct internet *i = known.v; i < known.v + known.n; i++)
		if (i->state == TCP_LISTEN && i->local.port == to->port &&
		    (same_end(&i->local, to) || !memcmp(i->local.address, any, 16) ||
		     !memcmp(i->local.address, any4, 16))) {
			found = i;
			n++;
		}
	if (n == 1 && found->inode)
		link_holders(t, FILE_SOCKET, found->inode, -1, "acceptor");
	else
		link_unknown(t, "who has to accept the connection");
}

static void internet_wait(struct thread *t, const struct internet *i, unsigned dir)
{
	const struct internet *peer = NULL;
	/* reading the other namespaces moves the array */
	const struct internet self = *i;
	unsigned n;

	strbuf_format(&t->what, " %s ", self.protocol);
	add_end(t, &self.local);
	if (!self.remote.port) {
		link_active(t, "network", self.state == TCP_LISTEN ? "a client of port %u" :
			    "a message to port %u", self.local.port);
		return;
	}
	strbuf_puts(&t->what, " to ");
	add_end(t, &self.remote);
	n = find_peer(&self, &peer);
	if (!n) {
		read_all_namespaces();
		n = find_peer(&self, &peer);
	}
	if (n > 1)
		link_unknown(t, "which of %u sockets is the other end", n);
	else if (n && peer->inode)
		link_holders(t, FILE_SOCKET, peer->inode, -1,
			     dir & TO_WRITE ? "reader" : "writer");
	else if (n)
		link_listener(t, &self.remote);
	else
		link_active(t, "network", "%s", strrchr(t->what.text, ' ') + 1);
}

/* Find the only unix socket that listens or receives by this name. */
static const struct unix_socket *unix_named(const char *name)
{
	const struct unix_socket *found = NULL;

	for (const struct unix_socket *u = known.u; u < known.u + known.nu; u++)
		if (!u->pending && *name && !strcmp(u->name, name) && !u->peer) {
			if (found)
				return NULL;
			found = u;
		}
	return found;
}

static void unix_wait(struct thread *t, const struct unix_socket *u, unsigned dir)
{
	const char *relation = dir & TO_WRITE ? "reader" : "writer";

	strbuf_puts(&t->what, " unix");
	if (*u->name) {
		strbuf_puts(&t->what, " ");
		strbuf_escaped(&t->what, u->name, strlen(u->name), ESCAPE_TEXT);
	}
	if (u->state == TCP_LISTEN) {
		link_active(t, "client", "a program that connects");
		return;
	}
	for (const struct unix_socket *p = known.u; p < known.u + known.nu; p++)
		if (p->pending && p->inode == u->inode) {
			link_holders(t, FILE_SOCKET, p->pending, -1, "acceptor");
			return;
		}
	if (u->peer)
		link_holders(t, FILE_SOCKET, u->peer, -1, relation);
	else if (u->type == SOCK_DGRAM && dir & TO_READ)
		link_active(t, "client", "a program that sends to it");
	else
		link_unknown(t, "the other end of the socket");
}

void socket_wait(struct thread *t, uint64_t inode, unsigned dir)
{
	const struct internet *i;
	const struct unix_socket *u;

	read_namespace(t->task.pid);
	i = internet_of(inode);
	u = unix_of(inode);
	if (!i && !u) { /* another process has made it in another namespace */
		read_all_namespaces();
		i = internet_of(inode);
		u = unix_of(inode);
	}
	if (i)
		internet_wait(t, i, dir);
	else if (u)
		unix_wait(t, u, dir);
	else
		link_unknown(t, "the other end of the socket");
}

void socket_connects(struct thread *t, uint64_t inode, const void *address, size_t n)
{
	struct sockaddr_un to = { 0 };
	const struct unix_socket *listens;

	memcpy(&to, address, n < sizeof(to) ? n : sizeof(to));
	if (to.sun_family != AF_UNIX) {
		socket_wait(t, inode, TO_WRITE);
		return;
	}
	read_namespace(t->task.pid);
	if (!*to.sun_path)
		*to.sun_path = '@';
	to.sun_path[sizeof(to.sun_path) - 1] = '\0';
	strbuf_puts(&t->what, " unix to ");
	strbuf_escaped(&t->what, to.sun_path, strlen(to.sun_path), ESCAPE_TEXT);
	listens = unix_named(to.sun_path);
	if (listens)
		link_holders(t, FILE_SOCKET, listens->inode, -1,
			     listens->state == TCP_LISTEN ? "acceptor" : "reader");
	else
		link_unknown(t, "who has the socket of this name");
}
