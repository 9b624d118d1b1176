/** Plays a film in a real Chromium, as anybody would, and looks at it. */
import type { Page } from 'playwright-core';
import { startChromium } from './chromium.ts';

export type Film = {
  durationS: number;
  width: number;
  height: number;
  /** The colour of the film at a time and place, as red, green and blue. */
  colorAt(seconds: number, place: { x: number; y: number }): Promise<number[]>;
  /** A picture of the page that shows it, as PNG. */
  picture(): Promise<Buffer>;
  close(): Promise<void>;
};

type Loaded = Pick<Film, 'durationS' | 'width' | 'height'>;

/** What runs in the page; a film that does not play fails there. */
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

/** Opens it. Throws what Chromium says of a film that it cannot play. */
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
