package synthesis_test

import (
	_ "github.com/tidegate/tidegate/internal/test/scratch"
)
