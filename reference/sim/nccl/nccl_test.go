package nccl

import (
	"fmt"
	"math"
	"testing"
)

// hopper are 8 H100 a node, with NDR InfiniBand between nodes.
var hopper = Fabric{Bus: 305, Net: 48, Generation: Hopper}

// The figures are computed by hand from the constants: base + hops + bytes / bandwidth, in us.
func TestTime(t *testing.T) {
	oneNode, twoNodes, eight := Group{8, 1}, Group{16, 2}, Group{64, 8}
	for _, c := range []struct {
		fabric Fabric
		what   Collective
		bytes  int64
		group  Group
		want   string
	}{
		// 8.4 + 7 x 3.4 + 77,266,944 / (305 x 8/7)
		{hopper, ReduceScatter, 77266944, oneNode, "RING SIMPLE 253.9"},
		{hopper, AllGather, 77266944, oneNode, "RING SIMPLE 253.9"},
		// 6.6 + 7 x 0.6 + 256 / (141 x 8/7)
		{hopper, ReduceScatter, 256, oneNode, "RING LL 10.8"},
		// 6.6 + 14 x 0.6; a tree takes 6.8 + 2 x 7 x 0.6
		{hopper, AllReduce, 4, oneNode, "RING LL 15.0"},
		// eight ports have more than the GPUs of a node: 14 + 14 x 1.9 + 1 x 4 + 2^24 / (305 x 0.92 x 16/15)
		{hopper, AllGather, 1 << 24, twoNodes, "RING LL128 100.7"},
		// (8.4 + 112 x 3.4 + 14 x 14) x 1.4 + 2^30 / (305 x 64/126)
		{hopper, AllReduce, 1 << 30, eight, "RING SIMPLE 7750.2"},
		// 14 + 2 x (7 x 1.25 + 3 x 8.5) + 2^20 / (305 x 0.92 x 120/128 / 2 x 0.6)
		{hopper, AllReduce, 1 << 20, eight, "TREE LL128 95.8"},
		// eight ports of HDR have less: (8.4 + 112 x 3.4 + 14 x 14) x 1.4 + 2^30 / (8 x 23.5 x 64/126)
		{Fabric{Bus: 235, Net: 23.5, Generation: Ampere}, AllReduce, 1 << 30, eight, "RING SIMPLE 12063.6"},
		// one rank a node has one port: 8.4 + 7 x 14 + 2^30 / (48 x 8/7)
		{hopper, ReduceScatter, 1 << 30, Group{8, 8}, "RING SIMPLE 19679.8"},
		// and LL128 0.7 of it: 14 + 7 x 8.5 + 2^22 / (48 x 0.7 x 8/7)
		{hopper, ReduceScatter, 1 << 22, Group{8, 8}, "RING LL128 182.7"},
		// of a tree, 0.85 of 0.92: 14 + 2 x 3 x 8.5 + 2^20 / (48 x 0.92 x 120/128 x 0.85 / 2 x 0.6)
		{hopper, AllReduce, 1 << 20, Group{8, 8}, "TREE LL128 164.3"},
		// two of a node have two: 8.4 + 8 x 3.4 + 7 x 14 + 2^30 / (96 x 16/15)
		{hopper, ReduceScatter, 1 << 30, Group{16, 8}, "RING SIMPLE 10619.4"},
		// without NVLink there is no LL128: 8.4 + 5.7 + 2^20 / 20
		{Fabric{Bus: 20, PCI: true, Generation: Ampere}, Broadcast, 1 << 20, Group{4, 1}, "RING SIMPLE 66.5"},
		// twice the latency, the same bandwidth: 2 x (6.6 + 7 x 0.6)
		{Fabric{Bus: 305, Generation: Hopper, Latency: 2}, ReduceScatter, 0, oneNode, "RING LL 21.6"},
		// one rank has nobody to talk to
		{hopper, AllReduce, 1 << 20, Group{1, 1}, "RING SIMPLE 8.4"},
	} {
		got := c.fabric.Time(c.what, c.bytes, c.group)
		if text := fmt.Sprintf("%v %v %.1f", got.Algorithm, got.Protocol, got.NS/1000); text != c.want {
			t.Errorf("%d of %d bytes in %+v: %s, want %s", c.what, c.bytes, c.group, text, c.want)
		}
	}
}

// More bytes and more ranks never take less time; a doubled bandwidth never takes more.
func TestMonotone(t *testing.T) {
	for _, what := range []Collective{AllReduce, ReduceScatter, AllGather} {
		for _, ranks := range []int{2, 4, 8, 16, 64, 512, 1024} {
			group := Group{ranks, (ranks + 7) / 8}
			last := 0.0
			for size := int64(1); size < 1<<34; size *= 4 {
				ns := hopper.Time(what, size, group).NS
				fast := hopper
				fast.Bus, fast.Net = 2*hopper.Bus, 2*hopper.Net
				if ns < last*0.9 || fast.Time(what, size, group).NS > ns || math.IsNaN(ns) {
					t.Errorf("%d of %d bytes on %d ranks: %.0f ns after %.0f", what, size, ranks, ns, last)
				}
				last = ns
			}
		}
	}
}
