package main

// readKeys is nil here: the list of jobs follows those at work.
var readKeys func() (keys <-chan byte, restore func())

func restoreKeys() {}
