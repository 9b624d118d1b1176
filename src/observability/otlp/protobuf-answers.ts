/** Encodes answers to exporters that use protobuf: OTLP's response, and `google.rpc.Status` for an error. */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/** Report of partial success, as in the JSON form of the answer. */
export type PartialSuccess = { rejectedSpans: string; errorMessage: string };

/**
 * Encodes an `ExportTraceServiceResponse`. If no spans were rejected, the bytes are also a valid
 * `ExportMetricsServiceResponse`.
 */
export const encodeAnswer = (partialSuccess: PartialSuccess | undefined): Uint8Array => {
  const writer = new BinaryWriter();
  if (partialSuccess === undefined) return writer.finish();
  writer.tag(1, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.Varint).int64(partialSuccess.rejectedSpans);
  writer.tag(2, WireType.LengthDelimited).string(partialSuccess.errorMessage);
  return writer.join().finish();
};

/** gRPC codes by HTTP status. */
const codes: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  408: 4,
  413: 8,
  429: 8,
  500: 13,
  503: 14,
  504: 4,
};
const unknownCode = 2;

/** Encodes a `Status` with the error message. */
export const encodeStatus = (httpStatus: number, message: string): Uint8Array => {
  const writer = new BinaryWriter();
  writer.tag(1, WireType.Varint).int32(codes[httpStatus] ?? unknownCode);
  return writer.tag(2, WireType.LengthDelimited).string(message).finish();
};
