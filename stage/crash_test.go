package stage_test

func wholeSequence(dir string) error { return nil }
