module github.com/gaprof/gaprof

go 1.26
