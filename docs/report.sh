#!/bin/sh
# Makes docs/report.png, the picture in the README, from the report of the demo.
# It needs Chromium: CHROMIUM names another program than chromium.
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
TIDEGATE_NOW=2026-03-02T09:00:00Z go run ./cmd/tidegate demo --keep "$folder/harbour" >/dev/null
"${CHROMIUM:-chromium}" --headless --no-sandbox --disable-gpu --hide-scrollbars --force-device-scale-factor=1.15 --window-size=1300,1330 \
	--user-data-dir="$folder/profile" --screenshot="$PWD/docs/report.png" "file://$folder/harbour/report.html#c2" 2>/dev/null
