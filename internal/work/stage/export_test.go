package stage

// Actions lists everything that a remedy or a result of this package can name.
func Actions() []Action {
	return []Action{writePerspectives, planWave, ingestOutputs, reviewWave, deriveGateB, judgeGate["D"], judgeGate["E"], judgeGate["F"], recordGate, validateCitations, fetchCitations, attachCitation, replaceCitation, computeGateC, decidePivot, buildPack,
		advanceRun, writeManifest, resumeRun, cancelRun, limitRun, verifyRun, acceptRecord, restoreOutput, statusOfRun}
}
