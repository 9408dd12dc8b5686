package ingest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/trace/sidecar"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// ReadLogs reads the logs beside traces, sidecar.TokensFile and
// sidecar.LossFile, into options that have none. Logs in several folders are of several
// runs: none of them is taken. What cannot be read is returned and left out.
func ReadLogs(files []string, o *analyze.Options, l Limits) []error {
	folder, ok := onlyFolder(files)
	if !ok {
		return nil
	}
	var failures []error
	failed := func(err error) {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			failures = append(failures, err)
		}
	}
	if name := filepath.Join(folder, sidecar.TokensFile); o.Logs.Tokens == nil && !o.UniformTokens {
		list, err := readTokenLog(name, o.RankOf, l.logs(false))
		o.Logs.Tokens, o.Logs.TokensFrom, o.Logs.TokensFound = list, name, true
		failed(err)
	}
	if name := filepath.Join(folder, sidecar.LossFile); o.Logs.Losses == nil {
		log, err := readLossLog(name, l.logs(false))
		o.Logs.Losses = log
		failed(err)
	}
	return failures
}

// onlyFolder is the one folder of some files that holds logs.
func onlyFolder(files []string) (string, bool) {
	var folders []string
	seen := make(map[string]bool)
	for _, file := range files {
		dir := filepath.Dir(file)
		if file == tracefile.Stdin || seen[dir] {
			continue
		}
		seen[dir] = true
		for _, name := range []string{sidecar.TokensFile, sidecar.LossFile} {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				folders = append(folders, dir)
				break
			}
		}
	}
	if len(folders) != 1 {
		return "", false
	}
	return folders[0], true
}

// What the log of a run may have: millions of lines, for one long enough, but no more than
// a part of the memory that there is, because a line takes several times its length.
const (
	mostLog  = 256 << 20 // bytes
	logShare = 16
)

// logs is the limit of one log. One that was asked for by name may be a pipe.
func (l Limits) logs(asked bool) bounded.Limit {
	return bounded.Limit{What: "a log", Bytes: min(mostLog, l.orDefault().Memory/logShare), Pipes: asked,
		Hint: "pass the lines of the steps that were recorded, or raise the limit of memory, 16 times that of a log"}
}

// ReadTokenLog reads a token log that somebody named. Lines that name no rank are of the one that rankOf finds
// in the name of the file, else of rank 0; rankOf may be nil.
func ReadTokenLog(
	name string, rankOf func(file string) (int64, bool), l Limits,
) ([]sidecar.TokenCount, error) {
	return readTokenLog(name, rankOf, l.logs(true))
}

func readTokenLog(
	name string, rankOf func(file string) (int64, bool), limit bounded.Limit,
) ([]sidecar.TokenCount, error) {
	log, err := bounded.Open(name, limit)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	rank := int64(0)
	if rankOf != nil {
		rank, _ = rankOf(name)
	}
	return sidecar.ReadTokens(log, name, rank)
}

// ReadLossLog reads a loss log that somebody named. Lines that name no rank are of the one in the name of the
// file, else of rank 0.
func ReadLossLog(name string, l Limits) (*sidecar.LossLog, error) {
	return readLossLog(name, l.logs(true))
}

func readLossLog(name string, limit bounded.Limit) (*sidecar.LossLog, error) {
	log, err := bounded.Open(name, limit)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	rank, _ := RankOfFile(name)
	return sidecar.ReadLosses(log, name, rank)
}

var rankInName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)rank[-_.]?(\d+)`) })

// RankOfFile finds the rank in the names that launchers give to traces:
// rank0_trace.json.gz, rank-3.json, ...-gpu-rank-00-chrome-trace.json.gz.
func RankOfFile(file string) (rank int64, ok bool) { return RankBy(rankInName())(file) }

// RankBy finds the rank in the name of a file, without its folder, by the first group of an
// expression.
func RankBy(re *regexp.Regexp) func(file string) (rank int64, ok bool) {
	return func(file string) (int64, bool) {
		m := re.FindStringSubmatch(filepath.Base(file))
		if m == nil {
			return 0, false
		}
		n, err := strconv.ParseInt(m[1], 10, 64)
		return n, err == nil
	}
}
