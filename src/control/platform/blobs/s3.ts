/**
 * Stores blobs as objects in a bucket, under the same names as in a folder. Clients upload and download them directly
 * at the service, by presigned addresses. The requests are in `s3-bucket.ts`.
 */
import {
  type Blobs,
  checkBytes,
  checkStream,
  defaultContentType,
  digestOf,
  measureFile,
  missing,
  nothingUploaded,
  type PresignedBlobs,
  type S3Config,
} from './blobs.ts';
import { withReceived } from './receive.ts';
import { Bucket, emptyBlob } from './s3-bucket.ts';

/** Returns the presigned addresses of a bucket. Uploaded bytes are checked in the folder `workDir`. */
const presignedOf = (bucket: Bucket, workDir: string): PresignedBlobs => ({
  upload: (name, awaited, contentType = defaultContentType) =>
    bucket.uploadAddress(name, awaited, contentType),
  async take(name, awaited) {
    const left = await bucket.fetch(bucket.temporaryKeyOf(name));
    if (left === undefined) throw nothingUploaded();
    // Not copied within the store, because the holder of the address may replace the object at any time.
    try {
      await withReceived(workDir, left, awaited, (path) => bucket.uploadFile(path, awaited));
    } finally {
      left.destroy();
    }
  },
  drop: (name) => bucket.remove(bucket.temporaryKeyOf(name)),
  download: (digest, as) => bucket.downloadAddress(digest, as),
});

/**
 * Opens the store in an existing bucket and writes a blob to prove that writing works. Uploaded bytes are checked in
 * the folder `workDir`.
 */
export const openS3Blobs = async (s3: S3Config, workDir: string): Promise<Blobs> => {
  const bucket = new Bucket(s3);
  const { location } = bucket;
  await bucket.open();
  return {
    location,
    isShared: true,
    check: () => bucket.check(),
    async put(bytes) {
      const digest = digestOf(bytes);
      const measured = { digest, bytes: bytes.byteLength };
      if ((await bucket.sizeOf(digest)) !== measured.bytes) {
        await bucket.upload(measured, () => bytes);
      }
      return digest;
    },
    async putFile(path) {
      const measured = await measureFile(path);
      const { digest, bytes } = measured;
      if ((await bucket.sizeOf(digest)) !== bytes) await bucket.uploadFile(path, measured);
      return digest;
    },
    async read(digest) {
      const stream = await bucket.fetch(bucket.keyOf(digest));
      if (stream === undefined) throw missing(digest);
      return checkStream(location, digest, stream);
    },
    async get(digest) {
      const bytes = await bucket.download(digest);
      if (bytes === undefined) throw missing(digest);
      return checkBytes(location, digest, bytes);
    },
    async remove(digest) {
      if (digest === emptyBlob.digest) return; // it distinguishes the bucket from an emptied one
      await bucket.remove(bucket.keyOf(digest));
    },
    async size(digest) {
      const bytes = await bucket.sizeOf(digest);
      if (bytes !== undefined) return bytes;
      await bucket.check(); // HEAD also answers "missing" if the bucket itself is missing
      throw missing(digest);
    },
    presigned: presignedOf(bucket, workDir),
  };
};
