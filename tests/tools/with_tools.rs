//! Tests that need a program the machine may lack. Where it does, the test is listed as ignored with
//! the program's name; with REQUIRE_TEST_TOOLS set (as in CI) that is a failure.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::process::{children_of, is_alive, sleeps_below};
use crate::common::pty::Terminal;
use crate::common::tools::ASKED;
use crate::common::words::Words;
use crate::common::{
    BIN, IS_PORTABLE, Live, PATIENCE, Shown, backoff, clean, eventually, run, run_within, shell, wait_for, within,
};

/// Time for a slow disk to keep gigabytes.
const FOR_GIGABYTES: Duration = PATIENCE.saturating_mul(6);

tests! {
    curl_gets_503_twice_and_then_200 ["curl"]
    curl_and_every_status_of_an_error ["curl"]
    wget_and_every_status_of_an_error ["wget"]
    curl_against_nginx ["curl", "nginx"]
    a_server_that_starts_later ["curl"]
    a_server_that_is_never_there ["curl"]
    a_download_is_whole_after_a_retry ["curl"]
    a_program_that_fills_the_screen_runs_on_a_pty ["less", "setsid"]
    a_wait_hears_keys_after_an_editor_was_killed ["vim"]
    process_1_passes_signals_on_and_ends ["unshare"]
    process_1_ends_during_a_wait ["unshare"]
    four_gigabytes_of_output_are_kept_in_little_memory [ASKED]
    a_gigabyte_of_input_is_intact_on_the_third_attempt [ASKED]
    logs_and_reports_are_as_described ["jsonschema"]
    process_1_reaps_orphans ["unshare"]
    process_1_exits_with_128_and_the_signal ["unshare"]
    a_full_disk_is_named_and_what_was_kept_is_printed ["unshare"]
    in_a_new_process_namespace_it_runs ["unshare"]
    a_group_gets_its_time_without_proc ["unshare"]
    members_end_where_pidfds_do_not_work ["strace"]
    without_proc_the_group_still_ends ["unshare"]
    process_1_times_out_a_tree ["unshare"]
    the_man_page_is_clean ["mandoc"]
    the_options_page_is_of_the_man_page ["mandoc"]
    start_up_makes_few_system_calls ["strace"]
    the_last_part_of_a_wait_is_waited_for_by_itself ["strace"]
    a_missing_command_is_final_in_an_emulator ["valgrind"]
}

// --- HTTP ---

/// A server on the loopback that answers each request as `answer` says (1 is the first); None drops
/// the connection.
struct Server {
    url: String,
    requests: Arc<AtomicUsize>,
}

fn serve(answer: fn(usize) -> Option<String>) -> Server {
    serve_on(TcpListener::bind("127.0.0.1:0").unwrap(), answer)
}

#[allow(clippy::disallowed_methods, reason = "a test's server")]
fn serve_on(listener: TcpListener, answer: fn(usize) -> Option<String>) -> Server {
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let requests = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&requests);
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let count = counter.fetch_add(1, Ordering::SeqCst) + 1;
            read_request(&connection);
            if let Some(text) = answer(count) {
                let _ = (&connection).write_all(text.as_bytes());
            }
        }
    });
    Server { url, requests }
}

fn read_request(connection: &TcpStream) {
    let lines = BufReader::new(connection).lines();
    for line in lines.map_while(Result::ok) {
        if line.is_empty() {
            return;
        }
    }
}

fn answer(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

const CURL: &str = "curl -sS -f --noproxy '*'";

fn curl(options: impl Words, url: &str) -> Shown {
    run!("{..} -- {..} {}", options, CURL, url)
}

fn curl_gets_503_twice_and_then_200() {
    let server = serve(|count| {
        Some(if count < 3 {
            answer("503 Service Unavailable", "no")
        } else {
            answer("200 OK", "yes")
        })
    });
    let shown = curl("-b 10ms", &server.url).expect_code(0);
    assert_eq!(
        (shown.stdout.as_str(), server.requests.load(Ordering::SeqCst)),
        ("yes", 3)
    );
    assert!(shown.stderr.contains("attempt 2 of 5 failed: exit 22"), "{shown:?}");
    assert!(shown.stderr.contains("succeeded on attempt 3 of 5"), "{shown:?}");
}

/// The status that is asked for.
fn serve_any_status() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let mut line = String::new();
            let mut reader = BufReader::new(&connection);
            reader.read_line(&mut line).unwrap();
            read_rest(reader);
            let status = line.split(['/', ' ']).nth(2).unwrap_or_default();
            let _ = (&connection).write_all(answer(&format!("{status} Said"), "").as_bytes());
        }
    });
    url
}

fn read_rest(request: impl BufRead) {
    let _ = request.lines().map_while(Result::ok).find(String::is_empty);
}

/// The statuses of an HTTP server, and whether one passes, as the README says.
fn every_status_of_an_error() -> impl Iterator<Item = (u16, bool)> {
    (400..600).map(|status| {
        let passes = matches!(status, 408 | 425 | 429 | 500 | 502..=504 | 506..600);
        (status, passes)
    })
}

#[track_caller]
fn expect_retry(shown: &Shown, is_retried: bool) {
    let attempts = if is_retried { "2 attempts" } else { "1 attempt" };
    let said = format!("gave up after {attempts} in ");
    assert!(shown.stderr.contains(&said), "expected {said}: {shown:?}");
}

fn curl_and_every_status_of_an_error() {
    let url = serve_any_status();
    for (status, passes) in every_status_of_an_error() {
        let url = format!("{url}{status}");
        for (silent, is_retried) in [("-sS", passes), ("-s", true)] {
            let shown = run!("-n 2 -b 1us --for curl -- curl -f {} --noproxy '*' {}", silent, url).expect_code(22);
            expect_retry(&shown, is_retried);
        }
    }
    let remark = "curl -s says nothing of an HTTP status";
    for (options, is_told) in [
        ("-fs", true),
        ("-fsS", false),
        ("-f", false),
        ("--silent -f", true),
        ("-o /dev/null", false),
    ] {
        let shown = run!(
            "-v -n 1 --for auto -- curl {..} --noproxy '*' {}",
            options,
            format!("{url}503")
        );
        assert_eq!(shown.stderr.contains(remark), is_told, "{options}: {shown:?}");
    }
}

fn wget_and_every_status_of_an_error() {
    let url = serve_any_status();
    for (status, passes) in every_status_of_an_error() {
        for (quiet, is_retried) in [("-nv", passes), ("-S", passes), ("-q", false)] {
            let shown = run!(
                "-n 2 -b 1us --for wget -- wget -t 1 {} --no-proxy -O /dev/null {}",
                quiet,
                format!("{url}{status}")
            );
            match status {
                // It was to say who it is.
                401 => expect_retry(&shown.expect_code(6), false),
                // There is nothing more to get.
                416 => drop(shown.expect_code(0)),
                // wget itself tries again, without -t 1, and gives up as for a network failure.
                504 => expect_retry(&shown.expect_code(4), true),
                _ => expect_retry(&shown.expect_code(8), is_retried),
            }
        }
    }
}

/// It ends its workers when it is told to end. None of them shows its environment.
struct Nginx(Child);

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = kill(Pid::from_raw(self.0.id() as i32), Signal::SIGTERM);
        let _ = self.0.wait();
    }
}

fn curl_against_nginx() {
    let dir = tempfile::tempdir().unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    // While the file `ready` is missing, the server says 503.
    let config = format!(
        "daemon off; pid {0}/pid; error_log {0}/error; {user}\nevents {{}}\nhttp {{ access_log {0}/access; \
         client_body_temp_path {0}/a; proxy_temp_path {0}/b; fastcgi_temp_path {0}/c; uwsgi_temp_path {0}/d; \
         scgi_temp_path {0}/e;\nserver {{ listen 127.0.0.1:{port}; root {0}; location / {{ if (!-f {0}/ready) {{ return 503; }} }} }} }}",
        dir.path().display(),
        user = if nix::unistd::geteuid().is_root() {
            "user root;"
        } else {
            ""
        },
    );
    std::fs::write(dir.path().join("conf"), config).unwrap();
    std::fs::write(dir.path().join("ready"), "it is ready\n").unwrap();
    std::fs::remove_file(dir.path().join("ready")).unwrap();
    let mut server = shell("PATH=$PATH:/usr/sbin exec nginx -p . -c $CONF");
    let _server = Nginx(server.env("CONF", within(&dir, "conf")).spawn().unwrap());
    eventually("nginx listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    let url = format!("http://127.0.0.1:{port}/ready");
    // 503 for ever: the last status passes.
    curl("-q -n 2 -b 10ms", &url).expect_code(22);
    // 503 until the file is there.
    let live = Live::start(&mut backoff(words!("-b 50ms -n 99 -g constant -- {..} {}", CURL, url)));
    let access = within(&dir, "access");
    eventually("two more requests", || {
        std::fs::read_to_string(&access).is_ok_and(|log| log.lines().count() >= 4)
    });
    let partial = within(&dir, "partial");
    std::fs::write(&partial, "it is ready\n").unwrap();
    std::fs::rename(&partial, dir.path().join("ready")).unwrap();
    assert_eq!(live.finish().expect_code(0).stdout, "it is ready\n");
}

fn a_server_that_starts_later() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let url = format!("http://{address}/");
    let mut live = Live::start(&mut backoff(words!(
        "-b 50ms -n unlimited -d 30s -g constant -e 7 -- {..} {}",
        CURL,
        url
    )));
    let mut said = BufReader::new(live.child.stderr.take().unwrap())
        .lines()
        .map_while(Result::ok);
    let mut hears = |text: &str| wait_for(text, live.child.id(), || said.any(|line| line.starts_with(text)));
    assert!(hears("backoff: curl: attempt 2 failed: exit 7"));
    let server = serve_on(TcpListener::bind(address).unwrap(), |_| Some(answer("200 OK", "there")));
    assert!(hears("backoff: curl: succeeded on attempt "));
    assert_eq!(live.finish().expect_code(0).stdout, "there");
    assert_eq!(server.requests.load(Ordering::SeqCst), 1);
}

fn a_server_that_is_never_there() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let shown = curl("-n 3 -b 10ms", &format!("http://{address}/")).expect_code(7);
    assert!(
        shown.stderr.contains("gave up after 3 attempts in ") && shown.stderr.contains(": exit 7"),
        "{shown:?}"
    );
}

fn a_download_is_whole_after_a_retry() {
    let dir = tempfile::tempdir().unwrap();
    let server = serve(|count| match count {
        1 => Some("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\nhalf".into()),
        2 => None,
        _ => Some(answer("200 OK", "0123456789")),
    });
    let file = within(&dir, "file");
    run!("-b 10ms -e 18,52 -- curl -sSf --noproxy '*' -o {} {}", file, server.url)
        .expect_code(0)
        .expect_stderr("attempt 1 of 5 failed: exit 18")
        .expect_stderr("attempt 2 of 5 failed: exit 52");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "0123456789");
}

// --- process 1 of a namespace, as in a container ---

fn unshared(args: impl Words) -> std::process::Command {
    let mut command = clean("unshare");
    command
        .args(["--pid", "--fork", "--mount-proc", "--map-root-user", "--kill-child"])
        .args(args.words());
    command
}

fn as_process_1(args: impl Words) -> Live {
    Live::start(&mut unshared(words!("{} {..}", *BIN, args)))
}

/// The process outside that is process 1 inside.
fn inner(live: &Live) -> nix::unistd::Pid {
    let mut children = Vec::new();
    eventually("process 1 runs", || {
        children = children_of(live.pid());
        children.len() == 1
    });
    nix::unistd::Pid::from_raw(children[0])
}

fn a_wait_hears_keys_after_an_editor_was_killed() {
    let mut terminal = Terminal::bash();
    terminal.command("TERM=xterm backoff -b 60s -m 60s -t 1s -s KILL -- vim -u NONE");
    terminal.expect("retrying in");
    terminal.send("\x03");
    terminal.expect("prompt> ");
    terminal.command("echo status-$?");
    terminal.expect("status-130");
}

fn a_program_that_fills_the_screen_runs_on_a_pty() {
    let dir = tempfile::tempdir().unwrap();
    let file = within(&dir, "lines");
    let lines: String = (1..=500).map(|i| format!("line-{i:03}\n")).collect();
    std::fs::write(&file, lines).unwrap();
    let mut terminal = Terminal::bash();
    terminal.command("export TERM=xterm LESS= LESSOPEN=; stty rows 20 cols 70");
    terminal.expect("prompt> ");
    terminal.command("stty -g | sed s/^/settings-/");
    terminal.expect("settings-");
    let before = terminal.expect("\r\n");
    terminal.command(&format!("backoff -n 1 -r never-there --pty -- less -- {file}"));
    // One screen, in the alternate buffer, as high as the terminal.
    terminal.expect("\x1b[?1049h");
    terminal.expect("line-019");
    assert!(!terminal.shown.contains("line-020"));
    terminal.send(" ");
    terminal.expect("line-038");
    // A WINCH just before it reads the next key is lost to less.
    eventually("it waits for a key", || sleeps_below(terminal.pid(), "less"));
    terminal.send("\x1a");
    terminal.expect("Stopped");
    terminal.send("fg\n");
    // It draws the screen again.
    terminal.expect("line-020");
    terminal.expect("line-038");
    terminal.send("/line-4.7\r");
    terminal.expect("line-425");
    terminal.send("q");
    terminal.expect("\x1b[?1049l");
    terminal.expect("prompt> ");
    terminal.command("echo status-$?; stty -g");
    terminal.expect("status-0\r\n");
    assert_eq!(terminal.expect("\r\n"), before);
}

fn process_1_passes_signals_on_and_ends() {
    let began = std::time::Instant::now();
    let mut live = as_process_1(words!(
        "-- sh -c {}",
        "trap 'echo bye; exit 3' TERM; echo ready $$; while :; do sleep 0.01; done"
    ));
    assert!(live.line().starts_with("ready "));
    nix::sys::signal::kill(inner(&live), nix::sys::signal::Signal::SIGTERM).unwrap();
    assert_eq!(live.finish().expect_code(3).stdout, "bye\n");
    assert!(began.elapsed() < Duration::from_secs(10));
}

fn process_1_ends_during_a_wait() {
    let mut live = as_process_1("-b 60s -m 60s -- sh -c 'echo tried; exit 1'");
    live.expect_line("tried");
    let pid = inner(&live);
    eventually("it waits", || children_of(pid.as_raw()).is_empty());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    live.finish().expect_code(143);
}

fn process_1_reaps_orphans() {
    // Each orphan's parent ends at once, so process 1 inherits it.
    let script = "for i in 1 2 3; do sh -c '(sleep 0.05; exit 9) & exit 0'; done; sleep 0.4; \
                  grep -l 'State:.Z' /proc/[0-9]*/status 2>/dev/null | wc -l; exit 5";
    let live = as_process_1(words!("-q -n 2 -b 300ms -j none -- sh -c {}", script));
    assert_eq!(live.finish().expect_code(5).stdout, "0\n0\n");
}

fn process_1_exits_with_128_and_the_signal() {
    as_process_1("-q -n 1 -- sh -c 'kill -KILL $$'")
        .finish()
        .expect_code(137);
    as_process_1("-q -n 1 -- sh -c 'exit 42'").finish().expect_code(42);
}

fn process_1_times_out_a_tree() {
    let script = "sleep 60 & setsid sleep 60 & trap '' TERM; wait; while :; do sleep 0.01; done";
    let live = as_process_1(words!("-q -n 2 -b 1ms -t 1s -k 200ms -- bash -c {}", script));
    live.finish().expect_code(124);
}

fn a_full_disk_is_named_and_what_was_kept_is_printed() {
    let dir = tempfile::tempdir().unwrap();
    let small = within(&dir, "small");
    std::fs::create_dir(&small).unwrap();
    let inner = format!(
        "mount -t tmpfs -o size=2m none '{small}' && cd '{small}' && export TMPDIR='{small}' && \
         backoff --stdout KEEP -- sh -c 'head -c 5000000 /dev/zero; echo went on >&2'; s=$?; ls -A; exit $s"
    );
    let [kept, dropped] = ["final", "success"].map(|keep| {
        let script = inner.replace("KEEP", keep).replace('\'', r"'\''");
        let shown = run(&mut shell(&format!(
            "unshare --mount --map-root-user bash -c '{script}'"
        )))
        .expect_code(125);
        assert!(
            shown.stderr.contains(&small) && shown.stderr.contains("No space left"),
            "{shown:?}"
        );
        shown.stdout.len()
    });
    assert!((1_000_000..5_000_000).contains(&kept), "{kept}");
    assert_eq!(dropped, 0);
}

fn in_a_new_process_namespace_it_runs() {
    // Without --fork backoff stays outside of the namespace that its child is process 1 of.
    let mut command = clean("unshare");
    let shown = run(command.args(["--pid", "--map-root-user", *BIN, "-n", "1", "--", "echo", "hi"])).expect_code(0);
    assert_eq!(shown.stdout, "hi\n");
}

fn a_group_gets_its_time_without_proc() {
    let script = "sh -c 'trap \"sleep 0.3; echo cleaned; exit\" TERM; sleep 50 & wait' & sleep 50";
    let mut command = clean("unshare");
    let line = "--pid --fork --map-root-user {} -q -n 1 -t 1s -k 2s -- sh -c {}";
    let shown = run(command.args(words!(line, *BIN, script))).expect_code(124);
    assert_eq!(shown.stdout, "cleaned\n");
}

fn members_end_where_pidfds_do_not_work() {
    for call in ["pidfd_open", "pidfd_send_signal"] {
        let mut command = clean("strace");
        let inject = format!("inject={call}:error=ENOSYS");
        command.args(words!("-qq -o /dev/null -e {} {} -q", inject, *BIN));
        let script = "setsid sleep 50 >/dev/null 2>&1 & echo $!; sleep 50";
        let shown = run(command.args(words!("-n 1 -t 1s -k 300ms -- sh -c {}", script))).expect_code(124);
        let member: i32 = shown.stdout.trim().parse().unwrap();
        eventually("it ends", || !is_alive(member));
    }
}

fn the_last_part_of_a_wait_is_waited_for_by_itself() {
    // There whole milliseconds are waited for.
    if *IS_PORTABLE {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let trace = within(&dir, "trace");
    let mut command = clean("strace");
    command.args(words!("-qq -e trace=ppoll -o {} {} -q", trace, *BIN));
    let began = Instant::now();
    run(command.args(words!("-n 2 -b 1s -j none -- false"))).expect_code(1);
    assert!(began.elapsed() >= Duration::from_secs(1));
    let trace = std::fs::read_to_string(trace).unwrap();
    let asked_for = regex::Regex::new(r"tv_sec=(\d+), tv_nsec=(\d+)").unwrap();
    // On a busy machine the first part may last until the end of the wait.
    let first = asked_for.captures(&trace).unwrap();
    assert_eq!(&first[1], "0", "{trace}");
    let nanoseconds: u32 = first[2].parse().unwrap();
    assert!(nanoseconds <= 998_000_000, "{trace}");
}

fn without_proc_the_group_still_ends() {
    // A /proc of another process namespace shows numbers that are not ours.
    // All processes of the machine are looked at, and others may run these tests too.
    let own = std::process::id();
    let script = format!("(trap \"\" TERM; echo $$; exec sleep 60.{own}) & wait");
    let mut command = clean("unshare");
    let line = r#"--pid --fork --map-root-user sh -c '"$0" "$@"; exit $?' {} -q -n 1 -t 1s -- bash -c {}"#;
    run(command.args(words!(line, *BIN, script))).expect_code(124);
    eventually("sleep ends", || {
        !run(&mut shell(&format!("pgrep -f 'sleep 60[.]{own}'")))
            .status
            .success()
    });
}

// --- documents ---

fn the_man_page_is_clean() {
    let page = format!("{}/man/backoff.1", env!("CARGO_MANIFEST_DIR"));
    // Generated lines are as long as their sentences.
    let shown = run(clean("mandoc").args(["-T", "lint", "-W", "warning", &page]));
    assert_eq!((shown.stdout.as_str(), shown.code()), ("", Some(0)), "{shown:?}");
}

/// `docs/options.md` is the section of the man page on options. mandoc writes no Markdown from man(7), so that its text
/// stands in blocks.
fn the_options_page_is_of_the_man_page() {
    let root = env!("CARGO_MANIFEST_DIR");
    let mut mandoc = clean("mandoc");
    mandoc.args(["-T", "ascii", "-O", "width=100", &format!("{root}/man/backoff.1")]);
    let shown = run(&mut mandoc).expect_code(0).stdout;
    // A letter is struck twice to be bold.
    let mut plain = String::new();
    for c in shown.chars() {
        match c {
            '\u{8}' => drop(plain.pop()),
            c => plain.push(c),
        }
    }
    let options = plain.lines().skip_while(|line| *line != "OPTIONS").skip(1);
    let options = options.take_while(|line| line.is_empty() || line.starts_with(' '));
    let mut page =
        "<!-- Made from the man page: BLESS=1 cargo test --test tools options_page -->\n# Options\n".to_owned();
    let mut section = vec!["".to_owned()];
    for line in options.chain(["   "]) {
        match line.strip_prefix("   ").filter(|line| !line.starts_with(' ')) {
            Some(heading) => {
                page.push_str(&format!("\n```text\n{}\n```\n", section.join("\n").trim_matches('\n')));
                if !heading.is_empty() {
                    page.push_str(&format!("\n## {heading}\n"));
                }
                section.clear();
            }
            None => section.push(line.strip_prefix("       ").unwrap_or(line).to_owned()),
        }
    }
    let file = format!("{root}/docs/options.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, &page).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap();
    assert_eq!(
        committed, page,
        "docs/options.md has drifted: run BLESS=1 cargo test --test tools options_page"
    );
}

// --- much ---

fn four_gigabytes_of_output_are_kept_in_little_memory() {
    let limited = "ulimit -v 65536; exec backoff -b 1ms --stdout final -n 2 -- \
                   sh -c 'head -c 4294967296 /dev/zero; test $BACKOFF_ATTEMPT = 1'";
    let shown = run_within(
        FOR_GIGABYTES,
        &mut shell(&format!(
            "export LC_ALL=C; ({limited}) | wc -c; echo ${{PIPESTATUS[0]}}"
        )),
    );
    assert_eq!(shown.stdout, "4294967296\n0\n");
}

fn a_gigabyte_of_input_is_intact_on_the_third_attempt() {
    let shown = run_within(
        FOR_GIGABYTES,
        &mut shell(
            "export LC_ALL=C; much() { yes 'a line of some text' | head -c 1073741824; }; much | cksum
         much | (ulimit -v 65536; backoff -q -b 1ms -- sh -c 'cksum; test $BACKOFF_ATTEMPT = 3')",
        ),
    )
    .expect_code(0);
    let sums: Vec<&str> = shown.stdout.lines().collect();
    assert_eq!(sums.len(), 4, "{shown:?}");
    assert!(
        sums.iter().all(|sum| *sum == sums[0] && sum.ends_with(" 1073741824")),
        "{shown:?}"
    );
}

// --- JSON ---

/// Returns the verdict of an independent validator on the texts.
fn is_valid(schema: &str, texts: &[String]) -> bool {
    let dir = tempfile::tempdir().unwrap();
    let mut validator = clean("jsonschema");
    for (n, text) in texts.iter().enumerate() {
        let path = within(&dir, &n.to_string());
        std::fs::write(&path, text).unwrap();
        validator.arg("-i").arg(path);
    }
    let schema = format!("{}/docs/{schema}", env!("CARGO_MANIFEST_DIR"));
    let shown = run(validator.arg(&schema));
    assert!(!shown.stderr.contains("Traceback"), "{shown:?}");
    shown.status.success()
}

fn logs_and_reports_are_as_described() {
    let mut lines = Vec::new();
    let mut reports = Vec::new();
    for args in [
        "-v -- true",
        "-n 2 -- sh -c 'kill $$'",
        "-n 2 -t 50ms -- sleep 9",
        "--consecutive 2 -- sh -c 'test $BACKOFF_ATTEMPT -gt 1'",
        r#"--stop-match no -- sh -c "printf 'no\033\377'; exit 3""#,
        "-- no-such-command",
        "-d 1ms --initial-delay 0 -n 1 -- sleep 9",
        "--nested allow --store /proc/none --budget x -n 2 -- false",
        "--idempotent no -- false",
        "-v -- sh -c 'kill -TERM $PPID; sleep 0.1'",
        "--until failure -- sh -c 'test $BACKOFF_ATTEMPT = 1'",
        "--until failure -n 2 -- true",
        "--until never -n 2 -- true",
    ] {
        let dir = tempfile::tempdir().unwrap();
        let report = within(&dir, "report");
        let shown = run!("--log-format json --report {} -b 1ms {..}", report, args);
        lines.extend(shown.stderr.lines().map(str::to_owned));
        reports.push(std::fs::read_to_string(&report).unwrap());
    }
    for event in [
        "attempt_started",
        "attempt_failed",
        "attempt_succeeded",
        "retrying",
        "succeeded",
        "failure_came",
        "gave_up",
        "interrupted",
        "warning",
    ] {
        assert!(
            lines
                .iter()
                .any(|line| line.contains(&format!("\"event\":\"{event}\""))),
            "no {event}"
        );
    }
    assert!(is_valid("log.schema.json", &lines), "{lines:#?}");
    assert!(is_valid("report.schema.json", &reports), "{reports:#?}");
    // The descriptions say something.
    for (from, to) in [
        ("\"ts\"", "\"time\""),
        ("\"event\"", "\"more\":1,\"event\""),
        ("attempt_started", "begun"),
    ] {
        assert!(
            !is_valid("log.schema.json", &[lines[0].replace(from, to)]),
            "{from} -> {to}"
        );
    }
    for (from, to) in [
        ("\"schema\":1", "\"schema\":2"),
        ("succeeded", "won"),
        ("\"exit\":0", "\"exit\":256"),
    ] {
        assert!(
            !is_valid("report.schema.json", &[reports[0].replace(from, to)]),
            "{from} -> {to}"
        );
    }
}

// --- cost ---

fn start_up_makes_few_system_calls() {
    let dir = tempfile::tempdir().unwrap();
    let log = within(&dir, "log");
    let shown = run(&mut shell(&format!("strace -o {log} -- {} -- true </dev/null", *BIN)));
    assert!(shown.status.success(), "{shown:?}");
    let text = std::fs::read_to_string(&log).unwrap();
    // From the pipe of signals to the end. Each signal has to be caught, and a child has to forget it.
    let own: Vec<&str> = text.lines().skip_while(|line| !line.contains("pipe2")).collect();
    let is_of_signals = |line: &&&str| line.contains("rt_sig");
    let others = own.len() - own.iter().filter(is_of_signals).count();
    assert!(!own.is_empty() && others <= 32 && own.len() <= 250, "{own:#?}");
    // In inherit mode nothing is read from or written to a standard stream, and no thread is made.
    for line in text.lines() {
        assert!(
            !["read(0", "write(1", "write(2", "CLONE_THREAD"]
                .iter()
                .any(|call| line.contains(call)),
            "{line}"
        );
    }
}

/// It makes a copy of the process where the kernel would share its memory, as qemu-user does.
fn a_missing_command_is_final_in_an_emulator() {
    let emulated = |words: &[&str]| {
        run(clean("valgrind")
            .args(["-q", *BIN, "-n", "2", "-b", "1ms", "--"])
            .args(words))
    };
    let bare = run!("-- no-such-command-here").expect_code(127);
    assert_eq!(emulated(&["no-such-command-here"]).expect_code(127).stderr, bare.stderr);
    // A command that ran and exited with 127 has failed like any other.
    emulated(&["sh", "-c", "exit 127"])
        .expect_code(127)
        .expect_stderr("gave up after 2 attempts");
}
