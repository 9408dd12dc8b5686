package nccl

// The constants of NCCL 2.27, src/graph/tuning.cc: latencies in us, bandwidths in GB/s; by
// algorithm (tree, ring), then by protocol (LL, LL128, Simple).

// baseLatency is what a collective takes however few ranks there are.
var baseLatency = [2][3]float64{{6.8, 14, 8.4}, {6.6, 14, 8.4}}

// What a hop goes over.
const (
	nvlink = iota
	pci
	network
)

// hopLatency is that of a step of a ring, or of a level of a tree.
var hopLatency = [3][2][3]float64{
	nvlink:  {{0.6, 1.25, 4.0}, {0.6, 1.9, 3.4}},
	pci:     {{1.0, 1.9, 4.0}, {1.0, 2.5, 5.7}},
	network: {{5.0, 8.5, 14}, {2.7, 4.0, 14.0}},
}

// netOverhead is what posting a message to the network takes a host with Intel's processors.
const netOverhead = 1.0

// plateau is the factor of latency of a ring between nodes.
const plateau = 1.4

// Shares of the bandwidth of a ring that LL128 reaches: 120 of 128 bytes are data, of which 0.92 come through; less
// where a node has fewer than two ranks, each of which sends and receives through one port.
const (
	ringLL128Share = 0.92
	ringLL128Alone = 0.7
)

// treeAlone is the share of a tree's bandwidth with one rank a node. The search for a topology balances trees over the
// GPUs of a node (NCCL_TOPO_PATTERN_BALANCED_TREE) and, of one GPU, makes plain ones (NCCL_TOPO_PATTERN_TREE in
// src/graph/search.cc), to which the model gives this.
const treeAlone = 0.85

// Bounds by generation and by nodes: one, two, more.
var (
	llMost        = [4][3]float64{{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}}
	ringLL128Most = [4][3]float64{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {40, 40, 40}} // a channel
	treeLL128Most = [4][3]float64{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}}
	treeMost      = [4][3]float64{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}}
)

// channels are those of a ring in a node of 8, as NCCL_DEBUG=INFO prints them.
var channels = [4]float64{12, 24, 24, 32}

// treeCorrection is a factor of the bandwidth of trees, by protocol and by the logarithm of the
// bytes divided by 64: trees do not fit the model in between.
var treeCorrection = [3][]float64{
	{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
	{1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
	{.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9},
}
