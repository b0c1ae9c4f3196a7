"""Device code in AscendC style: the operators that ascsim ships, one folder each."""
