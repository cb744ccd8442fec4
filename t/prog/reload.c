/* SPDX-License-Identifier: ISC */
/*
 * reload - call functions of libraries that come and go, mostly at the same address
 *
 *	reload [LIBRARY FUNCTION]...
 *
 * Load each library 20 times, call its function, and unload it; do the same in a thread and in a
 * child. Then execute true.
 */
#include <dlfcn.h>

#include "prog.h"

static char **libraries;

static void *load(void *arg)
{
	for (char **v = libraries; *v; v += 2)
		for (int i = 0; i < 20; i++) {
			void *library = dlopen(v[0], RTLD_NOW);
			void *found = library ? dlsym(library, v[1]) : NULL;
			long (*function)(void);

			if (!found)
				exit(1);
			memcpy(&function, &found, sizeof(function));
			function();
			dlclose(library);
		}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	pid_t child;

	libraries = argv + 1;
	if (argc % 2 == 0)
		return 100;
	load(NULL);
	if (!pthread_create(&thread, NULL, load, NULL))
		pthread_join(thread, NULL);
	child = fork();
	if (!child) {
		load(NULL);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	execlp("true", "true", (char *)NULL);
	return 127;
}
