// Three threads of a Rust program that wait, each in its own way, or compute in functions that call themselves: `wait`, `spin`.
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{mpsc, Condvar, Mutex};
use std::thread;

#[inline(never)]
fn visit(values: &BTreeMap<u64, u64>, depth: u64) -> u64 {
    if depth == 0 {
        return values.values().fold(0, |sum, value| sum.wrapping_mul(31).wrapping_add(*value));
    }
    visit(values, depth - 1).wrapping_add(depth)
}

fn compute() -> ! {
    let values: BTreeMap<u64, u64> = (0..1000).map(|number| (number, number)).collect();
    let mut total = 0u64;
    loop {
        for depth in 0..20 {
            total = total.wrapping_add(visit(&values, depth));
        }
        std::hint::black_box(total);
    }
}

fn main() {
    println!("ready");
    std::io::stdout().flush().unwrap();
    if std::env::args().nth(1).as_deref() == Some("spin") {
        compute();
    }
    let (_sender, receiver) = mpsc::channel::<u64>();
    let worker = thread::spawn(move || receiver.recv());
    thread::spawn(|| {
        let (lock, changed) = (Mutex::new(false), Condvar::new());
        let _unused = changed.wait_while(lock.lock().unwrap(), |is_ready| !*is_ready);
    });
    let _unused = worker.join();
}
