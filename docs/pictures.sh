#!/bin/sh
# Makes the pictures in the README from the demo: its report, the page of its run, and the audit of the sample report.
# It needs Chromium: CHROMIUM names another program than chromium.
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
server=
trap 'kill $server 2>/dev/null; rm -rf "$folder"' EXIT
export TIDEGATE_NOW=2026-03-02T09:00:00Z
picture() { # picture NAME SIZE ADDRESS
	"${CHROMIUM:-chromium}" --headless --no-sandbox --disable-gpu --hide-scrollbars --force-device-scale-factor=1 --window-size="$2" \
		--user-data-dir="$folder/profile" --screenshot="$PWD/docs/$1.png" "$3" 2>/dev/null
}
go build -o "$folder/tidegate" ./cmd/tidegate
"$folder/tidegate" demo --keep "$folder/harbour" >/dev/null
picture report 1300,1300 "file://$folder/harbour/report.html"

# The sample has lies in it, so the audit exits with 1. The picture begins with the head, whichever sentence is chosen.
TIDEGATE_HOME="$folder" "$folder/tidegate" audit --demo --format html >"$folder/audit.html" || test -s "$folder/audit.html"
sed -i 's|<meta http-equiv="Content-Security-Policy"[^>]*>||; 0,/<\/style>/s||* { scroll-margin-top: 9999px !important }</style>|' "$folder/audit.html"
picture audit 1500,1150 "file://$folder/audit.html#s3"

env -u TIDEGATE_NOW TIDEGATE_HOME="$folder/harbour" "$folder/tidegate" serve --http 127.0.0.1:0 >"$folder/address" &
server=$!
until grep -q token= "$folder/address"; do kill -0 $server; sleep 0.2; done
picture page 1500,1300 "$(sed -n 's|/?token|/runs/harbour/report?token|p' "$folder/address")"
