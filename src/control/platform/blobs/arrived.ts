/** Checks that announced bytes have arrived, by presigned upload or through the control plane. */
import { type AwaitedBlob, type Blobs, checkAwaited, nothingUploaded } from './blobs.ts';

/**
 * Upload in progress, known by an id until it is taken. `received` is true if the bytes came through the control
 * plane.
 */
export type ArrivingBlob = AwaitedBlob & { id: string; received: boolean };

/**
 * Checks the uploaded bytes against the announced size and digest. Throws `conflict` while nothing has been uploaded,
 * `invalid` if they differ.
 */
export const checkArrived = async (
  blobs: Blobs,
  { id, digest, bytes, received }: ArrivingBlob,
): Promise<void> => {
  const awaited = { digest, bytes };
  if (blobs.presigned !== undefined) {
    await blobs.presigned.take(id, awaited);
    return;
  }
  // The control plane already checked the digest when it received the bytes.
  if (!received) throw nothingUploaded();
  checkAwaited({ digest, bytes: await blobs.size(digest) }, awaited);
};
