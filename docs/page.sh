#!/bin/sh
# Makes docs/page.png, the picture in the README, from the pages of the demo's run.
# It needs Chromium: CHROMIUM names another program than chromium.
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
go run ./cmd/tidegate demo --keep "$folder/harbour" >/dev/null
TIDEGATE_HOME="$folder/harbour" go run ./cmd/tidegate run export harbour --html "$folder/pages" >/dev/null
"${CHROMIUM:-chromium}" --headless --no-sandbox --disable-gpu --hide-scrollbars --force-device-scale-factor=1 --window-size=1200,1000 \
	--user-data-dir="$folder/profile" --screenshot="$PWD/docs/page.png" "file://$folder/pages/index.html" 2>/dev/null
