package main

import "github.com/tidegate/tidegate/internal/base/report"

func openFiles() finding {
	return finding{"Limits", "open files", "this system has no limit per process", report.None}
}
