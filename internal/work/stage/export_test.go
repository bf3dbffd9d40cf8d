package stage

// Actions lists everything that a remedy or a result of this package can name.
func Actions() []Action {
	return []Action{writePerspectives, planWave, ingestOutputs, reviewWave, judgeGate["B"], judgeGate["C"], judgeGate["D"], judgeGate["E"], judgeGate["F"], recordGate, validateCitations, fetchCitations, attachCitation, replaceCitation, decidePivot, buildPack,
		advanceRun, writeManifest, resumeRun, cancelRun, limitRun, verifyRun, acceptRecord, restoreOutput, statusOfRun}
}
