package stage

// Actions lists everything that a remedy or a result of this package can name.
func Actions() []Action {
	return []Action{writePerspectives, planWave, ingestOutputs, reviewWave, deriveGateB, evaluateGate["D"], evaluateGate["E"], evaluateGate["F"], recordGate, validateCitations, fetchCitations, attachCitation, replaceCitation, computeGateC, decidePivot, buildPack,
		advanceRun, writeManifest, resumeRun, cancelRun, limitRun, verifyRun, acceptRecord, restoreOutput, statusOfRun}
}
