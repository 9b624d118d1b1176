/**
 * Worker thread that encodes the pictures of a recording. It takes a JPEG and returns a VP8 key frame, with the
 * picture in the middle of a frame of the recording's size. It has its own thread because a picture takes some 80 ms
 * of a processor. The codecs are WebAssembly; a lossy WebP is a VP8 key frame with a few bytes around it.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parentPort } from 'node:worker_threads';
import decodeJpeg, { init as initJpeg } from '@jsquash/jpeg/decode.js';
import encodeWebp, { init as initWebp } from '@jsquash/webp/encode.js';
import { recordingLimits } from '#domain/recording.ts';
import { keyFrameOf } from './webp.ts';

type Pixels = { data: Uint8ClampedArray<ArrayBuffer>; width: number; height: number };

/** Substitute for the browsers' `ImageData`, which the codecs expect and Node does not have. */
class ImagePixels implements Pixels {
  readonly data: Uint8ClampedArray<ArrayBuffer>;
  readonly width: number;
  readonly height: number;
  constructor(data: Uint8ClampedArray<ArrayBuffer>, width: number, height: number) {
    this.data = data;
    this.width = width;
    this.height = height;
  }
}
Object.assign(globalThis, { ImageData: ImagePixels });

/** Type of the `WebAssembly` global, which Node has but its types omit. */
type Compiler = { WebAssembly: { Module: new (bytes: Uint8Array) => object } };
const { Module } = (globalThis as unknown as Compiler).WebAssembly;

const moduleOf = (path: string): object =>
  new Module(readFileSync(fileURLToPath(import.meta.resolve(path))));

/**
 * Settings that favour speed over size: a page has few colours, so a picture of it takes a few tens of kilobytes with
 * any settings.
 */
const choices = { quality: 50, method: 0 };
const black = 255;
const pixelBytes = 4;

const { width, height } = recordingLimits;

/** Returns the picture in the middle of a black frame. */
const frame = (picture: Pixels): Pixels => {
  if (picture.width === width && picture.height === height) return picture;
  const data = new Uint8ClampedArray(width * height * pixelBytes);
  for (let at = pixelBytes - 1; at < data.length; at += pixelBytes) data[at] = black;
  const left = Math.floor((width - picture.width) / 2);
  const top = Math.floor((height - picture.height) / 2);
  const rowBytes = picture.width * pixelBytes;
  for (let row = 0; row < picture.height; row += 1) {
    const from = picture.data.subarray(row * rowBytes, (row + 1) * rowBytes);
    data.set(from, ((top + row) * width + left) * pixelBytes);
  }
  return new ImagePixels(data, width, height);
};

const ready = Promise.all([
  initJpeg(moduleOf('@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm')),
  initWebp(moduleOf('@jsquash/webp/codec/enc/webp_enc_simd.wasm')),
]);

const encode = async (base64: string): Promise<Uint8Array> => {
  await ready;
  const jpeg = new Uint8Array(Buffer.from(base64, 'base64')).buffer;
  const picture = (await decodeJpeg(jpeg)) as Pixels;
  if (picture.width > width || picture.height > height) {
    throw new Error(
      `a picture of ${picture.width} × ${picture.height} is larger than a frame of the recording`,
    );
  }
  const webp = await encodeWebp(frame(picture), choices);
  return keyFrameOf(new Uint8Array(webp));
};

parentPort?.on('message', (jpeg: string) => {
  encode(jpeg).then(
    (data) => parentPort?.postMessage({ data }),
    (error: unknown) => parentPort?.postMessage({ error: String(error) }),
  );
});
