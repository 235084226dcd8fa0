#!/bin/sh
# Records docs/demo.svg: curl against a server that answers 503 three times. Needs curl, Python and
# termtosvg (pip install termtosvg setuptools==70). usage: docs/demo.sh [BACKOFF]
set -eu
backoff=$(realpath "${1:-target/debug/backoff}")
svg=$(realpath "$(dirname "$0")")/demo.svg
work=$(mktemp -d)
trap 'kill "$server"; rm -rf "$work"' EXIT

cat >"$work/server.py" <<'END'
import http.server

class Server(http.server.BaseHTTPRequestHandler):
    requests = 0

    def do_GET(self):
        Server.requests += 1
        self.send_response(503 if Server.requests < 4 else 200)
        self.end_headers()

    def log_message(self, *args):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Server)
print(server.server_port, flush=True)
server.serve_forever()
END
python3 "$work/server.py" >"$work/port" &
server=$!
until test -s "$work/port"; do sleep 0.1; done

line="backoff --for curl -- curl -fsSO http://example.com/data.tar.gz"
ln -s "$backoff" "$work/backoff"
echo "connect-to = example.com:80:127.0.0.1:$(cat "$work/port")" >"$work/.curlrc"
cat >"$work/play" <<END
cd "$work"
sleep 1
printf '\\033[1;32m$\\033[0m %s' "$line"
sleep 1.5
echo
$line
sleep 4
END
export PATH="$work:$PATH" CURL_HOME="$work" BACKOFF_CONFIG=none BACKOFF_SEED=8 BACKOFF_BASE=1s
script -qec "termtosvg $svg -g 92x9 -t base16_default_dark -D 2000 -c 'sh $work/play'" /dev/null
