"""Messages of Protocol Buffers as columns and back, by the protobuf package's parser."""
