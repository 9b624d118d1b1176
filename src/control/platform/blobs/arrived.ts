/** Whether bytes that were announced are there, by whichever address they came. */
import { type AwaitedBlob, type Blobs, checkAwaited, nothingLeft } from './blobs.ts';

/** Bytes that are known by an id until they are taken; `received`: they came through the control plane. */
export type ArrivingBlob = AwaitedBlob & { id: string; received: boolean };

/** Holds what was sent to what was announced; throws `conflict` while nothing was, `invalid` for anything else. */
export const checkArrived = async (
  blobs: Blobs,
  { id, digest, bytes, received }: ArrivingBlob,
): Promise<void> => {
  const awaited = { digest, bytes };
  if (blobs.presigned !== undefined) {
    await blobs.presigned.take(id, awaited);
    return;
  }
  // The digest was looked at when the bytes came.
  if (!received) throw nothingLeft();
  checkAwaited({ digest, bytes: await blobs.size(digest) }, awaited);
};
