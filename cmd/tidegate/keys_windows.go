package main

// readKeys is nothing here: the list of jobs follows those at work.
var readKeys func() (keys <-chan byte, restore func())

func restoreKeys() {}
