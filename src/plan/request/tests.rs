use super::*;

/// What is read of a command line.
fn read(line: &str) -> Request {
    let words = shlex::split(line).unwrap();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    of(words[0], &words[1..]).unwrap()
}

fn expect(line: &str, method: Option<&str>, is_alone: bool) {
    let not_idempotent = method.map(|method| format!("{method} without an Idempotency-Key header"));
    let expected = Request {
        not_idempotent,
        is_alone,
    };
    assert_eq!(read(line), expected, "{line}");
}

#[test]
fn what_curl_is_told_to_send() {
    for line in [
        "curl -X POST URL",
        "curl -XPOST URL",
        "curl -sXPOST URL",
        "curl -fsSX POST URL",
        "curl URL -X POST",
        "curl -X post URL",
        "curl -X PUT -X POST URL",
        "curl --request POST URL",
        "curl -d x URL",
        "curl -dx URL",
        "curl -fsSd x URL",
        "curl --data x URL",
        "curl --data-ascii x URL",
        "curl --data-binary @file URL",
        "curl --data-raw x URL",
        "curl --data-urlencode x URL",
        "curl --json {} URL",
        "curl --expand-data x URL",
        "curl -F a=b URL",
        "curl --form a=b URL",
        "curl --form-string a=b URL",
        "curl -X POST -I URL",
        "curl -X POST -T file URL",
        "curl -X POST -G -d x URL",
        "curl -X POST -H 'Content-Type: text/plain' URL",
        // A header that is left out, one that is empty, one that is somebody else's.
        "curl -d x -H 'Idempotency-Key:' URL",
        "curl -d x -H 'Idempotency-Key;' URL",
        "curl -d x -H Idempotency-Key URL",
        "curl -d x --proxy-header 'Idempotency-Key: 1' URL",
        "curl -d x -A 'Idempotency-Key: 1' URL",
        "curl -d x -o out --max-time 5 --url URL",
        "curl -d x -- URL",
        "curl -g -d x 'http://[::1]/{a}'",
    ] {
        expect(line, Some("POST"), true);
    }
    expect("curl -X PATCH -d x URL", Some("PATCH"), true);
    expect("curl -X LOCK URL", Some("LOCK"), true);
}

#[test]
fn what_curl_may_send_twice() {
    for line in [
        "curl URL",
        "curl -fsS -o out URL",
        "curl -X GET -d x URL",
        "curl -X PUT -d x URL",
        "curl -X DELETE URL",
        "curl -X OPTIONS URL",
        "curl -X PROPFIND URL",
        "curl -I URL",
        "curl -sI URL",
        "curl -G -d x URL",
        "curl --get --data x URL",
        "curl -T file URL",
        "curl --upload-file file ftp://h/",
        "curl -T file -X PUT URL",
        "curl -d x -H 'Idempotency-Key: 1' URL",
        "curl -d x -H 'idempotency-key:1' URL",
        "curl -X PATCH -d x -HIDEMPOTENCY-KEY:1 URL",
        "curl --header 'Idempotency-Key: 1' --json {} URL",
        // These are values.
        "curl -A -d URL",
        "curl -H --data URL",
        "curl -o -XPOST URL",
        "curl --user-agent -F URL",
        "curl -e -X URL",
        // curl knows no such form, and fails.
        "curl --request=POST URL",
        "curl --url-query a=b URL",
        // Names that others begin with.
        "curl --head URL",
        "curl --netrc URL",
    ] {
        expect(line, None, true);
    }
}

#[test]
fn one_request_of_curl_or_several() {
    for line in [
        "curl -d x URL URL",
        "curl -d x --url URL URL",
        "curl -L -d x URL",
        "curl -fsSLd x URL",
        "curl --location -d x URL",
        "curl --location-trusted -d x URL",
        "curl --follow -d x URL",
        "curl --retry 3 -d x URL",
        "curl -K file -d x URL",
        "curl --config file -d x URL",
        "curl -d x 'http://h/{a,b}'",
        "curl -d x 'http://h/[1-3]'",
        "curl -d x --url @file",
        "curl -d x URL --next URL",
        "curl -d x URL -: URL",
        "curl URL --next -d x URL",
        // The key is of the other part.
        "curl -H 'Idempotency-Key: 1' -d x URL --next -d x URL",
        "curl -d x",
    ] {
        expect(line, Some("POST"), false);
    }
    for line in ["curl URL URL", "curl -K file", "curl -L URL", "curl", "curl -d"] {
        assert!(!read(line).is_alone, "{line}");
    }
    assert_eq!(read("curl URL --next URL").not_idempotent, None);
}

#[test]
fn what_wget_is_told_to_send() {
    let once = "-t1 --max-redirect=0";
    for request in [
        "--post-data=x URL",
        "--post-data x URL",
        "--post-f file URL",
        "--method=post URL",
        "--method POST --body-data=x URL",
        "-nv -O out --post-data=x URL",
        "-qO- --post-data x URL",
        "--post-data=x --header 'Idempotency-Key:' URL",
        "URL --post-data=x",
    ] {
        expect(&format!("wget {request} {once}"), Some("POST"), true);
        // Otherwise it tries again and follows by itself.
        for part in ["", "-t1", "--max-redirect=0", "-t2 --max-redirect=0"] {
            expect(&format!("wget {request} {part}"), Some("POST"), false);
        }
    }
    expect(
        "wget2 --tries=1 --max-redirect=0 --method=PATCH URL",
        Some("PATCH"),
        true,
    );
    for request in [
        "URL",
        "--method=PUT --body-data=x URL",
        "--method=DELETE URL",
        "--spider URL",
        "--post-data=x --header='Idempotency-Key: 1' URL",
        "--header idempotency-key:1 --post-data=x URL",
        "-O --post-data=x URL",
    ] {
        expect(&format!("wget {request} {once}"), None, true);
    }
    for request in ["-i urls", "-r URL", "-p URL", "-m URL", "URL URL"] {
        assert!(!read(&format!("wget {request} {once}")).is_alone, "{request}");
    }
}

#[test]
fn one_command_of_redis_cli_or_several() {
    for line in [
        "redis-cli INCR x",
        "redis-cli -h host -p 1 -e INCR x",
        "valkey-cli -x SET x",
    ] {
        assert!(read(line).is_alone, "{line}");
    }
    for line in [
        "redis-cli",
        "redis-cli -h host",
        "redis-cli -r 3 INCR x",
        "redis-cli --pipe",
    ] {
        assert!(!read(line).is_alone, "{line}");
    }
}

#[test]
fn nothing_is_known_of_other_programs() {
    assert_eq!(of("http", &["POST", "URL"]), None);
    assert_eq!(of("echo", &["-d", "x"]), None);
}

/// curl takes a beginning of a name, in any case.
#[test]
fn names_that_curl_takes() {
    for line in [
        "curl --data-bin a=b URL",
        "curl --jso {} URL",
        "curl --form-s a=b URL",
        "curl --DATA a=b URL",
        "curl --Request POST URL",
        "curl --LOCATION -d a=b URL",
    ] {
        let reason = read(line).not_idempotent;
        assert_eq!(
            reason.as_deref(),
            Some("POST without an Idempotency-Key header"),
            "{line}"
        );
    }
    assert!(!read("curl --LOCATION URL").is_alone);
    assert!(!read("curl -X POST -T {a,b} URL").is_alone);
    assert!(read("curl -d x --retry 0 URL").is_alone);
    for line in [
        "curl --mail-from a@b.c --mail-rcpt c@d.e -T f smtp://h",
        "curl -aT f ftp://h/f",
        "wget -e post_data=a=b URL",
    ] {
        assert!(read(line).not_idempotent.is_some(), "{line}");
    }
    for line in [
        "curl --head URL",
        "curl --crlf --keepalive --parallel --ssl URL",
        "wget -e robots=off URL",
    ] {
        assert_eq!(read(line).not_idempotent, None, "{line}");
    }
}
