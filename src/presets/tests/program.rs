use super::*;

fn found(line: &str) -> String {
    let words = shlex::split(line).unwrap();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    wrapped_program(&words)
        .first()
        .copied()
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn the_program_behind_others() {
    for line in [
        "curl -fsS URL",
        "/usr/bin/curl URL",
        "curl-8.5 URL",
        "sudo curl",
        "sudo -u www -E curl",
        "sudo -uwww A=b curl",
        "sudo --user www -- curl",
        "sudo --user=www curl",
        "doas -u www curl",
        "env A=b C=d curl",
        "env -i -u HOME curl",
        "env - A=b curl",
        "sh -c -- 'curl URL'",
        "sh -c -e 'curl URL'",
        "nice curl",
        "nice -n 5 curl",
        "nice -5 curl",
        "ionice -c 3 curl",
        "ionice -c3 curl",
        "timeout 5 curl",
        "timeout -k 1 -s TERM 5s curl",
        "timeout --kill-after=1 5s curl",
        "time -p curl",
        "time -f %e -o file curl",
        "nohup curl",
        "setsid -w curl",
        "stdbuf -oL curl",
        "stdbuf -o L -e 0 curl",
        "chrt -f 10 curl",
        "taskset -c 0,1 curl",
        "command curl",
        "command -p curl",
        "exec -a name curl",
        "busybox curl",
        "npx -y curl",
        "npx -p curl curl",
        "sh -c 'curl -fsS URL'",
        "bash -lc 'curl URL'",
        "bash -e -o pipefail -c 'A=b exec curl URL'",
        "bash -ceuo pipefail 'curl URL'",
        "bash --norc -c -o pipefail +O extglob 'curl URL'",
        "sudo sh -c 'timeout 5 curl URL'",
        "sudo -n env A=b nice timeout 5 setsid -w curl",
    ] {
        assert_eq!(found(line), "curl", "{line}");
    }
    assert_eq!(found("pip3.11 install x"), "pip");
    assert_eq!(found("psql-15"), "psql");
    // `npx` itself has a preset.
    assert_eq!(found("npx cowsay"), "npx");
}

#[test]
fn other_names_of_programs() {
    for (line, program) in [
        ("docker-compose up -d", "docker-compose"),
        ("corepack pnpm install", "pnpm"),
        ("corepack enable", "corepack"),
        ("python3 -m pip install x", "pip"),
        ("/usr/bin/python3.11 -m pip install x", "pip"),
        ("python -Im pip", "pip"),
        ("python3 -W ignore -mpip install x", "pip"),
        ("python3 -Ximporttime -m pip install x", "pip"),
        ("python3 -IWonce -mpip install x", "pip"),
        ("python3 - -m pip", "python3"),
        ("python3 -m poetry install", "poetry"),
        ("python3 -m twine upload dist/x", "twine"),
        ("python3 -m build", "pyproject-build"),
        ("python3 -c 'import pip' -m pip", "python3"),
        ("python3 -m", "python3"),
        ("./gradlew test", "gradlew"),
        ("/srv/a/mvnw -q verify", "mvnw"),
        ("npx -y playwright install", "playwright"),
    ] {
        assert_eq!(found(line), program, "{line}");
    }
}

#[test]
fn what_is_not_understood_is_left_alone() {
    for (line, name) in [
        ("sh curl URL", "sh"),
        ("sh -o curl URL", "sh"),
        ("sh -c 'curl URL | jq'", "sh"),
        ("sh -c 'curl \"$URL\"'", "sh"),
        ("sh -c 'if curl; then x; fi'", "sh"),
        ("sh script curl", "sh"),
        ("sh", "sh"),
        ("sudo", "sudo"),
        ("sudo -u", "sudo"),
        ("timeout 5", "timeout"),
        ("command -v curl", "command"),
        ("env -S 'curl URL'", "env"),
        // A program name among the arguments does not count.
        ("echo curl", "echo"),
        ("sudo -u curl id", "id"),
        ("timeout curl id", "id"),
        ("my-tool-2.1 curl", "my-tool-2.1"),
    ] {
        assert_eq!(found(line), name, "{line}");
    }
}
