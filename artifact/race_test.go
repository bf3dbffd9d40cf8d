//go:build race

package artifact_test

const raceDetector = true
