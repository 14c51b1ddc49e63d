"""Where results lie: run directories, shards, buckets, SQL over them."""
