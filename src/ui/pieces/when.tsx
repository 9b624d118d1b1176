/** Shows a time that is given in the vendor's notation. */

import { readTime } from '../world/times.ts';
import { Time } from './time.tsx';

export const When = ({ at }: { at: string | null | undefined }) => {
  const time = readTime(at ?? '');
  return time === undefined ? null : <Time time={time} isDated />;
};
