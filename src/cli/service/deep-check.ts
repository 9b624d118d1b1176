/**
 * Implements `svc admin doctor --deep`: requests checks of all blobs of worlds from the service, batch by batch, and
 * shows the progress.
 */
import { type BlobsChecked, checkBlobs, type DoctorCheck } from '#wire/admin-api/operations.ts';
import type { Client } from '#wire/client.ts';
import type { Output } from '../terminal/context.ts';
import { withProgress } from '../terminal/progress.ts';

const name = 'bytes';
const shown = 10;
const mib = 2 ** 20;

type Total = { damaged: string[]; looked: number; bytes: number; place: string };

const judge = ({ damaged, looked, bytes, place }: Total): DoctorCheck => {
  const read = `${looked} worlds checked, ${Math.ceil(bytes / mib)} MiB read`;
  if (damaged.length === 0) {
    return { name, status: 'ok', message: `no blob is damaged: ${read}`, fix: null };
  }
  const more = damaged.length > shown ? ` and ${damaged.length - shown} more` : '';
  return {
    name,
    status: 'failed',
    message: `blobs of ${damaged.length} worlds are missing or have other contents (${read}): ${damaged.slice(0, shown).join(', ')}${more}`,
    fix: `restore them in ${place} from a copy, or remove them there and create the worlds again under their slugs (svc worlds create <slug> --from <tree>)`,
  };
};

/** Checks all blobs of worlds. */
export const checkAllBlobs = (client: Client, out: Output): Promise<DoctorCheck> =>
  withProgress({ out, step: 'reading the blobs of worlds' }, async ({ showStep }) => {
    const sum: Total = { damaged: [], looked: 0, bytes: 0, place: '' };
    let after: string | null = null;
    do {
      const query: { after?: string } = after === null ? {} : { after };
      const { body }: { body: BlobsChecked } = await client.send(checkBlobs, { query });
      sum.damaged.push(...body.damaged.map(({ world, blob }) => `${world} (${blob})`));
      sum.looked += body.looked;
      sum.bytes += body.bytes;
      sum.place = body.place;
      after = body.next;
      showStep(
        `reading the blobs of worlds: ${sum.looked} of ${body.total}, ${Math.ceil(sum.bytes / mib)} MiB`,
      );
    } while (after !== null);
    return judge(sum);
  });
