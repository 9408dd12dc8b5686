package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gaprof/gaprof/internal/spelling"
)

// otherNames are what the field calls flags of ours, by command: the first of them that the
// command has is meant. Names are written with hyphens.
var otherNames = map[string][]string{
	"ranks": {"world-size"}, "nproc-per-node": {"world-size"}, "nproc": {"world-size"}, "gpus": {"world-size"},
	"num-gpus": {"world-size"}, "devices": {"world-size"}, "num-processes": {"world-size"}, "np": {"world-size"},
	"dp": {"world-size"}, "nodes": {"world-size"}, "nnodes": {"world-size"},
	"steps": {"max-steps"}, "num-steps": {"max-steps"}, "train-iters": {"max-steps"}, "iterations": {"max-steps"},
	"iters": {"max-steps"}, "max-iters": {"max-steps"}, "training-steps": {"max-steps"},
	"tokens": {"token-counts"}, "batch-size": {"local-batch-size"}, "micro-batch-size": {"local-batch-size"},
	"per-device-train-batch-size": {"local-batch-size"}, "train-batch-size": {"global-batch-size"},
	"gradient-accumulation-steps": {"global-batch-size", "normalization"}, "grad-accum": {"global-batch-size"},
	"accumulation-steps": {"global-batch-size"}, "accum": {"global-batch-size"},
	"accumulation": {"global-batch-size"}, "learning-rate": {"lr"}, "wd": {"weight-decay"},
	"max-grad-norm": {"clip-grad-norm"}, "clip": {"clip-grad-norm"}, "gradient-clipping": {"clip-grad-norm"},
	"grad-clip": {"clip-grad-norm"}, "adam-beta1": {"beta1"}, "adam-beta2": {"beta2"}, "adam-epsilon": {"eps"},
	"precision": {"dtype"}, "bf16": {"dtype"}, "fp16": {"dtype"}, "amp": {"dtype"},
	"seq-len": {"sequence-length"}, "seq-length": {"sequence-length"}, "block-size": {"sequence-length"},
	"context-length": {"sequence-length"}, "num-layers": {"layers"}, "n-layer": {"layers"}, "n-layers": {"layers"},
	"intermediate-size": {"hidden"}, "ffn-hidden-size": {"hidden"}, "hidden-size": {"width"},
	"n-embd": {"width"}, "d-model": {"width"}, "dim": {"width"},
	"num-attention-heads": {"heads"}, "n-head": {"heads"}, "vocab-size": {"vocabulary"}, "vocab": {"vocabulary"},
	"gradient-checkpointing": {"activation-checkpoint"}, "checkpoint-activations": {"activation-checkpoint"},
	"fsdp": {"sharding"}, "zero": {"sharding"}, "bucket-cap-mb": {"bucket-bytes"}, "compile": {"compiled"},
	"random-seed": {"seed"}, "manual-seed": {"seed"}, "profile": {"profile-steps"}, "fault": {"plant"},
	"out": {"output"}, "outdir": {"output"}, "out-dir": {"output"}, "output-dir": {"output"}, "outfile": {"output"},
	"fmt": {"format", "to"}, "json": {"format"}, "html": {"format"}, "csv": {"format"}, "markdown": {"format"},
	"md": {"format"}, "overwrite": {"force"}, "yes": {"force"}, "silent": {"quiet"}, "threads": {"jobs"},
	"workers": {"jobs"}, "num-workers": {"jobs"}, "memory": {"mem-limit"}, "mem": {"mem-limit"},
	"rules": {"enable"}, "only": {"enable"}, "rule": {"enable"}, "select": {"enable"}, "ignore": {"disable"},
	"skip": {"disable"}, "exclude": {"disable"}, "rank": {"ranks"}, "step": {"steps"}, "threshold": {"min-impact"},
	"fail": {"fail-on"}, "exit-code": {"fail-on"}, "severity": {"fail-on"}, "sections": {"show"}, "verbose": {"show"},
	"detail": {"show"}, "base": {"baseline"}, "reference": {"baseline", "against"}, "what": {"edit"},
	"max-steps": {"steps"}, "world-size": {"ranks"}, "token-counts": {"tokens"}, "token-log": {"tokens"},
	"bandwidth": {"peak-bw"}, "no-color": {"color"}, "colour": {"color"}, "gpu": {"device"},
}

// nearFlag is the hint for an error in a command's flags: what was probably meant.
func nearFlag(cmd *cobra.Command, err error) string {
	see := "see " + cmd.CommandPath() + " --help"
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return see
	}
	name := strings.ReplaceAll(strings.ToLower(unknown.GetSpecifiedName()), "_", "-")
	if near := flagNear(cmd.Flags(), name); near != "" {
		return "did you mean --" + near + "? " + see
	}
	return see
}

// flagNear is the flag that a name probably means: the same in another spelling, what the field
// calls it, one that it begins, or one with about the same letters.
func flagNear(flags *pflag.FlagSet, name string) string {
	has := func(name string) bool {
		f := flags.Lookup(name)
		return f != nil && !f.Hidden
	}
	for _, other := range append([]string{name}, otherNames[name]...) {
		if has(other) {
			return other
		}
	}
	var names []string
	begun := ""
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		if names = append(names, f.Name); begun == "" && len(name) > 2 && strings.HasPrefix(f.Name, name) {
			begun = f.Name
		}
	})
	if begun != "" {
		return begun
	}
	return near(name, names)
}

// near is the name that a word probably means, "" where none is near: at most a third of its
// letters may differ, and more in no case than four.
func near(word string, names []string) string {
	best := spelling.Nearest(word, names)
	if best == "" || spelling.Distance(word, best) > min(max(len(word)/3, 1), 4) {
		return ""
	}
	return best
}

// orNear is a hint with the name that was probably meant before it.
func orNear(word string, names []string, hint string) string {
	if best := near(word, names); best != "" {
		return "did you mean " + best + "? " + hint
	}
	return hint
}

// nearHint is the name that was probably meant as a hint, "" for none.
func nearHint(word string, names []string) string {
	if best := near(word, names); best != "" {
		return "did you mean " + best + "?"
	}
	return ""
}

// nearCommand is the command that a word probably means, "" for none.
func nearCommand(root *cobra.Command, word string) string {
	root.SuggestionsMinimumDistance = 2
	if list := root.SuggestionsFor(word); len(list) > 0 {
		return list[0]
	}
	return ""
}
