# Shortcuts for contributors: `just` lists them.
default:
    @just --list

# Run all tests, or those whose name contains FILTER
test *FILTER:
    cargo test -- {{FILTER}}

# Write generated files again: man page, completions, options, messages, presets
bless:
    BLESS=1 cargo test --lib -- recorded
    BLESS=1 cargo test --test cli -- generated:: messages
    BLESS=1 cargo test --test tools -- options_page

# Run the CI of each change, as on GitHub
ci:
    .ci/run

# Show the man page of this version
man:
    cargo run -q -- --generate man | man -l -

# Run the simulator, the scanner benchmark or the attacks
lab *ARGS:
    cargo run --release -p lab -- {{ARGS}}
