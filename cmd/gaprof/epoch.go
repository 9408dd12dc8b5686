package main

import (
	"os"
	"strconv"
	"time"
)

// sourceDate is what SOURCE_DATE_EPOCH says, so that outputs can be made again byte by
// byte; ok is false where it is not set.
func sourceDate() (at time.Time, ok bool, err error) {
	epoch := os.Getenv("SOURCE_DATE_EPOCH")
	if epoch == "" {
		return at, false, nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil || seconds < 0 || seconds > 1<<33 {
		return at, false, usage("it is seconds since 1970", "SOURCE_DATE_EPOCH is %q", epoch)
	}
	return time.Unix(seconds, 0), true, nil
}

// madeAt is now, or what SOURCE_DATE_EPOCH says.
func madeAt() (time.Time, error) {
	at, ok, err := sourceDate()
	if err == nil && !ok {
		at = time.Now()
	}
	return at, err
}
