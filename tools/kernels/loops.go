package main

func loops() {}
