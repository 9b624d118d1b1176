/** Plays a recording in a real Chromium, as a person would, and inspects it. */
import type { Page } from 'playwright-core';
import { startChromium } from './chromium.ts';

export type Film = {
  durationS: number;
  width: number;
  height: number;
  /** Returns the colour at a time and place, as red, green and blue. */
  colorAt(seconds: number, place: { x: number; y: number }): Promise<number[]>;
  /** Returns a picture of the page that shows it, as PNG. */
  picture(): Promise<Buffer>;
  close(): Promise<void>;
};

type Loaded = Pick<Film, 'durationS' | 'width' | 'height'>;

/** Loads the recording in the page; fails if it does not play. */
const load = (page: Page, base64: string): Promise<Loaded> =>
  page.evaluate<Loaded>(`(async () => {
    const bytes = Uint8Array.from(atob('${base64}'), (char) => char.charCodeAt(0));
    const video = document.querySelector('video');
    const loaded = new Promise((resolve, reject) => {
      video.addEventListener('loadeddata', resolve);
      video.addEventListener('error', () => reject(new Error(video.error.message)));
    });
    video.src = URL.createObjectURL(new Blob([bytes], { type: 'video/webm' }));
    await loaded;
    return { durationS: video.duration, width: video.videoWidth, height: video.videoHeight };
  })()`);

const colorAt = (page: Page, seconds: number, { x, y }: { x: number; y: number }) =>
  page.evaluate<number[]>(`(async () => {
    const video = document.querySelector('video');
    const found = new Promise((resolve) => video.addEventListener('seeked', resolve));
    video.currentTime = ${seconds};
    await found;
    const canvas = document.createElement('canvas');
    canvas.width = video.videoWidth;
    canvas.height = video.videoHeight;
    const pen = canvas.getContext('2d');
    pen.drawImage(video, 0, 0);
    return [...pen.getImageData(${x}, ${y}, 1, 1).data.slice(0, 3)];
  })()`);

/** Opens a recording. Throws Chromium's error if it cannot play it. */
export const playFilm = async (film: Uint8Array): Promise<Film> => {
  const browser = await startChromium();
  const page = await browser.newPage({ viewport: { width: 1_300, height: 820 } });
  await page.setContent('<!doctype html><body style="margin:0"><video muted controls></video>');
  const found = await load(page, Buffer.from(film).toString('base64'));
  return {
    ...found,
    colorAt: (seconds, place) => colorAt(page, seconds, place),
    picture: () => page.screenshot(),
    close: () => browser.close(),
  };
};
