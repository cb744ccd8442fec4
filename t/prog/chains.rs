// SPDX-License-Identifier: ISC
//! chains.rs - chains of calls as Rust has them: closures, traits, panics, threads
//!
//!	rust MODE [N], rust -l: as chains, without -x

use std::hint::black_box;

extern "C" {
    fn getppid() -> i32;
}

#[inline(never)]
fn deepest() -> i64 {
    black_box(unsafe { getppid() } as i64) + 1
}

#[inline(never)]
fn again(depth: usize, what: &dyn Fn() -> i64) -> i64 {
    black_box(if depth > 0 { again(depth - 1, what) } else { what() }) + 1
}

fn plain(_: usize) -> i64 {
    black_box(deepest()) + 1
}

fn closures(n: usize) -> i64 {
    let kept: Vec<usize> = (0..n + 1).collect();
    let all: Vec<Box<dyn Fn() -> i64>> = kept
        .iter()
        .map(|i| Box::new(move || deepest() + *i as i64) as Box<dyn Fn() -> i64>)
        .collect();
    all.iter().map(|f| black_box(f())).sum()
}

trait Shape {
    fn area(&self) -> i64;
}

struct Square(i64);

impl Shape for Square {
    #[inline(never)]
    fn area(&self) -> i64 {
        black_box(deepest()) + self.0
    }
}

fn traits(n: usize) -> i64 {
    let shape: Box<dyn Shape> = black_box(Box::new(Square(n as i64)));
    shape.area() + 1
}

fn sorts(n: usize) -> i64 {
    let mut numbers: Vec<usize> = (0..4).map(|i| (i * 7 + n) % 5).collect();
    numbers.sort_by(|a, b| {
        deepest();
        b.cmp(a)
    });
    numbers[0] as i64
}

struct Last;

impl Drop for Last {
    #[inline(never)]
    fn drop(&mut self) {
        black_box(deepest());
    }
}

#[inline(never)]
fn panics(n: usize) -> i64 {
    let _last = Last;
    if n == 0 {
        std::panic::panic_any(5);
    }
    panics(n - 1) + 1
}

fn unwinds(n: usize) -> i64 {
    let _ = std::panic::catch_unwind(|| panics(n % 4));
    black_box(deepest()) + 1
}

fn hook(n: usize) -> i64 {
    std::panic::set_hook(Box::new(|_| {
        deepest();
    }));
    let _ = std::panic::catch_unwind(|| {
        let numbers = vec![1, 2, 3];
        black_box(numbers[black_box(n + 3)])
    });
    std::panic::set_hook(Box::new(|_| {}));
    0
}

fn threads(n: usize) -> i64 {
    std::thread::spawn(move || again(n % 5, &deepest)).join().unwrap()
}

fn main() {
    let modes: [(&str, fn(usize) -> i64); 7] = [
        ("plain", plain),
        ("closure", closures),
        ("trait", traits),
        ("sort", sorts),
        ("unwind", unwinds),
        ("panic", hook),
        ("thread", threads),
    ];
    let args: Vec<String> = std::env::args().collect();
    std::panic::set_hook(Box::new(|_| {}));
    for (name, mode) in modes {
        if args[1] == "-l" {
            println!("{name}");
        } else if args[1] == name {
            for n in 0..args.get(2).map_or(10, |n| n.parse().unwrap()) {
                again(n % 20, &|| mode(n));
            }
        }
    }
}
