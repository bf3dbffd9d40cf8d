package main

import (
	"fmt"
	"strings"
)

// homebrew writes the formula for the platforms that were built.
func (r *release) homebrew() error {
	var b strings.Builder
	fmt.Fprintf(&b, `class Tidegate < Formula
  desc "%s"
  homepage "https://github.com/tidegate/tidegate"
  version "%s"
  license "Apache-2.0"

`, strings.TrimPrefix(short, "The "), r.number())
	for _, system := range []struct{ os, called string }{{"darwin", "macos"}, {"linux", "linux"}} {
		var inner strings.Builder
		for _, machine := range []struct{ arch, called string }{{"arm64", "arm"}, {"amd64", "intel"}} {
			name := r.archiveName(tidegate, target{system.os, machine.arch})
			if digest, ok := r.digestOf(name); ok {
				fmt.Fprintf(&inner, "    on_%s do\n      url \"https://github.com/tidegate/tidegate/releases/download/%s/%s\"\n      sha256 \"%s\"\n    end\n", machine.called, r.version, name, digest)
			}
		}
		if inner.Len() > 0 {
			fmt.Fprintf(&b, "  on_%s do\n%s  end\n\n", system.called, inner.String())
		}
	}
	b.WriteString(`  def install
    bin.install "tidegate"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/tidegate.bash" => "tidegate"
    zsh_completion.install "completions/tidegate.zsh" => "_tidegate"
    fish_completion.install "completions/tidegate.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/tidegate version")
    system bin/"tidegate", "demo"
  end
end
`)
	return r.write("tidegate.rb", []byte(b.String()))
}
