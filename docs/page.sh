#!/bin/sh
# Makes docs/page.png, the picture in the README, from the page of the demo's run.
# It needs Chromium: CHROMIUM names another program than chromium.
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
server=
trap 'kill $server 2>/dev/null; rm -rf "$folder"' EXIT
go build -o "$folder/tidegate" ./cmd/tidegate
TIDEGATE_NOW=2026-03-02T09:00:00Z "$folder/tidegate" demo --keep "$folder/harbour" >/dev/null
TIDEGATE_HOME="$folder/harbour" "$folder/tidegate" serve --http 127.0.0.1:0 >"$folder/address" &
server=$!
until grep -q token= "$folder/address"; do kill -0 $server; sleep 0.2; done
address=$(sed 's|/?token|/runs/harbour/report?token|' "$folder/address")'#c2'
"${CHROMIUM:-chromium}" --headless --no-sandbox --disable-gpu --hide-scrollbars --force-device-scale-factor=1 --window-size=1500,1400 \
	--user-data-dir="$folder/profile" --screenshot="$PWD/docs/page.png" "$address" 2>/dev/null
