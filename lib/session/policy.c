/* SPDX-License-Identifier: ISC */
/*
 * policy.c - what an administrator allows the clients of a manager, see tfs-policy(5)
 *
 * The file is read once, before anything else. A file with an error, or one that others than
 * root can change, allows nothing.
 */
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/base.h"
#include "tool/tool.h"
#include "tracefs/tracefs.h"
#include "session/session.h"

enum {
	MOST_BYTES = 64 * 1024,
	SESSIONS = 64,          /* the default of "sessions" */
	FILES = 256,            /* the default of "files" */
};

static struct {
	const char *path;
	int is_there;
	char ***lines;          /* the words of each line; NULL ends the words */
	size_t n;
	int all;
	unsigned long sessions, buffer_mb; /* buffer_mb 0: no limit */
	unsigned long memory_mb;           /* 0: the default of the stream */
	unsigned long files, space_mb;     /* space_mb 0: half of the file system */
} policy = { .path = "/etc/tfs/policy", .sessions = SESSIONS, .files = FILES };

/* ---- read the file ----------------------------------------------------------------- */

/* Return whether only root can change the file or directory with this status. */
static int is_roots(const struct stat *st, int directory)
{
	if (st->st_uid)
		return 0;
	/* in a sticky directory, others cannot replace root's files */
	return !(st->st_mode & (S_IWGRP | S_IWOTH)) || (directory && st->st_mode & S_ISVTX);
}

/* Check that only root can change the path of the file. Links are refused. 0, or -1, reported. */
static int check_way(void)
{
	char path[PATH_MAX];
	struct stat st;

	if (*policy.path != '/' || strlen(policy.path) >= sizeof(path))
		return err_msg("TFS_POLICY must be an absolute path: '%.80s'", policy.path);
	for (const char *slash = policy.path; slash; slash = strchr(slash + 1, '/')) {
		str_format(path, sizeof(path), "%.*s", slash == policy.path ? 1 :
			   (int)(slash - policy.path), policy.path);
		if (lstat(path, &st) < 0)
			return errno == ENOENT ? 0 : err_errno("unable to look at %s", path);
		if (!is_roots(&st, 1) || !S_ISDIR(st.st_mode))
			return err_msg("policy %s: %s must be a directory that only root can "
				       "write to; nothing is allowed", policy.path, path);
	}
	return 0;
}

/* Read the file into allocated text. Return 0, 1 if there is no file, or -1, reported. */
static int read_file(char **text)
{
	struct stat st;
	int fd = file_open(policy.path, FILE_REGULAR, O_RDONLY | O_NOFOLLOW, &st);
	size_t n = 0;
	ssize_t got;

	if (fd == -1)
		return errno == ENOENT ? 1 : err_errno("policy %s: unable to open it; "
						       "nothing is allowed", policy.path);
	if (fd < 0 || !is_roots(&st, 0)) {
		fd_close(fd);
		return err_msg("policy %s: it must be a file that only root can write to; "
			       "nothing is allowed", policy.path);
	}
	*text = malloc(MOST_BYTES + 1);
	while (*text && (got = read(fd, *text + n, MOST_BYTES + 1 - n)) > 0)
		n += (size_t)got;
	close(fd);
	if (!*text)
		return err_msg("out of memory");
	if (n > MOST_BYTES)
		return err_msg("policy %s: it is larger than %d bytes; nothing is allowed",
			       policy.path, MOST_BYTES);
	(*text)[n] = '\0';
	if (strlen(*text) != n)
		return err_msg("policy %s: it has a NUL byte; nothing is allowed", policy.path);
	return 0;
}

/* ---- parse its lines --------------------------------------------------------------- */

static int is_name(const char *s)
{
	return !strcmp(s, "*") || text_is_name(s);
}

/* Check the words of one line and set the values in policy. Return NULL, or the error. */
static const char *check_line(char **w)
{
	static const struct { char key[9]; unsigned long *value; const char *wrong; } numbers[] = {
		{ "sessions", &policy.sessions, "not a number of sessions" },
		{ "buffer", &policy.buffer_mb, "not a number of MiB" },
		{ "memory", &policy.memory_mb, "not a number of MiB" },
		{ "files", &policy.files, "not a number of files" },
		{ "space", &policy.space_mb, "not a number of MiB" },
	};
	static int seen_all, seen_audit, seen[sizeof(numbers) / sizeof(*numbers)];
	unsigned long most = 1024 * 1024;
	const char *key = w[0];
	size_t i = 0;

	if (!strcmp(key, "hook") || !strcmp(key, "common")) {
		if (!w[1])
			return "no name follows the word";
		for (w++; *w; w++)
			if (!is_name(*w))
				return "a name has no dashes in front; * stands for all names";
		return NULL;
	}
	while (i < sizeof(numbers) / sizeof(*numbers) && strcmp(key, numbers[i].key))
		i++;
	if (i == sizeof(numbers) / sizeof(*numbers) && strcmp(key, "all") && strcmp(key, "audit"))
		return "unknown word; use hook, common, all, sessions, buffer, memory, files, "
		       "space or audit";
	if (!w[1] || w[2])
		return "the word takes one value";
	if (!strcmp(key, "all")) {
		policy.all = !strcmp(w[1], "yes");
		if (!policy.all && strcmp(w[1], "no"))
			return "the value must be yes or no";
		return seen_all++ ? "the word was given before" : NULL;
	}
	if (!strcmp(key, "audit")) {
		if (audit_to(w[1]) < 0)
			return "the value must be syslog, kmsg, off or the path of a socket";
		return seen_audit++ ? "the word was given before" : NULL;
	}
	if (text_number(w[1], 1, most, numbers[i].value) < 0)
		return numbers[i].wrong;
	return seen[i]++ ? "the word was given before" : NULL;
}

/* Parse the text, which is overwritten and kept. Return 0, or -1, reported. */
static int parse(char *text)
{
	const char *wrong;
	char *line;
	unsigned number = 0;
	size_t room = 1;

	for (char *p = text; *p; p++)
		room += *p == '\n';
	policy.lines = calloc(room + 1, sizeof(*policy.lines));
	if (!policy.lines)
		return err_msg("out of memory");
	while ((line = text_next_line(&text))) {
		char **words;

		number++;
		line[strcspn(line, "#")] = '\0';
		words = words_split(line, &wrong);
		if (words && *words)
			wrong = check_line(words);
		else if (words)
			continue;
		if (wrong)
			return err_msg("policy %s: line %u: %s; nothing is allowed", policy.path,
				       number, wrong);
		policy.lines[policy.n++] = words;
	}
	return 0;
}

int policy_read(void)
{
	const char *path = getenv("TFS_POLICY"), *log = getenv("TFS_AUDIT");
	int named = path && *path, r;
	char *text = NULL;

	/* a line "audit" of the policy overrides this */
	if (log && *log && audit_to(log) < 0)
		return err_msg("TFS_AUDIT must be syslog, kmsg, off or the path of a socket: "
			       "'%.80s'", log);
	if (named)
		policy.path = path;
	if (check_way() < 0)
		return -1;
	r = read_file(&text);
	if (r > 0)
		return named ? err_msg("policy %s: there is no such file; nothing is allowed",
				       policy.path) : 0;
	policy.is_there = !r;
	return r < 0 ? -1 : parse(text);
}

/* ---- check a request --------------------------------------------------------------- */

static int is_word(const char *word, const char *name)
{
	return !strcmp(word, "*") || !strcmp(word, name);
}

/*
 * Return whether a line with this key allows the option (NULL: the hook itself). If hook is
 * not NULL, the first word of the line names the hook.
 */
static int allows(const char *key, const char *hook, const char *option)
{
	int any = 0;

	for (size_t i = 0; i < policy.n; i++) {
		char **w = policy.lines[i];

		if (strcmp(*w++, key))
			continue;
		any = 1;
		if (hook && !is_word(*w++, hook))
			continue;
		if (!option)
			return 1;
		for (; *w; w++)
			if (is_word(*w, option))
				return 1;
	}
	return !any && !hook; /* without a line "common", all common options are allowed */
}

int policy_hook(const char *hook)
{
	return !policy.is_there || allows("hook", hook, NULL);
}

int policy_request(const struct request *rq)
{
	const struct hook *r = rq->hook;

	if (!policy.is_there)
		return 0;
	for (size_t i = 0; i < r->noptions; i++) {
		const struct opt *o = &r->options[i];

		if (!o->given || !strcmp(o->name, "all"))
			continue;
		if (i < r->ncommon ? allows("common", NULL, o->name)
				   : allows("hook", r->name, o->name))
			continue;
		return err_msg("%s: the policy %s does not allow --%s", r->name, policy.path,
			       o->name);
	}
	if (rq->all_tasks && !policy.all)
		return err_msg("%s: the policy %s does not allow --all or a session without "
			       "selectors", r->name, policy.path);
	return 0;
}

/* ---- count sessions and buffers ---------------------------------------------------- */

static int is_alive(void *arg, int dir, const char *name, pid_t owner)
{
	(void)arg, (void)dir, (void)name;
	return owner != OWNER_NONE;
}

/* Return the number of live sessions of all subsystems. rundir is one subsystem's. */
static unsigned long sessions_alive(int rundir)
{
	DIR *all = file_list(rundir, "..");
	unsigned long n = 0;
	const char *name;
	int fd, r;

	while ((name = file_next(all))) {
		fd = openat(dirfd(all), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			continue;
		r = owned_each(fd, "", is_alive, NULL);
		n += r > 0 ? (unsigned long)r : 0;
		close(fd);
	}
	return n;
}

/* Return the size of the ring buffers of all sessions, in KB. */
static unsigned long long buffers_kb(int instances)
{
	DIR *d = file_list(instances, ".");
	unsigned long long kb = 0;
	char path[PATH_MAX];
	const char *name;

	while ((name = file_next(d))) {
		if (strncmp(name, "tfs.", 4) && strncmp(name, "tfs-", 4))
			continue;
		str_format(path, sizeof(path), "%s/buffer_total_size_kb", name);
		kb += file_number(instances, path, NULL, 0);
	}
	return kb;
}

/* The regular files of sessions, live and ended ones. */
struct kept {
	unsigned long n, kb;
};

/*
 * Add the files of a session's directory: how many there are, or may be while it records, and what
 * they take, or may take.
 */
static void add_session(struct kept *kept, int dir, const char *name)
{
	DIR *d = file_list(dir, name);
	struct kept is = { 0 }, may;
	struct dirent *e;
	struct stat st;

	while (d && (e = readdir(d)))
		if (!fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISREG(st.st_mode)) {
			is.n++;
			is.kb += (unsigned long)st.st_blocks / 2; /* of 512 bytes, stat(2) */
		}
	if (!d)
		return;
	rundir_reserved(dirfd(d), &may.kb, &may.n);
	kept->n += may.n ? may.n : is.n; /* a live recorder has control files, too */
	kept->kb += may.kb > is.kb ? may.kb : is.kb;
	closedir(d);
}

/* Add the files of all sessions except those with the name without. */
static void add_all(struct kept *kept, int rundir, const char *without)
{
	DIR *all = file_list(rundir, ".."), *d;
	const char *subsystem, *name;

	while ((subsystem = file_next(all))) {
		d = file_list(dirfd(all), subsystem);
		while ((name = file_next(d)))
			if (strcmp(name, without))
				add_session(kept, dirfd(d), name);
	}
}

/* Return how many KB the files of all sessions may take; 0: any number. */
static unsigned long long most_kb(int rundir)
{
	unsigned long long most = policy.space_mb * 1024ULL;
	struct statfs fs;

	if (!most && !fstatfs(rundir, &fs))
		most = (unsigned long long)fs.f_blocks * (unsigned long)fs.f_bsize / 1024 / 2;
	return most;
}

int policy_dumps(const struct request *rq, int rundir, unsigned long *files, unsigned long *kb)
{
	int is_file = rq->output >= OUTPUT_FILE; /* the session's own file counts, too */
	struct kept kept = { .n = is_file ? 1 : 0, .kb = is_file ? rq->size_kb : 0 };
	unsigned long long most = most_kb(rundir), left, wanted = *kb;

	add_all(&kept, rundir, rq->session);
	if (kept.n >= policy.files)
		return err_msg("%s: %lu files of sessions exist, and no more are allowed for "
			       "dumps; remove those of ended sessions, or see tfs-policy(5)",
			       rq->hook->name, kept.n);
	if (most && kept.kb >= most)
		return err_msg("%s: the files of all sessions may take %llu KB, and nothing of "
			       "it is left for dumps; remove those of ended sessions, or see "
			       "tfs-policy(5)", rq->hook->name, most);
	if (*files > policy.files - kept.n)
		*files = policy.files - kept.n;
	/* leave half of the rest to the next session, unless half is less than one dump */
	left = most ? most - kept.kb : wanted;
	if (most && left / 2 >= rq->size_kb)
		left /= 2;
	*kb = (unsigned long)(wanted < left ? wanted : left);
	return 0;
}

unsigned long policy_memory_kb(void)
{
	return policy.memory_mb * 1024;
}

/* Check the number and the size of the files of all sessions. Return 0, or -1, reported. */
static int check_files(const struct request *rq, int rundir, int more)
{
	struct kept kept = { .n = more ? 1 : 0, .kb = more ? rq->size_kb : 0 };
	unsigned long long most = most_kb(rundir);

	add_all(&kept, rundir, "");
	if (kept.n > policy.files)
		return err_msg("--output: %lu files of sessions exist, and no more are allowed; "
			       "remove those of ended sessions, or see tfs-policy(5)",
			       kept.n - 1);
	if (kept.kb > most && most)
		return err_msg("--size: with this session, the files of all sessions may take "
			       "%lu KB, and %llu KB are allowed; remove those of ended sessions, "
			       "give a smaller --size, or see tfs-policy(5)", kept.kb, most);
	return 0;
}

int policy_limits(const struct request *rq, int rundir, int more)
{
	unsigned long n = sessions_alive(rundir) + (unsigned long)more;
	unsigned long long kb;
	int dir;

	if (n > policy.sessions)
		return err_msg("%lu sessions exist, and no more are allowed; end a session, or "
			       "see tfs-policy(5)", n - 1);
	if ((rq->output >= OUTPUT_FILE || (rq->hook->alone && !more)) &&
	    check_files(rq, rundir, more) < 0)
		return -1;
	if (!policy.buffer_mb)
		return 0;
	dir = recording_instances();
	if (dir < 0)
		return -1;
	kb = buffers_kb(dir) + (more ? rq->buffer_kb : 0);
	close(dir);
	if (kb <= policy.buffer_mb * 1024ULL)
		return 0;
	return err_msg("--buffer: with this session, the buffers of all sessions are %llu KB, "
		       "but the policy %s allows %lu MiB", kb, policy.path, policy.buffer_mb);
}
