/**
 * Checks that bytes which a client announced have arrived, either by a presigned upload or through the control plane.
 */
import { type AwaitedBlob, type Blobs, checkAwaited, nothingUploaded } from './blobs.ts';

/**
 * Upload in progress, identified by `id` until its bytes are stored as a blob. `received` is true if the bytes came
 * through the control plane.
 */
export type ArrivingBlob = AwaitedBlob & { id: string; received: boolean };

/**
 * Checks the uploaded bytes against the announced size and digest. Throws `conflict` if nothing has been uploaded yet,
 * and `invalid` if size or digest differ.
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
