/**
 * Keeps downloads in a folder of the session, each named by Chromium's id for it, whichever client or page started it.
 * A download that grows too large, or would exceed the limit for all of them, is cancelled.
 */
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolders } from '#runtime/folders.ts';
import type { Driver } from '../cdp/driver.ts';
import type { Report } from './events.ts';

export type DownloadLimits = { fileBytes: number; allBytes: number };

export const downloadLimits: DownloadLimits = { fileBytes: 100 * 2 ** 20, allBytes: 500 * 2 ** 20 };

export type Downloads = {
  /** Sets the download folder for a context; without an id, for the browser's own context. */
  keep(browserContextId?: string): Promise<void>;
};

/** Empties the folder. */
export const clearDownloads = async (folder: string): Promise<void> => {
  await rm(folder, { recursive: true, force: true });
  await makeFolders(folder);
};

type Download = { url: string; name: string; bytes: number };

/** Keeps the downloads of a browser in the folder, and reports each as an event. */
export const keepDownloads = (
  driver: Driver,
  {
    folder,
    report,
    limits = downloadLimits,
  }: { folder: string; report: Report; limits?: DownloadLimits },
): Downloads => {
  const downloads = new Map<string, Download>();
  const total = (): number => downloads.values().reduce((sum, { bytes }) => sum + bytes, 0);

  const refuse = async (guid: string, { url, name }: Download, why: string): Promise<void> => {
    downloads.delete(guid);
    report({ kind: 'download_refused', url, name, why });
    await driver.send('Browser.cancelDownload', { guid }).catch(() => undefined); // the download may have ended already
    await rm(join(folder, guid), { force: true });
  };

  const finish = async (guid: string, download: Download): Promise<void> => {
    const { size } = await stat(join(folder, guid));
    download.bytes = size;
    const { url, name } = download;
    report({ kind: 'downloaded', url, name, sizeBytes: size, download: guid });
  };

  driver.on('Browser.downloadWillBegin', ({ guid, url, suggestedFilename }) => {
    const text = String(url).slice(0, 2_000);
    downloads.set(String(guid), {
      url: text,
      name: String(suggestedFilename).slice(0, 255),
      bytes: 0,
    });
  });
  driver.on('Browser.downloadProgress', ({ guid, state, receivedBytes }) => {
    const id = String(guid);
    const download = downloads.get(id);
    if (download === undefined) return;
    download.bytes = Number(receivedBytes);
    const isLarge = download.bytes > limits.fileBytes;
    if (isLarge || total() > limits.allBytes) {
      const most = isLarge ? limits.fileBytes : limits.allBytes;
      const why = `${isLarge ? 'a download' : 'all downloads of a session'} may have ${most} bytes`;
      void refuse(id, download, why);
    } else if (state === 'completed') {
      finish(id, download).catch((cause: unknown) =>
        refuse(id, download, `the download cannot be stored: ${cause}`),
      );
    } else if (state === 'canceled') downloads.delete(id);
  });

  return {
    async keep(browserContextId) {
      const context = browserContextId === undefined ? {} : { browserContextId };
      const behavior = { behavior: 'allowAndName', downloadPath: folder, eventsEnabled: true };
      await driver.send('Browser.setDownloadBehavior', { ...behavior, ...context });
    },
  };
};
