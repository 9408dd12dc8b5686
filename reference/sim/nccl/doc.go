// Package nccl says how long a collective of NCCL takes, by the model with which NCCL itself
// chooses an algorithm and a protocol (src/graph/tuning.cc of NCCL 2.19 to 2.27): a latency,
// which grows with the steps of a ring or the depth of a tree, and the bytes divided by a
// bandwidth, for rings and trees and the protocols LL, LL128 and Simple. The fastest of them is
// taken. NVLS, CollNet and PAT are not in it.
package nccl
