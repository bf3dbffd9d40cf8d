#!/usr/bin/env bash
# Makes stages.tar.gz: runs at every stage as the program of this checkout leaves them.
# To keep those of another commit, run it in a worktree of that commit:
#
#	proof/testdata/upgrade.sh OUTPUT.tar.gz
#
# Logs hold absolute paths, so everything is made below a folder that says nothing of
# the machine. It needs go, python3, ssh-keygen and GNU tar.
set -euo pipefail
output=$(realpath "$1")
cd "$(dirname "$0")/../.."
root=/srv/tidegate page=http://127.0.0.1:8765/port
mkdir "$root" # whatever is there already is not this script's to remove
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/tools" "$root/web" "$root/home/project"
go build -trimpath -o "$root/tools/tidegate" ./cmd/tidegate
go test -c -trimpath -o "$root/tools/agent" ./proof
export PATH="$root/tools:$PATH" XDG_CONFIG_HOME="$root" TIDEGATE_HOME="$root/home" TIDEGATE_NOW=2026-03-02T09:00:00Z TIDEGATE_FETCH_ALLOW=127.0.0.1:8765
echo '<title>The port</title><p>This page is about the port. It pulls at the water, and the water follows it twice a day around the earth.</p>' >"$root/web/port"
python3 -m http.server 8765 --bind 127.0.0.1 --directory "$root/web" >"$root/web.log" 2>&1 &
server=$!
trap 'kill $server; rm -rf "$root"' EXIT
until (exec 3<>/dev/tcp/127.0.0.1/8765) 2>/dev/null; do sleep 0.1; done
cd "$root/home"
runs=$root/home/runs

quiet() { "$@" >"$root/last.out" 2>&1 || { cat "$root/last.out"; echo "failed: $*"; return 1; } >&2; }
tide() { quiet tidegate "$@"; }
# refused is a command that must not succeed.
refused() { ! tidegate "$@" >"$root/last.out" 2>&1 || { echo "granted: $*" >&2; return 1; }; }
tool() { quiet tidegate call "deep_research_$1" --args "$2"; }
of() { echo "\"manifest_path\":\"$runs/$1/manifest.json\",\"reason\":\"kept for upgrades\""; }
gates() { echo "\"gates_path\":\"$runs/$1/gates.json\""; }
open_jobs() { tidegate job list "$1" --states open --format json | sed -n 's/.*"job_id": "\(.*\)".*/\1/p'; }
# answer RUN JOB [SED] hands in what the prompt asks for, edited by a script of sed.
answer() {
	tidegate job prompt "$1" "$2" | TIDEGATE_JOB=$2 TIDEGATE_KIND=${2%%.*} agent obey "$page" | sed "${3:-}" >"$root/answer"
	tide job answer "$1" "$2" "$root/answer"
}
answer_all() { for job in $(open_jobs "$1"); do answer "$1" "$job" "${2:-}"; done; }
gap='s/^## Gaps$/## Gaps\n\n- (P0) How much the sun adds/'

# to RUN STAGE takes a run there by the shortest way, through a second wave.
to() {
	[ -d "$runs/$1" ] || tide run init "Why do tides turn?" --id "$1"
	[ "$2" = init ] && return
	[ "$2" = perspectives ] && { tide run advance "$1" --to perspectives; return; }
	tide run step "$1"; answer "$1" perspectives; tide run step "$1"
	[ "$2" = wave1 ] && return
	answer_all "$1" "$gap"
	tide wave review "$runs/$1/perspectives.json" "$runs/$1/wave-1" --report "$runs/$1/wave-review.json"
	tide gate b "$1"; tide run advance "$1"
	[ "$2" = pivot ] && return
	tide pivot decide "$1"; tide run advance "$1"
	[ "$2" = wave2 ] && return
	tide run step "$1"; answer_all "$1"
	[ "$2" = citations ] && { tide gate b "$1"; tide run advance "$1"; return; }
	tide run step "$1"
	[ "$2" = summaries ] && return
	answer_all "$1"; tide run step "$1"
	[ "$2" = synthesis ] && return
	answer_all "$1"; tide run step "$1"
	[ "$2" = review ] && return
	answer_all "$1"; tide run step "$1"
}

for stage in init perspectives wave1 pivot wave2 citations summaries synthesis review finalize; do to "$stage" "$stage"; done

# Statuses, and what a person decided.
to paused wave1; tide run pause paused --reason "over the weekend"
to cancelled wave1; tide run cancel cancelled --reason "asked twice" --yes
to chosen pivot; tide pivot decide chosen; tide run advance chosen --to wave2
to failed wave1; answer failed wave1.figures; answer failed wave1.records
refused run continue failed --agent exec:false
to corrected citations
sed -i 's/Nothing else/Nothing more/' "$runs/corrected/wave-1/doubts.md"
tide run accept corrected --reason "a word corrected by hand"
to accepted citations
sed -i 's/\("max_review_iterations":\) *[0-9]*/\1 5/' "$runs/accepted/manifest.json"
tide run accept accepted --reason "one round more"
tide gate b accepted --accept --reason "read by a person"
to leased wave1
answer leased wave1.doubts
echo "no contract is kept here" | refused job answer leased wave1.figures
tool job_lease "{\"manifest_path\":\"$runs/leased/manifest.json\",\"job_id\":\"wave1.records\",\"holder\":\"an agent\"}"
to returned review
example='{"decision":"CHANGES_REQUIRED","findings":[],"directives":[{"line":3,"action":"Say whose word it is."}]}'
echo "$example" | tide job answer returned review; tide run step returned
ssh-keygen -q -t ed25519 -N "" -C person -f "$root/person"
echo "person@example.org $(cat "$root/person.pub")" >"$root/home/allowed_signers"
tide run init "Why do tides turn?" --id signed --signers "$root/home/allowed_signers"
tide run pause signed --sign "$root/person"; tide run resume signed --sign "$root/person"; to signed finalize
tide run seal signed --sign "$root/person" --output "$root/home/signed.sealed"

# Tools of the earlier orchestrator, in runs of today and in runs that it made itself.
ledgers() { # RUN STAGE
	tool telemetry_append "{$(of "$1"),\"event\":{\"event_type\":\"stage_started\",\"stage_id\":\"$2\",\"stage_attempt\":1,\"inputs_digest\":\"sha256:d\"}}"
	tool run_metrics_write "{$(of "$1")}"
	tool tick_ledger_append "{$(of "$1"),\"entry\":{\"tick_index\":1,\"phase\":\"start\",\"stage_before\":\"$2\",\"status_before\":\"running\",\"result\":{\"ok\":true}}}"
}
bundle() { echo "\"review_bundle_path\":\"$runs/$1/review/review-bundle.json\",\"current_iteration\":1"; }
to ticked wave1; ledgers ticked wave1
to reported review; ledgers reported review
tool gate_e_reports "{$(of reported)}"
tide run init "Why do tides turn?" --id legacy --legacy-gates
cp -r "$runs/review/." "$root/made"
for file in perspectives.json wave-review.json pivot.json wave-1 wave-2 citations summaries synthesis; do cp -r "$root/made/$file" "$runs/legacy/"; done
find "$runs/legacy" -name "*.json*" -exec sed -i 's/"run_id": *"review"/"run_id": "legacy"/' {} +
pass() { tool gates_write "{$(gates legacy),\"update\":{\"$1\":{\"status\":\"$2\",\"checked_at\":\"2026-03-02T09:00:00Z\"}},\"inputs_digest\":\"sha256:00\",\"reason\":\"kept for upgrades\"}"; }
for gate in B C D; do pass $gate pass; done
for stage in wave1 pivot wave2 citations summaries synthesis review; do tide run advance legacy --to $stage; done
ledgers legacy review
tool gate_e_reports "{$(of legacy)}"
tool review_factory_run "{$(of legacy),\"mode\":\"generate\"}"
tool revision_control "{$(of legacy),$(gates legacy),$(bundle legacy)}"
pass E fail
tool fallback_offer "{$(of legacy),$(gates legacy)}"
tool fixture_run_seed "{\"fixture_dir\":\"$runs/legacy\",\"run_id\":\"seeded\",\"reason\":\"kept for upgrades\"}"
tool dry_run_seed "{\"fixture_dir\":\"$runs/finalize\",\"run_id\":\"dry\",\"reason\":\"kept for upgrades\"}"
for run in legacy finalize; do tool fixture_bundle_capture "{$(of $run),\"output_dir\":\"$runs/bundles\",\"bundle_id\":\"$run\"}"; done
tool fixture_replay "{\"bundle_root\":\"$runs/bundles/legacy\",\"reason\":\"kept for upgrades\"}"
tool regression_run "{\"fixtures_root\":\"$runs/bundles\",\"bundle_ids\":[\"legacy\",\"finalize\"],\"reason\":\"kept for upgrades\"}"
tool quality_audit "{\"bundle_roots\":[\"$runs/bundles/legacy\"],\"output_dir\":\"$runs/audit\",\"reason\":\"kept for upgrades\"}"

# The demo, and a change between two rounds of review.
tide demo --keep "$root/demo"
cp -r "$root/demo/runs/harbour" "$runs/"
cd project
echo '{"change_id":"planner","verdict":"NEEDS_FIX","summary":"One.","issues":[{"title":"Loses data","severity":"High","category":"Bug","description":"d"}]}' >first.json
tide change start planner; tide review create first.json; refused change advance planner; tide review create first.json
tar --sort=name --mtime=2026-03-02T09:00:00Z --owner=0 --group=0 --numeric-owner -C "$root/home" -c . | gzip -9n >"$output"
