// SPDX-License-Identifier: ISC
// chains.cc - chains of calls as C++ has them: exceptions, virtual calls, lambdas, coroutines
//
//	cxx [-x] MODE [N], cxx -l: as chains
#include <algorithm>
#include <coroutine>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "chains.h"

// an exception passes, and the function goes on
static FUNCTION long throws(int depth)
{
	std::string kept(depth + 20, 'a');

	if (depth == 0)
		throw std::runtime_error(kept);
	return throws(depth - 1) + static_cast<long>(kept.size());
}

// in a handler, and after it
static long catches()
{
	long result;
	HERE;

	try {
		result = throws(number % 5);
	} catch (const std::runtime_error &error) {
		result = deepest() + error.what()[0];
	}
	result += deepest();
	AFTER(result);
	return result;
}

struct asks_last {
	FUNCTION ~asks_last()
	{
		HERE;

		deepest();
	}
};

static FUNCTION long holds(int depth)
{
	asks_last last;

	if (depth == 0)
		throw 5;
	return holds(depth - 1) + 1;
}

// destructors run while the stack is unwound
static long unwinds()
{
	HERE;

	try {
		holds(number % 4);
	} catch (int) {
	}
	return 0;
}

static FUNCTION long rethrows()
{
	try {
		return throws(2);
	} catch (...) {
		deepest();
		throw;
	}
}

static long nested()
{
	long result = 0;
	HERE;

	try {
		rethrows();
	} catch (std::exception &) {
		result = deepest();
	}
	AFTER(result);
	return result;
}

struct shape {
	virtual FUNCTION long area(long n)
	{
		return n;
	}
	virtual ~shape() = default;
};

struct square : shape {
	FUNCTION long area(long n) override
	{
		long result;
		HERE;

		result = n + deepest();
		AFTER(result);
		return result;
	}
};

struct other {
	virtual FUNCTION long unused()
	{
		return 1;
	}
	virtual ~other() = default;
};

// through a thunk that corrects this
struct both : other, square {
	FUNCTION long area(long n) override
	{
		long result;
		HERE;

		result = square::area(n) + n;
		AFTER(result);
		return result;
	}
};

static long virtuals()
{
	std::unique_ptr<shape> s;
	HERE;

	if (number % 2)
		s = std::make_unique<square>();
	else
		s = std::make_unique<both>();
	return s->area(number);
}

static long lambdas()
{
	std::function<long(int)> down;
	HERE;

	down = [&down](int n) {
		long result = n ? down(n - 1) : deepest();

		AFTER(result);
		return result + 1;
	};
	return down(number % 4);
}

static long sorts()
{
	std::vector<std::string> words = { "d", "c", "b", "a" };
	HERE;

	std::sort(words.begin(), words.end(), [](const std::string &a, const std::string &b) {
		deepest();
		return a < b;
	});
	return 0;
}

static FUNCTION void runs(int depth)
{
	HERE;

	again(depth, deepest);
}

static long threads()
{
	HERE;

	std::thread(runs, number % 5).join();
	return 0;
}

template <typename T, int N> struct deep {
	static FUNCTION long go(std::map<T, int> &m)
	{
		long result;

		m[T(N)] = N;
		result = deep<T, N - 1>::go(m);
		AFTER(result);
		return result;
	}
};

template <typename T> struct deep<T, 0> {
	static FUNCTION long go(std::map<T, int> &)
	{
		return deepest() + 1;
	}
};

static long templates()
{
	std::map<double, int> m;
	HERE;

	return deep<double, 12>::go(m);
}

struct task {
	struct promise_type {
		task get_return_object()
		{
			return { std::coroutine_handle<promise_type>::from_promise(*this) };
		}
		std::suspend_always initial_suspend() noexcept
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
		}
	};
	std::coroutine_handle<promise_type> handle;
};

static task resumed()
{
	deepest();
	co_await std::suspend_always();
	again(number % 3, deepest);
}

static long coroutines()
{
	task t = resumed();
	HERE;

	while (!t.handle.done())
		t.handle.resume();
	t.handle.destroy();
	return 0;
}

static const struct mode modes[] = {
	{ "catch", catches }, { "unwind", unwinds }, { "rethrow", nested },
	{ "virtual", virtuals }, { "lambda", lambdas }, { "sort", sorts },
	{ "thread", threads }, { "template", templates }, { "coroutine", coroutines },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	HERE;

	return run_modes(modes, argc, argv);
}
