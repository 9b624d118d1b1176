/**
 * Where V8 puts new objects: among the young ones. By itself it learns from the first few of each place of the code: where
 * most of them outlived a collection, as do those of a burst of requests, it puts all later ones among the old. In a
 * program whose objects die with their requests these are then garbage that keeps alive whatever it points to, until
 * all memory is looked through.
 */
import { setFlagsFromString } from 'node:v8';

/** Has this process and its threads do so from now on; to be said before the program begins its work. */
export const putNewObjectsAmongYoung = (): void =>
  setFlagsFromString('--no-allocation-site-pretenuring');
