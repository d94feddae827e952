package main

import "github.com/spf13/cobra"

// commands lists every command in the order of the help text.
func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.linkCommand(),
		a.manifestCommand(),
		a.diffCommand(),
		a.checkCommand(),
		a.shapesCommand(),
		a.programCommand(),
		a.pinCommand(),
		a.emitCommand(),
		a.buildCommand(),
		a.addonCommand(),
		a.testCommand(),
		a.runCommand(),
		a.lintCommand(),
		a.fmtCommand(),
		a.verifyCommand(),
		a.factsCommand(),
		a.explainCommand(),
		a.targetsCommand(),
		a.doctorCommand(),
		a.cacheCommand(),
		a.childCommand(),
	}
}
