#!/bin/sh
# Makes docs/audit.png, the picture in the README, from the audit of the sample report.
# It needs Chromium: CHROMIUM names another program than chromium.
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# The sample has lies in it, so the audit exits with 1.
TIDEGATE_HOME="$folder" TIDEGATE_NOW=2026-03-02T09:00:00Z go run ./cmd/tidegate audit --demo --format html >"$folder/audit.html" || test -s "$folder/audit.html"
# The picture begins with the head, whichever sentence is chosen.
sed -i 's|<meta http-equiv="Content-Security-Policy"[^>]*>||; 0,/<\/style>/s||* { scroll-margin-top: 9999px !important }</style>|' "$folder/audit.html"
"${CHROMIUM:-chromium}" --headless --no-sandbox --disable-gpu --hide-scrollbars --force-device-scale-factor=1 --window-size=1500,1240 \
	--user-data-dir="$folder/profile" --screenshot="$PWD/docs/audit.png" "file://$folder/audit.html#s3" 2>/dev/null
